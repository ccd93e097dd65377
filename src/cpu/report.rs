//! Finds bad indices, and what to say about them.

use bytemuck::Pod;

use super::sources::{BAD, BLOCK, Lookups};
use super::walk::{Walk, forward};
use crate::error::{Error, Result};
use crate::plan::{Coordinate, Geometry, Plan};
use crate::tensor::Indices;

/// Looks at all indices of a non-empty plan without gathering anything, and reports if some are
/// bad.
pub(super) fn check(plan: &Plan, indices: &Indices<'_>) -> Result<()> {
    let lookups = plan.over(plan.lookups().clone());
    let finder = Lookups::new(&lookups, indices.bytes());
    let any_bad = match plan.index_type().bytes() {
        4 => any_bad::<u32>(&finder, lookups.geometry()),
        _ => any_bad::<u64>(&finder, lookups.geometry()),
    };
    match any_bad {
        true => Err(report(plan, indices)),
        false => Ok(()),
    }
}

/// Whether some of the lookups has a bad index.
fn any_bad<W: Pod + Into<u64>>(finder: &Lookups<'_>, nest: &Geometry) -> bool {
    let mut walk = Walk::new(nest, 0);
    let mut sources = [0; BLOCK];
    let mut left = nest.elements();
    while left > 0 {
        let run = walk.run(left.min(BLOCK));
        let sources = &mut sources[..run.rows];
        finder.sources::<W>(run, sources);
        if sources.contains(&BAD) {
            return true;
        }
        left -= run.rows;
    }
    false
}

/// Finds the first bad lookup and counts them, in row-major order of indices. Reached once per
/// failed call, so plain rather than fast.
pub(super) fn report(plan: &Plan, indices: &Indices<'_>) -> Error {
    let lookups = plan.lookups();
    let mut walk = Walk::new(lookups, 0);
    let mut first = None;
    let mut count = 0;
    for lookup in 0..lookups.elements() as u64 {
        let at = walk.run(1).indices;
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
