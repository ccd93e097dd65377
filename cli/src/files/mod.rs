//! Tensors in files: `.npy`, `.npz`, `.safetensors` and `.gguf`.
//!
//! Reading gives an [`Array`]: an element type, a layout, and bytes as they lie in the file, mapped
//! rather than read wherever the format allows. Writing ([`Output`]) is all or nothing.

mod gguf;
mod mmap;
mod npy;
mod npz;
mod resident;
mod safetensors;
mod source;
mod write;

use std::ops::Range;

use anyhow::Result;
use memmap2::Mmap;
use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, Layout};

pub use resident::{AROUND_BYTES, MOST_BYTES, Resident};
use source::Format;
pub use source::Source;
pub use write::{Output, Writing};

/// A tensor as a file has it.
pub struct Array {
    storage: Storage,
    data: Range<usize>,
    stored: Stored,
    layout: Layout,
}

/// What holds the bytes of a file, or of one member of an archive.
enum Storage {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

/// What a file says of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Elements of a type.
    Typed(DType),
    /// Raw bytes, this many per element (`V2` of NumPy).
    Raw(usize),
    /// Quantised, in blocks of a row. The layout is that of the elements.
    Blocks(BlockFormat),
}

impl Stored {
    /// Bytes of elements of this shape, if they can be addressed.
    fn data_bytes(self, shape: &[usize]) -> Option<usize> {
        let elements = Layout::checked_elements(shape)?;
        match self {
            Stored::Typed(dtype) => elements.checked_mul(dtype.bytes()),
            Stored::Raw(bytes) => elements.checked_mul(bytes),
            Stored::Blocks(format) => {
                (elements / format.block_elements()).checked_mul(format.block_bytes())
            }
        }
    }
}

impl Array {
    /// The tensor at `source`.
    pub fn read(source: &Source) -> Result<Self> {
        match source.format() {
            Format::Npy => npy::read(source.path()),
            Format::Npz(name) => npz::read(source.path(), name.as_deref()),
            Format::Gguf(name) => gguf::read(source.path(), name.as_deref()),
            Format::Safetensors(name) => safetensors::read(source.path(), name.as_deref()),
        }
    }

    /// The elements, in the order in which they lie in the file.
    pub fn bytes(&self) -> &[u8] {
        let all: &[u8] = match &self.storage {
            Storage::Mapped(map) => map,
            Storage::Owned(bytes) => bytes,
        };
        &all[self.data.clone()]
    }

    /// Bytes of the elements that are mapped, and not in memory of our own.
    pub fn mapped_bytes(&self) -> u64 {
        match self.storage {
            Storage::Mapped(_) => self.data.len() as u64,
            Storage::Owned(_) => 0,
        }
    }

    /// Takes mapped elements out of this process's memory, until they are read again.
    fn give_back(&self) {
        if let Storage::Mapped(map) = &self.storage {
            mmap::give_back(map);
        }
    }

    /// Prepares mapped elements for reads here and there.
    pub fn expect_scattered(&self) {
        if let Storage::Mapped(map) = &self.storage {
            mmap::expect_scattered(map);
        }
    }

    /// What the file says of the elements.
    pub fn stored(&self) -> Stored {
        self.stored
    }

    /// Shape and order of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl std::fmt::Display for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stored::Typed(dtype) => dtype.fmt(f),
            Stored::Raw(bytes) => write!(f, "V{bytes}"),
            Stored::Blocks(format) => format.fmt(f),
        }
    }
}
