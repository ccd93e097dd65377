//! Tensors in buffers: which bytes of a buffer a view reaches, and how they are bound.

use crate::error::{Error, OpKind, Result, Role};
use crate::shape::Layout;

/// Where the data of a tensor lies: `position 0` of its layout is `origin` bytes into the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Located<'a> {
    pub(super) buffer: &'a wgpu::Buffer,
    /// Negative if the buffer holds only what a view reaches, not the start of its data.
    pub(super) origin: i64,
}

/// A window of a buffer that covers what a view reaches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) buffer: &'a wgpu::Buffer,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// From the start of the binding to position 0 of the data, in bytes.
    pub(super) start: i64,
}

impl<'a> Located<'a> {
    /// The window of the bytes from the first element that `layout` reaches to the last, from the
    /// aligned offset below the first on; `nothing`, where it reaches none.
    pub(super) fn window(
        &self,
        op: OpKind,
        role: Role,
        layout: &Layout,
        element_bytes: usize,
        limits: &wgpu::Limits,
        nothing: &'a wgpu::Buffer,
    ) -> Result<Window<'a>> {
        if layout.is_empty() {
            return Ok(Window::whole(nothing));
        }
        // A plan is made without data, so its layouts may lie anywhere.
        let Some((first, last)) = layout.reached() else {
            return Err(Error::ViewOutOfRange {
                role,
                shape: layout.shape().to_vec(),
                strides: layout.strides().to_vec(),
                offset: layout.offset(),
                len: self.buffer.size() as usize / element_bytes,
            });
        };
        let (origin, width) = (i128::from(self.origin), element_bytes as i128);
        let begin = origin + first as i128 * width;
        let end = origin + (last as i128 + 1) * width;
        let size = self.buffer.size();
        if begin < 0 || end > i128::from(size) {
            return Err(Error::BufferTooSmall {
                op,
                role,
                needed: u64::try_from(end.max(0)).unwrap_or(u64::MAX),
                size,
            });
        }
        let (begin, end) = (begin as u64, end as u64);
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment).max(16);
        let offset = begin / alignment * alignment;
        // Bindings are whole words. A buffer that ends within the last word has none to bind.
        let size = (end - offset).next_multiple_of(4).max(16);
        let size = size.min((self.buffer.size() - offset) & !3);
        if offset + size < end {
            return Err(Error::BufferTooSmall {
                op,
                role,
                needed: end.next_multiple_of(4),
                size: self.buffer.size(),
            });
        }
        let limit = binding_limit(limits);
        if size > limit {
            let bytes = size;
            return Err(Error::TensorTooLarge {
                op,
                role,
                bytes,
                limit,
            });
        }
        Ok(Window {
            buffer: self.buffer,
            offset,
            size,
            start: self.origin - offset as i64,
        })
    }
}

impl<'a> Window<'a> {
    /// All of a buffer.
    pub(super) fn whole(buffer: &'a wgpu::Buffer) -> Self {
        Window {
            buffer,
            offset: 0,
            size: buffer.size(),
            start: 0,
        }
    }

    pub(super) fn entry(&self, binding: u32) -> wgpu::BindGroupEntry<'a> {
        wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: self.buffer,
                offset: self.offset,
                size: wgpu::BufferSize::new(self.size),
            }),
        }
    }
}

/// The most bytes of a tensor: one binding of one buffer, in whole words, and below 2^31 so that
/// byte positions in shaders never wrap.
pub(super) fn binding_limit(limits: &wgpu::Limits) -> u64 {
    limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size)
        .min(i32::MAX as u64)
        & !15
}
