//! Typed tensors on the device: views into buffers.

use std::marker::PhantomData;
use std::ops::Range;

use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::gpu::status::Status;
use crate::gpu::storage::{Located, Storage};
use crate::shape::Layout;

/// A tensor of `T` in a buffer of the device: a range of bytes with shape and strides.
///
/// Made by [`Engine::upload`](crate::gpu::Engine::upload), as the output of
/// [`Engine::gather`](crate::gpu::Engine::gather), or around a buffer of the caller
/// ([`DeviceTensor::wrap`]). Cloning it and making views of it copy nothing. When the last view
/// of a tensor that the engine made is dropped, its buffer serves the next one.
#[derive(Debug)]
pub struct DeviceTensor<T> {
    storage: Storage,
    layout: Layout,
    /// Where the gathers that made this tensor counted bad indices, the earliest first.
    statuses: Vec<Status>,
    element: PhantomData<fn() -> T>,
}

// By hand, as `T` need not be `Clone`.
impl<T> Clone for DeviceTensor<T> {
    fn clone(&self) -> Self {
        DeviceTensor {
            storage: self.storage.clone(),
            layout: self.layout.clone(),
            statuses: self.statuses.clone(),
            element: PhantomData,
        }
    }
}

impl<T: Element> DeviceTensor<T> {
    /// A tensor in the caller's buffer. Position 0 of `layout` is the start of `slice`.
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
        let (buffer, start) = (slice.buffer(), slice.offset());
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::MissingUsage {
                op: None,
                role: Role::Tensor,
                usage: "STORAGE",
            });
        }
        if size_of::<T>() == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Params });
        }
        if !start.is_multiple_of(align_of::<T>() as u64) {
            return Err(Error::Misaligned {
                op: None,
                role: Role::Tensor,
                offset: start,
                alignment: align_of::<T>(),
            });
        }
        let len = slice.size() / size_of::<T>() as u64;
        let beyond = |needed| Error::TensorBeyondBuffer {
            shape: layout.shape().to_vec(),
            needed,
            got: slice.size(),
        };
        layout
            .check_within(Role::Params, usize::try_from(len).unwrap_or(usize::MAX))
            .map_err(|_| beyond(needed::<T>(&layout)))?;
        // Shaders see whole words: the last one must lie in the buffer.
        let end = start + needed::<T>(&layout);
        if end.next_multiple_of(4) > buffer.size() && !layout.is_empty() {
            return Err(beyond(end.next_multiple_of(4) - start));
        }
        Ok(DeviceTensor::new(Storage::wrapped(buffer, start), layout))
    }

    pub(super) fn new(storage: Storage, layout: Layout) -> Self {
        DeviceTensor {
            storage,
            layout,
            statuses: Vec::new(),
            element: PhantomData,
        }
    }

    /// The extent of each dim.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Shape, strides and offset, in elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The buffer, or the first one: see [`DeviceTensor::parts`]. Once it was handed out, the
    /// engine will not use it again for other tensors.
    pub fn buffer(&self) -> &wgpu::Buffer {
        let mut owned = self.storage.owned();
        owned.next().expect("a tensor has a buffer").share()
    }

    /// From the start of the buffer to position 0 of the layout, in bytes.
    pub fn start_bytes(&self) -> u64 {
        let mut parts = self.storage.parts();
        parts.next().map_or(0, |(_, part)| -part.start as u64)
    }

    /// The buffers that the data lies in, each with the bytes of the data that it holds. More than
    /// one, if the tensor was made by the engine and is larger than the device's
    /// `max_buffer_size`.
    pub fn parts(&self) -> impl Iterator<Item = (&wgpu::Buffer, Range<u64>)> {
        self.storage.parts().map(|(owned, part)| {
            let start = part.start.max(0) as u64;
            (
                owned.share(),
                start..(part.start + part.bytes as i64) as u64,
            )
        })
    }

    /// The same elements in another shape: see [`Layout::reshape`].
    ///
    /// # Errors
    ///
    /// As [`Layout::reshape`].
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.reshape(shape)?))
    }

    /// The dims in another order: see [`Layout::permute`].
    ///
    /// # Errors
    ///
    /// As [`Layout::permute`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.permute(axes)?))
    }

    /// A part of one dim: see [`Layout::slice`].
    ///
    /// # Errors
    ///
    /// As [`Layout::slice`].
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(self.view(self.layout.slice(axis, range)?))
    }

    /// The tensor repeated along dims: see [`Layout::broadcast`].
    ///
    /// # Errors
    ///
    /// As [`Layout::broadcast`].
    pub fn broadcast(&self, shape: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.broadcast(shape)?))
    }

    fn view(&self, layout: Layout) -> Self {
        DeviceTensor {
            layout,
            ..self.clone()
        }
    }

    /// Where the data lies, for the caller to use after the tensor is gone.
    pub(super) fn shared(&self) -> Located<'_> {
        self.storage.owned().for_each(|owned| {
            owned.share();
        });
        self.storage.located(0)
    }

    pub(super) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The layout from the first element that it reaches on, and where that lies.
    pub(super) fn reached(&self) -> (Layout, Located<'_>) {
        let first = self.layout.reached().map_or(0, |(first, _)| first);
        let located = self.storage.located((first * size_of::<T>()) as u64);
        (self.layout.moved(first), located)
    }

    pub(super) fn statuses(&self) -> &[Status] {
        &self.statuses
    }

    pub(super) fn set_statuses(&mut self, statuses: Vec<Status>) {
        self.statuses = statuses;
    }
}

/// Bytes from position 0 of the data to the end of the last element that is reached.
fn needed<T>(layout: &Layout) -> u64 {
    match layout.reached() {
        Some((_, last)) => (last as u64)
            .saturating_add(1)
            .saturating_mul(size_of::<T>() as u64),
        // nothing, or beyond every address
        None if layout.is_empty() => 0,
        None => u64::MAX,
    }
}
