//! Memory that host and device both see, in chunks: a transfer of any size goes through a ring of
//! a few chunks, which later transfers use again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::gpu::engine::Engine;
use crate::gpu::scope::one_line;
use crate::gpu::wait::{Drive, Question};

/// Bytes of a chunk, on devices with buffers so large.
const CHUNK: usize = 4 << 20;
/// Chunks of one transfer that are under way at a time, and that are kept in each direction.
pub(super) const RING: usize = 4;

impl Engine {
    /// Bytes of a staging chunk; a multiple of 4.
    pub(super) fn chunk_bytes(&self) -> usize {
        (CHUNK as u64).min(self.limits().max_buffer_size & !3) as usize
    }
}

/// Which way the bytes go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// To the device. Chunks that are not in use are mapped.
    Up,
    /// From the device. Chunks that are not in use are not mapped.
    Down,
}

impl Way {
    fn usage(self) -> wgpu::BufferUsages {
        match self {
            Way::Up => wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            Way::Down => wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        }
    }

    fn mode(self) -> wgpu::MapMode {
        match self {
            Way::Up => wgpu::MapMode::Write,
            Way::Down => wgpu::MapMode::Read,
        }
    }

    fn what(self) -> &'static str {
        match self {
            Way::Up => "an upload",
            Way::Down => "a download",
        }
    }
}

/// The chunks that no transfer uses.
#[derive(Debug, Default)]
pub(super) struct Staging {
    up: Mutex<Vec<wgpu::Buffer>>,
    down: Mutex<Vec<wgpu::Buffer>>,
}

impl Staging {
    fn of(&self, way: Way) -> std::sync::MutexGuard<'_, Vec<wgpu::Buffer>> {
        let free = match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        };
        free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The chunks of one transfer, the oldest first, each with what it is for.
pub(super) struct Ring<'e, D> {
    engine: &'e Engine,
    way: Way,
    drive: Drive,
    under_way: VecDeque<(wgpu::Buffer, Question<Mapped>, D)>,
}

type Mapped = std::result::Result<(), wgpu::BufferAsyncError>;

impl<'e, D> Ring<'e, D> {
    pub(super) fn new(engine: &'e Engine, way: Way, drive: Drive) -> Self {
        Ring {
            engine,
            way,
            drive,
            under_way: VecDeque::with_capacity(RING),
        }
    }

    /// Whether a chunk must be finished before another is taken.
    pub(super) fn is_full(&self) -> bool {
        self.under_way.len() == RING
    }

    /// A chunk that nobody uses.
    pub(super) fn take(&self) -> Result<wgpu::Buffer> {
        let free = self.engine.staging().of(self.way).pop();
        if let Some(chunk) = free {
            return Ok(chunk);
        }
        let what = self.way.what();
        self.engine.scoped(what, || {
            self.engine.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some("wgpu-gather staging"),
                size: self.engine.chunk_bytes() as u64,
                usage: self.way.usage(),
                mapped_at_creation: matches!(self.way, Way::Up),
            })
        })
    }

    /// Submits `encoder`, which copies to or from `chunk`, and asks for `bytes` bytes of it to be
    /// mapped.
    pub(super) fn submit(
        &mut self,
        encoder: wgpu::CommandEncoder,
        chunk: wgpu::Buffer,
        bytes: u64,
        duty: D,
    ) -> Result<()> {
        let what = self.way.what();
        let engine = self.engine;
        let question = engine.scoped(what, || {
            let submitted = engine.queue().submit([encoder.finish()]);
            engine.ask(submitted, |answer| {
                chunk.map_async(self.way.mode(), ..bytes, answer);
            })
        })?;
        let question = question.with_late(engine);
        self.under_way.push_back((chunk, question, duty));
        Ok(())
    }

    /// Waits for the oldest chunk: `use_it` reads it, if there is one under way.
    pub(super) async fn finish_one(
        &mut self,
        use_it: impl FnOnce(&wgpu::Buffer, D) -> Result<()>,
    ) -> Result<()> {
        let Some((chunk, question, duty)) = self.under_way.pop_front() else {
            return Ok(());
        };
        let mapped = self.engine.answer(question, self.drive).await?;
        mapped.map_err(|_| self.engine.lost("a buffer could not be mapped"))?;
        use_it(&chunk, duty)?;
        if let Way::Down = self.way {
            chunk.unmap();
        }
        let mut free = self.engine.staging().of(self.way);
        if free.len() < RING {
            free.push(chunk);
        }
        Ok(())
    }

    /// Whether chunks are under way.
    pub(super) fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }
}

/// wgpu's error for a range that is not mapped.
pub(super) fn not_mapped(way: Way) -> impl Fn(wgpu::MapRangeError) -> Error {
    move |error| Error::Gpu {
        what: way.what(),
        reason: one_line(&error.to_string()),
    }
}
