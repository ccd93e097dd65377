//! Scatters of rows that take the lookups in their own order, without a sort.
//!
//! A thread has some rows of the destination. It resolves all lookups, some at a time, keeps those of its own rows
//! and folds them. So updates are read in the order in which they lie in memory, and nothing is stored for a
//! lookup. What each thread does besides is to resolve the others' lookups.

use super::super::fold::fold_each;
use super::super::lookups::{BAD, Lookups};
use super::updates::{Updates, update_of};
use crate::fold::{Combine, Fold};
use crate::operand::Params;
use crate::plan::Plan;
use crate::scatter::ScatterPlan;

/// How many lookups are resolved at once: what is kept of them stays in the first cache.
const WINDOW: usize = 512;

/// The lookups of one scatter, for all threads.
pub(super) struct InOrder<'a> {
    plan: &'a ScatterPlan,
    lookups: Lookups<'a>,
    updates: Updates<'a>,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(
        plan: &'a ScatterPlan,
        keys: &'a Plan,
        indices: &'a [u8],
        updates: &'a Params<'a>,
    ) -> Self {
        InOrder {
            plan,
            lookups: Lookups::new(keys, indices),
            updates: Updates(updates.bytes()),
        }
    }

    /// Folds what belongs to the rows of `part`, of which `first` is the first; returns whether some index
    /// is bad, of all.
    pub(super) fn fold_part<T: Fold, C: Combine<T>>(
        &self,
        columns: usize,
        first: usize,
        part: &mut [u8],
    ) -> bool {
        let (lookups, rows) = (self.plan.lookups(), part.len() / (columns * size_of::<T>()));
        let (mut starts, mut kept) = ([0; WINDOW], [(0, 0); WINDOW]);
        let mut any_bad = false;
        for window in (0..lookups).step_by(WINDOW) {
            let starts = &mut starts[..WINDOW.min(lookups - window)];
            self.lookups.find_from(window, starts);
            let mut count = 0;
            // Which lookups are kept is as good as random: so no branch depends on it.
            for (n, &key) in starts.iter().enumerate() {
                let row = key.wrapping_sub(first);
                kept[count] = (row, update_of(self.plan, window + n));
                count += usize::from(row < rows);
            }
            any_bad |= starts.contains(&BAD);
            fold_each::<T, C, _>(part, columns, self.updates, &kept[..count]);
        }
        any_bad
    }
}
