//! Tensors on the device whose element type is known at run time.
//!
//! Calls and transfers work on these; `tensor` has the same with a type. Knows no plan.

use std::fmt;

use crate::element::ElementType;
use crate::error::{Error, Result, Role};
use crate::gpu::tensor::storage::{Placement, Storage};
use crate::shape::Layout;

/// A [`DeviceTensor`](crate::gpu::DeviceTensor) whose element type is known at run time only
/// ([`ElementType`]): every verb takes it.
///
/// Made by an upload of [`Params`](crate::Params) or [`Indices`](crate::Indices), by calls on such tensors,
/// around a buffer of the caller ([`AnyDeviceTensor::wrap`]), or from a typed tensor;
/// `DeviceTensor::try_from` gives a typed one back. Cloning it and making views of it copy nothing.
///
/// ```no_run
/// # async fn rows(engine: wgpu_gather::gpu::Engine, bytes: &[u8]) -> wgpu_gather::Result<()> {
/// use wgpu_gather::{DType, Indices, IndexType, Layout, Op, Params, Rules};
///
/// // What a file says: 100 rows of 4 elements.
/// let table = Params::new(bytes, DType::BF16, Layout::contiguous(&[100, 4]))?;
/// let table = engine.upload(&table).await?;
/// let ids = Indices::new(vec![7, 0, 0, 0, 9, 0, 0, 0], IndexType::U32, Layout::contiguous(&[2]))?;
/// let ids = engine.upload(&ids).await?;
///
/// let rows = engine.gather(Op::gather(0), &Rules::default(), &table, &ids)?;
/// let mut bytes = vec![0; 2 * 4 * 2];
/// engine.download_bytes(&rows, &mut bytes).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AnyDeviceTensor {
    storage: Storage,
    layout: Layout,
    element: ElementType,
}

impl AnyDeviceTensor {
    /// A tensor in the caller's buffer. Position 0 of `layout` is the start of `slice`, which is a
    /// multiple of the largest of 1, 2, 4 and 8 that divides the width of an element.
    ///
    /// `element` is a [`DType`](crate::DType), or a number of bytes for elements that are gathered only.
    ///
    /// # Errors
    ///
    /// [`Error::MissingUsage`] if the buffer lacks `STORAGE`, [`Error::Misaligned`] if the slice starts elsewhere,
    /// [`Error::TensorBeyondBuffer`] if the layout leaves the slice, [`Error::ZeroSizedElement`].
    pub fn wrap(
        slice: wgpu::BufferSlice<'_>,
        element: impl Into<ElementType>,
        layout: Layout,
    ) -> Result<Self> {
        let element = element.into();
        let alignment = 1 << element.bytes().trailing_zeros().min(3);
        AnyDeviceTensor::wrap_aligned(slice, element, alignment, layout)
    }

    pub(in crate::gpu) fn wrap_aligned(
        slice: wgpu::BufferSlice<'_>,
        element: ElementType,
        alignment: usize,
        layout: Layout,
    ) -> Result<Self> {
        let element_bytes = element.bytes();
        let (buffer, offset) = (slice.buffer(), slice.offset());
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::MissingUsage {
                op: None,
                role: Role::Tensor,
                usage: "STORAGE",
            });
        }
        if element_bytes == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Params });
        }
        if !offset.is_multiple_of(alignment as u64) {
            return Err(Error::Misaligned {
                op: None,
                role: Role::Tensor,
                offset,
                alignment,
            });
        }
        let beyond = |needed| Error::TensorBeyondBuffer {
            shape: layout.shape().to_vec(),
            needed,
            got: slice.size(),
        };
        let len = slice.size() / element_bytes as u64;
        let needed = needed(&layout, element_bytes);
        layout
            .check_within(Role::Params, usize::try_from(len).unwrap_or(usize::MAX))
            .map_err(|_| beyond(needed))?;
        // Shaders see whole words: the last one must lie in the buffer.
        let end = (offset + needed).next_multiple_of(4);
        if end > buffer.size() && !layout.is_empty() {
            return Err(beyond(end - offset));
        }
        let storage = Storage::wrapped(buffer, offset);
        Ok(AnyDeviceTensor::new(storage, layout, element))
    }

    pub(in crate::gpu) fn new(storage: Storage, layout: Layout, element: ElementType) -> Self {
        AnyDeviceTensor {
            storage,
            layout,
            element,
        }
    }

    /// The same elements, taken for another type of their width.
    pub(in crate::gpu) fn typed(self, element: ElementType) -> Self {
        AnyDeviceTensor { element, ..self }
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.element.bytes()
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.element
    }

    /// The extent of each dim.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Shape, strides and offset, in elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The buffer, or the first one: see [`AnyDeviceTensor::share_parts`]. Once it was handed out, the
    /// engine will not use it again for other tensors, and holds back no gather that uses it.
    pub fn share_buffer(&self) -> &wgpu::Buffer {
        let mut owned = self.storage.owned();
        owned.next().expect("a tensor has a buffer").share()
    }

    /// The buffer from position 0 of the layout on, as [`AnyDeviceTensor::share_buffer`] gives it.
    pub fn share_slice(&self) -> wgpu::BufferSlice<'_> {
        let mut parts = self.share_parts();
        parts.next().expect("a tensor has a buffer")
    }

    /// The slices of buffers that hold the data, in order: more than one if the engine made the tensor and it
    /// exceeds the device's `max_buffer_size`.
    pub fn share_parts(&self) -> impl Iterator<Item = wgpu::BufferSlice<'_>> {
        self.storage.parts().map(|(owned, part)| {
            let before = part.origin.min(0).unsigned_abs();
            let start = part.offset + before;
            owned.share().slice(start..part.offset + part.bytes)
        })
    }

    pub(super) fn view(&self, layout: Layout) -> Self {
        AnyDeviceTensor {
            layout,
            ..self.clone()
        }
    }

    pub(in crate::gpu) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The layout from the first element that it reaches on.
    pub(in crate::gpu) fn reached(&self) -> Layout {
        self.layout.with_origin(self.first())
    }

    /// Where the first element that it reaches lies.
    pub(in crate::gpu) fn placement(&self) -> Placement<'_> {
        let first_byte = (self.first() * self.element_bytes()) as i64;
        self.storage.placement().with_origin(first_byte)
    }

    fn first(&self) -> usize {
        self.layout.reached().map_or(0, |(first, _)| first)
    }

    /// Whether its elements, in order, are all of the data of its storage.
    pub(in crate::gpu) fn is_whole(&self) -> bool {
        // A view that repeats elements may have more of them than can be counted.
        let elements = Layout::checked_elements(self.shape()).unwrap_or(usize::MAX);
        let bytes = elements.saturating_mul(self.element_bytes());
        let starts = self.layout.offset() == 0 && self.layout.is_contiguous();
        starts && bytes as u64 >= self.storage.bytes()
    }
}

/// Other views of the same elements, for a tensor with `layout` and `view`, which gives it another layout.
macro_rules! views {
    ($type:ty $(where $element:ident: $bound:ident)?) => {
        impl $(<$element: $bound>)? $type {
            /// A view of the same elements, in the same row-major order, in another shape. Copies nothing.
            ///
            /// # Errors
            ///
            /// [`Error::ReshapeElements`] if the shapes differ in their number of elements,
            /// [`Error::ReshapeCopies`] if strides cannot express the new shape.
            pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
                Ok(self.view(self.layout().reshape(shape)?))
            }

            /// A view with the dims in another order: dim `n` of it is dim `axes[n]` of this. Copies nothing.
            ///
            /// # Errors
            ///
            /// [`Error::NoPermutation`] if `axes` does not name each dim once.
            pub fn permute(&self, axes: &[usize]) -> Result<Self> {
                Ok(self.view(self.layout().permute(axes)?))
            }

            /// A view of the part of dim `axis` that lies in `range`. Copies nothing.
            ///
            /// # Errors
            ///
            /// [`Error::SliceOutOfRange`] if there is no such dim, or the range leaves it.
            pub fn slice(&self, axis: usize, range: std::ops::Range<usize>) -> Result<Self> {
                Ok(self.view(self.layout().slice(axis, range)?))
            }

            /// A view of `shape` that repeats dims of extent 1 and adds leading dims, as NumPy broadcasts. Copies
            /// nothing.
            ///
            /// # Errors
            ///
            /// [`Error::NoBroadcast`] if a dim that is not 1 would change, or `shape` has fewer dims.
            pub fn broadcast(&self, shape: &[usize]) -> Result<Self> {
                Ok(self.view(self.layout().broadcast(shape)?))
            }
        }
    };
}

pub(super) use views;

views!(AnyDeviceTensor);

impl fmt::Debug for AnyDeviceTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyDeviceTensor")
            .field("shape", &self.layout.shape())
            .field("strides", &self.layout.strides())
            .field("offset", &self.layout.offset())
            .field("type", &format_args!("{}", self.element))
            .field("buffers", &self.storage.owned().count())
            .finish()
    }
}

impl AsRef<AnyDeviceTensor> for AnyDeviceTensor {
    fn as_ref(&self) -> &AnyDeviceTensor {
        self
    }
}

/// Bytes from position 0 of the data to the end of the last element that is reached.
fn needed(layout: &Layout, element_bytes: usize) -> u64 {
    match layout.reached() {
        Some((_, last)) => (last as u64)
            .saturating_add(1)
            .saturating_mul(element_bytes as u64),
        // nothing, or beyond every address
        None if layout.is_empty() => 0,
        None => u64::MAX,
    }
}
