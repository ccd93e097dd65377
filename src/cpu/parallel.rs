//! Executes a [`Plan`] on all cores: the output is cut into chunks of whole rows.

use std::mem::MaybeUninit;
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use super::copy::{Memory, Work};
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
use super::helpers::with_helpers;
use super::report::report;
use super::strips::{Shared, Strips};
use crate::error::Result;
use crate::plan::Plan;
use crate::tensor::{Indices, Params};

/// What a thread takes at once. Two of these are too little to share: for 256 KiB that one thread
/// copied in 6 to 20 us, two took 6 to 150, as threads that had slept were long in waking.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
const CHUNK_BYTES: usize = 256 << 10;

/// The chunks of an output that has many of these end with them. Fresh memory is made of such pages,
/// and two threads that touch one at the same time both have it cleared by the system: chunks of
/// 256 KiB took 1.13 to 1.3 times as long for outputs of 32 and 64 MiB.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// What the lookup of a row costs, as bytes of output that could be copied meanwhile.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
const LOOKUP_BYTES: usize = 16;

/// How many threads share the work.
pub fn threads() -> usize {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    return rayon::current_num_threads();
    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    1
}

/// Executes `plan` for these tensors, writing the output's bytes, row-major.
///
/// # Errors
///
/// [`Error::OtherPlan`](crate::Error::OtherPlan),
/// [`Error::OutputLength`](crate::Error::OutputLength), and
/// [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds) under the rule
/// [`OutOfBounds::Error`](crate::OutOfBounds::Error); the output then holds zeros for the bad
/// indices.
pub fn execute(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
    output: &mut [u8],
) -> Result<()> {
    plan.check_tensors(params, indices, output.len())?;
    write(plan, params, indices, as_uninit(output), Memory::Used)
}

/// Bytes to be written. What is behind the reference stays initialised: `write` only ever writes
/// bytes that are.
#[allow(
    unsafe_code,
    reason = "the writer for fresh memory also serves the caller's memory"
)]
fn as_uninit(output: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: MaybeUninit<u8> has the layout of u8. The slice is not read, and nobody can write an
    // uninitialised byte to it: only `write` gets it, whose code writes `u8`s.
    unsafe { &mut *(std::ptr::from_mut(output) as *mut [MaybeUninit<u8>]) }
}

/// Executes a plan made for these tensors. Every byte of `output` is written, whatever the result.
pub(super) fn write(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
    output: &mut [MaybeUninit<u8>],
    memory: Memory,
) -> Result<()> {
    if output.is_empty() {
        return Ok(());
    }
    let work = Work::new(plan, params.bytes(), indices.bytes(), memory);
    let any_bad = share(&work, output);
    if any_bad && plan.reports_bad_indices() {
        return Err(report(plan, indices));
    }
    Ok(())
}

/// Writes all rows; returns whether some index was bad.
fn share(work: &Work<'_>, output: &mut [MaybeUninit<u8>]) -> bool {
    if let Some(strips) = work.strips(output.as_ptr().addr()) {
        return share_strips(work, &strips, output);
    }
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    return share_rows(work, output);
    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    work.write(0, output)
}

/// Cuts the output into chunks of whole rows, and rows that are longer into parts.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn share_rows(work: &Work<'_>, output: &mut [MaybeUninit<u8>]) -> bool {
    let rows = (CHUNK_BYTES / (work.row_bytes + LOOKUP_BYTES)).max(1);
    let chunk_bytes = rows * work.row_bytes;
    if output.len() <= 2 * chunk_bytes.min(CHUNK_BYTES) {
        return work.write(0, output);
    }
    let part_bytes = work.part_bytes(CHUNK_BYTES);
    if chunk_bytes < 2 * part_bytes {
        let many = output.len() / HUGE_PAGE_BYTES >= 4 * threads();
        let chunk_bytes = if many { HUGE_PAGE_BYTES } else { chunk_bytes };
        let count = output.len().div_ceil(chunk_bytes);
        let chunks = chunks(output, work.row_bytes, chunk_bytes);
        return on_all_cores(count, chunks, || |(row, chunk)| work.write(row, chunk));
    }
    let count = output.len().div_ceil(part_bytes);
    let parts = output.chunks_mut(chunk_bytes).enumerate();
    let parts = parts.flat_map(|(row, bytes)| {
        let parts = bytes.chunks_mut(part_bytes).enumerate();
        parts.map(move |(n, part)| (row, n * part_bytes, part))
    });
    on_all_cores(count, parts, || {
        |(row, from, part)| work.write_part(row, from, part)
    })
}

/// Whole rows, each time up to the next address that is a multiple of `unit`, and the number of the
/// first.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn chunks(
    mut rest: &mut [MaybeUninit<u8>],
    row_bytes: usize,
    unit: usize,
) -> impl Iterator<Item = (usize, &mut [MaybeUninit<u8>])> {
    let mut next_row = 0;
    std::iter::from_fn(move || {
        let bytes = unit - rest.as_ptr().addr() % unit;
        let rows = bytes.min(rest.len()).div_ceil(row_bytes);
        let (chunk, later) = std::mem::take(&mut rest).split_at_mut(rows * row_bytes);
        rest = later;
        let row = next_row;
        next_row += rows;
        (rows > 0).then_some((row, chunk))
    })
}

/// Writes strip after strip.
#[allow(unsafe_code, reason = "the parts of a strip do not follow each other")]
fn share_strips(work: &Work<'_>, strips: &Strips, output: &mut [MaybeUninit<u8>]) -> bool {
    let output = &Shared::new(output);
    let writer = || {
        let mut buffer = Vec::new();
        // SAFETY: the output is that of the plan, and each number comes once.
        move |n| unsafe { work.write_strip(strips, n, output, &mut buffer) }
    };
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    return on_all_cores(strips.count(), 0..strips.count(), writer);
    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    {
        let mut write = writer();
        (0..strips.count()).fold(false, |bad, n| write(n) | bad)
    }
}

/// Does `count` pieces of work, each thread with a `worker` of its own; returns whether any gave
/// true.
///
/// The calling thread takes pieces too, and begins at once: a parallel iterator would have it wait
/// for the pool to wake up, do everything, and wake it again.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn on_all_cores<T, W: FnMut(T) -> bool>(
    count: usize,
    pieces: impl Iterator<Item = T> + Send,
    worker: impl Fn() -> W + Sync,
) -> bool {
    let any = AtomicBool::new(false);
    let pieces = Mutex::new(pieces);
    let next = || pieces.lock().ok()?.next();
    let take_pieces = || {
        let mut work = worker();
        while let Some(piece) = next() {
            if work(piece) {
                any.store(true, Ordering::Relaxed);
            }
        }
    };
    with_helpers(count.min(threads()).saturating_sub(1), &take_pieces);
    any.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::reference;
    use crate::index::IndexType;
    use crate::op::Op;
    use crate::rules::Rules;
    use crate::shape::Layout;

    #[test]
    fn the_strides_of_empty_tensors_are_never_used() {
        let output = |op: Op, params: (&[u8], Layout), indices: (&[u8], Layout)| {
            let rules = Rules::default();
            let params = Params::new(params.0, 1, params.1).unwrap();
            let indices = Indices::new(indices.0, IndexType::U32, indices.1).unwrap();
            let plan = Plan::of(op, &rules, &params, &indices).unwrap();
            let mut expected = vec![0xa5; plan.output_bytes()];
            let mut got = expected.clone();
            reference::gather(op, &rules, &params, &indices, &mut expected).unwrap();
            execute(&plan, &params, &indices, &mut got).unwrap();
            assert_eq!(got, expected);
            got
        };
        let far = [isize::MAX, isize::MIN, isize::MAX];
        let empty = |shape: &[usize]| Layout::strided(shape, &far, usize::MAX).unwrap();
        let nothing = (&b""[..], empty(&[0, 2, 3]));
        let one_index = (&[0; 4][..], Layout::contiguous(&[1]));
        assert_eq!(output(Op::gather(0), nothing, one_index), [0; 6]);
        let two = (&[8, 9][..], Layout::contiguous(&[2]));
        let no_index = (&b""[..], empty(&[3, 2, 0]));
        assert_eq!(output(Op::gather_nd(), two, no_index), [8, 9].repeat(6));
    }
    #[test]
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    fn chunks_are_whole_rows_that_end_around_multiples_of_the_unit() {
        let mut output = vec![MaybeUninit::uninit(); 1000];
        let start = output.as_ptr().addr();
        for (row_bytes, unit) in [(1, 64), (3, 64), (7, 256), (250, 64), (999, 512)] {
            let len = 1000 / row_bytes * row_bytes;
            let mut rows = 0;
            for (first, chunk) in chunks(&mut output[..len], row_bytes, unit) {
                assert_eq!(first, rows);
                assert_eq!(chunk.as_ptr().addr(), start + rows * row_bytes);
                assert!(!chunk.is_empty() && chunk.len().is_multiple_of(row_bytes));
                rows += chunk.len() / row_bytes;
                let end = start + rows * row_bytes;
                assert!(end % unit < row_bytes || rows * row_bytes == len);
            }
            assert_eq!(rows * row_bytes, len);
        }
    }
}
