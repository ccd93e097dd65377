//! Pooled lookups on all cores: threads take bags, or columns of bags where there are few.
//!
//! The lookups of a bag are resolved a block at a time. A thread keeps the fold of some columns in registers,
//! and reads those columns of one row of the block after the other; then it takes the next columns of the same
//! rows, which its caches have by then. So each column is folded in the order of the indices, whoever does it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::lookups::{BAD, Lookups};
use super::pooling::{Looked, Pool, Pooling, fold_rows, pool_with};
use super::report::check;
use super::threads::{for_each_chunk, threads};
use crate::call::EmbeddingBag;
use crate::error::{OpKind, Result, Role};
use crate::fold::Fold;
use crate::memory::room;
use crate::op::Op;
use crate::operand::{AnyTable, Params};
use crate::plan::{BagPlan, Plan};
use crate::quantized::{Format, QuantizedTable};
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
        any_bad: AtomicBool::new(false),
    };
    pool_with(plan.dtype, call, Work { bags, output });
    match bags.any_bad.load(Ordering::Relaxed) && plan.lookups.reports_bad_indices() {
        true => check(&plan.lookups, &indices),
        false => Ok(()),
    }
}

/// Where the elements of a row are.
enum Table<'a> {
    /// One after the other.
    Runs(&'a Params<'a>),
    /// Each at an offset of its own from the first.
    Scattered(&'a Params<'a>, Vec<isize>),
    /// In codes, which are decoded as they are folded.
    Quantized(&'a QuantizedTable<'a>),
}

impl<'a> Table<'a> {
    fn new(table: &'a AnyTable<'a>, plan: &BagPlan) -> Result<Self> {
        let params = match table {
            AnyTable::Quantized(table, _) => return Ok(Table::Quantized(table)),
            AnyTable::Plain(params) => params,
        };
        let geometry = plan.row.geometry();
        if geometry.slice() == plan.row_bytes() / plan.dtype.bytes() {
            return Ok(Table::Runs(params));
        }
        let mut offsets = vec![0isize];
        for l in &geometry.loops {
            let steps = |&at: &isize| (0..l.extent as isize).map(move |n| at + n * l.params_stride);
            let mut more = room(Role::Params, offsets.len().saturating_mul(l.extent))?;
            more.extend(offsets.iter().flat_map(steps));
            offsets = more;
        }
        Ok(Table::Scattered(params, offsets))
    }

    /// Columns that are decoded together; a divisor of [`COLUMNS`].
    fn unit(&self) -> usize {
        match self {
            Table::Quantized(table) => match table.format() {
                Format::Blocks(format) => format.block_elements(),
                Format::Rows | Format::Split(_) => 1,
            },
            Table::Runs(_) | Table::Scattered(..) => 1,
        }
    }
}

/// All bags of a call, which all threads read.
struct Bags<'a> {
    call: &'a EmbeddingBag<'a>,
    plan: &'a BagPlan,
    /// Of row numbers.
    lookups: Lookups<'a>,
    table: Table<'a>,
    any_bad: AtomicBool,
}

struct Work<'a> {
    bags: &'a Bags<'a>,
    output: &'a mut [u8],
}

impl Pooling for Work<'_> {
    type Output = ();

    fn pool<T: Fold, P: Pool<T>>(self) {
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
        let parts = (bags / (LEAST_BYTES / bytes.max(1)).max(1)).max(1);
        let together = bags.div_ceil(parts);
        for_each_chunk(output, row_bytes * together, 1, |n, outputs: &mut [u8]| {
            let mut scratch = Scratch {
                sums: Vec::new(),
                rows: Vec::new(),
            };
            for (bag, output) in (n * together..).zip(outputs.chunks_exact_mut(row_bytes)) {
                work.pool_bag::<T, P>(bag, at_once, &mut scratch, output);
            }
        });
    }
}

/// What a thread uses for one bag after the other.
struct Scratch<S> {
    sums: Vec<S>,
    /// The rows of a block of lookups, or [`BAD`].
    rows: Vec<usize>,
}

impl Bags<'_> {
    /// Pools a bag into `output`, so many columns `at_once`.
    fn pool_bag<T: Fold, P: Pool<T>>(
        &self,
        bag: usize,
        at_once: usize,
        Scratch { sums, rows }: &mut Scratch<T::Sum>,
        output: &mut [u8],
    ) {
        sums.clear();
        sums.resize(output.len() / size_of::<T>(), T::zeroed().widen());
        let lookups = self.plan.ranges.of(bag);
        let mut count = 0;
        for first in lookups.clone().step_by(BLOCK) {
            rows.resize(lookups.end.min(first + BLOCK) - first, BAD);
            self.lookups.find_from(first, rows);
            for_each_chunk(sums, at_once, 1, |n, sums| {
                self.fold_part::<T, P>((first, rows), n * at_once, count == 0, sums);
            });
            let counts = |&&row: &&usize| Some(row) != self.plan.padding;
            count += rows.iter().filter(counts).count();
            if rows.contains(&BAD) {
                self.any_bad.store(true, Ordering::Relaxed);
            }
        }
        for (to, &mut sum) in output.chunks_exact_mut(size_of::<T>()).zip(sums) {
            let end = if count == 0 {
                T::zeroed()
            } else {
                T::narrow(P::end(sum, count))
            };
            to.copy_from_slice(bytemuck::bytes_of(&end));
        }
    }

    /// Folds the columns from `first` on of the rows of a block of lookups, given with the number of the
    /// first. `starts` says that nothing has been folded so far.
    fn fold_part<T: Fold, P: Pool<T>>(
        &self,
        (lookup, rows): (usize, &[usize]),
        first: usize,
        mut starts: bool,
        sums: &mut [T::Sum],
    ) {
        let columns = first..first + sums.len();
        let rows = (lookup..).zip(rows.iter().copied());
        match &self.table {
            Table::Runs(params) => {
                let bytes_of = |row| {
                    let start = (first_of(params, row) + columns.start) * size_of::<T>();
                    &params.bytes()[start..start + columns.len() * size_of::<T>()]
                };
                let mut found = rows.filter_map(|(n, row)| self.looked::<T, P>(n, row, bytes_of));
                let mut group = Vec::with_capacity(GROUP.min(found.size_hint().1.unwrap_or(GROUP)));
                loop {
                    group.extend(found.by_ref().take(GROUP));
                    if group.is_empty() {
                        break;
                    }
                    fold_rows::<T, P>(sums, &group, self.fill(), starts);
                    starts = false;
                    group.clear();
                }
            }
            Table::Scattered(..) | Table::Quantized(_) => {
                let mut made = vec![T::zeroed(); columns.len()];
                for (n, row) in rows {
                    let looked = self.looked::<T, P>(n, row, |row| {
                        self.make_row(row, columns.clone(), &mut made);
                        bytemuck::cast_slice(&made)
                    });
                    let Some(looked) = looked else { continue };
                    fold_rows::<T, P>(sums, &[looked], self.fill(), starts);
                    starts = false;
                }
            }
        }
    }

    /// What a lookup of this row brings, if it counts; `bytes_of` has the columns of a row.
    #[inline(always)]
    fn looked<'r, T: Fold, P: Pool<T>>(
        &self,
        lookup: usize,
        row: usize,
        bytes_of: impl FnOnce(usize) -> &'r [u8],
    ) -> Option<Looked<'r, T::Sum>> {
        if Some(row) == self.plan.padding {
            return None;
        }
        Some(Looked {
            bytes: (row != BAD).then(|| bytes_of(row)),
            weight: match P::WEIGHTED {
                true => self.weight::<T>(lookup).widen(),
                false => T::zeroed().widen(),
            },
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
        match &self.table {
            Table::Runs(_) => {}
            Table::Scattered(params, offsets) => {
                let first = first_of(params, row);
                for (value, &offset) in made.iter_mut().zip(&offsets[columns]) {
                    *value = load(params, first.wrapping_add_signed(offset));
                }
            }
            Table::Quantized(table) => {
                let row_elements = self.plan.row_bytes() / size_of::<f32>();
                let first = row * row_elements + columns.start;
                table.decode_within(first, bytemuck::cast_slice_mut(made));
            }
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
