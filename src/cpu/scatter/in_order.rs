//! Scatters of rows that take the lookups in their own order, without a sort of all.
//!
//! A thread has some rows of the destination. It resolves all lookups, some at a time, keeps those of its own rows
//! and folds them; one that has all rows takes indices of 32 bits as they are. So updates are read in the order in
//! which they lie in memory, and nothing is stored for a lookup. What each thread does besides is to resolve the
//! others' lookups. Where a sum must have all of its values before it is rounded, a thread stores what it keeps, and
//! sorts it.

use std::ops::Range;

use super::super::fetch::{Starts, fetch, rows_ahead};
use super::super::lookups::{BAD, Lookups};
use super::balance::SAMPLE;
use super::each::EvenRows;
use super::keep::{Kept, WINDOW};
use super::keys::{digits_to_sort, sort_by_digits};
use super::loops::Loops;
use super::updates::Updates;
use crate::operand::Params;
use crate::plan::Plan;
use crate::scatter::ScatterPlan;

/// Sorted lookups are folded in parts of about this size, whose offsets fit the L2 cache. Prefetching does not cross
/// parts, so small ones cost time.
const FOLDED_AT_ONCE: usize = 4096;

/// The lookups of one scatter, for all threads.
pub(super) struct InOrder<'a> {
    count: usize,
    /// Bytes of an element.
    width: usize,
    lookups: Lookups<'a>,
    updates: EvenRows<'a>,
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
        let width = plan.dtype.bytes();
        Some(InOrder {
            count: plan.lookups(),
            width,
            updates: EvenRows {
                bytes: updates.bytes(),
                start: plan.updates.offset() * width,
                step: plan
                    .lookup_digits
                    .step_in_updates()?
                    .wrapping_mul(width as isize),
            },
            keys: lookups.that_are_starts(),
            lookups,
        })
    }

    /// The rows of some lookups, sorted: as many as tell where to cut them into so many parts.
    pub(super) fn sample(&self, parts: usize) -> Vec<usize> {
        let every = self.count.div_ceil(SAMPLE * parts).max(1);
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
    pub(super) fn fold_part(&self, loops: Loops, rows: Range<usize>, part: &mut [u8]) -> bool {
        let Some(fold_each) = loops.each else {
            return self.fold_sorted(loops, rows, part);
        };
        let columns = part.len() / rows.len() / self.width;
        let named = self.named(&rows);
        let (mut kept, mut any_bad) = (None, false);
        let mut first = 0;
        while first < self.count {
            if let Some(named) = named {
                let updates = self.updates.from(first);
                first += fold_each(part, columns, &named[first..], None, updates);
                if first == self.count {
                    break;
                }
            }
            // Where rows of other threads are between, or from an index on that names no row by itself.
            let window = first..self.count.min(first + WINDOW);
            let kept = kept.get_or_insert_with(|| Kept::new(rows.clone(), self.count));
            any_bad |= self.keep(window.clone(), kept);
            let updates = self.updates.from(window.start);
            let folded = fold_each(part, columns, kept.rows(), kept.numbers(), updates);
            assert_eq!(folded, kept.rows().len(), "rows that are kept are here");
            first = window.end;
        }
        any_bad
    }

    /// The indices as numbers of rows, if they have 32 bits and `rows` are all that there are: an index below their count
    /// is that row under all rules.
    fn named(&self, rows: &Range<usize>) -> Option<&'a [u32]> {
        let (indices, bound) = self
            .keys
            .filter(|_| self.lookups.index_type().bytes() == 4)?;
        let are_all = rows.start == 0 && rows.end as u64 == bound;
        let bytes = are_all.then(|| &indices[..self.count * size_of::<u32>()])?;
        bytemuck::try_cast_slice(bytes).ok()
    }

    /// The same where a sum must have all of its values before it is rounded.
    fn fold_sorted(&self, loops: Loops, rows: Range<usize>, part: &mut [u8]) -> bool {
        let row_bytes = part.len() / rows.len();
        let (pairs, any_bad) = self.sorted_pairs(rows);
        let shift = self.width.ilog2(); // no division for each lookup
        let start = |p: &RowPair| self.updates.start_of(p.lookup as usize) >> shift;
        let (mut to, mut starts) = (Vec::new(), Vec::new());
        let mut rest = &pairs[..];
        while !rest.is_empty() {
            let last = rest[rest.len().min(FOLDED_AT_ONCE) - 1];
            // All of a row, which is rounded once.
            let (some, later) = rest.split_at(rest.partition_point(|p| p.row <= last.row));
            rest = later;
            to.clear();
            to.extend(some.iter().map(|p| p.row as usize * row_bytes));
            starts.clear();
            starts.extend(some.iter().map(start));
            let updates = Updates {
                bytes: self.updates.bytes,
                starts: Starts::asked_ahead(&mut starts, rows_ahead(row_bytes)),
            };
            (loops.runs)(part, row_bytes, &to, updates);
        }
        any_bad
    }

    fn windows(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = (0..self.count).step_by(WINDOW);
        starts.map(|start| start..self.count.min(start + WINDOW))
    }

    /// What belongs to some rows, sorted by row; and whether some index is bad, of all.
    fn sorted_pairs(&self, rows: Range<usize>) -> (Vec<RowPair>, bool) {
        let mut kept = Kept::new(rows.clone(), self.count);
        let (mut pairs, mut any_bad) = (Vec::new(), false);
        for window in self.windows() {
            any_bad |= self.keep(window.clone(), &mut kept);
            let pair = |(row, number)| RowPair {
                row,
                lookup: window.start as u32 + number, // so few are sorted here
            };
            pairs.extend(kept.pairs().map(pair));
        }
        if !pairs.is_sorted() {
            let digits = digits_to_sort(pairs.len(), rows.len(), 1);
            let sorted = digits.map(|d| sort_by_digits(&mut pairs, d, |pair| pair.row as usize));
            // By comparing where that is less work, or memory for digits is lacking.
            if !matches!(sorted, Some(Ok(()))) {
                pairs.sort_unstable();
            }
        }
        (pairs, any_bad)
    }

    /// Keeps what belongs to the rows; returns whether some index of the window is bad.
    fn keep(&self, window: Range<usize>, kept: &mut Kept) -> bool {
        if let Some((indices, bound)) = self.keys {
            let bytes = self.lookups.index_type().bytes();
            fetch(indices, window.end * bytes, WINDOW * bytes); // of the next window
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

/// Where a lookup goes among some rows, and its number. No two are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RowPair {
    row: u32,
    lookup: u32,
}
