//! Finds bad indices, and what to say about them.

use super::lookups::{BAD, BLOCK, Lookups};
use super::rows::{Rows, forward};
use super::threads::{for_each, threads};
use crate::error::{BadIndices, Error, Result};
use crate::op::Op;
use crate::operand::Indices;
use crate::plan::{Geometry, Plan};
use crate::rules::{OutOfBounds, Rules};
use crate::table::IndexTensor;

/// Fewer lookups than this are counted by one thread: waking another takes longer.
const LEAST_LOOKUPS: usize = 32 << 10;

/// The most parts for each thread, so that one that starts late gets fewer of them.
const PARTS: usize = 8;

/// Counts the bad indices of a call, and returns the first in row-major order with the count; `None` if all are
/// good. An index is bad if it lies outside its axis, whatever the rules make of it. Nothing is gathered or
/// scattered: `params_shape` is the shape of the params or the destination of the call.
///
/// ```
/// use wgpu_gather::{Op, Rules, Tensor, bad_indices};
///
/// let ids = Tensor::from([2i64, 7, -1, 0]);
/// let bad = bad_indices(Op::gather(0), &Rules::JAX_CLIP, &[5, 3], &ids)?.expect("two");
/// assert_eq!((bad.position, bad.value, bad.count), (vec![1], 7, 2));
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
///
/// (`gpu::Engine::bad_indices` does the same for indices on a device.)
///
/// # Errors
///
/// Shapes, attributes and rules that do not fit: those of [`Plan::new`].
pub fn bad_indices<I: IndexTensor>(
    op: Op,
    rules: &Rules,
    params_shape: &[usize],
    indices: &I,
) -> Result<Option<BadIndices>> {
    let indices = indices.indices()?;
    let (index_type, layout) = (indices.index_type(), indices.layout());
    let plan = Plan::of_lookups(op, rules, params_shape, index_type, layout)?;
    match plan.looks_up() {
        true => Ok(found(&plan, &indices)),
        false => Ok(None),
    }
}

/// Reports the bad indices of a non-empty plan, if there are any. Nothing is gathered.
pub(super) fn check(plan: &Plan, indices: &Indices<'_>) -> Result<()> {
    match found(plan, indices) {
        Some(bad) => Err(Error::IndexOutOfBounds(Box::new(bad))),
        None => Ok(()),
    }
}

/// The bad lookups of a part of them.
#[derive(Clone, Copy, Default)]
struct Counted {
    count: u64,
    first: Option<usize>,
}

/// The first bad lookup of a non-empty plan in row-major order of indices, and how many there are.
fn found(plan: &Plan, indices: &Indices<'_>) -> Option<BadIndices> {
    let counted = count(plan, indices);
    let first = counted.first?;
    let lookups = plan.lookups();
    let at = Rows::new(lookups, first).next_run(1).indices;
    let value = |k: usize| indices.load(forward(at, k as isize, lookups.index_step));
    let values: Vec<i128> = (0..lookups.coordinates.len()).map(value).collect();
    Some(plan.bad_lookups(first as u64, &values, counted.count))
}

/// Counts bad lookups in one pass over the indices, on all cores.
fn count(plan: &Plan, indices: &Indices<'_>) -> Counted {
    let lookups = plan.lookups();
    // Rules that clip or wrap would hide bad indices.
    let rules = &plan.rules().clone().with_out_of_bounds(OutOfBounds::Zero);
    let index_type = plan.index_type();
    let finder = Lookups::over(lookups, 1, rules, index_type, indices.bytes());
    let all = lookups.elements();
    let part = all.div_ceil(PARTS * threads()).max(LEAST_LOOKUPS);
    let mut parts = vec![Counted::default(); all.div_ceil(part)];
    for_each(parts.iter_mut(), |n, counted| {
        let first = n * part;
        *counted = count_part(lookups, &finder, first, part.min(all - first));
        false
    });
    let sum = |before: Counted, part: Counted| Counted {
        count: before.count + part.count,
        first: before.first.or(part.first),
    };
    parts.into_iter().fold(Counted::default(), sum)
}

/// Counts those of `left` lookups from number `first` on.
fn count_part(lookups: &Geometry, finder: &Lookups<'_>, first: usize, mut left: usize) -> Counted {
    let mut rows = Rows::new(lookups, first);
    let mut starts = [0; BLOCK];
    let mut counted = Counted::default();
    let mut at = first;
    while left > 0 {
        let run = rows.next_run(left.min(BLOCK));
        let starts = &mut starts[..run.rows];
        finder.find(run, starts);
        let bad = starts.iter().filter(|&&start| start == BAD).count();
        if bad > 0 && counted.first.is_none() {
            let within = starts.iter().position(|&start| start == BAD);
            counted.first = within.map(|n| at + n);
        }
        counted.count += bad as u64;
        at += run.rows;
        left -= run.rows;
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;
    use crate::index::IndexType;

    /// More lookups than one thread takes, of a view that goes backwards; against the definition.
    #[test]
    fn bad_lookups_are_counted_over_all_parts() {
        let (rows, columns) = (5, LEAST_LOOKUPS / 2 + 7);
        let all = rows * columns;
        for bad in [vec![], vec![all - 1], vec![0, LEAST_LOOKUPS, all - 2]] {
            // Lookup n is element `all - 1 - n` in memory.
            let mut ids = vec![2i32; all];
            bad.iter().for_each(|&n| ids[all - 1 - n] = -3);
            let strides = [-(columns as isize), -1];
            let layout = Layout::strided(&[rows, columns], &strides, all - 1).unwrap();
            let indices = Indices::new(bytemuck::cast_slice(&ids), IndexType::I32, layout).unwrap();
            let found = bad_indices(Op::gather(0), &Rules::JAX_CLIP, &[3, 2], &indices).unwrap();
            let got = found.map(|found| (found.count, found.position, found.value));
            let first = bad.first().map(|n| vec![n / columns, n % columns]);
            assert_eq!(got, first.map(|at| (bad.len() as u64, at, -3)));
        }
    }

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
