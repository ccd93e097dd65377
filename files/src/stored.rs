//! How the elements of a tensor are stored, and their sizes.

use std::fmt;

use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, Layout};

/// What a file says of the elements of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Elements of a type.
    Typed(DType),
    /// Raw bytes, this many per element (`V2` of NumPy).
    Raw(usize),
    /// Quantized, in blocks of a row. The shape is that of the elements.
    Blocks(BlockFormat),
}

impl Stored {
    /// Bytes of elements of this shape, if they can be addressed.
    pub(crate) fn data_bytes(self, shape: &[usize]) -> Option<usize> {
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

/// The name of the type or of the format: `f32`, `V2`, `Q4_K`.
impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stored::Typed(dtype) => dtype.fmt(f),
            Stored::Raw(bytes) => write!(f, "V{bytes}"),
            Stored::Blocks(format) => format.fmt(f),
        }
    }
}
