//! Operands of a call on the host, as the executors see them: bytes, the type of their elements and a
//! layout. Made of typed views, or of bytes whose type is known at run time.

use std::borrow::Cow;

use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::index::{Index, IndexType};
use crate::shape::Layout;
use crate::tensor::TensorView;

/// What is gathered from, as bytes: data, element width and layout.
#[derive(Debug, Clone)]
pub struct Params<'a> {
    bytes: &'a [u8],
    element_bytes: usize,
    layout: Layout,
}

impl<'a> Params<'a> {
    /// `bytes` (of any alignment) as elements of `element_bytes` bytes, laid out as `layout` says.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroSizedElement`], [`Error::PartialElement`], or [`Error::ViewOutOfRange`].
    pub fn new(bytes: &'a [u8], element_bytes: usize, layout: Layout) -> Result<Self> {
        check_bytes(Role::Params, bytes.len(), element_bytes, &layout)?;
        Ok(Params {
            bytes,
            element_bytes,
            layout,
        })
    }

    /// The data, in this machine's byte order.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// Shape, strides and offset, in elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl<'a, T: Element> TryFrom<&TensorView<'a, T>> for Params<'a> {
    type Error = Error;

    fn try_from(view: &TensorView<'a, T>) -> Result<Self> {
        if size_of::<T>() == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Params });
        }
        let bytes = bytemuck::cast_slice(view.data());
        Params::new(bytes, size_of::<T>(), view.layout().clone())
    }
}

/// Indices, as bytes of one of the [`IndexType`]s, and their layout.
#[derive(Debug, Clone)]
pub struct Indices<'a> {
    bytes: Cow<'a, [u8]>,
    index_type: IndexType,
    layout: Layout,
}

impl<'a> Indices<'a> {
    /// `bytes` (of any alignment) as indices of `index_type`, laid out as `layout` says.
    ///
    /// # Errors
    ///
    /// [`Error::PartialElement`] or [`Error::ViewOutOfRange`].
    pub fn new(
        bytes: impl Into<Cow<'a, [u8]>>,
        index_type: IndexType,
        layout: Layout,
    ) -> Result<Self> {
        let bytes = bytes.into();
        check_bytes(Role::Indices, bytes.len(), index_type.bytes(), &layout)?;
        Ok(Indices {
            bytes,
            index_type,
            layout,
        })
    }

    /// The data, in this machine's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The type of the indices.
    pub fn index_type(&self) -> IndexType {
        self.index_type
    }

    /// Shape, strides and offset, in indices.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The value at `position` of the data.
    pub(crate) fn load(&self, position: usize) -> i128 {
        self.index_type.load(&self.bytes, position)
    }
}

impl<'a, I: Index> TryFrom<&TensorView<'a, I>> for Indices<'a> {
    type Error = Error;

    fn try_from(view: &TensorView<'a, I>) -> Result<Self> {
        Indices::new(I::widened(view.data()), I::TYPE, view.layout().clone())
    }
}

fn check_bytes(role: Role, bytes: usize, element_bytes: usize, layout: &Layout) -> Result<()> {
    if element_bytes == 0 {
        return Err(Error::ZeroSizedElement { role });
    }
    if !bytes.is_multiple_of(element_bytes) {
        return Err(Error::PartialElement {
            role,
            bytes,
            element_bytes,
        });
    }
    layout.check_within(role, bytes / element_bytes)
}
