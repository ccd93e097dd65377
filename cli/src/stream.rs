//! A gather from files to a file, of which neither is ever whole in memory.
//!
//! On Linux the process holds at most one chunk of the output, [`MOST_BYTES`] of mapped files, and
//! what one chunk reads beyond that, which is no more again: so a chunk has few rows where params
//! is large. A GPU path has the memory of its driver besides.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use wgpu_gather::{AnyTable, Executor, GatherCall, Indices, Plan};

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

/// The mapped files that calls read. They are kept small in memory while work is done.
pub(crate) struct Watched<'a>(Mutex<Option<Resident<'a>>>);

impl<'a> Watched<'a> {
    /// None, where files are read whole.
    pub(crate) fn new(resident: Option<Resident<'a>>) -> Self {
        Watched(Mutex::new(resident))
    }

    /// Whether there are any.
    fn trim(&self) -> bool {
        let mut resident = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        resident.as_mut().map(Resident::trim).is_some()
    }

    /// Does `work` while another thread trims what is resident again and again, as long as that is of use.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        if !self.trim() {
            return work();
        }
        std::thread::scope(|scope| {
            // Dropped when the work is done, or panics.
            let (_working, done) = channel::<()>();
            scope.spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = done.recv_timeout(BETWEEN_LOOKS) {
                    self.trim();
                }
            });
            work()
        })
    }
}

/// Makes the output of a call of `executor`, and calls `chunk` with its bytes, in order. Returns the time without those
/// calls.
pub(crate) fn stream(
    executor: &Executor,
    call: GatherCall<'_, AnyTable<'_>>,
    watched: &Watched<'_>,
    mut chunk: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<Duration> {
    let most_bytes = match watched.trim() {
        true => few_rows(&call.plan()?, executor),
        false => CHUNK_BYTES,
    };
    let (started, mut aside) = (Instant::now(), Duration::ZERO);
    let taken = |bytes: &[u8]| -> Result<()> {
        watched.trim();
        let started = Instant::now();
        chunk(bytes)?;
        aside += started.elapsed();
        Ok(())
    };
    watched.during(|| call.chunks(most_bytes, taken).wait())?;
    Ok(started.elapsed().saturating_sub(aside))
}

/// Bytes of a chunk whose rows make no more than [`MOST_BYTES`] of params resident.
fn few_rows(plan: &Plan, executor: &Executor) -> usize {
    let rows = (MOST_BYTES / AROUND_BYTES) as usize;
    let least = match executor {
        Executor::Gpu(_) => GPU_CHUNK_BYTES,
        _ => 1,
    };
    // Of a run of the output that is a run of params.
    let row_bytes = plan.geometry().slice() * plan.element_bytes();
    row_bytes.saturating_mul(rows).clamp(least, CHUNK_BYTES)
}

/// Whether neighbouring rows of the output lie far apart in params, as far as a sample tells.
///
/// Rows of 512 bytes, half a million of them from all over a table of 20 GiB that is not in the
/// system's cache, are then gathered without reading 128 KiB around each: in 1.7 to 4 s instead of 8.6
/// to 11 s. What lies in order is better read ahead.
pub(crate) fn is_scattered(plan: &Plan, table: &AnyTable<'_>, indices: &Indices<'_>) -> bool {
    let [coordinate] = plan.geometry().coordinates[..] else {
        return false;
    };
    let (bytes, width) = (indices.bytes(), indices.index_type().bytes());
    let row_bytes = table_bytes(table, plan.geometry().slice()) as u64;
    let step_bytes = table_bytes(table, coordinate.stride.unsigned_abs()) as u64;
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
    row_bytes < READ_AHEAD_BYTES && far * 2 > sample.len()
}

/// Bytes of so many neighbouring elements of a table, scales and zero points with them.
fn table_bytes(table: &AnyTable<'_>, elements: usize) -> usize {
    match table {
        AnyTable::Plain(params) => elements * params.element_bytes(),
        AnyTable::Quantized(table, _) => {
            let (bytes, all) = (table.bytes() as u128, table.elements().max(1));
            (bytes * elements as u128).div_ceil(all as u128) as usize
        }
    }
}

#[cfg(test)]
mod tests {
    use wgpu_gather::{IndexType, Layout, Op, Params, Rules};

    use super::*;

    /// Whether rows of so many bytes at these ids are scattered.
    fn scattered(ids: &[u32], row_bytes: usize) -> bool {
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let table = vec![0; 8 * row_bytes];
        let layout = Layout::contiguous(&[ids.len()]);
        let table = Params::new(&table, 1, Layout::contiguous(&[8, row_bytes])).unwrap();
        let table = AnyTable::Plain(table);
        let indices = Indices::new(&*bytes, IndexType::U32, layout).unwrap();
        let rules = Rules::default();
        let call = Executor::Cpu.gather(Op::gather(0), &rules, &table, &indices);
        is_scattered(&call.plan().unwrap(), &table, &indices)
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
