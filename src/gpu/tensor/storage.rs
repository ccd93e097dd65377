//! Tensor storage: one buffer, or several when a tensor exceeds `max_buffer_size`.
//!
//! Allocates from the pool, and says what of the buffers a dispatch binds. Knows layouts, but no
//! element type and no plan.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::pool::{Owned, rounded};
use crate::gpu::tensor::reports::Reports;
use crate::plan::{Part, Segment};
use crate::shape::Layout;

/// The buffers of a tensor, and which part of its data is in each. Views of the tensor share it.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Storage {
    parts: Arc<[BufferPart]>,
    /// Bytes of the data.
    bytes: u64,
    /// Bad indices of the calls that wrote the data.
    reports: Arc<Reports>,
}

#[derive(Debug)]
struct BufferPart {
    owned: Arc<Owned>,
    part: Part,
}

/// The buffers of a tensor, borrowed for one recording.
#[derive(Debug, Clone)]
pub(crate) struct Placement<'a> {
    buffers: Buffers<'a>,
    pub(in crate::gpu) parts: SmallVec<[Part; 1]>,
}

/// The buffer of each part.
#[derive(Debug, Clone, Copy)]
enum Buffers<'a> {
    One(&'a wgpu::Buffer),
    Each(&'a [BufferPart]),
}

impl Storage {
    /// Data that starts at byte `offset` of the caller's buffer.
    pub(in crate::gpu) fn wrapped(buffer: &wgpu::Buffer, offset: u64) -> Self {
        let bytes = buffer.size().saturating_sub(offset);
        Storage::one(Owned::wrapped(buffer.clone()), offset, bytes)
    }

    /// The data of a buffer that the engine keeps, and nothing writes.
    pub(in crate::gpu) fn kept(buffer: &wgpu::Buffer) -> Self {
        Storage::one(Owned::kept(buffer.clone()), 0, buffer.size())
    }

    /// Data that starts at byte `offset` of a buffer.
    fn one(owned: Arc<Owned>, offset: u64, bytes: u64) -> Self {
        let part = part_of(owned.buffer().slice(offset..));
        Storage::of(vec![BufferPart { owned, part }], bytes)
    }

    fn of(parts: Vec<BufferPart>, bytes: u64) -> Self {
        Storage {
            parts: parts.into(),
            bytes,
            reports: Arc::default(),
        }
    }

    /// Bytes of the data.
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bad indices of the calls that wrote the data.
    pub(in crate::gpu) fn reports(&self) -> &Arc<Reports> {
        &self.reports
    }

    /// The buffers, the one with the start of the data first.
    pub(in crate::gpu) fn owned(&self) -> impl Iterator<Item = &Arc<Owned>> {
        self.parts.iter().map(|p| &p.owned)
    }

    /// The two have a buffer in common.
    pub(in crate::gpu) fn shares(&self, other: &Storage) -> bool {
        let has = |owned: &Arc<Owned>| other.owned().any(|o| o.buffer() == owned.buffer());
        self.owned().any(has)
    }

    /// The buffers with the bytes of the data that each holds.
    pub(in crate::gpu) fn parts(&self) -> impl Iterator<Item = (&Arc<Owned>, &Part)> {
        self.parts.iter().map(|p| (&p.owned, &p.part))
    }

    /// Refuses a tensor that another engine made.
    pub(in crate::gpu) fn check_owner(&self, context: &Context, role: Role) -> Result<()> {
        match self.owned().any(|o| o.is_of_another(&context.pool)) {
            true => Err(Error::OtherEngine { role }),
            false => Ok(()),
        }
    }

    /// Refuses a tensor that another engine made, and one whose data was never written.
    pub(in crate::gpu) fn check_readable(&self, context: &Context, role: Role) -> Result<()> {
        self.check_owner(context, role)?;
        self.reports.check_written()
    }

    /// Where in its buffer the data starts, if that is no multiple of `alignment`.
    pub(in crate::gpu) fn misaligned(&self, alignment: u64) -> Option<u64> {
        let starts = self
            .parts()
            .map(|(_, part)| part.origin.min(0).unsigned_abs());
        starts
            .take(1)
            .find(|start| !start.is_multiple_of(alignment))
    }

    /// Where the data lies.
    pub(in crate::gpu) fn placement(&self) -> Placement<'_> {
        Placement {
            buffers: Buffers::Each(&self.parts),
            parts: self.parts().map(|(_, &part)| part).collect(),
        }
    }
}

impl Context {
    /// A buffer for at least `bytes` bytes that a tensor can lie in: from the pool, else fresh.
    /// What it holds is not defined.
    pub(in crate::gpu) fn acquire(&self, label: &'static str, bytes: u64) -> Result<Arc<Owned>> {
        let size = rounded(bytes)
            .min(self.limits.max_buffer_size & !15)
            .max(bytes);
        let buffer = match self.pool.take(size) {
            Some(buffer) => buffer,
            None => self.fresh(label, size)?,
        };
        self.note_memory(&buffer, bytes, bytes);
        Ok(Owned::pooled(buffer, &self.pool, &self.queue))
    }

    /// A new buffer; if there is no memory for it, once more without what the pool keeps.
    fn fresh(&self, label: &'static str, size: u64) -> Result<wgpu::Buffer> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        match self.create_buffer(label, size, usage) {
            Err(Error::GpuOutOfMemory { .. }) if self.trim_pool() > 0 => {
                self.create_buffer(label, size, usage)
            }
            made => made,
        }
    }

    /// Frees what the pool keeps; says how many bytes that were.
    pub(in crate::gpu) fn trim_pool(&self) -> u64 {
        // What waits may use them.
        self.queue.flush();
        let bytes = self.pool.trim();
        // The device frees memory when it is asked how far it is.
        let _ = self.device.poll(wgpu::PollType::Poll);
        bytes
    }

    /// Memory for `bytes` bytes, from the pool or fresh: in one buffer, if the device has buffers
    /// so large; else in several, which break between two units of the first of `units_bytes` that
    /// is not too large itself: rows, or else elements. What it holds is not defined.
    pub(in crate::gpu) fn allocate(
        &self,
        label: &'static str,
        bytes: u64,
        units_bytes: &[usize],
    ) -> Result<Storage> {
        let limit = self.limits.max_buffer_size & !255;
        if bytes <= limit {
            return self.allocate_one(label, bytes, bytes);
        }
        let mut units = units_bytes.iter().map(|&unit| lcm(256, unit.max(1) as u64));
        let unit = units.find(|&unit| unit <= limit / 2).unwrap_or(256);
        let each = limit / unit * unit;
        let part = |start: u64| {
            let bytes = each.min(bytes - start);
            Ok(BufferPart {
                owned: self.acquire(label, bytes)?,
                part: Part {
                    origin: start as i64,
                    offset: 0,
                    bytes: bytes.next_multiple_of(16),
                },
            })
        };
        let starts = (0..bytes.div_ceil(each)).map(|n| n * each);
        let parts = starts.map(part).collect::<Result<Vec<_>>>()?;
        Ok(Storage::of(parts, bytes))
    }

    /// Memory for `bytes` bytes in one buffer, with so much room from their start on.
    pub(in crate::gpu) fn allocate_one(
        &self,
        label: &'static str,
        bytes: u64,
        room: u64,
    ) -> Result<Storage> {
        let owned = self.acquire(label, room)?;
        self.note_memory(owned.buffer(), bytes, room);
        Ok(Storage::one(owned, 0, bytes))
    }
}

impl<'a> Placement<'a> {
    /// Data that starts where the slice does.
    pub(in crate::gpu) fn of(slice: wgpu::BufferSlice<'a>) -> Self {
        Placement {
            buffers: Buffers::One(slice.buffer()),
            parts: smallvec![part_of(slice)],
        }
    }

    /// The data from its byte `byte` on, which then is byte 0. Negative: what lies before it, too.
    pub(in crate::gpu) fn with_origin(mut self, byte: i64) -> Self {
        self.parts.iter_mut().for_each(|p| p.origin -= byte);
        self
    }

    /// Checks that everything that `layout` reaches lies in the buffers, in whole words.
    pub(in crate::gpu) fn check(
        &self,
        op: OpKind,
        role: Role,
        layout: &Layout,
        element_bytes: usize,
    ) -> Result<()> {
        if layout.is_empty() {
            return Ok(());
        }
        let size: u64 = self.parts.iter().map(|part| part.bytes).sum();
        // A plan is made without data, so its layouts may lie anywhere.
        let Some((first, last)) = layout.reached() else {
            return Err(Error::ViewOutOfRange {
                role,
                shape: layout.shape().to_vec(),
                strides: layout.strides().to_vec(),
                offset: layout.offset(),
                len: size as usize / element_bytes,
            });
        };
        let (origin, width) = (i128::from(self.parts[0].origin), element_bytes as i128);
        let begin = first as i128 * width - origin;
        let end = (last as i128 + 1) * width - origin;
        // Bindings are whole words. A buffer that ends within the last word has none to bind.
        let words = (end + 3) & !3;
        if begin >= 0 && words <= i128::from(size) {
            return Ok(());
        }
        Err(Error::BufferTooSmall {
            op,
            role,
            needed: u64::try_from(words.max(0)).unwrap_or(u64::MAX),
            size,
        })
    }

    /// The buffer of a part.
    pub(in crate::gpu) fn buffer(&self, part: usize) -> &'a wgpu::Buffer {
        match self.buffers {
            Buffers::One(buffer) => buffer,
            Buffers::Each(parts) => parts[part].owned.buffer(),
        }
    }

    /// What is bound for `segment`.
    pub(in crate::gpu) fn binding(&self, segment: &Segment) -> wgpu::BindingResource<'a> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: self.buffer(segment.part),
            offset: segment.offset,
            size: wgpu::BufferSize::new(segment.size),
        })
    }
}

/// The part of a buffer that ends where the slice does, with the data from the start of the slice
/// on. Whole words, as far as the buffer has them: those are what is bound.
fn part_of(slice: wgpu::BufferSlice<'_>) -> Part {
    let end = (slice.offset() + slice.size()).next_multiple_of(4);
    Part {
        origin: -(slice.offset() as i64),
        offset: 0,
        bytes: end.min(slice.buffer().size()),
    }
}

/// The least common multiple.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}
