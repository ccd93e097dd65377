//! Commands of gathers: recorded whole, then submitted, or left to wait in the queue.
//!
//! Knows dispatches, not what they do. What is recorded and then given up leaves nothing behind: no command,
//! and no report on what it was to write to.

use std::sync::Arc;

use crate::error::{OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Command, encode};
use crate::gpu::device::pool::Owned;
use crate::gpu::tensor::reports::{Reports, Undo, Written};
use crate::gpu::tensor::status::{Counting, Status};

/// Destination of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::gpu) enum Level {
    /// To the queue, once the recording is done.
    #[default]
    Engine,
    /// Into an encoder of the caller's, who submits it at any time, or never.
    Encoder,
    /// Into such encoders and passes, any number of times.
    Binding,
}

/// Commands that are not submitted yet.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Recording {
    level: Level,
    commands: Vec<Command>,
    /// Positions in `commands` at which a new submission begins.
    cuts: Vec<usize>,
    /// Buffers that must not be reused before the commands are submitted.
    kept: Vec<Arc<Owned>>,
    /// Statuses in which its calls count bad indices, one entry for each call.
    counted: Vec<Status>,
    /// Changes of its calls to the reports of the tensors they write to, to be undone on failure.
    noted: Vec<(Arc<Reports>, Undo)>,
    /// How the calls of a binding count, which begins anew each time that it is encoded.
    bound: Vec<Counting>,
    /// A call of a binding looks up indices without counting the bad ones.
    uncounted: bool,
    /// The first call that copies something outside of dispatches, and what.
    copies: Option<(OpKind, Role)>,
}

/// Finished commands, handed to the caller. Their buffers never return to the pool.
#[derive(Debug)]
pub(in crate::gpu) struct Recorded {
    pub(in crate::gpu) commands: Vec<Command>,
    pub(in crate::gpu) kept: Vec<Arc<Owned>>,
    pub(in crate::gpu) bound: Vec<Counting>,
    pub(in crate::gpu) uncounted: bool,
    pub(in crate::gpu) copies: Option<(OpKind, Role)>,
}

/// A position in a recording, to roll back to.
#[derive(Debug, Clone, Copy)]
pub(in crate::gpu) struct Mark {
    commands: usize,
    cuts: usize,
    kept: usize,
    counted: usize,
    noted: usize,
    bound: usize,
    uncounted: bool,
    copies: Option<(OpKind, Role)>,
}

impl Context {
    /// Submits what `record` records, if it returns `Ok`; else nothing.
    pub(in crate::gpu) fn submit<R>(
        &self,
        record: impl FnOnce(&mut Recording) -> Result<R>,
    ) -> Result<R> {
        self.record(record, |recording| self.send(recording))
    }

    /// As [`Context::submit`], but what `record` records may wait for more, if the caller cannot
    /// see that it does.
    pub(in crate::gpu) fn defer<R>(
        &self,
        record: impl FnOnce(&mut Recording) -> Result<R>,
    ) -> Result<R> {
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

    /// Records, and gives it up: what it needs is compiled then.
    pub(in crate::gpu) fn rehearse(
        &self,
        record: impl FnOnce(&mut Recording) -> Result<()>,
    ) -> Result<()> {
        self.check_alive()?;
        self.deferred.together(&self.device, "a gather", || {
            record(&mut Recording::default())
        })
    }

    /// Records for the caller, who submits.
    pub(in crate::gpu) fn record_outside<R>(
        &self,
        level: Level,
        record: impl FnOnce(&mut Recording) -> Result<R>,
    ) -> Result<(R, Recorded)> {
        self.check_alive()?;
        self.deferred.together(&self.device, "a gather", || {
            let mut recording = Recording::default();
            recording.level = level;
            let result = record(&mut recording)?;
            Ok((result, recording.give_away()))
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
    pub(in crate::gpu) fn push(&mut self, commands: Vec<Command>) {
        self.commands.extend(commands);
    }

    /// Keeps a buffer from serving other tensors until the queue has the commands.
    pub(in crate::gpu) fn keep(&mut self, owned: &Arc<Owned>) {
        self.kept.push(Arc::clone(owned));
    }

    /// Records the commands of one call. Long work is cut into submissions of `max_pass_bytes`.
    pub(in crate::gpu) fn run(
        &mut self,
        context: &Context,
        commands: Vec<Command>,
        counting: Option<&Counting>,
    ) {
        if let Some(counting) = counting {
            self.kept.push(Arc::clone(counting.status.owned()));
            match self.level {
                Level::Engine | Level::Encoder => {
                    self.commands.push(match self.level {
                        Level::Engine => counting.begin(),
                        _ => counting.resume(),
                    });
                    counting.note_recording();
                    self.counted.push(counting.status.clone());
                }
                Level::Binding => self.bound.push(counting.clone()),
            }
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

    /// Notes that a call copies something outside of dispatches.
    pub(in crate::gpu) fn note_copy(&mut self, op: OpKind, role: Role) {
        self.copies.get_or_insert((op, role));
    }

    /// Notes that a call looks up indices and does not count the bad ones.
    pub(in crate::gpu) fn note_uncounted(&mut self) {
        self.uncounted = true;
    }

    pub(in crate::gpu) fn level(&self) -> Level {
        self.level
    }

    /// Notes what a call does to a tensor with these reports.
    pub(in crate::gpu) fn note(&mut self, reports: &Arc<Reports>, written: Written<'_>) {
        let undo = reports.note(written);
        self.noted.push((Arc::clone(reports), undo));
    }

    /// Statuses in which its calls count.
    pub(in crate::gpu) fn counted(&self) -> &[Status] {
        &self.counted
    }

    /// The current position.
    pub(in crate::gpu) fn mark(&self) -> Mark {
        Mark {
            commands: self.commands.len(),
            cuts: self.cuts.len(),
            kept: self.kept.len(),
            counted: self.counted.len(),
            noted: self.noted.len(),
            bound: self.bound.len(),
            uncounted: self.uncounted,
            copies: self.copies,
        }
    }

    /// Gives up what was recorded since.
    pub(in crate::gpu) fn rewind(&mut self, to: Mark) {
        self.commands.truncate(to.commands);
        self.cuts.truncate(to.cuts);
        self.kept.truncate(to.kept);
        self.bound.truncate(to.bound);
        self.uncounted = to.uncounted;
        self.copies = to.copies;
        for (reports, undo) in self.noted.drain(to.noted..).rev() {
            reports.undo(undo);
        }
        self.counted
            .drain(to.counted..)
            .for_each(|status| status.note_given_up());
    }

    /// The queue has the commands.
    fn give_away(mut self) -> Recorded {
        let recorded = Recorded {
            commands: std::mem::take(&mut self.commands),
            kept: std::mem::take(&mut self.kept),
            bound: std::mem::take(&mut self.bound),
            uncounted: self.uncounted,
            copies: self.copies,
        };
        // The commands may be submitted after the tensors are dropped.
        recorded.kept.iter().for_each(|owned| {
            owned.share();
        });
        self.commit();
        recorded
    }

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
            bound: 0,
            uncounted: false,
            copies: None,
        });
    }
}
