//! Bytes to buffers and back, in chunks of staging memory.
//!
//! Used for every transfer of a tensor and of a status. Knows where data lies, not what it is.

mod ring;
pub(crate) mod wait;

use std::ops::Range;

use crate::error::{Error, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::queue::Queue;
use crate::gpu::device::staging::{Direction, chunk_bytes};
use crate::gpu::tensor::storage::{Placement, Storage};
use crate::gpu::transfer::ring::Ring;
use crate::waiting::PollMode;

/// Up to this many bytes, wgpu's own staging serves: it needs no wait. In a browser, always: what
/// is mapped there is copied twice more.
const SMALL: usize = match cfg!(target_arch = "wasm32") {
    true => isize::MAX as usize,
    false => 256 << 10,
};

impl Context {
    /// Writes `bytes` as the data of `storage`. The rest of the last word becomes zero.
    pub(super) async fn write(
        &self,
        storage: &Storage,
        bytes: &[u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        for (owned, part) in storage.parts() {
            let end = part.end().min(bytes.len() as i64) as usize;
            let bytes = &bytes[part.origin as usize..end];
            self.write_one(owned.buffer(), bytes, poll_mode).await?;
        }
        Ok(())
    }

    async fn write_one(
        &self,
        buffer: &wgpu::Buffer,
        bytes: &[u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        if bytes.len() <= SMALL {
            return self.scoped("an upload", || write_small(&self.queue, buffer, bytes));
        }
        let mut ring = Ring::new(self, Direction::Up, poll_mode);
        let chunk_bytes = chunk_bytes(&self.limits);
        for (n, part) in bytes.chunks(chunk_bytes).enumerate() {
            if ring.is_full() {
                ring.finish_one(|_, ()| Ok(())).await?;
            }
            let chunk = ring.take()?;
            let size = part.len().next_multiple_of(4);
            let at = (n * chunk_bytes) as u64;
            self.fill(&chunk, part)?;
            let encoder = self.scoped("an upload", || {
                chunk.unmap();
                let mut encoder = self.device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(&chunk, 0, buffer, at, size as u64);
                encoder
            })?;
            ring.submit(encoder, chunk, chunk_bytes as u64, ())?;
        }
        while ring.is_busy() {
            ring.finish_one(|_, ()| Ok(())).await?;
        }
        Ok(())
    }

    /// Reads the first words of a buffer.
    pub(super) async fn read_words(
        &self,
        buffer: &wgpu::Buffer,
        words: &mut [u32],
        poll_mode: PollMode,
    ) -> Result<()> {
        let output = bytemuck::cast_slice_mut(words);
        self.read_one(buffer, 0, output, poll_mode).await
    }

    /// Reads the data at `placement` into `output`.
    pub(super) async fn read(
        &self,
        placement: Placement<'_>,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        let total = output.len() as u64;
        for (n, part) in placement.parts.iter().enumerate() {
            let start = part.origin.clamp(0, total as i64);
            let end = part.end().clamp(start, total as i64);
            let output = &mut output[start as usize..end as usize];
            let at = part.offset as usize + (start - part.origin) as usize;
            let buffer = placement.buffer(n);
            self.read_one(buffer, at, output, poll_mode).await?;
        }
        Ok(())
    }

    async fn read_one(
        &self,
        buffer: &wgpu::Buffer,
        start: usize,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        if !buffer.usage().contains(wgpu::BufferUsages::COPY_SRC) {
            return Err(Error::MissingUsage {
                op: None,
                role: Role::Tensor,
                usage: "COPY_SRC",
            });
        }
        let total = output.len();
        let mut ring = Ring::new(self, Direction::Down, poll_mode);
        let chunk_bytes = chunk_bytes(&self.limits);
        let (mut sent, mut done) = (0, 0);
        while done < total {
            if sent < total && !ring.is_full() {
                // Copies are whole words: the first may start before the tensor.
                let lead = (start + sent) % 4;
                let len = (total - sent).min(chunk_bytes - lead);
                let size = (lead + len).next_multiple_of(4) as u64;
                let at = (start + sent - lead) as u64;
                let chunk = ring.take()?;
                let encoder = self.scoped("a download", || {
                    let mut encoder = self.device.create_command_encoder(&Default::default());
                    encoder.copy_buffer_to_buffer(buffer, at, &chunk, 0, size);
                    encoder
                })?;
                ring.submit(encoder, chunk, size, (lead, sent..sent + len))?;
                sent += len;
                continue;
            }
            ring.finish_one(|chunk, (lead, to): (usize, Range<usize>)| {
                let size = (lead + to.len()).next_multiple_of(4) as u64;
                let mapped = chunk.slice(..size).get_mapped_range();
                let mapped = mapped.map_err(|error| self.not_mapped(Direction::Down, &error))?;
                done = to.end;
                output[to.clone()].copy_from_slice(&mapped[lead..lead + to.len()]);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// Writes `part` into a mapped chunk, and zeros to the end of its last word.
    fn fill(&self, chunk: &wgpu::Buffer, part: &[u8]) -> Result<()> {
        let size = part.len().next_multiple_of(4);
        let mapped = chunk.slice(..size as u64).get_mapped_range_mut();
        let mut mapped = mapped.map_err(|error| self.not_mapped(Direction::Up, &error))?;
        mapped.slice(..part.len()).copy_from_slice(part);
        mapped
            .slice(part.len()..)
            .copy_from_slice(&[0; 3][..size - part.len()]);
        Ok(())
    }
}

/// Writes through wgpu's own staging.
fn write_small(queue: &Queue, buffer: &wgpu::Buffer, bytes: &[u8]) {
    let whole = bytes.len() & !3;
    if whole > 0 {
        queue.write_buffer(buffer, 0, &bytes[..whole]);
    }
    if whole < bytes.len() {
        let mut word = [0; 4];
        word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
        queue.write_buffer(buffer, whole as u64, &word);
    }
}
