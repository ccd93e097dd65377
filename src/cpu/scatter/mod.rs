//! Executes a [`ScatterPlan`] on all cores.
//!
//! Threads take chunks of the destination, each of which folds what belongs there in order: so no two
//! threads write to one place, and the result does not depend on their number. The lookups are sorted
//! by key for that, unless it costs less to look at all keys in each chunk. Many lookups are taken in
//! chunks, one after the other, where a fold may stop and go on ([`Fold::RESUMES`]): to fold their chunks
//! in order is to fold them in order.

mod destination;
mod keys;
mod nest;
mod segment;
#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;

use destination::Destination;
use keys::{Pair, find_pairs, none, sort};
use nest::{Nest, Run};
use segment::{fold_in_place, fold_segment};

use super::report::check;
use crate::element::Element;
use crate::error::{Result, Role};
use crate::fold::{Combine, Fold, Folding, fold_with};
use crate::memory::filled_bits;
use crate::operand::{Indices, Params};
use crate::scatter::ScatterPlan;

/// The most lookups that are sorted at once, where they need not be all.
const MOST_LOOKUPS: usize = 1 << 20;

/// The least bytes of the destination that a thread takes at once.
const CHUNK_BYTES: usize = 32 << 10;

/// How many chunks there are for each thread, as some have more to fold than others.
const CHUNKS_PER_THREAD: usize = 32;

/// Scatters in place in the destination's bytes, which are contiguous and row-major.
///
/// # Errors
///
/// `OutputLength`, and `IndexOutOfBounds` under the rule
/// [`OutOfBounds::Error`](crate::OutOfBounds::Error); good indices have written all the same.
pub(crate) fn scatter(
    plan: &ScatterPlan,
    indices: &Indices<'_>,
    updates: &Params<'_>,
    destination: &mut [u8],
) -> Result<()> {
    plan.check_destination(destination)?;
    run(plan, indices, updates, Destination::There(destination))
}

/// Scatters over a copy of `base`, the bytes of a contiguous tensor of the destination's shape, whose
/// element type is `T`; returns the elements' bits.
///
/// # Errors
///
/// As [`scatter`], and `HostOutOfMemory`.
#[allow(unsafe_code, reason = "memory that is written once")]
pub(crate) fn scatter_over<T: Element>(
    plan: &ScatterPlan,
    indices: &Indices<'_>,
    updates: &Params<'_>,
    base: &[u8],
) -> Result<Vec<T::Bits>> {
    plan.check_destination(base)?;
    let fill =
        |to: &mut [MaybeUninit<u8>]| run(plan, indices, updates, Destination::copy_of(base, to));
    // SAFETY: `run` makes the copy, which has every byte.
    unsafe { filled_bits::<T>(Role::Output, base.len() / size_of::<T>(), fill) }
}

/// Folds into a destination; a copy is whole then.
fn run(
    plan: &ScatterPlan,
    indices: &Indices<'_>,
    updates: &Params<'_>,
    destination: Destination<'_>,
) -> Result<()> {
    let Some(keys) = &plan.keys else {
        destination.finish();
        return Ok(());
    };
    let work = Work {
        plan,
        indices,
        updates,
        destination,
    };
    let any_bad = fold_with(plan.op, plan.reduce, plan.dtype, work)??;
    match any_bad && keys.reports_bad_indices() {
        true => check(keys, indices),
        false => Ok(()),
    }
}

/// Bytes of a row for each thread from which on the threads look at all keys, each for those of its own
/// rows: what they read of the updates is then in order in memory, which a sort would undo.
const LONG_ROW_BYTES: usize = 128;

/// Up to so many threads they do that for short rows, too: it takes each of them less than its share of a
/// sort.
const FEW_THREADS: usize = 8;

/// Up to so many bytes of updates one thread folds alone: waking another takes longer.
const BYTES_OF_ONE: usize = 1 << 20;

/// How many parts of the destination there are then. A thread looks at all keys for each of its parts,
/// which short rows do not make up for.
fn parts(lookups: usize, row_bytes: usize) -> usize {
    match lookups.saturating_mul(row_bytes) <= BYTES_OF_ONE {
        true => 1,
        false => super::threads::threads() * (row_bytes / 512).clamp(1, 2),
    }
}

/// One execution.
struct Work<'a> {
    plan: &'a ScatterPlan,
    indices: &'a Indices<'a>,
    updates: &'a Params<'a>,
    destination: Destination<'a>,
}

impl Folding for Work<'_> {
    /// Whether some index was bad.
    type Output = Result<bool>;

    fn fold<T: Fold, C: Combine<T>>(self) -> Result<bool> {
        let (keys, lookups) = (self.plan.key_digits.count(), self.plan.lookups());
        // Both in one word, if they fit, sort twice as fast.
        match u32::try_from(keys).is_ok() && u32::try_from(lookups).is_ok() {
            true => self.fold_sorted::<T, C, u64>(),
            false => self.fold_sorted::<T, C, u128>(),
        }
    }
}

impl Work<'_> {
    fn fold_sorted<T: Fold, C: Combine<T>, P: Pair>(mut self) -> Result<bool> {
        let lookups = self.plan.lookups();
        let most = if T::RESUMES { MOST_LOOKUPS } else { lookups };
        let nest = Nest::new(self.plan);
        let threads = super::threads::threads();
        let long = nest.slice * size_of::<T>() >= LONG_ROW_BYTES * threads;
        let in_order = T::RESUMES && nest.is_rows() && (long || threads <= FEW_THREADS);
        let mut pairs: Vec<P> = Vec::new();
        let mut any_bad = false;
        for first in (0..lookups).step_by(most) {
            let chunk = first..lookups.min(first.saturating_add(most));
            find_pairs(self.plan, self.indices, chunk, &mut pairs)?;
            any_bad |= match in_order {
                true => pairs.contains(&none()),
                false => sort(&mut pairs),
            };
            let folding = Chunk {
                plan: self.plan,
                nest: &nest,
                updates: self.updates.bytes(),
                pairs: &pairs,
            };
            match in_order {
                true => folding.fold_rows::<T, C>(&mut self.destination),
                false => folding.fold_all::<T, C>(&mut self.destination),
            }
        }
        self.destination.finish();
        Ok(any_bad)
    }
}

/// The lookups of one chunk, sorted by key or in their own order.
struct Chunk<'a, P> {
    plan: &'a ScatterPlan,
    nest: &'a Nest,
    updates: &'a [u8],
    pairs: &'a [P],
}

impl<P: Pair> Chunk<'_, P> {
    /// Folds them into the destination, side by side.
    fn fold_all<T: Fold, C: Combine<T>>(&self, destination: &mut Destination<'_>) {
        let width = size_of::<T>();
        let even = destination.len() / (super::threads::threads() * CHUNKS_PER_THREAD);
        let bytes = even.max(CHUNK_BYTES) / width * width;
        destination.for_each_part(bytes, |n, part| {
            self.fold_part::<T, C>(n * (bytes / width), part);
        });
    }

    /// Folds rows where they lie, taking the lookups in their own order.
    fn fold_rows<T: Fold, C: Combine<T>>(&self, destination: &mut Destination<'_>) {
        let row_bytes = self.nest.slice * size_of::<T>();
        let rows = destination.len() / row_bytes;
        let of_part = rows.div_ceil(parts(self.pairs.len(), row_bytes));
        destination.for_each_part(of_part * row_bytes, |n, part| {
            self.fold_part_rows::<T, C>(n * of_part, part);
        });
    }

    /// Folds the rows of a part, of which `first` is the first: with AVX2, which not every processor of
    /// its kind has, if this one does.
    #[cfg_attr(
        target_arch = "x86_64",
        allow(unsafe_code, reason = "a function for processors with AVX2")
    )]
    fn fold_part_rows<T: Fold, C: Combine<T>>(&self, first: usize, part: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.fold_part_rows_avx2::<T, C>(first, part) };
        }
        self.fold_part_rows_inlined::<T, C>(first, part);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fold_part_rows_avx2<T: Fold, C: Combine<T>>(&self, first: usize, part: &mut [u8]) {
        self.fold_part_rows_inlined::<T, C>(first, part);
    }

    #[inline(always)]
    fn fold_part_rows_inlined<T: Fold, C: Combine<T>>(&self, first: usize, part: &mut [u8]) {
        let row_bytes = self.nest.slice * size_of::<T>();
        let keys = first..first + part.len() / row_bytes;
        for pair in self.pairs.iter().filter(|pair| keys.contains(&pair.key())) {
            let target = &mut part[(pair.key() - keys.start) * row_bytes..][..row_bytes];
            let [_, at] = self.plan.lookup_digits.position(pair.row());
            let at = self.plan.updates.offset().wrapping_add_signed(at);
            fold_in_place::<T, C>(target, self.updates, [at].into_iter());
        }
    }

    /// Folds what belongs to the elements of `part`, of which `first` is the first.
    fn fold_part<T: Fold, C: Combine<T>>(&self, first: usize, part: &mut [u8]) {
        let width = size_of::<T>();
        let elements = first..first + part.len() / width;
        self.nest.runs(elements, &mut |run: Run| {
            let keys = run.keys.clone();
            let start = self.pairs.partition_point(|p| p.key() < keys.start);
            let mut rest = &self.pairs[start..];
            while let Some(key) = rest.first().map(Pair::key).filter(|key| keys.contains(key)) {
                let same = rest.iter().take_while(|p| p.key() == key).count();
                let (segment, others) = rest.split_at(same);
                rest = others;
                let at = (run.element - first + (key - keys.start) * self.nest.slice) * width;
                let places = segment.iter().map(|p| self.place(p.row(), &run));
                let target = &mut part[at..at + run.columns * width];
                fold_segment::<T, C>(target, self.updates, places, self.nest.slice_step);
            }
        });
    }

    /// Where the update of a lookup lies, in elements.
    fn place(&self, lookup: usize, run: &Run) -> usize {
        let [_, at] = self.plan.lookup_digits.position(lookup);
        let first = self.plan.updates.offset().wrapping_add_signed(run.updates);
        first.wrapping_add_signed(at)
    }
}
