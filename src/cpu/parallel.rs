//! Executes a [`Plan`] on all cores: the output is cut into chunks of whole rows.

use std::mem::MaybeUninit;
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use super::copy::Work;
use super::report::report;
use crate::error::Result;
use crate::plan::Plan;
use crate::tensor::{Indices, Params};

/// Below this many bytes of output, threads cost more than they save.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
const CHUNK_BYTES: usize = 256 << 10;

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
    write(plan, params, indices, as_uninit(output))
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
) -> Result<()> {
    if output.is_empty() {
        return Ok(());
    }
    let work = Work::new(plan, params.bytes(), indices.bytes());
    let any_bad = share(&work, output);
    if any_bad && plan.reports_bad_indices() {
        return Err(report(plan, indices));
    }
    Ok(())
}

/// Writes all rows; returns whether some index was bad.
///
/// The calling thread takes chunks too, and begins at once: a parallel iterator would have it wait
/// for the pool to wake up, do everything, and wake it again.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn share(work: &Work<'_>, output: &mut [MaybeUninit<u8>]) -> bool {
    let rows = (CHUNK_BYTES / (work.row_bytes() + LOOKUP_BYTES)).max(1);
    let chunk_bytes = rows * work.row_bytes();
    if output.len() <= chunk_bytes {
        return work.write(0, output);
    }
    let helpers = (output.len().div_ceil(chunk_bytes)).min(threads()) - 1;
    let any_bad = AtomicBool::new(false);
    let chunks = Mutex::new(output.chunks_mut(chunk_bytes).enumerate());
    let next = || chunks.lock().ok()?.next();
    let take_chunks = || {
        while let Some((n, chunk)) = next() {
            if work.write(n * rows, chunk) {
                any_bad.store(true, Ordering::Relaxed);
            }
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| take_chunks());
        }
        take_chunks();
    });
    any_bad.into_inner()
}

#[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
fn share(work: &Work<'_>, output: &mut [MaybeUninit<u8>]) -> bool {
    work.write(0, output)
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
}
