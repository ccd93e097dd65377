//! What an index out of bounds may give.

use std::fmt;

use bytemuck::NoUninit;

/// A value for the elements whose index is out of bounds: the bytes of one element.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Fill(Box<[u8]>);

impl Fill {
    /// The bits of `value`; its type must be that of params.
    pub fn new<T: NoUninit>(value: T) -> Self {
        Fill(bytemuck::bytes_of(&value).into())
    }

    /// The bytes of one element, in this machine's byte order.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Fill(bytes.into())
    }

    /// The bytes of one element.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fill({:02x?})", &self.0)
    }
}
