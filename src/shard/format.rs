//! What a row is.

use crate::error::{Error, Result, Role};
use crate::shape::elements;

/// The format of a row of a sharded table: width of its elements, and shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFormat {
    element_bytes: usize,
    shape: Vec<usize>,
    bytes: usize,
}

impl RowFormat {
    /// Rows of this shape (`[]` for single elements), of elements of `element_bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroSizedElement`]; [`Error::SizeOverflow`] for rows that cannot be addressed.
    pub fn new(element_bytes: usize, shape: &[usize]) -> Result<Self> {
        if element_bytes == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Params });
        }
        let bytes = elements(Role::Params, shape, element_bytes)? * element_bytes;
        Ok(RowFormat {
            element_bytes,
            shape: shape.to_vec(),
            bytes,
        })
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// The shape of one row.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Bytes of one row.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The shape of this many rows.
    pub(super) fn shape_of(&self, rows: usize) -> Vec<usize> {
        [&[rows], &self.shape[..]].concat()
    }
}
