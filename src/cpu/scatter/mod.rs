//! Executes a [`ScatterPlan`] on all cores.
//!
//! Threads take parts of the destination, each of which folds what belongs there in order: so no two
//! threads write to one place, and the result does not depend on their number. Where a fold may stop and go on
//! ([`Loops::each`]), or lookups are few, rows are folded in the order of the lookups, unless there are many threads,
//! each of which would look at all of them, or several that fold long rows. Else the lookups are sorted by key, many of
//! them in chunks, one after the other, if a fold may stop: to fold their chunks in order is to fold them in order.

mod balance;
mod each;
mod in_order;
mod keep;
mod keys;
mod loops;
mod nest;
#[cfg(test)]
mod tests;
mod updates;

use std::iter::{once, zip};
use std::mem::MaybeUninit;

use balance::cuts;
use in_order::InOrder;
use keys::{Pair, find_pairs, sort};
use loops::Loops;
use nest::{Nest, Run};
use updates::{Strided, Updates, update_of};

use super::destination::Destination;
use super::fetch::{Starts, rows_ahead};
use super::report::check;
use super::threads::{BYTES_OF_ONE, threads};
use crate::element::Element;
use crate::error::{Result, Role};
use crate::fold::fold_with;
use crate::memory::filled_bits;
use crate::operand::{Indices, Params};
use crate::plan::Plan;
use crate::scatter::ScatterPlan;

/// What a lookup costs that is folded in order, as bytes that could be folded meanwhile.
const LOOKUP_BYTES: usize = 16;

/// Up to so many of those bytes, one thread folds alone where a fold may stop and go on: each of two would look at all
/// lookups, and one would have to be woken.
const BYTES_FOLDED_BY_ONE: usize = 4 << 20;

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
    mut destination: Destination<'_>,
) -> Result<()> {
    let Some(keys) = &plan.keys else {
        destination.all();
        return Ok(());
    };
    let work = Work {
        plan,
        keys,
        indices,
        updates,
        destination,
        loops: fold_with(plan.op, plan.reduce, plan.dtype, loops::Find)?,
    };
    let any_bad = work.fold()?;
    match any_bad && keys.reports_bad_indices() {
        true => check(keys, indices),
        false => Ok(()),
    }
}

/// Rows of so many bytes are folded in the order of their keys by several threads, if lookups are as many as rows: then
/// each row of the destination is read and written once for all of its updates. One thread reads all updates in the order
/// that they lie in, which gains as much; of several, each reads some.
const SORTED_ROW_BYTES: usize = 2 << 10;

/// A destination of no more bytes than this stays in caches meanwhile: it is not worth a sort.
const CACHED_BYTES: usize = 4 << 20;

/// Rows are folded in the order of the lookups by up to so many threads: each looks at all of them, which takes less
/// than its share of a sort.
const FEW_THREADS: usize = 8;

/// Where a fold may not stop, a thread stores so many lookups at most: with 16 bytes for each, as much as its second
/// cache holds.
const FEW_LOOKUPS: usize = 1 << 16;

/// One execution.
struct Work<'a> {
    plan: &'a ScatterPlan,
    /// The gather that gives the keys.
    keys: &'a Plan,
    indices: &'a Indices<'a>,
    updates: &'a Params<'a>,
    destination: Destination<'a>,
    loops: Loops,
}

impl Work<'_> {
    /// Returns whether some index was bad.
    fn fold(mut self) -> Result<bool> {
        let nest = Nest::new(self.plan);
        let row_bytes = nest.slice * self.plan.dtype.bytes();
        let (lookups, rows) = (self.plan.lookups(), self.destination.len() / row_bytes);
        let is_cached = self.destination.len() <= CACHED_BYTES;
        let threads = self.threads(row_bytes, is_cached);
        let are_sorted =
            row_bytes >= SORTED_ROW_BYTES && !is_cached && threads > 1 && lookups >= rows;
        let are_few = rows <= u32::MAX as usize;
        let may_stop = self.loops.each.is_some() || lookups <= FEW_LOOKUPS;
        let may_go_in_order =
            may_stop && nest.is_rows() && are_few && !are_sorted && threads <= FEW_THREADS;
        let in_order = may_go_in_order
            .then(|| InOrder::new(self.plan, self.keys, self.indices.bytes(), self.updates))
            .flatten();
        let any_bad = match in_order {
            Some(in_order) => self.fold_in_order(&in_order, row_bytes, threads),
            None => self.fold_sorted(&nest)?,
        };
        self.destination.all();
        Ok(any_bad)
    }

    /// What all lookups of such rows cost, as bytes that are folded.
    fn folded_bytes(&self, row_bytes: usize) -> usize {
        self.plan.lookups().saturating_mul(row_bytes + LOOKUP_BYTES)
    }

    /// How many threads fold rows of so many bytes.
    fn threads(&self, row_bytes: usize, is_cached: bool) -> usize {
        let folded = self.folded_bytes(row_bytes);
        let copied = self.destination.copied_bytes();
        let (most_of_one, is_narrow) = match self.loops.each {
            Some(_) => (BYTES_FOLDED_BY_ONE, row_bytes <= LOOKUP_BYTES),
            None => (BYTES_OF_ONE, false),
        };
        match threads() {
            _ if folded.saturating_add(copied) <= most_of_one => 1,
            // To look at all lookups takes each of two as long as to fold half of them, where rows are in caches.
            2 if is_narrow && is_cached && copied == 0 => 1,
            threads => threads,
        }
    }

    /// Folds rows where they lie, a part of them for each thread, taking the lookups in their own order.
    fn fold_in_order(&mut self, in_order: &InOrder<'_>, row_bytes: usize, parts: usize) -> bool {
        let rows = self.destination.len() / row_bytes;
        if rows == 0 {
            return true; // no index is good
        }
        if parts == 1 {
            return in_order.fold_part(self.loops, 0..rows, self.destination.all());
        }
        let sample = in_order.sample(parts);
        let of_lookups = self.folded_bytes(row_bytes);
        let copied = self.destination.copied_bytes();
        let ends = cuts(rows, parts, &sample, copied, of_lookups);
        let firsts: Vec<usize> = once(0).chain(ends.iter().copied()).collect();
        let lengths: Vec<usize> = zip(&firsts, &ends)
            .map(|(first, end)| (end - first) * row_bytes)
            .collect();
        let loops = self.loops;
        self.destination.for_each_part(&lengths, &|n, part| {
            in_order.fold_part(loops, firsts[n]..ends[n], part.all())
        })
    }

    /// Folds the lookups sorted by key.
    fn fold_sorted(&mut self, nest: &Nest) -> Result<bool> {
        let lookups = self.plan.lookups();
        let most = if self.loops.each.is_some() {
            MOST_LOOKUPS
        } else {
            lookups
        };
        let mut pairs = Vec::new();
        let mut any_bad = false;
        for first in (0..lookups).step_by(most) {
            let chunk = first..lookups.min(first.saturating_add(most));
            find_pairs(self.keys, self.indices, chunk, &mut pairs)?;
            any_bad |= sort(&mut pairs, self.plan.key_digits.count())?;
            let folding = Chunk {
                plan: self.plan,
                nest,
                updates: self.updates.bytes(),
                pairs: &pairs,
                loops: self.loops,
            };
            folding.fold_all(&mut self.destination);
        }
        Ok(any_bad)
    }
}

/// The lookups of one chunk, sorted by key.
struct Chunk<'a> {
    plan: &'a ScatterPlan,
    nest: &'a Nest,
    updates: &'a [u8],
    pairs: &'a [Pair],
    loops: Loops,
}

impl Chunk<'_> {
    /// Folds them into the destination, side by side.
    fn fold_all(&self, destination: &mut Destination<'_>) {
        let width = self.plan.dtype.bytes();
        let even = destination.len() / (threads() * CHUNKS_PER_THREAD);
        let bytes = even.max(CHUNK_BYTES) / width * width;
        let mut lengths = vec![bytes; destination.len() / bytes];
        lengths.push(destination.len() % bytes);
        destination.for_each_part(&lengths, &|n, part| {
            self.fold_part(n * (bytes / width), part.all());
            false
        });
    }

    /// Folds what belongs to the elements of `part`, of which `first` is the first.
    fn fold_part(&self, first: usize, part: &mut [u8]) {
        let width = self.plan.dtype.bytes();
        let elements = first..first + part.len() / width;
        let (mut starts, mut to) = (Vec::new(), Vec::new());
        self.nest.runs(elements, &mut |run: Run| {
            let keys = run.keys.clone();
            let start = self.pairs.partition_point(|p| p.key < keys.start);
            let rest = &self.pairs[start..];
            let pairs = &rest[..rest.partition_point(|p| p.key < keys.end)];
            let start = |p: &Pair| update_of(self.plan, p.lookup).wrapping_add_signed(run.updates);
            starts.clear();
            starts.extend(pairs.iter().map(start));
            let row = |key| (run.element - first + (key - keys.start) * self.nest.slice) * width;
            to.clear();
            to.extend(pairs.iter().map(|p| row(p.key)));
            let row_bytes = run.columns * width;
            let updates = Updates {
                bytes: self.updates,
                starts: Starts::asked_ahead(&mut starts, rows_ahead(row_bytes)),
            };
            match self.nest.slice_step {
                1 => (self.loops.runs)(part, row_bytes, &to, updates),
                step => {
                    (self.loops.strided_runs)(part, row_bytes, &to, Strided { updates, step });
                }
            }
        });
    }
}
