//! Commands of gathers: recorded whole, then submitted.
//!
//! Used by the gathers and host calls of an engine. Knows dispatches, not what they do.

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::launch::Dispatch;
use crate::gpu::pool::Owned;
use crate::gpu::recorder::{Placed, Recorder};
use crate::gpu::status::Status;

/// Commands that are not submitted yet.
#[derive(Debug)]
pub(super) struct Recording {
    encoder: wgpu::CommandEncoder,
    /// What goes before the encoder, each in a submission of its own.
    full: Vec<wgpu::CommandBuffer>,
    /// What must not serve other tensors before it is submitted.
    kept: Vec<Arc<Owned>>,
    /// Where its gathers count bad indices.
    statuses: Vec<Status>,
}

impl Context {
    /// Submits what `record` records, if it returns `Ok`; else nothing.
    pub(super) fn submit<R>(&self, record: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
        self.check_alive()?;
        self.deferred.together(&self.device, "a gather", || {
            let encoder = self.scoped("an encoder", || {
                self.device.create_command_encoder(&Default::default())
            })?;
            let mut recording = Recording {
                encoder,
                full: Vec::new(),
                kept: Vec::new(),
                statuses: Vec::new(),
            };
            let recorded = record(&mut recording);
            let Recording {
                encoder,
                full,
                kept,
                statuses,
            } = recording;
            let submitted = recorded.and_then(|result| {
                self.scoped("a dispatch", || {
                    for commands in full.into_iter().chain([encoder.finish()]) {
                        self.queue.submit([commands]);
                    }
                })?;
                Ok(result)
            });
            if submitted.is_err() {
                // Outputs of the caller have them by now, but nothing counts into them.
                statuses.iter().for_each(Status::set_clean);
            }
            drop(kept);
            submitted
        })
    }
}

impl Recording {
    pub(super) fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        &mut self.encoder
    }

    /// Keeps a buffer from serving other tensors until everything is submitted.
    pub(super) fn keep(&mut self, owned: &Arc<Owned>) {
        self.kept.push(Arc::clone(owned));
    }

    /// Records a gather. Long work is cut into submissions of `max_pass_bytes`, so that other users
    /// of the device get their turn.
    pub(super) fn gather(
        &mut self,
        context: &Context,
        recorder: &Recorder,
        placed: &Placed<'_>,
    ) -> Result<()> {
        let dispatches = recorder.dispatches(context, placed)?;
        if let Some(status) = placed.status {
            self.encoder.clear_buffer(status.buffer(), 0, None);
            status.note_recording();
            self.kept.push(Arc::clone(status.owned()));
            self.statuses.push(status.clone());
        }
        let most = context.binding_limits.pass_bytes;
        let mut bytes = 0;
        let parts = dispatches.chunk_by(|before, _| {
            bytes += before.output_bytes();
            let goes_on = bytes < most;
            bytes *= u64::from(goes_on);
            goes_on
        });
        for (n, part) in parts.enumerate() {
            if n > 0 {
                self.cut(context)?;
            }
            self.dispatch(context, part)?;
        }
        Ok(())
    }

    /// Records dispatches in a compute pass of their own.
    pub(super) fn dispatch(&mut self, context: &Context, dispatches: &[Dispatch]) -> Result<()> {
        context.scoped("a dispatch", || {
            let mut pass = self.encoder.begin_compute_pass(&Default::default());
            dispatches.iter().for_each(|d| d.record(&mut pass));
        })
    }

    /// What is recorded next goes into another submission.
    fn cut(&mut self, context: &Context) -> Result<()> {
        let full = context.scoped("a dispatch", || {
            let next = context.device.create_command_encoder(&Default::default());
            std::mem::replace(&mut self.encoder, next).finish()
        })?;
        self.full.push(full);
        Ok(())
    }
}
