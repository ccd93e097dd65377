//! Scatters of rows that take the lookups in their own order, without a sort.
//!
//! A thread has some rows of the destination. It resolves all lookups, some at a time, keeps those of its own rows
//! and folds them. So updates are read in the order in which they lie in memory, and nothing is stored for a
//! lookup. What each thread does besides is to resolve the others' lookups.

use std::ops::Range;

use super::super::fold::are_short;
use super::super::lookups::{BAD, Lookups};
use super::super::rows::forward;
use super::balance::SAMPLE;
use super::keep::{Kept, WINDOW};
use super::loops::Loops;
use super::updates::{Numbered, Updates};
use crate::operand::Params;
use crate::plan::Plan;
use crate::scatter::ScatterPlan;

/// The lookups of one scatter, for all threads.
pub(super) struct InOrder<'a> {
    count: usize,
    lookups: Lookups<'a>,
    updates: Numbered<'a>,
    /// The indices, and the bound below which they are keys.
    keys: Option<(&'a [u8], u64)>,
}

impl<'a> InOrder<'a> {
    /// Nothing where updates do not follow each other at even distances.
    pub(super) fn new(
        plan: &ScatterPlan,
        keys: &'a Plan,
        indices: &'a [u8],
        updates: &'a Params<'a>,
    ) -> Option<Self> {
        let lookups = Lookups::new(keys, indices);
        Some(InOrder {
            count: plan.lookups(),
            updates: Numbered {
                bytes: updates.bytes(),
                numbers: &[],
                start: plan.updates.offset(),
                step: plan.lookup_digits.step_in_updates()?,
            },
            keys: lookups.that_are_starts(),
            lookups,
        })
    }

    /// The rows of some lookups, sorted.
    pub(super) fn sample(&self) -> Vec<usize> {
        let every = self.count.div_ceil(SAMPLE).max(1);
        let of = |lookup| {
            let mut start = [0];
            self.lookups.find_from(lookup, &mut start);
            start[0]
        };
        let rows = (every / 2..self.count).step_by(every).map(of);
        let mut rows: Vec<usize> = rows.filter(|&row| row != BAD).collect();
        rows.sort_unstable();
        rows
    }

    /// Folds what belongs to some rows, which `part` has; returns whether some index is bad, of all.
    pub(super) fn fold_part(
        &self,
        loops: Loops,
        columns: usize,
        rows: Range<usize>,
        part: &mut [u8],
    ) -> bool {
        let fold_each = loops.each.filter(|_| are_short(columns));
        let row_bytes = part.len() / rows.len().max(1);
        let mut kept = Kept::new(rows);
        let mut any_bad = false;
        let (mut to, mut starts) = (Vec::new(), Vec::new());
        for start in (0..self.count).step_by(WINDOW) {
            let window = start..self.count.min(start + WINDOW);
            any_bad |= self.keep(window, &mut kept);
            let updates = Numbered {
                numbers: kept.numbers(),
                start: forward(self.updates.start, start as isize, self.updates.step),
                ..self.updates
            };
            if let Some(fold_each) = fold_each {
                fold_each(part, columns, kept.rows(), updates);
                continue;
            }
            to.clear();
            to.extend(kept.rows().iter().map(|&row| row as usize * row_bytes));
            starts.clear();
            starts.extend((0..to.len()).map(|n| updates.start_of(n)));
            let (bytes, starts) = (updates.bytes, &starts);
            (loops.runs)(part, row_bytes, &to, Updates { bytes, starts });
        }
        any_bad
    }

    /// Keeps what belongs to the rows; returns whether some index of the window is bad.
    fn keep(&self, window: Range<usize>, kept: &mut Kept) -> bool {
        if let Some((indices, bound)) = self.keys {
            let bytes = self.lookups.index_type().bytes();
            let indices = &indices[window.start * bytes..window.end * bytes];
            if kept.take_keys(self.lookups.index_type(), indices, bound) {
                return false;
            }
        }
        let mut starts = [0; WINDOW];
        let starts = &mut starts[..window.len()];
        self.lookups.find_from(window.start, starts);
        kept.take(starts.iter().copied());
        starts.contains(&BAD)
    }
}
