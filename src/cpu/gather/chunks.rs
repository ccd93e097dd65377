//! Outputs that are never whole: made box by box in one buffer.

use super::super::report::check;
use super::execute;
use crate::call::Gather;
use crate::error::{Error, Result, Role};
use crate::memory::zeroed_bits;
use crate::plan::Plan;

/// Executes `call`, which `plan` was made for, calling `chunk` with at most `most_bytes` of the output at a
/// time, in order, from byte `from` on.
pub(crate) fn chunks<E: From<Error>>(
    call: &Gather<'_>,
    plan: &Plan,
    (from, most_bytes): (usize, usize),
    chunk: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if plan.is_empty() {
        return Ok(());
    }
    if plan.counts_bad_indices() {
        check(plan, &call.indices)?;
    }
    let width = plan.element_bytes();
    let most_elements = (most_bytes.min(plan.output_bytes()) / width).max(1);
    let mut buffer = zeroed_bits::<u8>(Role::Output, most_elements * width)?;
    plan.chunks(most_elements, &mut |part, elements| {
        let (start, end) = (elements.start * width, elements.end * width);
        if end <= from {
            return Ok(());
        }
        let made = &mut buffer[..end - start];
        execute(call, &part, made)?;
        let wanted = &made[from.saturating_sub(start)..];
        wanted.chunks(most_bytes).try_for_each(&mut *chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexType;
    use crate::op::Op;
    use crate::operand::{Indices, Params};
    use crate::rules::Rules;
    use crate::shape::Layout;

    fn call(indices: &[u8], rules: &Rules, from: usize, most: usize) -> Result<Vec<Vec<u8>>> {
        let bytes: Vec<u8> = (0..60).collect();
        let params = Params::new(&bytes, 4, Layout::contiguous(&[5, 3]))?;
        let indices = Indices::new(indices, IndexType::U32, Layout::contiguous(&[3]))?;
        let call = Gather::plain(Op::gather(0), rules, &params, &indices);
        let plan = call.plan()?;
        let mut got = Vec::new();
        let made = chunks(&call, &plan, (from, most), &mut |chunk| {
            got.push(chunk.to_vec());
            Ok(())
        });
        match made {
            Ok(()) => Ok(got),
            Err(error) if got.is_empty() => Err(error),
            Err(error) => panic!("{error} after {got:?}"),
        }
    }

    #[test]
    fn any_rest_of_the_output_comes_in_pieces_of_any_size() {
        let indices = [4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
        let expected: Vec<u8> = (48..60).chain(12..36).collect();
        let mosts = if cfg!(miri) { 11..14 } else { 1..40 };
        for from in (0..=36).step_by(if cfg!(miri) { 7 } else { 1 }) {
            for most in mosts.clone() {
                let got = call(&indices, &Rules::default(), from, most).unwrap();
                assert!(got.iter().all(|p| (1..=most).contains(&p.len())));
                assert_eq!(
                    got.concat(),
                    expected[from..],
                    "from {from}, {most} at most"
                );
            }
        }
    }

    #[test]
    fn a_bad_index_is_reported_before_the_first_piece() {
        let indices = [4, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 1];
        let error = call(&indices, &Rules::ONNX, 0, 1).unwrap_err();
        let Error::IndexOutOfBounds(bad) = error else {
            panic!("{error}");
        };
        assert_eq!(
            (bad.position, bad.value, bad.count),
            (vec![2], 0x0100_0005, 1)
        );
    }
}
