//! A gather from files to a file, of which neither is ever whole in memory.
//!
//! On Linux the process holds at most one chunk of the output, [`MOST_BYTES`] of mapped files, and
//! what one chunk reads beyond that, which is no more again: so a chunk has few rows where params
//! is large. A GPU path has the memory of its driver besides.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use wgpu_gather::{AnyTable, BadIndices, Executor, Indices, Op, Plan, Rules};

use crate::bad;
use crate::resident::{AROUND_BYTES, MOST_BYTES, Resident};

/// Bytes of a chunk, at most.
const CHUNK_BYTES: usize = 8 << 20;

/// And at least, on a GPU path, where every chunk is a download of its own.
const GPU_CHUNK_BYTES: usize = 256 << 10;

/// What the system reads around a page, by default.
const READ_AHEAD_BYTES: u64 = 128 << 10;

/// How many pairs of neighbours tell how indices lie.
const SAMPLE: usize = 256;

/// Between two looks at what is resident while no chunk comes: indices are checked, or params
/// uploaded.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// A call whose output goes to a file chunk by chunk.
#[derive(Clone, Copy)]
pub(crate) struct Streamed<'a> {
    pub(crate) op: Op,
    pub(crate) rules: &'a Rules,
    pub(crate) table: &'a AnyTable<'a>,
    pub(crate) indices: &'a Indices<'a>,
}

/// A call that was executed.
pub(crate) struct Ran {
    /// Without the calls that took the output.
    pub(crate) time: Duration,
    /// The bad indices, if they were counted and there are some.
    pub(crate) bad: Option<BadIndices>,
}

impl Streamed<'_> {
    /// Makes the output and calls `chunk` with its bytes, in order; then counts bad indices, if it is to.
    pub(crate) fn run(
        &self,
        executor: &Executor,
        resident: Option<Resident<'_>>,
        counts: bool,
        mut chunk: impl FnMut(&[u8]) -> Result<()> + Send,
    ) -> Result<Ran> {
        let most_bytes = match resident.is_some() {
            true => self.few_rows(executor)?,
            false => CHUNK_BYTES,
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
            chunk(bytes)?;
            aside += started.elapsed();
            Ok(())
        };
        let call = executor.gather(self.op, self.rules, self.table, self.indices);
        while_watched(trim, || call.chunks(most_bytes, taken).wait())?;
        let time = started.elapsed().saturating_sub(aside);
        let bad = match counts {
            true => while_watched(trim, || self.bad_indices())?,
            false => None,
        };
        Ok(Ran { time, bad })
    }

    fn bad_indices(&self) -> wgpu_gather::Result<Option<BadIndices>> {
        let shape = self.table.shape();
        bad::of_good_call(self.op, self.rules, shape, self.indices)
    }

    /// Whether neighbouring rows of the output lie far apart in params, as far as a sample tells.
    ///
    /// Rows of 512 bytes, half a million of them from all over a table of 20 GiB that is not in
    /// the system's cache, are then gathered without reading 128 KiB around each: in 1.7 to 4 s
    /// instead of 8.6 to 11 s. What lies in order is better read ahead.
    pub(crate) fn is_scattered(&self) -> Result<bool> {
        let plan = self.plan()?;
        let [coordinate] = plan.geometry().coordinates[..] else {
            return Ok(false);
        };
        let indices = self.indices;
        let (bytes, width) = (indices.bytes(), indices.index_type().bytes());
        let row_bytes = self.params_bytes(plan.geometry().slice()) as u64;
        let step_bytes = self.params_bytes(coordinate.stride.unsigned_abs()) as u64;
        let index = |at: usize| {
            let index = bytes.get(at * width..)?.get(..width)?;
            Some(index.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
        };
        let far = |at: usize| {
            let apart = index(at)?.abs_diff(index(at + 1)?);
            Some(apart.saturating_mul(step_bytes) > READ_AHEAD_BYTES)
        };
        let step = (bytes.len() / width / SAMPLE).max(1);
        let sample: Vec<bool> = (0..SAMPLE).map_while(|n| far(n * step)).collect();
        let far = sample.iter().filter(|&&far| far).count();
        Ok(row_bytes < READ_AHEAD_BYTES && far * 2 > sample.len())
    }

    fn plan(&self) -> wgpu_gather::Result<Plan> {
        let call = Executor::Cpu.gather(self.op, self.rules, self.table, self.indices);
        call.plan()
    }

    /// Bytes of so many neighbouring elements of params, scales and zero points with them.
    fn params_bytes(&self, elements: usize) -> usize {
        match self.table {
            AnyTable::Plain(params) => elements * params.element_bytes(),
            AnyTable::Quantized(table, _) => {
                let (bytes, all) = (table.bytes() as u128, table.elements().max(1));
                (bytes * elements as u128).div_ceil(all as u128) as usize
            }
        }
    }

    /// Bytes of a run of the output that is a run of params.
    fn row_bytes(&self) -> Result<usize> {
        let plan = self.plan()?;
        Ok(plan.geometry().slice() * plan.element_bytes())
    }

    /// Bytes of a chunk whose rows make no more than [`MOST_BYTES`] of params resident.
    fn few_rows(&self, executor: &Executor) -> Result<usize> {
        let rows = (MOST_BYTES / AROUND_BYTES) as usize;
        let least = match executor {
            Executor::Gpu(_) => GPU_CHUNK_BYTES,
            _ => 1,
        };
        Ok(self
            .row_bytes()?
            .saturating_mul(rows)
            .clamp(least, CHUNK_BYTES))
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

#[cfg(test)]
mod tests {
    use wgpu_gather::{IndexType, Indices, Layout, Params, Rules};

    use super::*;

    /// Whether rows of so many bytes at these ids are scattered.
    fn scattered(ids: &[u32], row_bytes: usize) -> bool {
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let table = vec![0; 8 * row_bytes];
        let layout = Layout::contiguous(&[ids.len()]);
        let table = Params::new(&table, 1, Layout::contiguous(&[8, row_bytes])).unwrap();
        let call = Streamed {
            op: Op::gather(0),
            rules: &Rules::default(),
            table: &AnyTable::Plain(table),
            indices: &Indices::new(&*bytes, IndexType::U32, layout).unwrap(),
        };
        call.is_scattered().unwrap()
    }

    #[test]
    fn indices_far_apart_are_scattered_unless_rows_are_long() {
        let all_over: Vec<u32> = (0..1000)
            .map(|n: u32| n.wrapping_mul(2_654_435_761))
            .collect();
        let in_order: Vec<u32> = (0..1000).collect();
        assert!(scattered(&all_over, 512));
        assert!(!scattered(&in_order, 512));
        assert!(!scattered(&all_over, 128 << 10));
        assert!(!scattered(&[], 512));
        assert!(!scattered(&[7], 512));
    }
}
