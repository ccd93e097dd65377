//! Pooled lookups on all cores: threads take bags, or columns of bags where there are few.
//!
//! A thread keeps the fold of some columns of one bag in registers and caches, and reads those columns
//! of one row after the other. So each column is folded in the order of the indices, whoever does it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::parallel::threads;
use super::pooling::{Pool, Pooling, pool_with};
use super::report::report;
use crate::bag_call::{AnyBagCall, BagTable};
use crate::error::Result;
use crate::fold::Fold;
use crate::plan::BagPlan;
use crate::quantized::{Format, QuantizedTable};
use crate::rules::OutOfBounds;
use crate::tensor::{Indices, Params};

/// The most columns that a thread folds at once: their sums stay in its first cache.
const COLUMNS: usize = 1024;
/// The fewest, if there are so few bags that threads share one.
const LEAST_COLUMNS: usize = 64;
/// What a thread takes at least, in bytes that it reads.
const LEAST_BYTES: usize = 64 << 10;

/// Executes `call`, writing the output's bytes, row-major.
pub(crate) fn embedding_bag(call: &AnyBagCall<'_>, output: &mut [u8]) -> Result<()> {
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
        rows: Rows::new(call.table, &plan),
        any_bad: &any_bad,
        output,
    };
    pool_with(&plan, work);
    match any_bad.into_inner() && plan.lookups.reports_bad_indices() {
        true => Err(report(&plan.lookups, &indices)),
        false => Ok(()),
    }
}

/// Where the elements of a row are.
enum Rows<'a> {
    /// One after the other.
    Runs(&'a Params<'a>),
    /// Each at an offset of its own from the first.
    Scattered(&'a Params<'a>, Vec<isize>),
    /// In codes, which are decoded as they are folded.
    Quantized(&'a QuantizedTable<'a>),
}

impl<'a> Rows<'a> {
    fn new(table: BagTable<'a>, plan: &BagPlan) -> Self {
        let params = match table {
            BagTable::Quantized(table) => return Rows::Quantized(table),
            BagTable::Plain(params) => params,
        };
        let geometry = plan.row.geometry();
        if geometry.slice() == plan.row_bytes() / plan.dtype.bytes() {
            return Rows::Runs(params);
        }
        let mut offsets = vec![0isize];
        for l in &geometry.loops {
            let steps = |&at: &isize| (0..l.extent as isize).map(move |n| at + n * l.params_stride);
            offsets = offsets.iter().flat_map(steps).collect();
        }
        Rows::Scattered(params, offsets)
    }

    /// Columns that are decoded together; a divisor of [`COLUMNS`].
    fn unit(&self) -> usize {
        match self {
            Rows::Quantized(table) => match table.format() {
                Format::Blocks(format) => format.block_elements(),
                Format::Rows | Format::Split(_) => 1,
            },
            Rows::Runs(_) | Rows::Scattered(..) => 1,
        }
    }
}

/// All bags of a call.
struct Bags<'a> {
    call: &'a AnyBagCall<'a>,
    plan: &'a BagPlan,
    /// Those that bags have.
    indices: &'a Indices<'a>,
    rows: Rows<'a>,
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
        let at_once = at_once.next_multiple_of(self.rows.unit()).min(COLUMNS);
        let lookups = self.plan.lookups.lookups().elements() / bags;
        let bytes = (lookups + 1).saturating_mul(row_bytes);
        let together = (LEAST_BYTES / bytes.max(1)).max(1);
        let Bags { output, .. } = self;
        let work = Shared {
            call: self.call,
            plan: self.plan,
            indices: self.indices,
            rows: &self.rows,
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
    call: &'a AnyBagCall<'a>,
    plan: &'a BagPlan,
    indices: &'a Indices<'a>,
    rows: &'a Rows<'a>,
    any_bad: &'a AtomicBool,
}

impl Shared<'_> {
    /// Pools some columns of a bag into `output`.
    fn pool_part<T: Fold, P: Pool<T>>(&self, bag: usize, columns: Range<usize>, output: &mut [u8]) {
        let mut sums = vec![T::zeroed().widen(); columns.len()];
        let mut decoded = match self.rows {
            Rows::Quantized(_) => vec![0.0; columns.len()],
            Rows::Runs(_) | Rows::Scattered(..) => Vec::new(),
        };
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
            self.take_row(row, columns.clone(), &mut decoded, &mut sums, step);
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
        decoded: &mut [f32],
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
        let first = |params: &Params<'_>| {
            let layout = params.layout();
            let step = (row as isize).wrapping_mul(layout.strides()[0]);
            layout.offset().wrapping_add_signed(step)
        };
        match self.rows {
            Rows::Runs(params) => {
                let start = (first(params) + columns.start) * size_of::<T>();
                let bytes = &params.bytes()[start..start + columns.len() * size_of::<T>()];
                step_each(sums, bytes, step);
            }
            Rows::Scattered(params, offsets) => {
                let first = first(params);
                for (sum, &offset) in sums.iter_mut().zip(&offsets[columns]) {
                    step(sum, load(params, first.wrapping_add_signed(offset)));
                }
            }
            Rows::Quantized(table) => {
                let row_elements = self.plan.row_bytes() / size_of::<f32>();
                table.decode_within(row * row_elements + columns.start, decoded);
                step_each(sums, bytemuck::cast_slice(decoded), step);
            }
        }
    }

    /// The row of the table that a lookup selects.
    fn row(&self, lookup: usize) -> Option<usize> {
        let position = position(self.indices.layout().strides(), self.plan, lookup);
        let value = self
            .indices
            .load(self.indices.layout().offset().wrapping_add_signed(position));
        self.call.rules.resolve(value, self.call.table.shape()[0])
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

/// Takes a step with each of the elements in `bytes`.
#[inline(always)]
fn step_each<T: Fold>(sums: &mut [T::Sum], bytes: &[u8], step: impl Fn(&mut T::Sum, T)) {
    for (sum, value) in sums.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
        step(sum, bytemuck::pod_read_unaligned(value));
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
