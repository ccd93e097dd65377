//! Pooled lookups on all cores: threads take bags, or columns of bags where there are few.
//!
//! A thread keeps the fold of some columns of one bag in registers and caches, and reads those columns
//! of one row after the other. So each column is folded in the order of the indices, whoever does it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::parallel::threads;
use super::pooling::{Pool, Pooling, pool_with};
use super::report::report;
use crate::bag_call::BagCall;
use crate::error::Result;
use crate::fold::Fold;
use crate::plan::BagPlan;
use crate::rules::OutOfBounds;
use crate::tensor::{Indices, Params};

/// The most columns that a thread folds at once: their sums stay in its first cache.
const COLUMNS: usize = 1024;
/// The fewest, if there are so few bags that threads share one.
const LEAST_COLUMNS: usize = 64;
/// What a thread takes at least, in bytes that it reads.
const LEAST_BYTES: usize = 64 << 10;

/// Executes `call`, writing the output's bytes, row-major.
pub(crate) fn embedding_bag(call: &BagCall<'_>, output: &mut [u8]) -> Result<()> {
    let plan = call.plan()?;
    plan.check_output(output.len())?;
    if output.is_empty() {
        return Ok(());
    }
    let indices = Indices::new(
        call.indices.bytes(),
        call.indices.index_type(),
        plan.indices().clone(),
    )?;
    let any_bad = AtomicBool::new(false);
    let work = Bags {
        call,
        plan: &plan,
        indices: &indices,
        columns: columns(&plan),
        any_bad: &any_bad,
        output,
    };
    pool_with(&plan, work);
    match any_bad.into_inner() && plan.lookups.reports_bad_indices() {
        true => Err(report(&plan.lookups, &indices)),
        false => Ok(()),
    }
}

/// Where the elements of a row lie in the table, from the position of its first on.
enum Columns {
    /// One after the other.
    Run,
    /// Each at an offset of its own.
    Scattered(Vec<isize>),
}

fn columns(plan: &BagPlan) -> Columns {
    let geometry = plan.row.geometry();
    let count = plan.row_bytes() / plan.dtype.bytes();
    if geometry.slice() == count {
        return Columns::Run;
    }
    let mut offsets = vec![0isize];
    for l in &geometry.loops {
        let steps = |&at: &isize| (0..l.extent as isize).map(move |n| at + n * l.params_stride);
        offsets = offsets.iter().flat_map(steps).collect();
    }
    Columns::Scattered(offsets)
}

/// All bags of a call.
struct Bags<'a> {
    call: &'a BagCall<'a>,
    plan: &'a BagPlan,
    /// Those that bags have.
    indices: &'a Indices<'a>,
    columns: Columns,
    any_bad: &'a AtomicBool,
    output: &'a mut [u8],
}

impl Pooling for Bags<'_> {
    type Output = ();

    fn pool<T: Fold, P: Pool<T>>(self) {
        let row_bytes = self.plan.row_bytes();
        let columns = row_bytes / size_of::<T>();
        let bags = self.plan.ranges.len();
        let shared = columns.div_ceil(threads()).max(LEAST_COLUMNS);
        let at_once = if bags < 4 * threads() {
            shared
        } else {
            columns
        };
        let at_once = at_once.min(COLUMNS);
        let lookups = self.plan.lookups.lookups().elements() / bags;
        let bytes = (lookups + 1).saturating_mul(row_bytes);
        let together = (LEAST_BYTES / bytes.max(1)).max(1);
        let Bags { output, .. } = self;
        let work = Shared {
            call: self.call,
            plan: self.plan,
            indices: self.indices,
            columns: &self.columns,
            any_bad: self.any_bad,
        };
        for_each_chunk(output, row_bytes, together, &|bag, row| {
            for_each_chunk(row, at_once * size_of::<T>(), 1, &|n, part| {
                let first = n * at_once;
                let columns = first..first + part.len() / size_of::<T>();
                work.pool_part::<T, P>(bag, columns, part);
            });
        });
    }
}

/// What all threads read.
struct Shared<'a> {
    call: &'a BagCall<'a>,
    plan: &'a BagPlan,
    indices: &'a Indices<'a>,
    columns: &'a Columns,
    any_bad: &'a AtomicBool,
}

impl Shared<'_> {
    /// Pools some columns of a bag into `output`.
    fn pool_part<T: Fold, P: Pool<T>>(&self, bag: usize, columns: Range<usize>, output: &mut [u8]) {
        let mut sums = vec![T::zeroed().widen(); columns.len()];
        let mut count = 0;
        for lookup in self.plan.ranges.of(bag) {
            let row = self.row(lookup);
            if row.is_some() && row == self.plan.padding {
                continue;
            }
            let weight = match P::WEIGHTED {
                true => self.weight::<T>(lookup).widen(),
                false => T::zeroed().widen(),
            };
            let step = |sum: &mut T::Sum, value: T| {
                let value = value.widen();
                *sum = match count {
                    0 => P::first(value, weight),
                    _ => P::next(*sum, value, weight),
                };
            };
            self.take_row(row, columns.clone(), &mut sums, step);
            count += 1;
        }
        for (to, sum) in output.chunks_exact_mut(size_of::<T>()).zip(sums) {
            let end = if count == 0 {
                T::zeroed()
            } else {
                T::narrow(P::end(sum, count))
            };
            to.copy_from_slice(bytemuck::bytes_of(&end));
        }
    }

    /// Takes one step for each of the columns of a row.
    #[inline(always)]
    fn take_row<T: Fold>(
        &self,
        row: Option<usize>,
        columns: Range<usize>,
        sums: &mut [T::Sum],
        step: impl Fn(&mut T::Sum, T),
    ) {
        let Some(row) = row else {
            self.any_bad.store(true, Ordering::Relaxed);
            let value = match &self.call.rules.out_of_bounds {
                OutOfBounds::Fill(fill) => bytemuck::pod_read_unaligned(fill.bytes()),
                _ => T::zeroed(),
            };
            return sums.iter_mut().for_each(|sum| step(sum, value));
        };
        let params = self.call.params;
        let layout = params.layout();
        let first = layout
            .offset()
            .wrapping_add_signed((row as isize).wrapping_mul(layout.strides()[0]));
        match self.columns {
            Columns::Run => {
                let start = (first + columns.start) * size_of::<T>();
                let bytes = &params.bytes()[start..start + columns.len() * size_of::<T>()];
                let values = bytes.chunks_exact(size_of::<T>());
                for (sum, value) in sums.iter_mut().zip(values) {
                    step(sum, bytemuck::pod_read_unaligned(value));
                }
            }
            Columns::Scattered(offsets) => {
                for (sum, &offset) in sums.iter_mut().zip(&offsets[columns]) {
                    step(sum, load(params, first.wrapping_add_signed(offset)));
                }
            }
        }
    }

    /// The row of the table that a lookup selects.
    fn row(&self, lookup: usize) -> Option<usize> {
        let position = position(self.indices.layout().strides(), self.plan, lookup);
        let value = self
            .indices
            .load(self.indices.layout().offset().wrapping_add_signed(position));
        self.call
            .rules
            .resolve(value, self.call.params.layout().shape()[0])
    }

    fn weight<T: Fold>(&self, lookup: usize) -> T {
        let (Some(weights), Some(layout)) = (self.call.weights, &self.plan.weights) else {
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

fn load<T: Fold>(tensor: &Params<'_>, position: usize) -> T {
    let start = position * size_of::<T>();
    bytemuck::pod_read_unaligned(&tensor.bytes()[start..start + size_of::<T>()])
}

/// Calls `take` with each chunk and its number, on all cores, at least `together` chunks on each.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn for_each_chunk(
    bytes: &mut [u8],
    chunk_bytes: usize,
    together: usize,
    take: &(dyn Fn(usize, &mut [u8]) + Sync),
) {
    use rayon::prelude::*;
    if bytes.len() <= chunk_bytes {
        return take(0, bytes);
    }
    let chunks = bytes.par_chunks_mut(chunk_bytes).enumerate();
    chunks
        .with_min_len(together)
        .for_each(|(n, chunk)| take(n, chunk));
}

#[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
fn for_each_chunk(
    bytes: &mut [u8],
    chunk_bytes: usize,
    _together: usize,
    take: &(dyn Fn(usize, &mut [u8]) + Sync),
) {
    for (n, chunk) in bytes.chunks_mut(chunk_bytes).enumerate() {
        take(n, chunk);
    }
}
