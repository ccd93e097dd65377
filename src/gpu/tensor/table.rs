//! What calls take on the device: tables and values of a type that is known at compile time, at run time, or
//! decoded from a quantized table; and indices. The traits are sealed.

use crate::element::{DType, Element, ElementType, HasDType};
use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::quantized::DeviceQuantizedTable;
use crate::gpu::tensor::typed::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::quantized::{Decoded, DecodedAs, Float, FloatType};
use crate::shape::Layout;

/// What a gather or a pooled lookup reads on the device: a [`DeviceTensor`], an [`AnyDeviceTensor`], or a
/// [`DeviceQuantizedTable`] to be decoded ([`DeviceQuantizedTable::to`], [`DeviceQuantizedTable::to_type`]).
pub trait Table: sealed::AsTable {
    /// The tensor that a call makes: [`AnyDeviceTensor`] where the type is known at run time.
    type Output: DeviceOperand;
}

/// A tensor on the device: a [`DeviceTensor`], or an [`AnyDeviceTensor`] of a type known at run time.
pub trait DeviceOperand: sealed::AsTensor {
    /// What it is downloaded to: [`Tensor`](crate::Tensor), or [`AnyTensor`](crate::AnyTensor).
    type Host: crate::table::sealed::Made<Self::HostElement>;
    /// What memory for that is made of: the type of the elements, or bytes.
    type HostElement: Element;
}

/// A tensor of numbers on the device: what scatters read and write.
pub trait Values: Table<Output = Self> + DeviceOperand + sealed::AsValues {}

/// Integers that select, on the device: a [`DeviceTensor`] of an [`IndexType`], or an [`AnyDeviceTensor`] whose
/// elements are of one.
pub trait IndexTensor: sealed::AsIndices {}

pub(in crate::gpu) mod sealed {
    use super::{AnyDeviceTensor, TableRef};

    pub trait AsTable {
        fn table(&self) -> TableRef<'_>;
    }

    pub trait AsTensor: Sized {
        fn any(&self) -> &AnyDeviceTensor;
        fn of(any: AnyDeviceTensor) -> Self;
    }

    pub trait AsValues {}

    pub trait AsIndices {
        fn indices(&self) -> &AnyDeviceTensor;
    }
}

/// The table of a call on the device, erased.
#[derive(Debug, Clone, Copy)]
pub enum TableRef<'a> {
    /// Elements as they are.
    Plain(&'a AnyDeviceTensor),
    /// Codes, and the type that they are decoded to.
    Quantized(&'a DeviceQuantizedTable, FloatType),
}

impl TableRef<'_> {
    /// The type of an element, once it is decoded.
    pub(in crate::gpu) fn element_type(&self) -> ElementType {
        match self {
            TableRef::Plain(tensor) => tensor.element_type(),
            TableRef::Quantized(_, to) => to.dtype().into(),
        }
    }

    /// How elements lie, from the first that is reached: slices of one tensor have the same layout.
    pub(in crate::gpu) fn layout(&self) -> Layout {
        match self {
            TableRef::Plain(tensor) => tensor.reached(),
            TableRef::Quantized(table, _) => Layout::contiguous(table.shape()),
        }
    }
}

impl<T> sealed::AsTable for DeviceTensor<T> {
    fn table(&self) -> TableRef<'_> {
        TableRef::Plain(self.as_ref())
    }
}

impl<T: Element> Table for DeviceTensor<T> {
    type Output = Self;
}

impl<T: Element> sealed::AsTensor for DeviceTensor<T> {
    fn any(&self) -> &AnyDeviceTensor {
        self.as_ref()
    }

    fn of(any: AnyDeviceTensor) -> Self {
        DeviceTensor::of(any)
    }
}

impl<T: Element> DeviceOperand for DeviceTensor<T> {
    type Host = crate::Tensor<T>;
    type HostElement = T;
}

impl<T: HasDType> sealed::AsValues for DeviceTensor<T> {}
impl<T: HasDType> Values for DeviceTensor<T> {}

impl<I: Index<Wide = I>> sealed::AsIndices for DeviceTensor<I> {
    fn indices(&self) -> &AnyDeviceTensor {
        self.as_ref()
    }
}

impl<I: Index<Wide = I>> IndexTensor for DeviceTensor<I> {}

impl sealed::AsTable for AnyDeviceTensor {
    fn table(&self) -> TableRef<'_> {
        TableRef::Plain(self)
    }
}

impl Table for AnyDeviceTensor {
    type Output = Self;
}

impl sealed::AsTensor for AnyDeviceTensor {
    fn any(&self) -> &AnyDeviceTensor {
        self
    }

    fn of(any: AnyDeviceTensor) -> Self {
        any
    }
}

impl DeviceOperand for AnyDeviceTensor {
    type Host = crate::AnyTensor;
    type HostElement = u8;
}

impl sealed::AsValues for AnyDeviceTensor {}
impl Values for AnyDeviceTensor {}

impl sealed::AsIndices for AnyDeviceTensor {
    fn indices(&self) -> &AnyDeviceTensor {
        self
    }
}

impl IndexTensor for AnyDeviceTensor {}

impl<F: Float> sealed::AsTable for Decoded<'_, DeviceQuantizedTable, F> {
    fn table(&self) -> TableRef<'_> {
        TableRef::Quantized((*self).table(), F::TYPE)
    }
}

impl<F: Float> Table for Decoded<'_, DeviceQuantizedTable, F> {
    type Output = DeviceTensor<F>;
}

impl sealed::AsTable for DecodedAs<'_, DeviceQuantizedTable> {
    fn table(&self) -> TableRef<'_> {
        TableRef::Quantized((*self).table(), self.to())
    }
}

impl Table for DecodedAs<'_, DeviceQuantizedTable> {
    type Output = AnyDeviceTensor;
}

impl DeviceQuantizedTable {
    /// The table as one of floats of type `F`, which calls decode as they read it: see
    /// [`QuantizedTable::to`](crate::quantized::QuantizedTable::to).
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceQuantizedTable, DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// fn rows(
    ///     engine: &Engine,
    ///     table: &DeviceQuantizedTable,
    ///     ids: &DeviceTensor<u32>,
    /// ) -> Result<DeviceTensor<f32>> {
    ///     engine.gather(Op::gather(0), &Rules::TORCH, &table.to::<f32>(), ids)
    /// }
    /// ```
    pub fn to<F: Float>(&self) -> Decoded<'_, Self, F> {
        Decoded::new(self)
    }

    /// [`DeviceQuantizedTable::to`] for a type that is known at run time.
    pub fn to_type(&self, to: FloatType) -> DecodedAs<'_, Self> {
        DecodedAs::new(self, to)
    }
}

/// The type of a tensor of indices, which start at a multiple of their width.
pub(in crate::gpu) fn index_type(op: OpKind, indices: &AnyDeviceTensor) -> Result<IndexType> {
    let element = indices.element_type();
    let found = element.dtype().and_then(IndexType::of);
    let index_type = found.ok_or_else(|| Error::ElementsWithout {
        op,
        role: Role::Indices,
        got: element.to_string(),
        why: "no type of indices",
        allowed: IndexType::ALL.map(IndexType::name).to_vec(),
    })?;
    check_start(op, Role::Indices, indices, index_type.bytes())?;
    Ok(index_type)
}

/// Refuses a tensor whose first element does not start at a multiple of so many bytes in its buffer.
pub(in crate::gpu) fn check_start(
    op: OpKind,
    role: Role,
    tensor: &AnyDeviceTensor,
    alignment: usize,
) -> Result<()> {
    match tensor.storage().misaligned(alignment as u64) {
        None => Ok(()),
        Some(offset) => Err(Error::Misaligned {
            op: Some(op),
            role,
            offset,
            alignment,
        }),
    }
}

/// Refuses elements of another type, which start where those of this type may.
pub(in crate::gpu) fn check_values(
    op: OpKind,
    role: Role,
    tensor: &AnyDeviceTensor,
    dtype: DType,
) -> Result<()> {
    crate::call::check_same(op, role, dtype, tensor.element_type())?;
    check_start(op, role, tensor, dtype.bytes().min(8))
}

/// Refuses an output of another shape, type or order.
pub(in crate::gpu) fn check_output(
    op: OpKind,
    output: &AnyDeviceTensor,
    element: ElementType,
    shape: &[usize],
) -> Result<()> {
    let (expected, got) = (element.bytes(), output.element_bytes());
    if got != expected {
        let role = Role::Output;
        return Err(Error::ElementWidth {
            op,
            role,
            expected,
            got,
        });
    }
    let layout = output.layout();
    if layout.shape() != shape {
        return Err(Error::OutputShape {
            op,
            expected: shape.to_vec(),
            got: layout.shape().to_vec(),
        });
    }
    if !layout.is_contiguous() {
        return Err(Error::OutputStrided {
            op,
            shape: layout.shape().to_vec(),
            strides: layout.strides().to_vec(),
        });
    }
    Ok(())
}
