//! What the header of a file says of a tensor.

use std::ops::Range;

use wgpu_gather::Layout;

use crate::stored::Stored;

/// A tensor of a file, before its elements are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    name: String,
    type_name: String,
    stored: Option<Stored>,
    shape: Vec<usize>,
}

impl TensorInfo {
    pub(crate) fn new(
        name: &str,
        type_name: &str,
        stored: Option<Stored>,
        shape: Vec<usize>,
    ) -> Self {
        TensorInfo {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            stored,
            shape,
        }
    }

    /// The same under a name.
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Its name in the file; empty for the tensor of a `.npy` file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The element type or the quantized format, as the file calls it: `<f4`, `F8_E4M3`, `Q4_K`.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The same, as the library has it; `None` for a type that cannot be gathered.
    pub fn stored(&self) -> Option<Stored> {
        self.stored
    }

    /// The extent of each dim, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}

/// A tensor that lies uncompressed among the bytes of a file.
pub(crate) struct Placed {
    pub(crate) info: TensorInfo,
    /// Shape and order of the elements.
    pub(crate) layout: Layout,
    /// Its bytes; none if its type cannot be gathered.
    pub(crate) data: Range<usize>,
}
