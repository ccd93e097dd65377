//! Submissions on their way, and who makes sure that they arrive.
//!
//! While a thread submits, wgpu may call back into the program, which may then wait for another thread.
//! So that one must not wait for the submission to return, and yet must submit nothing before it. wgpu
//! does not say whether commands have reached its queue. But it refuses commands that use a destroyed
//! buffer, all of them, and decides that while no buffer can be destroyed. So each submission uses a
//! buffer of its own, its *ticket*, and leaves its number in one that all have in common. Who destroys
//! the ticket knows that the submission has reached the queue or never will, and the number tells which:
//! in the latter case it takes the commands over.
//!
//! Used by `queue`. Knows commands, not what they do.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::error::Error;
use crate::gpu::device::commands::Command;

/// Length of the buffer of numbers, which holds the words 0, 1, 2 and so on.
pub(in crate::gpu) const NUMBERS: u32 = 256;

/// Commands that wait for a submission, and those who are to know if they cannot be submitted.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Batch {
    pub(in crate::gpu) commands: Vec<Command>,
    pub(in crate::gpu) written: Vec<Arc<Failure>>,
}

/// Why commands that were to write to a tensor were not submitted.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Failure(Mutex<Option<Error>>);

impl Failure {
    pub(in crate::gpu) fn set(&self, error: Option<Error>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    pub(in crate::gpu) fn get(&self) -> Option<Error> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A batch, with the number of the submission that it was first part of.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Numbered {
    pub(in crate::gpu) number: u32,
    pub(in crate::gpu) batch: Arc<Batch>,
}

/// What a thread submits.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Turn {
    pub(in crate::gpu) number: u32,
    thread: ThreadId,
    /// Whether its submission has begun. What wgpu calls back out of that comes after it, and what it
    /// calls back before, in whatever else the thread asks of it, does not.
    is_submitted: bool,
    /// The last one is its own, those before are of the turns that it has taken over.
    tickets: Vec<wgpu::Buffer>,
    /// The earliest first. Of those that were taken over, some may have reached the queue.
    pub(in crate::gpu) batches: Vec<Numbered>,
}

/// The turns of an engine's threads.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Turns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The latest turn, until it ends. Earlier ones have reached the queue or were taken over by it.
    under_way: Option<Turn>,
    /// The number of the latest turn.
    last: u32,
    /// Tickets that may be used again.
    tickets: Vec<wgpu::Buffer>,
}

impl Turns {
    /// A turn of this thread with what waits and with what may not have reached the queue yet; `None`, if
    /// there is neither. `take` takes what waits.
    pub(in crate::gpu) fn begin(
        &self,
        take: impl FnOnce() -> Batch,
        ticket: impl FnOnce() -> wgpu::Buffer,
    ) -> Option<Turn> {
        let thread = std::thread::current().id();
        let mut state = self.lock();
        let waiting = take();
        // A submitted turn of this thread has reached the queue, as this runs in a callback of its submission.
        // Dropped: once this turn has left its number, whoever took that one over would replay it.
        let others = |turn: &mut Turn| !turn.has_arrived_for(thread);
        let other = state.under_way.take_if(others);
        if waiting.commands.is_empty() && other.is_none() {
            return None;
        }
        let number = number_after(state.last);
        state.last = number;
        let taken_over = other.map(|turn| (turn.tickets, turn.batches));
        let (mut tickets, mut batches) = taken_over.unwrap_or_default();
        tickets.push(state.tickets.pop().unwrap_or_else(ticket));
        batches.push(Numbered {
            number,
            batch: Arc::new(waiting),
        });
        let turn = Turn {
            number,
            thread,
            is_submitted: false,
            tickets,
            batches,
        };
        state.under_way = Some(turn.clone());
        Some(turn)
    }

    /// The submission begins.
    pub(in crate::gpu) fn submits(&self, turn: &Turn) {
        let mut state = self.lock();
        let under_way = state.under_way.as_mut();
        if let Some(this) = under_way.filter(|other| other.is(turn)) {
            this.is_submitted = true;
        }
    }

    /// The submission has returned. Returns false if another thread has taken over its commands, or if a
    /// callback within it, which runs once they have reached the queue, began a turn.
    pub(in crate::gpu) fn end(&self, turn: &Turn) -> bool {
        let mut state = self.lock();
        let ended = state.under_way.take_if(|other| other.is(turn));
        if ended.is_some() {
            // Nobody has destroyed it, nor will.
            state.tickets.push(turn.ticket().clone());
        }
        drop(state);
        ended.is_some()
    }

    /// Whether all that is under way has arrived, as this thread sees it.
    pub(in crate::gpu) fn have_arrived(&self) -> bool {
        let thread = std::thread::current().id();
        let state = self.lock();
        let under_way = state.under_way.as_ref();
        under_way.is_none_or(|turn| turn.has_arrived_for(thread))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    fn is(&self, other: &Turn) -> bool {
        self.number == other.number && self.thread == other.thread
    }

    /// Whether it has certainly reached the queue, if this thread asks: out of its submission, then.
    fn has_arrived_for(&self, thread: ThreadId) -> bool {
        self.thread == thread && self.is_submitted
    }

    /// Its own ticket.
    pub(in crate::gpu) fn ticket(&self) -> &wgpu::Buffer {
        self.tickets.last().expect("a turn has a ticket")
    }

    /// Whether it has taken others over.
    pub(in crate::gpu) fn has_taken_over(&self) -> bool {
        self.tickets.len() > 1
    }

    /// Sees to it that no turn that was taken over can reach the queue any more, if it has not yet.
    pub(in crate::gpu) fn stop_others(&self) {
        let (_, others) = self.tickets.split_last().expect("a turn has a ticket");
        others.iter().for_each(wgpu::Buffer::destroy);
    }

    /// Drops the batches that have reached the queue, if the last to do so was of this number.
    pub(in crate::gpu) fn drop_arrived(&mut self, last: u32) {
        if let Some(n) = self.batches.iter().position(|batch| batch.number == last) {
            self.batches.drain(..=n);
        }
    }
}

/// The number of the turn after the one numbered `last`. Never 0, which stands for no turn: the word that turns
/// leave their numbers in starts with it.
fn number_after(last: u32) -> u32 {
    last % (NUMBERS - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_around_and_skip_that_of_no_turn() {
        let numbers =
            std::iter::successors(Some(number_after(0)), |&last| Some(number_after(last)));
        let expected = (1..NUMBERS).chain(1..NUMBERS);
        assert!(numbers.take(2 * NUMBERS as usize - 2).eq(expected));
    }
}
