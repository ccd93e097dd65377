//! A gather from files to a file, of which neither is ever whole in memory.
//!
//! On Linux the process holds at most one piece of the output, [`MOST_BYTES`] of mapped files, and
//! what one piece reads beyond that, which is no more again: so a piece has few rows where params
//! is large. A GPU path has the memory of its driver besides.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use wgpu_gather::{Executor, Indices, Op, Params, Plan, Rules};

use crate::files::{AROUND_BYTES, MOST_BYTES, Resident};

/// Bytes of a piece, at most.
const PIECE_BYTES: usize = 8 << 20;

/// And at least, on a GPU path, where every piece is a download of its own.
const GPU_PIECE_BYTES: usize = 256 << 10;

/// Between two looks at what is resident while no piece comes: indices are checked, or params
/// uploaded.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// A call whose output goes to a file piece by piece.
pub(crate) struct Call<'a> {
    pub(crate) op: Op,
    pub(crate) rules: &'a Rules,
    pub(crate) params: &'a Params<'a>,
    pub(crate) indices: &'a Indices<'a>,
}

impl Call<'_> {
    /// Makes the output and calls `piece` with its bytes, in order; returns how long that took,
    /// without the calls.
    pub(crate) fn run(
        &self,
        executor: &Executor,
        resident: Option<Resident<'_>>,
        mut piece: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<Duration> {
        let most_bytes = match resident.is_some() {
            true => self.few_rows(executor)?,
            false => PIECE_BYTES,
        };
        let resident = Mutex::new(resident);
        let trim = || {
            let mut resident = resident.lock().unwrap_or_else(PoisonError::into_inner);
            resident.as_mut().map(Resident::trim).is_some()
        };
        let (started, mut aside) = (Instant::now(), Duration::ZERO);
        let taken = |bytes: &[u8]| -> Result<()> {
            trim();
            let started = Instant::now();
            piece(bytes)?;
            aside += started.elapsed();
            Ok(())
        };
        while_watched(trim, || {
            let (op, rules, params, indices) = (self.op, self.rules, self.params, self.indices);
            executor.run_pieces_blocking(op, rules, params, indices, most_bytes, taken)
        })?;
        Ok(started.elapsed().saturating_sub(aside))
    }

    /// Bytes of a piece whose rows make no more than [`MOST_BYTES`] of params resident.
    fn few_rows(&self, executor: &Executor) -> Result<usize> {
        let plan = Plan::of(self.op, self.rules, self.params, self.indices)?;
        let row_bytes = plan.geometry().slice() * plan.element_bytes();
        let rows = (MOST_BYTES / AROUND_BYTES) as usize;
        let least = match executor {
            Executor::Gpu(_) => GPU_PIECE_BYTES,
            _ => 1,
        };
        Ok(row_bytes.saturating_mul(rows).clamp(least, PIECE_BYTES))
    }
}

/// Does `work` while another thread calls `look` again and again, as long as that is of use.
fn while_watched<T>(look: impl Fn() -> bool + Sync, work: impl FnOnce() -> T) -> T {
    if !look() {
        return work();
    }
    std::thread::scope(|scope| {
        // Dropped when the work is done, or panics.
        let (_working, done) = channel::<()>();
        let look = &look;
        scope.spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = done.recv_timeout(BETWEEN_LOOKS) {
                look();
            }
        });
        work()
    })
}
