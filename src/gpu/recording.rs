//! Commands of gathers: recorded whole, then submitted, or left to wait in the queue.
//!
//! Used by the gathers and host calls of an engine. Knows dispatches, not what they do. What is recorded
//! and then given up leaves nothing behind: no command, and no report on what it was to write to.

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::commands::{Command, Dispatch, encode};
use crate::gpu::context::Context;
use crate::gpu::placed::Placed;
use crate::gpu::pool::Owned;
use crate::gpu::recorder::Recorder;
use crate::gpu::reports::{Reports, Undo, Written};
use crate::gpu::status::{Counting, Status};

/// Commands that are not submitted yet.
#[derive(Debug, Default)]
pub(super) struct Recording {
    commands: Vec<Command>,
    /// Where one submission ends and the next one begins.
    cuts: Vec<usize>,
    /// What must not serve other tensors before the queue has the commands.
    kept: Vec<Arc<Owned>>,
    /// Where its calls count bad indices, one entry for each call.
    counted: Vec<Status>,
    /// What its calls noted of the tensors that they write to.
    noted: Vec<(Arc<Reports>, Undo)>,
}

/// How far a recording had come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    commands: usize,
    cuts: usize,
    kept: usize,
    counted: usize,
    noted: usize,
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
            if recording.cuts.is_empty() && !recording.commands.is_empty() {
                let is_shared = || recording.kept.iter().any(|owned| owned.is_shared());
                let written = recording.noted.iter();
                let written = written.map(|(reports, _)| Arc::clone(reports.failure()));
                self.queue
                    .defer(&mut recording.commands, written.collect(), is_shared);
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
            let result = record(&mut recording)?;
            give(&mut recording)?;
            recording.commit();
            Ok(result)
        })
    }

    /// Submits a recording, after what waits.
    fn send(&self, recording: &Recording) -> Result<()> {
        // All are encoded before any is submitted: should one be invalid, none is.
        let encoded: Vec<wgpu::CommandBuffer> = self.scoped("a dispatch", || {
            let parts = recording.submissions();
            parts.map(|part| encode(&self.device, part)).collect()
        })?;
        encoded
            .into_iter()
            .try_for_each(|commands| self.submit_commands("a dispatch", commands).map(drop))
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
        counting: Option<&Counting>,
    ) -> Result<()> {
        let dispatches = recorder.dispatches(context, placed)?;
        self.call(context, dispatches, counting);
        Ok(())
    }

    /// Records the dispatches of one call.
    pub(super) fn call(
        &mut self,
        context: &Context,
        dispatches: Vec<Dispatch>,
        counting: Option<&Counting>,
    ) {
        let commands = dispatches.into_iter().map(Command::Dispatch).collect();
        self.run(context, commands, counting);
    }

    /// Records the commands of one call. Long work is cut into submissions of `max_pass_bytes`.
    pub(super) fn run(
        &mut self,
        context: &Context,
        commands: Vec<Command>,
        counting: Option<&Counting>,
    ) {
        if let Some(counting) = counting {
            self.commands.push(counting.begin());
            counting.note_recording();
            self.kept.push(Arc::clone(counting.status.owned()));
            self.counted.push(counting.status.clone());
        }
        let most = context.binding_limits.pass_bytes;
        let mut bytes = 0;
        for command in commands {
            if bytes >= most {
                self.cuts.push(self.commands.len());
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

    /// Notes what a call does to a tensor with these reports.
    pub(super) fn note(&mut self, reports: &Arc<Reports>, written: Written<'_>) {
        let undo = reports.note(written);
        self.noted.push((Arc::clone(reports), undo));
    }

    /// Where its calls count.
    pub(super) fn counted(&self) -> &[Status] {
        &self.counted
    }

    /// How far it has come.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            commands: self.commands.len(),
            cuts: self.cuts.len(),
            kept: self.kept.len(),
            counted: self.counted.len(),
            noted: self.noted.len(),
        }
    }

    /// Gives up what was recorded since.
    pub(super) fn rewind(&mut self, to: Mark) {
        self.commands.truncate(to.commands);
        self.cuts.truncate(to.cuts);
        self.kept.truncate(to.kept);
        for (reports, undo) in self.noted.drain(to.noted..).rev() {
            reports.undo(undo);
        }
        self.counted
            .drain(to.counted..)
            .for_each(|status| status.note_given_up());
    }

    /// The queue has the commands.
    fn commit(mut self) {
        self.noted.clear();
        self.counted
            .drain(..)
            .for_each(|status| status.note_submitted());
    }

    /// The commands of each submission.
    fn submissions(&self) -> impl Iterator<Item = &[Command]> {
        let starts = std::iter::once(0).chain(self.cuts.iter().copied());
        let ends = self.cuts.iter().copied().chain([self.commands.len()]);
        starts
            .zip(ends)
            .map(|(start, end)| &self.commands[start..end])
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.rewind(Mark {
            commands: 0,
            cuts: 0,
            kept: 0,
            counted: 0,
            noted: 0,
        });
    }
}
