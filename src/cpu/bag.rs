//! Pooled lookups on all cores: threads take bags, or columns of bags where there are few.
//!
//! A thread keeps the fold of some columns of one bag in registers, and reads those columns of one row
//! after the other; then it takes the next columns of the same rows, which its caches have by then. So
//! each column is folded in the order of the indices, whoever does it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::pooling::{Looked, Pool, Pooling, fold_rows, pool_with};
use super::report::check;
use super::threads::{for_each_chunk, threads};
use crate::call::EmbeddingBag;
use crate::error::{Result, Role};
use crate::fold::Fold;
use crate::memory::room;
use crate::operand::{AnyTable, Indices, Params};
use crate::plan::BagPlan;
use crate::quantized::{Format, QuantizedTable};
use crate::rules::OutOfBounds;

/// The most columns that a thread folds at once: their sums stay in its first cache.
const COLUMNS: usize = 1024;
/// The fewest, if there are so few bags that threads share one.
const LEAST_COLUMNS: usize = 64;
/// How many rows are found before they are folded.
const GROUP: usize = 64;
/// What a thread takes at least, in bytes that it reads.
const LEAST_BYTES: usize = 64 << 10;

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
    let any_bad = AtomicBool::new(false);
    let work = Bags {
        call,
        plan,
        indices: &indices,
        rows: Rows::new(&call.table, plan)?,
        any_bad: &any_bad,
        output,
    };
    pool_with(plan, work);
    match any_bad.into_inner() && plan.lookups.reports_bad_indices() {
        true => check(&plan.lookups, &indices),
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
    fn new(table: &'a AnyTable<'a>, plan: &BagPlan) -> Result<Self> {
        let params = match table {
            AnyTable::Quantized(table, _) => return Ok(Rows::Quantized(table)),
            AnyTable::Plain(params) => params,
        };
        let geometry = plan.row.geometry();
        if geometry.slice() == plan.row_bytes() / plan.dtype.bytes() {
            return Ok(Rows::Runs(params));
        }
        let mut offsets = vec![0isize];
        for l in &geometry.loops {
            let steps = |&at: &isize| (0..l.extent as isize).map(move |n| at + n * l.params_stride);
            let mut more = room(Role::Params, offsets.len().saturating_mul(l.extent))?;
            more.extend(offsets.iter().flat_map(steps));
            offsets = more;
        }
        Ok(Rows::Scattered(params, offsets))
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
    call: &'a EmbeddingBag<'a>,
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
        for_each_chunk(output, row_bytes, together, |bag, row: &mut [u8]| {
            for_each_chunk(row, at_once * size_of::<T>(), 1, |n, part: &mut [u8]| {
                let first = n * at_once;
                let columns = first..first + part.len() / size_of::<T>();
                work.pool_part::<T, P>(bag, columns, part);
            });
        });
    }
}

/// What all threads read.
struct Shared<'a> {
    call: &'a EmbeddingBag<'a>,
    plan: &'a BagPlan,
    indices: &'a Indices<'a>,
    rows: &'a Rows<'a>,
    any_bad: &'a AtomicBool,
}

impl Shared<'_> {
    /// Pools some columns of a bag into `output`.
    fn pool_part<T: Fold, P: Pool<T>>(&self, bag: usize, columns: Range<usize>, output: &mut [u8]) {
        let mut sums = vec![T::zeroed().widen(); columns.len()];
        let mut count = 0;
        let mut lookups = self.plan.ranges.of(bag);
        match self.rows {
            Rows::Runs(params) => {
                let mut group = Vec::with_capacity(lookups.len().min(GROUP));
                while !lookups.is_empty() {
                    let of_group = lookups.by_ref().take(GROUP);
                    group.extend(of_group.filter_map(|lookup| {
                        self.look_up::<T, P>(lookup, |row| {
                            let start = (first_of(params, row) + columns.start) * size_of::<T>();
                            &params.bytes()[start..start + output.len()]
                        })
                    }));
                    fold_rows::<T, P>(&mut sums, &group, self.fill(), count == 0);
                    count += group.len();
                    group.clear();
                }
            }
            Rows::Scattered(..) | Rows::Quantized(_) => {
                let mut made = vec![T::zeroed(); columns.len()];
                for lookup in lookups {
                    let row = self.look_up::<T, P>(lookup, |row| {
                        self.make_row(row, columns.clone(), &mut made);
                        bytemuck::cast_slice(&made)
                    });
                    let Some(row) = row else { continue };
                    fold_rows::<T, P>(&mut sums, &[row], self.fill(), count == 0);
                    count += 1;
                }
            }
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

    /// What a lookup brings, if it counts; `bytes_of` has the columns of a row.
    #[inline(always)]
    fn look_up<'r, T: Fold, P: Pool<T>>(
        &self,
        lookup: usize,
        bytes_of: impl FnOnce(usize) -> &'r [u8],
    ) -> Option<Looked<'r, T::Sum>> {
        let row = self.row(lookup);
        if row.is_some() && row == self.plan.padding {
            return None;
        }
        if row.is_none() {
            self.any_bad.store(true, Ordering::Relaxed);
        }
        let weight = match P::WEIGHTED {
            true => self.weight::<T>(lookup).widen(),
            false => T::zeroed().widen(),
        };
        Some(Looked {
            bytes: row.map(bytes_of),
            weight,
        })
    }

    /// What a bad index brings.
    fn fill<T: Fold>(&self) -> T {
        match &self.call.rules.out_of_bounds {
            OutOfBounds::Fill(fill) => bytemuck::pod_read_unaligned(fill.bytes()),
            _ => T::zeroed(),
        }
    }

    /// Makes some columns of a row that does not lie in memory as it is.
    fn make_row<T: Fold>(&self, row: usize, columns: Range<usize>, made: &mut [T]) {
        match self.rows {
            Rows::Runs(_) => {}
            Rows::Scattered(params, offsets) => {
                let first = first_of(params, row);
                for (value, &offset) in made.iter_mut().zip(&offsets[columns]) {
                    *value = load(params, first.wrapping_add_signed(offset));
                }
            }
            Rows::Quantized(table) => {
                let row_elements = self.plan.row_bytes() / size_of::<f32>();
                let first = row * row_elements + columns.start;
                table.decode_within(first, bytemuck::cast_slice_mut(made));
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

/// Where a row starts, in elements.
fn first_of(params: &Params<'_>, row: usize) -> usize {
    let layout = params.layout();
    let step = (row as isize).wrapping_mul(layout.strides()[0]);
    layout.offset().wrapping_add_signed(step)
}

fn load<T: Fold>(tensor: &Params<'_>, position: usize) -> T {
    let start = position * size_of::<T>();
    bytemuck::pod_read_unaligned(&tensor.bytes()[start..start + size_of::<T>()])
}
