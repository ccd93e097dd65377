//! Finds bad indices, and what to say about them.

use super::copy::BLOCK;
use super::lookups::{BAD, Lookups};
use super::rows::{Rows, forward};
use crate::error::{Error, Result};
use crate::plan::{Coordinate, Plan};
use crate::tensor::Indices;

/// Looks at all indices of a non-empty plan without gathering anything, and reports if some are
/// bad.
pub(super) fn check(plan: &Plan, indices: &Indices<'_>) -> Result<()> {
    let lookups = plan.over(plan.lookups().clone());
    let finder = Lookups::new(&lookups, indices.bytes());
    let mut rows = Rows::new(lookups.geometry(), 0);
    let mut left = lookups.geometry().elements();
    let mut starts = [0; BLOCK];
    while left > 0 {
        let run = rows.next_run(left.min(BLOCK));
        finder.find(run, &mut starts[..run.rows]);
        if starts[..run.rows].contains(&BAD) {
            return Err(report(plan, indices));
        }
        left -= run.rows;
    }
    Ok(())
}

/// Finds the first bad lookup and counts them, in row-major order of indices. Reached once per
/// failed call, so plain rather than fast.
pub(super) fn report(plan: &Plan, indices: &Indices<'_>) -> Error {
    let lookups = plan.lookups();
    let mut rows = Rows::new(lookups, 0);
    let mut first = None;
    let mut count = 0;
    for lookup in 0..lookups.elements() as u64 {
        let at = rows.next_run(1).indices;
        let value = |k: usize| indices.load(forward(at, k as isize, lookups.index_step));
        let coordinates = &lookups.coordinates;
        let is_bad =
            |(k, c): (usize, &Coordinate)| plan.rules().resolve(value(k), c.extent).is_none();
        if coordinates.iter().enumerate().any(is_bad) {
            count += 1;
            first.get_or_insert_with(|| (lookup, (0..coordinates.len()).map(value).collect()));
        }
    }
    let (lookup, values): (u64, Vec<i128>) = first.unwrap_or_default();
    plan.bad_index(lookup, &values, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexType;
    use crate::{Layout, Op, Rules};

    /// Bad in the last byte of the index, so that reading another width would miss it.
    #[test]
    fn a_bad_index_of_every_type_is_found() {
        for t in IndexType::ALL {
            let mut bytes = vec![0; 3 * t.bytes()];
            let layout = Layout::contiguous(&[3]);
            let call = |bytes: &[u8]| {
                let indices = Indices::new(bytes.to_vec(), t, layout.clone()).unwrap();
                let params = Layout::contiguous(&[5]);
                let plan = Plan::new(Op::gather(0), &Rules::ONNX, 1, &params, t, &layout);
                check(&plan.unwrap(), &indices)
            };
            assert_eq!(call(&bytes), Ok(()), "{t:?}");
            let last = if cfg!(target_endian = "big") {
                2 * t.bytes()
            } else {
                bytes.len() - 1
            };
            bytes[last] = 0x40;
            let Err(Error::IndexOutOfBounds(bad)) = call(&bytes) else {
                panic!("{t:?}: nothing found");
            };
            let value = 0x40 << (8 * (t.bytes() - 1));
            assert_eq!(
                (bad.position, bad.value, bad.count),
                (vec![2], value, 1),
                "{t:?}"
            );
        }
    }
}
