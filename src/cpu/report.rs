//! Finds what to say about bad indices. Reached once per failed call, so plain rather than fast.

use super::walk::{Walk, forward};
use crate::error::Error;
use crate::plan::{Coordinate, Plan};
use crate::tensor::Indices;

/// Finds the first bad lookup and counts them, in row-major order of indices.
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
