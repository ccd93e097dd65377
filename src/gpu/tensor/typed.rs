//! Tensors on the device with the type of their elements.
//!
//! Parameters and results of an engine's typed calls: wrappers of `AnyDeviceTensor`, which does the work.

use std::marker::PhantomData;
use std::ops::Range;

use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::gpu::tensor::any::AnyDeviceTensor;
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

    /// The extent of each dim.
    pub fn shape(&self) -> &[usize] {
        self.any.shape()
    }

    /// Shape, strides and offset, in elements.
    pub fn layout(&self) -> &Layout {
        self.any.layout()
    }

    /// The buffer, or the first one: see [`DeviceTensor::share_parts`]. Once it was handed out, the
    /// engine will not use it again for other tensors, and holds back no gather that uses it.
    pub fn share_buffer(&self) -> &wgpu::Buffer {
        self.any.share_buffer()
    }

    /// The buffer from position 0 of the layout on, as [`DeviceTensor::share_buffer`] gives it.
    pub fn share_slice(&self) -> wgpu::BufferSlice<'_> {
        self.any.share_slice()
    }

    /// The slices of buffers that hold the data, in order: more than one if the engine made the tensor and it
    /// exceeds the device's `max_buffer_size`.
    pub fn share_parts(&self) -> impl Iterator<Item = wgpu::BufferSlice<'_>> {
        self.any.share_parts()
    }

    /// A view of the same elements, in the same row-major order, in another shape. Copies nothing.
    ///
    /// # Errors
    ///
    /// [`Error::ReshapeElements`] if the shapes differ in their number of elements, [`Error::ReshapeCopies`] if
    /// strides cannot express the new shape.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        self.any.reshape(shape).map(DeviceTensor::of)
    }

    /// A view with the dims in another order: dim `n` of it is dim `axes[n]` of this. Copies nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NoPermutation`] if `axes` does not name each dim once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        self.any.permute(axes).map(DeviceTensor::of)
    }

    /// A view of the part of dim `axis` that lies in `range`. Copies nothing.
    ///
    /// # Errors
    ///
    /// [`Error::SliceOutOfRange`] if there is no such dim, or the range leaves it.
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        self.any.slice(axis, range).map(DeviceTensor::of)
    }

    /// A view of `shape` that repeats dims of extent 1 and adds leading dims, as NumPy broadcasts. Copies nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NoBroadcast`] if a dim that is not 1 would change, or `shape` has fewer dims.
    pub fn broadcast(&self, shape: &[usize]) -> Result<Self> {
        self.any.broadcast(shape).map(DeviceTensor::of)
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
