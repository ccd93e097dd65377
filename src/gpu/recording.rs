//! Commands of gathers: recorded whole, then submitted, or left to wait in the queue.
//!
//! Used by the gathers and host calls of an engine. Knows dispatches, not what they do.

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::commands::{Command, Dispatch, encode};
use crate::gpu::context::Context;
use crate::gpu::placed::Placed;
use crate::gpu::pool::Owned;
use crate::gpu::recorder::Recorder;
use crate::gpu::status::Status;

/// Commands that are not submitted yet.
#[derive(Debug, Default)]
pub(super) struct Recording {
    commands: Vec<Command>,
    /// What goes before the commands, each in a submission of its own.
    full: Vec<Vec<Command>>,
    /// What must not serve other tensors before the queue has the commands.
    kept: Vec<Arc<Owned>>,
    /// Where its gathers count bad indices.
    statuses: Vec<Status>,
}

impl Context {
    /// Submits what `record` records, if it returns `Ok`; else nothing.
    pub(super) fn submit<R>(&self, record: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
        self.record(record, |recording| self.send(recording))
    }

    /// As [`Context::submit`], but what `record` records may wait for more, if the caller cannot
    /// see that it does.
    pub(super) fn defer<R>(&self, record: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
        self.record(record, |recording| {
            let Recording { commands, kept, .. } = recording;
            if recording.full.is_empty() && !commands.is_empty() {
                let is_shared = || kept.iter().any(|owned| owned.is_shared());
                self.queue.defer(commands, is_shared);
            }
            match recording.commands.is_empty() {
                true => self.check_alive(),
                false => self.send(recording),
            }
        })
    }

    /// Records, and has `give` pass on what was recorded.
    fn record<R>(
        &self,
        record: impl FnOnce(&mut Recording) -> Result<R>,
        give: impl FnOnce(&mut Recording) -> Result<()>,
    ) -> Result<R> {
        self.check_alive()?;
        self.deferred.together(&self.device, "a gather", || {
            let mut recording = Recording::default();
            let recorded = record(&mut recording);
            let given = recorded.and_then(|result| give(&mut recording).map(|()| result));
            if given.is_err() {
                // Outputs of the caller have them by now, but nothing counts into them.
                recording.statuses.iter().for_each(Status::set_clean);
            }
            given
        })
    }

    /// Submits a recording, after what waits.
    fn send(&self, recording: &Recording) -> Result<()> {
        let Recording { commands, full, .. } = recording;
        let parts = full.iter().chain([commands]);
        let encoded: Vec<wgpu::CommandBuffer> = self.scoped("a dispatch", || {
            parts.map(|part| encode(&self.device, part)).collect()
        })?;
        self.scoped("a dispatch", || {
            for commands in encoded {
                self.queue.submit(commands);
            }
        })
    }
}

impl Recording {
    /// Records commands as they are.
    pub(super) fn push(&mut self, commands: Vec<Command>) {
        self.commands.extend(commands);
    }

    /// Keeps a buffer from serving other tensors until the queue has the commands.
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
        self.call(context, dispatches, placed.status);
        Ok(())
    }

    /// Records the dispatches of one call, which count bad indices in `status`.
    pub(super) fn call(
        &mut self,
        context: &Context,
        dispatches: Vec<Dispatch>,
        status: Option<&Status>,
    ) {
        let commands = dispatches.into_iter().map(Command::Dispatch).collect();
        self.run(context, commands, status);
    }

    /// Records the commands of one call, which count bad indices in `status`. Long work is cut into
    /// submissions of `max_pass_bytes`.
    pub(super) fn run(
        &mut self,
        context: &Context,
        commands: Vec<Command>,
        status: Option<&Status>,
    ) {
        if let Some(status) = status {
            self.commands.push(Command::Clear(status.buffer().clone()));
            status.note_recording();
            self.kept.push(Arc::clone(status.owned()));
            self.statuses.push(status.clone());
        }
        let most = context.binding_limits.pass_bytes;
        let mut bytes = 0;
        for command in commands {
            if bytes >= most {
                self.full.push(std::mem::take(&mut self.commands));
                bytes = 0;
            }
            bytes += command.bytes();
            self.commands.push(command);
        }
    }

    /// Records dispatches.
    pub(super) fn dispatch(&mut self, dispatches: Vec<Dispatch>) {
        let commands = dispatches.into_iter().map(Command::Dispatch);
        self.commands.extend(commands);
    }
}
