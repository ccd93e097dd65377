//! Operands of a call on the host, as the executors see them: bytes, the type of their elements and a
//! layout. Made of typed views, or of bytes whose type is known at run time.

use std::borrow::Cow;
use std::fmt;

use crate::element::{Element, ElementType, elements_from_bits};
use crate::error::{Error, Result, Role};
use crate::index::{Index, IndexType};
use crate::memory::zeroed_bits;
use crate::quantized::{FloatType, QuantizedTable};
use crate::shape::{Layout, elements};
use crate::tensor::{Tensor, TensorView};

/// A tensor of elements whose type is known at run time: data, type and layout. It is what is gathered
/// from, updates of a scatter, weights of bags.
#[derive(Clone)]
pub struct Params<'a> {
    bytes: &'a [u8],
    element: ElementType,
    layout: Layout,
}

impl<'a> Params<'a> {
    /// `bytes` (of any alignment) as elements of a type (a [`DType`](crate::DType), or a number of bytes for elements
    /// that are gathered only), laid out as `layout` says.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroSizedElement`], [`Error::PartialElement`], or [`Error::ViewOutOfRange`].
    pub fn new(bytes: &'a [u8], element: impl Into<ElementType>, layout: Layout) -> Result<Self> {
        let element = element.into();
        let len = whole_elements(Role::Params, bytes.len(), element.bytes())?;
        layout.check_within(Role::Params, len)?;
        Ok(Params {
            bytes,
            element,
            layout,
        })
    }

    /// The data, in this machine's byte order.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.element
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.element.bytes()
    }

    /// The same elements, taken for those of another type of their width.
    ///
    /// # Errors
    ///
    /// [`Error::TensorWidth`] for a type of another width.
    pub fn with_element_type(self, element: impl Into<ElementType>) -> Result<Self> {
        let (element, got) = (element.into(), self.element.bytes());
        match element.bytes() == got {
            true => Ok(Params { element, ..self }),
            false => Err(Error::TensorWidth {
                expected: element.bytes(),
                got,
            }),
        }
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
        Params::new(bytes, ElementType::of::<T>(), view.layout().clone())
    }
}

/// Indices, as bytes of one of the [`IndexType`]s, and their layout.
#[derive(Clone)]
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
        let len = whole_elements(Role::Indices, bytes.len(), index_type.bytes())?;
        layout.check_within(Role::Indices, len)?;
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

    /// The same, without a copy of the data.
    pub(crate) fn borrowed(&self) -> Indices<'_> {
        Indices {
            bytes: Cow::Borrowed(&self.bytes),
            index_type: self.index_type,
            layout: self.layout.clone(),
        }
    }

    /// The same data in another layout, which reaches no more of it.
    pub(crate) fn with_layout(&self, layout: Layout) -> Indices<'_> {
        Indices {
            layout,
            ..self.borrowed()
        }
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

/// A table of a kind that is known at run time: as it is, or quantized and to be decoded. A
/// [`Table`](crate::Table) like any other.
///
/// ```
/// use wgpu_gather::{AnyTable, Executor, Op, Params, Rules, Tensor};
///
/// let rows = Tensor::new(&[2, 2], vec![1u8, 2, 3, 4])?;
/// let table = AnyTable::Plain(Params::try_from(&rows.view())?);
/// let ids = Tensor::new(&[1], vec![1u32])?;
/// let row = Executor::Cpu.gather(Op::gather(0), &Rules::TORCH, &table, &ids).wait()?;
/// assert_eq!(row.bytes(), [3, 4]);
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum AnyTable<'a> {
    /// Elements that are moved or folded as they are.
    Plain(Params<'a>),
    /// Codes, and the type that they are decoded to.
    Quantized(&'a QuantizedTable<'a>, FloatType),
}

impl AnyTable<'_> {
    /// The extent of each dim, in elements.
    pub fn shape(&self) -> &[usize] {
        match self {
            AnyTable::Plain(params) => params.layout().shape(),
            AnyTable::Quantized(table, _) => table.shape(),
        }
    }

    /// How elements lie; those of a quantized table, as if they were decoded.
    pub(crate) fn layout(&self) -> Cow<'_, Layout> {
        match self {
            AnyTable::Plain(params) => Cow::Borrowed(params.layout()),
            AnyTable::Quantized(table, _) => Cow::Owned(Layout::contiguous(table.shape())),
        }
    }

    /// The type of an element, once it is decoded.
    pub fn element_type(&self) -> ElementType {
        match self {
            AnyTable::Plain(params) => params.element_type(),
            AnyTable::Quantized(_, to) => to.dtype().into(),
        }
    }
}

/// A contiguous, row-major tensor that owns its data, of elements whose type is known at run time: what
/// calls on [`Params`] make. A [`Tensor`](crate::Tensor) of `T` is made of it by `try_from`.
#[derive(Clone, PartialEq, Eq)]
pub struct AnyTensor {
    shape: Vec<usize>,
    element: ElementType,
    bytes: Vec<u8>,
}

impl AnyTensor {
    /// A tensor of elements of a type (a [`DType`](crate::DType), or a number of bytes), whose bytes these are.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroSizedElement`]; [`Error::PartialElement`] and [`Error::DataLength`] if the bytes are not
    /// just the elements that `shape` has.
    pub fn new(shape: &[usize], element: impl Into<ElementType>, bytes: Vec<u8>) -> Result<Self> {
        let (element, role) = (element.into(), Role::Tensor);
        let got = whole_elements(role, bytes.len(), element.bytes())?;
        match elements(role, shape, element.bytes())? {
            expected if expected == got => Ok(AnyTensor {
                shape: shape.to_vec(),
                element,
                bytes,
            }),
            expected => Err(Error::DataLength {
                role,
                shape: shape.to_vec(),
                expected,
                got,
            }),
        }
    }

    /// The extent of each dim.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.element
    }

    /// The elements' bytes, row-major.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements' bytes, row-major, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The tensor as an operand of a call.
    pub fn view(&self) -> Params<'_> {
        Params {
            bytes: &self.bytes,
            element: self.element,
            layout: Layout::contiguous(&self.shape),
        }
    }
}

impl<T: Element> TryFrom<AnyTensor> for Tensor<T> {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::TensorWidth`] for elements of another width, [`Error::InvalidBits`] for bytes that are no
    /// value of `T`, [`Error::HostOutOfMemory`].
    fn try_from(any: AnyTensor) -> Result<Self> {
        let (expected, got) = (size_of::<T>(), any.element.bytes());
        if got != expected {
            return Err(Error::TensorWidth { expected, got });
        }
        let mut bits = zeroed_bits::<T>(Role::Tensor, any.bytes.len() / expected)?;
        bytemuck::cast_slice_mut(&mut bits).copy_from_slice(&any.bytes);
        Tensor::new(&any.shape, elements_from_bits(Role::Tensor, bits)?)
    }
}

impl fmt::Debug for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "AnyTensor", &self.element, self.view().layout())
    }
}

/// Without the data, which may be large.
fn debug(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    ty: &dyn fmt::Display,
    layout: &Layout,
) -> fmt::Result {
    f.debug_struct(name)
        .field("type", &format_args!("{ty}"))
        .field("shape", &layout.shape())
        .field("strides", &layout.strides())
        .field("offset", &layout.offset())
        .finish()
}

impl fmt::Debug for Params<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "Params", &self.element, &self.layout)
    }
}

impl fmt::Debug for Indices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "Indices", &self.index_type.name(), &self.layout)
    }
}

/// The elements that the bytes are.
fn whole_elements(role: Role, bytes: usize, element_bytes: usize) -> Result<usize> {
    if element_bytes == 0 {
        return Err(Error::ZeroSizedElement { role });
    }
    match bytes.is_multiple_of(element_bytes) {
        true => Ok(bytes / element_bytes),
        false => Err(Error::PartialElement {
            role,
            bytes,
            element_bytes,
        }),
    }
}
