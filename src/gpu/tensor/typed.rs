//! Tensors on the device with the type of their elements.
//!
//! Parameters and results of an engine's typed calls: wrappers of `AnyDeviceTensor`, which does the work.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::gpu::tensor::any::{AnyDeviceTensor, views};
use crate::shape::Layout;

/// A tensor of `T` in a buffer of the device: a range of bytes with shape and strides.
///
/// Made by [`Engine::upload`](crate::gpu::Engine::upload), as the output of
/// [`Engine::gather`](crate::gpu::Engine::gather), or around a buffer of the caller
/// ([`DeviceTensor::wrap`]). Cloning it and making views of it copy nothing. When the last view
/// of a tensor that the engine made is dropped, its buffer serves the next one.
#[derive(Debug)]
pub struct DeviceTensor<T> {
    any: AnyDeviceTensor,
    element: PhantomData<fn() -> T>,
}

// By hand, as `T` need not be `Clone`.
impl<T> Clone for DeviceTensor<T> {
    fn clone(&self) -> Self {
        DeviceTensor::of_same(self.any.clone())
    }
}

impl<T> DeviceTensor<T> {
    /// A tensor of elements of `T`.
    fn of_same(any: AnyDeviceTensor) -> Self {
        DeviceTensor {
            any,
            element: PhantomData,
        }
    }
}

impl<T: Element> DeviceTensor<T> {
    /// A tensor whose elements are as wide as `T`, taken for elements of `T`.
    pub(in crate::gpu) fn of(any: AnyDeviceTensor) -> Self {
        DeviceTensor::of_same(any.typed(ElementType::of::<T>()))
    }

    /// A tensor in the caller's buffer. Position 0 of `layout` is the start of `slice`. Its strides count elements.
    ///
    /// The buffer needs the usage `STORAGE`, and `COPY_SRC` for [`Engine::download`](crate::gpu::Engine::download).
    ///
    /// ```no_run
    /// # fn rows(vertices: &wgpu_gather::wgpu::Buffer) -> wgpu_gather::Result<()> {
    /// use wgpu_gather::{Layout, gpu::DeviceTensor};
    ///
    /// // 100 rows of 4 floats that start 256 bytes into a buffer of the caller
    /// let rows = DeviceTensor::<f32>::wrap(vertices.slice(256..), Layout::contiguous(&[100, 4]))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::MissingUsage`] if the buffer lacks `STORAGE`, [`Error::Misaligned`] if the
    /// slice does not start at a multiple of `T`'s alignment, [`Error::TensorBeyondBuffer`] if the
    /// layout leaves the slice, [`Error::ZeroSizedElement`].
    pub fn wrap(slice: wgpu::BufferSlice<'_>, layout: Layout) -> Result<Self> {
        let (element, alignment) = (ElementType::of::<T>(), align_of::<T>());
        let any = AnyDeviceTensor::wrap_aligned(slice, element, alignment, layout)?;
        Ok(DeviceTensor::of(any))
    }

    fn view(&self, layout: Layout) -> Self {
        DeviceTensor::of(self.any.view(layout))
    }
}

views!(DeviceTensor<T> where T: Element);

/// Shape, layout and buffers are those of the tensor without its type.
impl<T> Deref for DeviceTensor<T> {
    type Target = AnyDeviceTensor;

    fn deref(&self) -> &AnyDeviceTensor {
        &self.any
    }
}

impl<T> AsRef<AnyDeviceTensor> for DeviceTensor<T> {
    fn as_ref(&self) -> &AnyDeviceTensor {
        &self.any
    }
}

impl<T> From<DeviceTensor<T>> for AnyDeviceTensor {
    fn from(tensor: DeviceTensor<T>) -> Self {
        tensor.any
    }
}

impl<T: Element> TryFrom<AnyDeviceTensor> for DeviceTensor<T> {
    type Error = Error;

    /// The same tensor, if its elements are as wide as `T`; else [`Error::TensorWidth`].
    fn try_from(any: AnyDeviceTensor) -> Result<Self> {
        let (expected, got) = (size_of::<T>(), any.element_bytes());
        match got == expected {
            true => Ok(DeviceTensor::of(any)),
            false => Err(Error::TensorWidth { expected, got }),
        }
    }
}
