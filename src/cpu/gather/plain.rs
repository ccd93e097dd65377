//! Gathers from tensors: the output is cut into chunks, which threads take in order.

use std::mem::MaybeUninit;

use super::super::lookups::LOOKUP_BYTES;
use super::super::report::check;
use super::super::threads::in_chunks;
use super::copy::Work;
use crate::element::Element;
use crate::error::{Result, Role};
use crate::memory::filled_bits;
use crate::operand::{Indices, Params};
use crate::plan::Plan;

/// What a thread takes at once. An output of up to two of these is written by one thread: waking
/// another takes longer.
const CHUNK_BYTES: usize = 512 << 10;

/// Executes `plan` for these tensors, writing the output's bytes, row-major.
///
/// # Errors
///
/// `OtherPlan`, `OutputLength`, and `IndexOutOfBounds` under the rule
/// [`OutOfBounds::Error`](crate::OutOfBounds::Error); the output then holds zeros for the bad
/// indices.
#[allow(
    unsafe_code,
    reason = "the writer for fresh memory also serves the caller's memory"
)]
pub(crate) fn execute(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
    output: &mut [u8],
) -> Result<()> {
    plan.check_tensors(params, indices, output.len())?;
    // SAFETY: MaybeUninit<u8> has the layout of u8. Only `write` gets the slice, and it stores no
    // uninitialised byte: it copies from `&[u8]`.
    let output = unsafe { &mut *(std::ptr::from_mut(output) as *mut [MaybeUninit<u8>]) };
    write(plan, params, indices, output)
}

/// Executes a plan made for these tensors, whose element type is `T`, into fresh memory, which is
/// not zeroed first; returns the elements' bits.
#[allow(unsafe_code, reason = "memory that is written once")]
pub(crate) fn gathered<T: Element>(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
) -> Result<Vec<T::Bits>> {
    let len = plan.output_bytes() / size_of::<T>();
    let fill = |bytes: &mut [MaybeUninit<u8>]| write(plan, params, indices, bytes);
    // SAFETY: `write` writes to every byte.
    unsafe { filled_bits::<T>(Role::Output, len, fill) }
}

/// Executes a plan made for these tensors. Every byte of `output` is written, whatever the result.
fn write(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
    output: &mut [MaybeUninit<u8>],
) -> Result<()> {
    if output.is_empty() {
        return Ok(());
    }
    let work = Work::new(plan, params.bytes(), indices.bytes());
    let row_bytes = work.row_bytes;
    let chunk_bytes = match CHUNK_BYTES / (row_bytes + LOOKUP_BYTES) {
        // A part of a row, in whole elements.
        0 => (CHUNK_BYTES / plan.element_bytes()).max(1) * plan.element_bytes(),
        rows => rows * row_bytes,
    };
    let any_bad = in_chunks(output, chunk_bytes, |first, chunk| work.write(first, chunk));
    match any_bad && plan.reports_bad_indices() {
        true => check(plan, indices),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Gather;
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
            reference::gather(&Gather::plain(op, &rules, &params, &indices), &mut expected)
                .unwrap();
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
