//! Memory that host and device both see, in chunks that transfers use again.
//!
//! Held by the context; `ring` takes chunks and puts them back. Knows no transfer.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a chunk, on devices with buffers so large.
const CHUNK: usize = 4 << 20;
/// Chunks of one transfer that are under way at a time, and that are kept in each direction.
pub(in crate::gpu) const RING: usize = 4;

/// Bytes of a staging chunk; a multiple of 4.
pub(in crate::gpu) fn chunk_bytes(limits: &wgpu::Limits) -> usize {
    (CHUNK as u64).min(limits.max_buffer_size & !3) as usize
}

/// Which way the bytes go.
#[derive(Debug, Clone, Copy)]
pub(in crate::gpu) enum Direction {
    /// To the device. Chunks that are not in use are mapped.
    Up,
    /// From the device. Chunks that are not in use are not mapped.
    Down,
}

impl Direction {
    pub(in crate::gpu) fn usage(self) -> wgpu::BufferUsages {
        match self {
            Direction::Up => wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            Direction::Down => wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        }
    }

    pub(in crate::gpu) fn mode(self) -> wgpu::MapMode {
        match self {
            Direction::Up => wgpu::MapMode::Write,
            Direction::Down => wgpu::MapMode::Read,
        }
    }

    /// What errors call it.
    pub(in crate::gpu) fn what(self) -> &'static str {
        match self {
            Direction::Up => "an upload",
            Direction::Down => "a download",
        }
    }
}

/// The chunks that no transfer uses.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Staging {
    up: Mutex<Vec<wgpu::Buffer>>,
    down: Mutex<Vec<wgpu::Buffer>>,
}

impl Staging {
    /// A chunk that was used before.
    pub(in crate::gpu) fn take(&self, direction: Direction) -> Option<wgpu::Buffer> {
        self.of(direction).pop()
    }

    /// Keeps a chunk, unless there are enough.
    pub(in crate::gpu) fn recycle(&self, direction: Direction, chunk: wgpu::Buffer) {
        let mut free = self.of(direction);
        if free.len() < RING {
            free.push(chunk);
        }
    }

    fn of(&self, direction: Direction) -> MutexGuard<'_, Vec<wgpu::Buffer>> {
        let free = match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        };
        free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
