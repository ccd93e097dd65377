//! Pooled lookups on all cores: threads take bags, or columns of bags where there are few.
//!
//! The lookups of a bag are resolved a block at a time. A thread keeps the fold of some columns in registers,
//! and reads those columns of one row of the block after the other; then it takes the next columns of the same
//! rows, which its caches have by then. So each column is folded in the order of the indices, whoever does it.

use std::ops::Range;

use super::bag_table::{Found, Table, TableRows, first_of, load};
use super::fold::{List, WIDE, fold_into_sums};
use super::lookups::{BAD, Lookups};
use super::report::check;
use super::threads::{for_each, threads};
use crate::bag::BagMode;
use crate::call::EmbeddingBag;
use crate::error::{OpKind, Result};
use crate::fold::{Combine, Fold, Folding, Last, fold_bags_with};
use crate::op::Op;
use crate::plan::{BagPlan, Plan};
use crate::rules::OutOfBounds;
use crate::shape::Layout;

/// The most columns that a thread folds at once: their sums stay in its first cache.
const COLUMNS: usize = 1024;
/// The fewest, if there are so few bags that threads share one.
const LEAST_COLUMNS: usize = 64;
/// How many lookups are resolved before their rows are folded, column after column.
const BLOCK: usize = 1024;
/// How many rows are folded side by side with their columns.
const GROUP: usize = 64;
/// What a thread takes at least, in bytes that it reads.
const LEAST_BYTES: usize = 64 << 10;
/// How many parts there are for each thread at most, as some take longer than others.
const PARTS_PER_THREAD: usize = 32;

/// Executes `call`, which `plan` was made for, writing the output's bytes, row-major.
pub(crate) fn embedding_bag(
    call: &EmbeddingBag<'_>,
    plan: &BagPlan,
    output: &mut [u8],
) -> Result<()> {
    plan.check_output(output.len())?;
    if output.is_empty() {
        return Ok(());
    }
    let indices = call.indices.with_layout(plan.indices().clone());
    // A row by its number, as all rows of a table that is broadcast lie in one place.
    let numbers = Layout::contiguous(&call.table.shape()[..1]);
    let (rules, index_type) = (call.rules.without_fill(), plan.lookups.index_type());
    let rows = Plan::new_as(
        OpKind::EmbeddingBag,
        Op::gather(0),
        &rules,
        1,
        &numbers,
        index_type,
        plan.indices(),
    )?;
    let bags = &Bags {
        call,
        plan,
        lookups: Lookups::new(&rows, indices.bytes()),
        table: Table::new(&call.table, plan)?,
    };
    let any_bad = fold_bags_with(plan.mode, plan.dtype, Work { bags, output })?;
    match any_bad && plan.lookups.reports_bad_indices() {
        true => check(&plan.lookups, &indices),
        false => Ok(()),
    }
}

/// All bags of a call, which all threads read.
struct Bags<'a> {
    call: &'a EmbeddingBag<'a>,
    plan: &'a BagPlan,
    /// Of row numbers.
    lookups: Lookups<'a>,
    table: Table<'a>,
}

struct Work<'a> {
    bags: &'a Bags<'a>,
    output: &'a mut [u8],
}

impl Folding for Work<'_> {
    /// Whether some index was bad.
    type Output = bool;

    fn fold<T: Fold, C: Combine<T>>(self) -> bool {
        match self.bags.call.weights {
            Some(_) => self.pool::<T, C, true>(),
            None => self.pool::<T, C, false>(),
        }
    }
}

impl Work<'_> {
    fn pool<T: Fold, C: Combine<T>, const WEIGHTED: bool>(self) -> bool {
        let Work { bags: work, output } = self;
        let row_bytes = work.plan.row_bytes();
        let columns = row_bytes / size_of::<T>();
        let bags = work.plan.ranges.len();
        let shared = columns.div_ceil(threads()).max(LEAST_COLUMNS);
        let at_once = if bags < 4 * threads() {
            shared
        } else {
            columns
        };
        let at_once = at_once.next_multiple_of(work.table.unit()).min(COLUMNS);
        let lookups = work.plan.lookups.lookups().elements() / bags;
        let bytes = (lookups + 1).saturating_mul(row_bytes);
        // As many parts as threads can share, and as even.
        let parts = bags / (LEAST_BYTES / bytes.max(1)).max(1);
        let parts = parts.clamp(1, threads() * PARTS_PER_THREAD);
        let together = bags.div_ceil(parts);
        for_each(output.chunks_mut(row_bytes * together), |n, outputs| {
            work.pool_bags::<T, C, WEIGHTED>(n * together, at_once, outputs)
        })
    }
}

/// What lookups that follow each other find, but for those of the padding.
struct Window<S> {
    /// The lookup after the last of them.
    end: usize,
    rows: Vec<usize>,
    found: Vec<Found<S>>,
    /// How many of them have been folded.
    folded: usize,
}

impl Bags<'_> {
    /// Pools the bags from `first` on into `outputs`, so many columns `at_once`.
    fn pool_bags<T: Fold, C: Combine<T>, const WEIGHTED: bool>(
        &self,
        first: usize,
        at_once: usize,
        outputs: &mut [u8],
    ) -> bool {
        let row_bytes = self.plan.row_bytes();
        let bags = first..first + outputs.len() / row_bytes;
        let end = self.plan.ranges.of(bags.end - 1).end;
        let mut window = Window {
            end: self.plan.ranges.of(first).start,
            rows: Vec::new(),
            found: Vec::new(),
            folded: 0,
        };
        let mut sums = vec![T::zeroed().widen(); row_bytes / size_of::<T>()];
        let mut any_bad = false;
        for (bag, output) in bags.zip(outputs.chunks_exact_mut(row_bytes)) {
            let mut lookups = self.plan.ranges.of(bag);
            let mut count = 0;
            sums.fill(T::zeroed().widen());
            while !lookups.is_empty() {
                if lookups.start == window.end {
                    any_bad |= self.resolve::<T, WEIGHTED>(lookups.start..end, &mut window);
                }
                let now = lookups.start..lookups.end.min(window.end);
                lookups.start = now.end;
                let found = self.take(now, &mut window);
                for_each(sums.chunks_mut(at_once), |n, sums| {
                    self.fold_part::<T, C, WEIGHTED>(found, n * at_once, count == 0, sums);
                    false
                });
                count += found.now().len();
            }
            self.finish::<T>(&sums, count, output);
        }
        any_bad
    }

    /// Finds the rows of the first of these lookups; returns whether some index is bad.
    fn resolve<T: Fold, const WEIGHTED: bool>(
        &self,
        lookups: Range<usize>,
        window: &mut Window<T::Sum>,
    ) -> bool {
        let count = lookups.len().min(BLOCK);
        window.end = lookups.start + count;
        window.rows.resize(count, BAD);
        self.lookups.find_from(lookups.start, &mut window.rows);
        let rows = window.rows.iter().enumerate();
        let kept = rows.filter(|&(_, &row)| Some(row) != self.plan.padding);
        window.found.clear();
        window
            .found
            .extend(kept.map(|(n, &row)| self.found::<T, WEIGHTED>(lookups.start + n, row)));
        window.folded = 0;
        window.rows.contains(&BAD)
    }

    /// What these lookups of the window find, which are the first that have not been folded.
    fn take<'w, S>(&self, lookups: Range<usize>, window: &'w mut Window<S>) -> List<'w, Found<S>> {
        let count = match self.plan.padding {
            None => lookups.len(),
            Some(padding) => {
                let first = lookups.start + window.rows.len() - window.end;
                let rows = &window.rows[first..][..lookups.len()];
                rows.iter().filter(|&&row| row != padding).count()
            }
        };
        let found = List::new(&window.found[window.folded..], count);
        window.folded += count;
        found
    }

    /// Writes what has become of a bag of `count` rows.
    fn finish<T: Fold>(&self, sums: &[T::Sum], count: usize, output: &mut [u8]) {
        for (to, &sum) in output.chunks_exact_mut(size_of::<T>()).zip(sums) {
            let end = match (count, self.plan.mode) {
                (0, _) => T::zeroed(),
                (_, BagMode::Mean) => T::narrow(T::mean(sum, count)),
                (_, BagMode::Sum | BagMode::Max) => T::narrow(sum),
            };
            to.copy_from_slice(bytemuck::bytes_of(&end));
        }
    }

    /// Folds the columns from `first` on of the rows that were found. `starts` says that nothing has been folded
    /// so far.
    fn fold_part<T: Fold, C: Combine<T>, const WEIGHTED: bool>(
        &self,
        mut found: List<'_, Found<T::Sum>>,
        first: usize,
        starts: bool,
        sums: &mut [T::Sum],
    ) {
        // The greatest starts from the first value, a sum from zero.
        if starts && self.plan.mode == BagMode::Max && !found.now().is_empty() {
            let (one, rest) = found.split_at(1);
            self.fold_found::<T, Last, WEIGHTED>(one, first, sums);
            found = rest;
        }
        self.fold_found::<T, C, WEIGHTED>(found, first, sums);
    }

    fn fold_found<T: Fold, C: Combine<T>, const WEIGHTED: bool>(
        &self,
        mut found: List<'_, Found<T::Sum>>,
        first: usize,
        sums: &mut [T::Sum],
    ) {
        let bad = [self.fill::<T>(); WIDE];
        let bad: &[u8] = bytemuck::cast_slice(&bad);
        if let Table::Runs(params) = &self.table {
            let rows = TableRows::<WEIGHTED> {
                bytes: params.bytes(),
                first,
                bad,
            };
            while !found.now().is_empty() {
                let (group, rest) = found.split_at(GROUP);
                fold_into_sums::<T, C, _>(sums, rows, group);
                found = rest;
            }
            return;
        }
        let mut made = vec![T::zeroed(); sums.len()];
        for &found in found.now() {
            if found.start != BAD {
                let (columns, row) = (
                    first..first + sums.len(),
                    self.plan.row_bytes() / size_of::<T>(),
                );
                self.table.make_row(found.start, row, columns, &mut made);
            }
            let rows = TableRows::<WEIGHTED> {
                bytes: bytemuck::cast_slice(&made),
                first: 0,
                bad,
            };
            let start = if found.start == BAD { BAD } else { 0 };
            let found = Found { start, ..found };
            fold_into_sums::<T, C, _>(sums, rows, List::new(&[found], 1));
        }
    }

    /// What a lookup of this row finds.
    #[inline(always)]
    fn found<T: Fold, const WEIGHTED: bool>(&self, lookup: usize, row: usize) -> Found<T::Sum> {
        Found {
            start: match &self.table {
                Table::Runs(params) if row != BAD => first_of(params, row),
                _ => row,
            },
            weight: match WEIGHTED {
                true => self.weight::<T>(lookup).widen(),
                false => T::zeroed().widen(),
            },
        }
    }

    /// What a bad index brings.
    fn fill<T: Fold>(&self) -> T {
        match &self.call.rules.out_of_bounds {
            OutOfBounds::Fill(fill) => bytemuck::pod_read_unaligned(fill.bytes()),
            _ => T::zeroed(),
        }
    }

    fn weight<T: Fold>(&self, lookup: usize) -> T {
        let (Some(weights), Some(layout)) = (&self.call.weights, &self.plan.weights) else {
            return T::zeroed();
        };
        let position = position(layout.strides(), self.plan, lookup);
        load(weights, layout.offset().wrapping_add_signed(position))
    }
}

/// Where a lookup lies in a tensor of the shape of the indices, from its first element on.
fn position(strides: &[isize], plan: &BagPlan, lookup: usize) -> isize {
    match (strides, plan.indices().shape()) {
        (&[outer, inner], &[_, each]) => {
            let (bag, n) = (lookup / each, lookup % each);
            (bag as isize)
                .wrapping_mul(outer)
                .wrapping_add((n as isize).wrapping_mul(inner))
        }
        _ => (lookup as isize).wrapping_mul(strides[0]),
    }
}
