//! What can be wrong with a file, or with what a caller takes a tensor for.

use std::io;
use std::str::Utf8Error;

use wgpu_gather::quantized::BlockFormat;

use crate::format::FileFormat;
use crate::stored::Stored;

/// Names that a message lists, at most.
const SHOWN: usize = 8;

/// What is wrong, without the file and the tensor: those are in [`Error`](crate::Error).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The system cannot open or read the file.
    #[error(transparent)]
    Io(#[from] io::Error),

    /// A directory, a device, or a pipe where a `.npy` file cannot come through.
    #[error("not a regular file")]
    NotAFile,

    /// The ending of the file stands for no format.
    #[error(
        "not a tensor file (allowed: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, FILE.gguf:NAME)"
    )]
    UnknownEnding,

    /// The file does not begin as files of the format do, or its header is not one.
    #[error("not a {format} file: {reason}")]
    WrongFormat {
        /// The format that was expected.
        format: FileFormat,
        /// What says so.
        reason: String,
    },

    /// The header of a `.npy` file is no UTF-8.
    #[error("the .npy header is not text: {0}")]
    HeaderNotText(Utf8Error),

    /// The header of a `.npy` file is no dict literal with the three keys.
    #[error("the .npy header is not a dict with descr, fortran_order and shape")]
    HeaderNotADict,

    /// The shape of a `.npy` file has a dim that is no size.
    #[error("the shape in the .npy header is not a tuple of sizes")]
    HeaderShape,

    /// A value that this crate, or the format, does not allow.
    #[error("{got} (allowed: {allowed})")]
    NotAllowed {
        /// What the file has.
        got: String,
        /// What it may have.
        allowed: String,
    },

    /// The file ends too early.
    #[error("truncated: {0}")]
    Truncated(String),

    /// The parts of the file contradict each other.
    #[error("damaged: {0}")]
    Damaged(String),

    /// More bytes than this machine can address.
    #[error("shape {shape:?} of {elements} needs more bytes than can be addressed")]
    TooLarge {
        /// The shape, as the file has it.
        shape: Vec<u64>,
        /// The element type.
        elements: String,
    },

    /// There is no memory for a member of an archive, or for widened indices.
    #[error("no memory for its {bytes} bytes")]
    OutOfMemory {
        /// How much was asked for.
        bytes: u64,
    },

    /// A GGUF file whose numbers have the most significant byte first.
    #[error("big-endian numbers (version {version}) are not read")]
    BigEndianFile {
        /// The version of the format, read in that order.
        version: u32,
    },

    /// NumPy's elements with the most significant byte first.
    #[error(
        "big-endian elements ({0}) are not read; store them little-endian (in NumPy: \
         array.astype(array.dtype.newbyteorder(\"<\")))"
    )]
    BigEndianElements(String),

    /// NumPy's structured elements.
    #[error("structured elements cannot be gathered; gather a field at a time")]
    Structured,

    /// An element type of the format that the library has no name for.
    #[error("element type {got} cannot be gathered (allowed: {allowed})")]
    ElementType {
        /// What the format calls it.
        got: String,
        /// The types that can be gathered, as the format calls them.
        allowed: String,
    },

    /// A number that stands for no element type of the format.
    #[error("element type {got} is unknown (allowed: {allowed})")]
    UnknownElementType {
        /// The number.
        got: String,
        /// The types that can be gathered.
        allowed: String,
    },

    /// The file has no tensor of this name, or none was named.
    #[error("{}", no_such(*format, wanted, there))]
    NoSuchTensor {
        /// The format of the file.
        format: FileFormat,
        /// The name that was asked for; empty if none was.
        wanted: String,
        /// The names of the tensors that the file has.
        there: Vec<String>,
    },

    /// A problem in one part of the header: a tensor, or an entry of the metadata.
    #[error("{part}: {problem}")]
    In {
        /// The part: `tensor blk.0.weight`, `metadata general.name`.
        part: String,
        /// What is wrong there.
        problem: Box<Problem>,
    },

    /// Only integers index.
    #[error("elements of type {0} cannot index (allowed: i8, u8, i16, u16, i32, u32, i64, u64)")]
    NotIndices(Stored),

    /// Quantized elements, where plain ones are needed.
    #[error("quantized elements ({0}) cannot be read here (allowed: plain ones)")]
    Quantized(BlockFormat),

    /// Plain elements, where quantized ones are needed.
    #[error("elements of type {0} are not quantized (allowed: blocks of GGUF, f16, bf16)")]
    NotQuantized(Stored),

    /// A quantized table whose first dim varies fastest.
    #[error(
        "quantized tables in Fortran's order are not read; store them in C's order (in NumPy: \
         numpy.ascontiguousarray)"
    )]
    FortranOrder,

    /// The library refuses the tensor.
    #[error(transparent)]
    Operand(#[from] wgpu_gather::Error),
}

impl Problem {
    /// The same, in a part of the header.
    pub(crate) fn within(self, part: impl Into<String>) -> Self {
        Problem::In {
            part: part.into(),
            problem: Box::new(self),
        }
    }

    pub(crate) fn not_allowed(got: impl Into<String>, allowed: impl Into<String>) -> Self {
        Problem::NotAllowed {
            got: got.into(),
            allowed: allowed.into(),
        }
    }

    pub(crate) fn too_large(shape: &[usize], elements: &str) -> Self {
        Problem::TooLarge {
            shape: shape.iter().map(|&dim| dim as u64).collect(),
            elements: elements.to_owned(),
        }
    }
}

/// The complaint that no tensor is called `wanted`, or that none was named, with what there is.
fn no_such(format: FileFormat, wanted: &str, there: &[String]) -> String {
    let noun = format.noun();
    let complaint = match wanted {
        "" => format!("name the {noun}, as FILE{format}:NAME"),
        name => format!("no {noun} is named \"{name}\""),
    };
    let mut there = there.to_vec();
    there.sort();
    let more = match there.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    there.truncate(SHOWN);
    match (format.has_names(), there.is_empty()) {
        (false, _) => format!("{complaint}; a {format} file holds one, without a name"),
        (true, true) => format!("{complaint}; the file has no {noun}"),
        (true, false) => format!("{complaint}; the file has {}{more}", there.join(", ")),
    }
}
