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

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use parking_lot::ReentrantMutex;

use crate::error::{Error, Result};
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::arrival::arrives;
use crate::gpu::device::commands::{Command, encode_into};
use crate::gpu::device::deferred::DeferredErrors;
use crate::gpu::device::turns::{Batch, Failure, Turn, Turns};

/// The most gathers that wait. In a browser none does: there a gather is found to be invalid only
/// after its call has returned, and would take those with it that share its submission.
const MOST_CALLS: usize = match cfg!(target_arch = "wasm32") {
    true => 1,
    false => 32,
};

/// The most bytes that waiting gathers write, so that a device that idles meanwhile soon catches up.
const MOST_BYTES: u64 = 256 << 10;

/// Time that a thread waits for another one to submit, before it takes over its commands.
const PATIENCE: Duration = Duration::from_millis(20);

/// A queue with gathers that wait for a submission.
#[derive(Debug)]
pub(in crate::gpu) struct Queue {
    queue: wgpu::Queue,
    device: wgpu::Device,
    deferred: DeferredErrors,
    waiting: Mutex<Waiting>,
    most_bytes: u64,
    turns: Turns,
    /// Held while what waited is submitted, so that threads rarely take each other's commands over.
    /// Reentrant, as wgpu runs callbacks of the caller within a submission, which may call the
    /// engine.
    order: ReentrantMutex<()>,
    /// The numbers from 0 on, as words, and where submissions of what waited leave theirs.
    numbers: wgpu::Buffer,
    arrived: wgpu::Buffer,
}

#[derive(Debug, Default)]
struct Waiting {
    batch: Batch,
    calls: usize,
    bytes: u64,
    /// The first error of a submission of what waited, until somebody is told.
    failure: Option<Error>,
}

impl Queue {
    /// A queue whose submissions of what waited write at most `max_pass_bytes`, or what one gather
    /// does. `numbers` has the words from 0 on, as many as turns have numbers.
    pub(in crate::gpu) fn new(
        queue: wgpu::Queue,
        device: wgpu::Device,
        deferred: DeferredErrors,
        max_pass_bytes: u64,
        numbers: wgpu::Buffer,
    ) -> Self {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        Queue {
            arrived: word(&device, usage),
            most_bytes: MOST_BYTES.min(max_pass_bytes),
            queue,
            device,
            deferred,
            waiting: Mutex::default(),
            turns: Turns::default(),
            order: ReentrantMutex::new(()),
            numbers,
        }
    }

    /// The caller's queue. What is submitted or written with it overtakes what waits.
    pub(in crate::gpu) fn inner(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Takes the commands of one gather, unless the caller has a buffer that they use. They wait until
    /// [`Queue::flush`], or until there are enough of them. Should they not be submitted then, `written`
    /// is told.
    pub(in crate::gpu) fn defer(
        &self,
        commands: &mut Vec<Command>,
        written: Vec<Arc<Failure>>,
        is_shared: impl FnOnce() -> bool,
    ) {
        let mut waiting = self.lock();
        // Asked under the lock: a thread that hands out a buffer marks it as shared, and flushes
        // then. Either it finds these commands here, or they find the mark.
        if is_shared() {
            return;
        }
        waiting.calls += 1;
        waiting.bytes += commands.iter().map(Command::bytes).sum::<u64>();
        waiting.batch.commands.append(commands);
        waiting.batch.written.extend(written);
        let is_full = waiting.calls >= MOST_CALLS || waiting.bytes >= self.most_bytes;
        drop(waiting);
        if is_full {
            self.flush();
        }
    }

    /// Submits what waits. When this returns, nothing that waited before can follow what is submitted
    /// next. An error is kept for [`Queue::failure`] and for those who read what was to be written.
    pub(in crate::gpu) fn flush(&self) {
        while self.waiting() > 0 || !self.turns.have_arrived() {
            self.call_back();
            let _order = self.order.try_lock_for(PATIENCE);
            let ticket = || self.word(wgpu::BufferUsages::COPY_DST);
            if let Some(turn) = self.turns.begin(|| self.lock().take(), ticket) {
                self.take_turn(turn);
            }
        }
    }

    fn take_turn(&self, mut turn: Turn) {
        if turn.has_taken_over() {
            turn.stop_others();
            if let Some(last) = self.last_arrived() {
                turn.drop_arrived(last);
            }
        }
        let submitted = self.encode_turn(&turn).and_then(|commands| {
            self.turns.submits(&turn);
            self.submit_now("a gather", commands)
        });
        if let (true, Err(error)) = (self.turns.end(&turn), submitted) {
            let batches = turn.batches.iter();
            let written = batches.flat_map(|numbered| &numbered.batch.written);
            written.for_each(|failure| failure.set(Some(error.clone())));
            self.lock().failure.get_or_insert(error);
        }
    }

    fn encode_turn(&self, turn: &Turn) -> Result<wgpu::CommandBuffer> {
        self.deferred.scoped(&self.device, "a gather", || {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for numbered in &turn.batches {
                encode_into(&mut encoder, &numbered.batch.commands);
            }
            encoder.clear_buffer(turn.ticket(), 0, None);
            let number = 4 * u64::from(turn.number);
            encoder.copy_buffer_to_buffer(&self.numbers, number, &self.arrived, 0, 4);
            encoder.finish()
        })
    }

    /// Submits commands, after what waits and apart from it: should they be invalid, wgpu submits
    /// nothing that came with them.
    pub(in crate::gpu) fn submit(
        &self,
        what: &'static str,
        commands: wgpu::CommandBuffer,
    ) -> Result<wgpu::SubmissionIndex> {
        self.flush();
        self.call_back();
        self.submit_now(what, commands)
    }

    /// Submits commands, whatever waits.
    fn submit_now(
        &self,
        what: &'static str,
        commands: wgpu::CommandBuffer,
    ) -> Result<wgpu::SubmissionIndex> {
        let mut index = None;
        let submit = || index = Some(self.queue.submit([commands]));
        match (self.deferred.scoped(&self.device, what, submit), index) {
            (Err(Error::Gpu { reason, .. }), Some(index)) if !reason.contains("Queue::submit") => {
                self.hand_on(&reason);
                Ok(index)
            }
            (submitted, index) => submitted.map(|()| index.expect("it was submitted")),
        }
    }

    /// Has wgpu call the program back for what is done. A submission does so, too, but in our error
    /// scopes: errors of callbacks are the program's.
    fn call_back(&self) {
        let _ = self.device.poll(wgpu::PollType::Poll);
    }

    /// Hands on an error of a callback that wgpu called out of a submission of ours, which has succeeded
    /// then. An error can be raised only by causing one: the label of a buffer without a use says what
    /// it is about.
    fn hand_on(&self, reason: &str) {
        let _ = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(&format!("of a callback within a submission: {reason}")),
            size: 0,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        });
    }

    /// The number of the last turn that has reached the queue; `None`, if the device does not say. Callbacks
    /// may run meanwhile.
    #[cfg(not(target_arch = "wasm32"))]
    fn last_arrived(&self) -> Option<u32> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let word = self.word(usage);
        let mut arrived = None;
        let read = || {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&self.arrived, 0, &word, 0, 4);
            let submitted = self.queue.submit([encoder.finish()]);
            word.map_async(wgpu::MapMode::Read, .., drop);
            // If it fails, the word is not mapped.
            let _ = arrives(&self.device, &submitted);
            let mapped = word.slice(..).get_mapped_range().ok();
            arrived = mapped.map(|mapped| bytemuck::pod_read_unaligned(&mapped));
        };
        let done = self.deferred.scoped(&self.device, "a word", read);
        if let (Err(Error::Gpu { reason, .. }), Some(_)) = (done, arrived) {
            self.hand_on(&reason);
        }
        arrived
    }

    /// There is one thread in a browser, and it is never in two submissions.
    #[cfg(target_arch = "wasm32")]
    #[expect(clippy::unused_self, reason = "elsewhere it is used")]
    fn last_arrived(&self) -> Option<u32> {
        None
    }

    /// Writes before what is submitted next, and after what waits.
    pub(in crate::gpu) fn write_buffer(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) {
        self.flush();
        self.queue.write_buffer(buffer, offset, bytes);
    }

    /// Writes to a buffer that was just created: nothing that waits uses it.
    pub(in crate::gpu) fn write_new_buffer(&self, buffer: &wgpu::Buffer, bytes: &[u8]) {
        self.queue.write_buffer(buffer, 0, bytes);
    }

    /// Fails, once, if what waited could not be submitted.
    pub(in crate::gpu) fn failure(&self) -> Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }

    /// Number of gathers that are held back.
    pub(in crate::gpu) fn waiting(&self) -> usize {
        self.lock().calls
    }

    /// A buffer of four bytes. Without memory for it, what uses it is refused.
    fn word(&self, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let mut made = None;
        let _ = self.deferred.scoped(&self.device, "a word", || {
            made = Some(word(&self.device, usage));
        });
        made.expect("a buffer, valid or not")
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn take(&mut self) -> Batch {
        (self.calls, self.bytes) = (0, 0);
        std::mem::take(&mut self.batch)
    }
}

fn word(device: &wgpu::Device, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("wgpu-gather word"),
        size: 4,
        usage,
        mapped_at_creation: false,
    })
}
