//! The queue of an engine, where small gathers wait to be submitted together.
//!
//! A submission costs more than a small gather. So a gather waits if nobody can see that it does:
//! if it reads and writes only buffers that the engine made and never handed out. Everything
//! through which its effect could be seen goes through here and submits first what waits:
//!
//! - a submission of the engine: downloads, uploads in chunks, batches, gathers with a buffer that
//!   the caller has;
//! - a write by the queue, which lands before the commands of the next submission: it may go to
//!   the recycled buffer of a tensor that a waiting gather reads;
//! - handing out a buffer, which the caller's own submissions may use from then on;
//! - freeing a buffer, whose memory what waits would hold.
//!
//! The context holds it, and every buffer that the engine made. It knows no tensor.

use std::sync::{Mutex, MutexGuard, PoisonError};

use parking_lot::ReentrantMutex;

use crate::error::{Error, Result};
use crate::gpu::commands::{Command, encode};
use crate::gpu::deferred::DeferredErrors;

/// The most gathers that wait. In a browser none does: there a gather is found to be invalid only
/// after its call has returned, and would take those with it that share its submission.
const MOST_CALLS: usize = match cfg!(target_arch = "wasm32") {
    true => 1,
    false => 32,
};

/// The most bytes that waiting gathers write, so that a device that idles meanwhile soon catches up.
const MOST_BYTES: u64 = 256 << 10;

/// A queue with gathers that wait for a submission.
#[derive(Debug)]
pub(super) struct Queue {
    queue: wgpu::Queue,
    device: wgpu::Device,
    deferred: DeferredErrors,
    waiting: Mutex<Waiting>,
    most_bytes: u64,
    /// Held while what waited is submitted: another thread's work must not overtake it.
    /// Reentrant, as wgpu runs callbacks of the caller within a submission, which may call the
    /// engine: what waited is submitted by then.
    order: ReentrantMutex<()>,
}

#[derive(Debug, Default)]
struct Waiting {
    commands: Vec<Command>,
    calls: usize,
    bytes: u64,
    /// The first error of a submission of what waited, until somebody is told.
    failure: Option<Error>,
}

impl Queue {
    /// A queue whose submissions of what waited write at most `max_pass_bytes`, or what one gather
    /// does.
    pub(super) fn new(
        queue: wgpu::Queue,
        device: wgpu::Device,
        deferred: DeferredErrors,
        max_pass_bytes: u64,
    ) -> Self {
        Queue {
            most_bytes: MOST_BYTES.min(max_pass_bytes),
            queue,
            device,
            deferred,
            waiting: Mutex::default(),
            order: ReentrantMutex::new(()),
        }
    }

    /// The caller's queue. What is submitted or written with it overtakes what waits.
    pub(super) fn inner(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Takes the commands of one gather, unless the caller has a buffer that they use. They wait
    /// until [`Queue::flush`], or until there are enough of them.
    pub(super) fn defer(&self, commands: &mut Vec<Command>, is_shared: impl FnOnce() -> bool) {
        let mut waiting = self.lock();
        // Asked under the lock: a thread that hands out a buffer marks it as shared, and flushes
        // then. Either it finds these commands here, or they find the mark.
        if is_shared() {
            return;
        }
        waiting.calls += 1;
        waiting.bytes += commands.iter().map(Command::bytes).sum::<u64>();
        waiting.commands.append(commands);
        let is_full = waiting.calls >= MOST_CALLS || waiting.bytes >= self.most_bytes;
        drop(waiting);
        if is_full {
            self.flush();
        }
    }

    /// Submits what waits. An error is kept for [`Queue::failure`].
    pub(super) fn flush(&self) {
        let _order = self.order.lock();
        let commands = self.lock().take();
        if commands.is_empty() {
            return;
        }
        let submitted = self.deferred.scoped(&self.device, "a gather", || {
            self.queue.submit([encode(&self.device, &commands)]);
        });
        if let Err(error) = submitted {
            self.lock().failure.get_or_insert(error);
        }
    }

    /// Submits commands, after what waits and apart from it: should they be invalid, wgpu submits
    /// nothing that came with them.
    pub(super) fn submit(&self, commands: wgpu::CommandBuffer) -> wgpu::SubmissionIndex {
        self.flush();
        self.queue.submit([commands])
    }

    /// Writes before what is submitted next, and after what waits.
    pub(super) fn write_buffer(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) {
        self.flush();
        self.queue.write_buffer(buffer, offset, bytes);
    }

    /// Writes to a buffer that was just created: nothing that waits uses it.
    pub(super) fn write_new_buffer(&self, buffer: &wgpu::Buffer, bytes: &[u8]) {
        self.queue.write_buffer(buffer, 0, bytes);
    }

    /// Fails, once, if what waited could not be submitted.
    pub(super) fn failure(&self) -> Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }

    /// How many gathers wait.
    #[cfg(any(test, feature = "internals"))]
    pub(super) fn waiting(&self) -> usize {
        self.lock().calls
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn take(&mut self) -> Vec<Command> {
        (self.calls, self.bytes) = (0, 0);
        std::mem::take(&mut self.commands)
    }
}
