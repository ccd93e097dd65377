//! The staging chunks of one transfer: a transfer of any size goes through a few.
//!
//! Used by `transfer`. Knows buffers, not tensors.

use std::collections::VecDeque;

use crate::error::Result;
use crate::gpu::context::Context;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::poller::Transfer;
use crate::gpu::device::staging::{Direction, RING, chunk_bytes};
use crate::gpu::transfer::wait::Callback;
use crate::waiting::PollMode;

/// The chunks of one transfer, the oldest first, each with what it is for.
pub(in crate::gpu) struct Ring<'c, D> {
    context: &'c Context,
    direction: Direction,
    poll_mode: PollMode,
    under_way: VecDeque<(wgpu::Buffer, Callback<Mapped>, D)>,
    #[cfg(not(target_arch = "wasm32"))]
    _transfer: Option<Transfer>,
}

type Mapped = std::result::Result<(), wgpu::BufferAsyncError>;

impl<'c, D> Ring<'c, D> {
    pub(in crate::gpu) fn new(
        context: &'c Context,
        direction: Direction,
        poll_mode: PollMode,
    ) -> Self {
        Ring {
            context,
            direction,
            poll_mode,
            under_way: VecDeque::with_capacity(RING),
            #[cfg(not(target_arch = "wasm32"))]
            _transfer: poll_mode.transfer(context),
        }
    }

    /// A chunk must be finished before another is taken.
    pub(in crate::gpu) fn is_full(&self) -> bool {
        self.under_way.len() == RING
    }

    /// Chunks are in flight.
    pub(in crate::gpu) fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// A chunk that nobody uses.
    pub(in crate::gpu) fn take(&self) -> Result<wgpu::Buffer> {
        if let Some(chunk) = self.context.staging.take(self.direction) {
            return Ok(chunk);
        }
        self.context.scoped(self.direction.what(), || {
            self.context.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("wgpu-gather staging"),
                size: chunk_bytes(&self.context.limits) as u64,
                usage: self.direction.usage(),
                mapped_at_creation: matches!(self.direction, Direction::Up),
            })
        })
    }

    /// Submits `encoder`, which copies to or from `chunk`, and asks for `bytes` bytes of it to be
    /// mapped.
    pub(in crate::gpu) fn submit(
        &mut self,
        encoder: wgpu::CommandEncoder,
        chunk: wgpu::Buffer,
        bytes: u64,
        duty: D,
    ) -> Result<()> {
        let context = self.context;
        let what = self.direction.what();
        let commands = context.scoped(what, || encoder.finish())?;
        let submitted = context.submit_commands(what, commands)?;
        let callback = context.scoped(what, || {
            Callback::register(submitted, |done| {
                chunk.map_async(self.direction.mode(), ..bytes, done);
            })
        })?;
        let callback = callback.with_deferred_errors(context);
        self.under_way.push_back((chunk, callback, duty));
        Ok(())
    }

    /// Waits for the oldest chunk: `use_it` reads it, if there is one under way.
    pub(in crate::gpu) async fn finish_one(
        &mut self,
        use_it: impl FnOnce(&wgpu::Buffer, D) -> Result<()>,
    ) -> Result<()> {
        let Some((chunk, callback, duty)) = self.under_way.pop_front() else {
            return Ok(());
        };
        let mapped = callback.wait(self.context, self.poll_mode).await?;
        mapped.map_err(|_| self.context.lost("a buffer could not be mapped"))?;
        use_it(&chunk, duty)?;
        if let Direction::Down = self.direction {
            // In scopes: a device that was lost since has taken the chunk with it.
            self.context
                .scoped(self.direction.what(), || chunk.unmap())?;
        }
        self.context.staging.recycle(self.direction, chunk);
        Ok(())
    }
}
