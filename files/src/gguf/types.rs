//! The element types of GGUF, as ggml numbers them.

use wgpu_gather::DType;
use wgpu_gather::quantized::BlockFormat;

use crate::problem::Problem;
use crate::stored::Stored;

/// A type of elements: `block_bytes` for each `block` elements of a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// Its name in ggml.
    pub(super) name: &'static str,
    /// Consecutive elements of the last dim that are stored together.
    pub(super) block: usize,
    /// Bytes of a block.
    pub(super) block_bytes: usize,
    /// What it is gathered as, if it can be.
    pub(super) stored: Option<Stored>,
    id: u32,
}

/// The type with the number `id`.
pub(super) fn of_id(id: u32) -> Option<&'static Type> {
    TYPES.iter().find(|t| t.id == id)
}

/// The element type that ggml calls `type_name`; a number is that of no type.
pub(crate) fn stored(type_name: &str) -> Result<Stored, Problem> {
    let got = || type_name.to_owned();
    match TYPES.iter().find(|t| t.name == type_name) {
        Some(kind) => kind.stored.ok_or_else(|| Problem::ElementType {
            got: got(),
            allowed: names(),
        }),
        None => Err(Problem::UnknownElementType {
            got: got(),
            allowed: names(),
        }),
    }
}

/// The names of all types that can be gathered.
fn names() -> String {
    let names = TYPES.iter().filter(|t| t.stored.is_some()).map(|t| t.name);
    names.collect::<Vec<_>>().join(", ")
}

const fn plain(id: u32, name: &'static str, dtype: DType) -> Type {
    Type {
        name,
        block: 1,
        block_bytes: dtype.bytes(),
        stored: Some(Stored::Typed(dtype)),
        id,
    }
}

const fn blocks(id: u32, format: BlockFormat) -> Type {
    Type {
        name: format.name(),
        block: format.block_elements(),
        block_bytes: format.block_bytes(),
        stored: Some(Stored::Blocks(format)),
        id,
    }
}

/// A type whose size is known, so that the file can be checked, and nothing else.
const fn other(id: u32, name: &'static str, block: usize, block_bytes: usize) -> Type {
    Type {
        name,
        block,
        block_bytes,
        stored: None,
        id,
    }
}

/// What was given up (4, 5, 31 to 33 and 36 to 38) is left out.
const TYPES: &[Type] = &[
    plain(0, "F32", DType::F32),
    plain(1, "F16", DType::F16),
    blocks(2, BlockFormat::Q4_0),
    blocks(3, BlockFormat::Q4_1),
    blocks(6, BlockFormat::Q5_0),
    blocks(7, BlockFormat::Q5_1),
    blocks(8, BlockFormat::Q8_0),
    other(9, "Q8_1", 32, 36),
    blocks(10, BlockFormat::Q2K),
    blocks(11, BlockFormat::Q3K),
    blocks(12, BlockFormat::Q4K),
    blocks(13, BlockFormat::Q5K),
    blocks(14, BlockFormat::Q6K),
    other(15, "Q8_K", 256, 292),
    other(16, "IQ2_XXS", 256, 66),
    other(17, "IQ2_XS", 256, 74),
    other(18, "IQ3_XXS", 256, 98),
    other(19, "IQ1_S", 256, 50),
    blocks(20, BlockFormat::Iq4Nl),
    other(21, "IQ3_S", 256, 110),
    other(22, "IQ2_S", 256, 82),
    other(23, "IQ4_XS", 256, 136),
    plain(24, "I8", DType::I8),
    plain(25, "I16", DType::I16),
    plain(26, "I32", DType::I32),
    plain(27, "I64", DType::I64),
    plain(28, "F64", DType::F64),
    other(29, "IQ1_M", 256, 56),
    plain(30, "BF16", DType::BF16),
    other(34, "TQ1_0", 256, 54),
    other(35, "TQ2_0", 256, 66),
    blocks(39, BlockFormat::Mxfp4),
    other(40, "NVFP4", 64, 36),
    other(41, "Q1_0", 128, 18),
];
