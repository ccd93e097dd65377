//! Bytes to the device and back, in chunks: wgpu stages every transfer in host memory, and running
//! out of memory for that staging would lose the device.

use futures_intrusive::channel::shared::Sender;

use crate::error::{Error, Result};
use crate::gpu::engine::Engine;
use crate::gpu::scope::one_line;
use crate::gpu::wait::Drive;
use crate::plan::GeometryBlock;

/// Bytes staged at a time.
const CHUNK: usize = 16 << 20;

impl Engine {
    /// A buffer with these bytes, padded with zeros to a whole 16-byte lane.
    pub(super) async fn upload(
        &self,
        label: &'static str,
        bytes: &[u8],
        drive: Drive,
    ) -> Result<wgpu::Buffer> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = self.create_buffer(label, bytes.len(), usage)?;
        for (n, chunk) in bytes.chunks(CHUNK).enumerate() {
            let start = (n * CHUNK) as u64;
            self.scoped("an upload", || {
                let whole = chunk.len() & !3;
                self.queue().write_buffer(&buffer, start, &chunk[..whole]);
                if whole < chunk.len() {
                    let mut word = [0; 4];
                    word[..chunk.len() - whole].copy_from_slice(&chunk[whole..]);
                    self.queue()
                        .write_buffer(&buffer, start + whole as u64, &word);
                }
            })?;
            if bytes.len() > CHUNK {
                // The staging memory of this chunk is free once the copy is done.
                let submitted = self.queue().submit([]);
                self.settle(submitted, drive).await?;
            }
        }
        Ok(buffer)
    }

    /// A uniform buffer of its own for each dispatch: none is ever rewritten.
    pub(super) fn uniform(&self, block: &GeometryBlock) -> Result<wgpu::Buffer> {
        let bytes = bytemuck::bytes_of(block);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = self.create_buffer("geometry", bytes.len(), usage)?;
        self.scoped("an upload", || self.queue().write_buffer(&buffer, 0, bytes))?;
        Ok(buffer)
    }

    /// A buffer of at least `bytes` bytes, a whole number of 16-byte lanes and never empty.
    pub(super) fn create_buffer(
        &self,
        label: &'static str,
        bytes: usize,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        let size = padded(bytes);
        self.scoped(label, || {
            self.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        })
        .map_err(|error| match error {
            Error::GpuOutOfMemory { .. } => Error::GpuOutOfMemory {
                what: format!("{label} of {size} bytes"),
            },
            other => other,
        })
    }

    /// Reads the bytes of `buffer` from `start` on (a multiple of 4) into `output`.
    pub(super) async fn download(
        &self,
        buffer: &wgpu::Buffer,
        start: u64,
        output: &mut [u8],
        drive: Drive,
    ) -> Result<()> {
        if output.is_empty() {
            return Ok(());
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.create_buffer("download staging", output.len().min(CHUNK), usage)?;
        for (n, chunk) in output.chunks_mut(CHUNK).enumerate() {
            let size = chunk.len().next_multiple_of(4) as u64;
            let submitted = self.scoped("a download", || {
                let mut encoder = self.device().create_command_encoder(&Default::default());
                let at = start + (n * CHUNK) as u64;
                encoder.copy_buffer_to_buffer(buffer, at, &staging, 0, size);
                self.queue().submit([encoder.finish()])
            })?;
            self.map(&staging, submitted, drive).await?;
            let mapped = staging.slice(..size).get_mapped_range();
            let view = mapped.map_err(|error| Error::Gpu {
                what: "a download",
                reason: one_line(&error.to_string()),
            })?;
            chunk.copy_from_slice(&view[..chunk.len()]);
            drop(view);
            staging.unmap();
        }
        Ok(())
    }

    /// Maps all of `staging` for reading once `submitted` is done.
    async fn map(
        &self,
        staging: &wgpu::Buffer,
        submitted: wgpu::SubmissionIndex,
        drive: Drive,
    ) -> Result<()> {
        let map = |sender: Sender<Option<Result<(), wgpu::BufferAsyncError>>>| {
            self.scoped("a download", || {
                staging.map_async(wgpu::MapMode::Read, .., move |result| {
                    // Closed only if the caller dropped the future.
                    let _ = sender.try_send(Some(result));
                });
            })
        };
        let mut registered = Ok(());
        let mapped = self
            .answer(submitted, drive, |sender| registered = map(sender))
            .await;
        registered?;
        mapped?.map_err(|_| self.lost("a buffer could not be mapped"))
    }
}

/// Buffers hold whole 16-byte lanes, so that the widest lane covers their end.
fn padded(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(16).max(16)
}
