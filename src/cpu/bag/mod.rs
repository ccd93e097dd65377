//! Pooled lookups on all cores: threads take bags, or columns of bags where there are few.
//!
//! The lookups of neighbouring bags are resolved a window at a time. A thread keeps the sums of some columns in
//! registers while it reads those columns of one row of a bag after the other; then it takes the next columns of the
//! same rows, which its caches have by then. So each column is folded in the order of the indices, whoever does it.

mod rows;
mod table;
#[cfg(test)]
mod tests;
mod window;

use std::mem::MaybeUninit;
use std::ops::Range;

use bytemuck::pod_collect_to_vec;
use rows::{ByteRows, TableRows, Weighted};
use table::{Table, There};
use window::{Source, Weights, Window};

use super::destination::Destination;
use super::fetch::{Starts, rows_ahead};
use super::fold::{Pooled, pool};
use super::lookups::{LOOKUP_BYTES, Lookups};
use super::report::check;
use super::threads::{BYTES_OF_ONE, threads};
use super::vectors::{Vectors, WIDE_AVX512};
use crate::bag::BagMode;
use crate::call::EmbeddingBag;
use crate::element::Element;
use crate::error::{Result, Role};
use crate::fold::{Add, Fold, Max, Pool, Pooling, pool_with};
use crate::memory::filled_bits;
use crate::plan::BagPlan;
use crate::rules::OutOfBounds;

/// The fewest columns for a thread, if there are so few bags that threads share one.
const LEAST_COLUMNS: usize = 64;
/// The most lookups in a window.
const WINDOW: usize = 1024;
/// The most rows that are made for a window, and the most bytes of them, if there is more than one: they stay in the
/// first cache.
const MADE_ROWS: usize = 64;
const MADE_BYTES: usize = 16 << 10;
/// What a part has at least, in bytes that are read.
const LEAST_BYTES: usize = 64 << 10;
/// How many parts there are for each thread at most: some, as they do not all take as long, and few, as where one begins
/// no row has been asked for yet.
const PARTS_PER_THREAD: usize = 8;

/// Executes `call`, which `plan` was made for, writing the output's bytes, row-major.
pub(crate) fn embedding_bag(
    call: &EmbeddingBag<'_>,
    plan: &BagPlan,
    output: &mut [u8],
) -> Result<()> {
    plan.check_output(output.len())?;
    run(call, plan, Destination::There(output))
}

/// The same into fresh memory, for elements of type `E`; returns their bits.
#[allow(unsafe_code, reason = "memory that is written once")]
pub(crate) fn pooled<E: Element>(call: &EmbeddingBag<'_>, plan: &BagPlan) -> Result<Vec<E::Bits>> {
    let fill = |output: &mut [MaybeUninit<u8>]| run(call, plan, Destination::zeros(output));
    // SAFETY: `run` fills all of it.
    unsafe { filled_bits::<E>(Role::Output, plan.output_bytes / size_of::<E>(), fill) }
}

/// Pools the bags of `call` into its output, all of which is filled where there is no error.
fn run(call: &EmbeddingBag<'_>, plan: &BagPlan, mut output: Destination<'_>) -> Result<()> {
    if output.len() == 0 {
        return Ok(());
    }
    let indices = call.indices.with_layout(plan.indices().clone());
    // A row by its number, as all rows of a table that is broadcast lie in one place.
    let numbers = plan.lookups.lookups().of_row_numbers();
    let (rules, index_type) = (plan.lookups.rules(), plan.lookups.index_type());
    let table = Table::new(&call.table, plan)?;
    let fill = match &call.rules.out_of_bounds {
        OutOfBounds::Fill(fill) => fill.bytes().to_vec(),
        _ => vec![0; plan.dtype.bytes()],
    };
    let bad = match &table {
        Table::There(rows) if rows.are_codes => row_of_bytes(
            plan.row_bytes() / fill.len(),
            bytemuck::pod_read_unaligned(&fill),
        ),
        _ => fill.repeat(WIDE_AVX512.min(plan.row_bytes() / fill.len())),
    };
    let loops = FindLoops {
        is_weighted: call.weights.is_some(),
    };
    let loops = match table {
        Table::There(There {
            are_codes: true, ..
        }) => loops.of_codes(plan.mode),
        _ => pool_with(plan.mode, plan.dtype, loops)?,
    };
    let weights = call.weights.as_ref().zip(plan.weights.as_ref());
    let bags = Bags {
        source: Source {
            plan,
            lookups: Lookups::over(&numbers, 1, rules, index_type, indices.bytes()),
            table,
            weights: weights.map(|(tensor, layout)| Weights::new(tensor, layout)),
        },
        bad,
        loops,
    };
    match bags.pool(&mut output) && plan.lookups.reports_bad_indices() {
        true => check(&plan.lookups, &indices),
        false => Ok(()),
    }
}

/// The loops for an element type and a mode, which are looked up once for a call.
struct Loops {
    sum_bytes: usize,
    /// [`pool`] rows, with their weights if there are any.
    pool: fn(TableRows<'_>, &[u8], Pooled<'_>, &mut [u8], &mut Destination<'_>),
}

struct FindLoops {
    is_weighted: bool,
}

impl Pooling for FindLoops {
    type Output = Loops;

    fn pool<T: Fold, C: Pool<T>>(self) -> Loops {
        let mut loops = Loops {
            sum_bytes: size_of::<T::Sum>(),
            pool: |rows, _, bags, held, output| pool::<T, C, _>(rows, bags, held, output),
        };
        // The constant is asked first: loops that are never called are not compiled.
        if C::TAKES_WEIGHTS && self.is_weighted {
            loops.pool = |rows, weights, bags, held, output| {
                let weights = &pod_collect_to_vec::<_, T>(weights);
                pool::<T, C, _>(Weighted { rows, weights }, bags, held, output);
            };
        }
        loops
    }
}

impl FindLoops {
    /// Those for rows of bytes with a scale and a bias.
    fn of_codes(self, mode: BagMode) -> Loops {
        Loops {
            sum_bytes: size_of::<f32>(),
            pool: match (mode, self.is_weighted) {
                (BagMode::Max, _) => |rows, _, bags, held, output| {
                    pool::<f32, Max, _>(ByteRows(rows), bags, held, output);
                },
                (_, true) => |rows, weights, bags, held, output| {
                    let weights = &pod_collect_to_vec::<_, f32>(weights);
                    let rows = ByteRows(rows);
                    pool::<f32, Add, _>(Weighted { rows, weights }, bags, held, output);
                },
                (_, false) => |rows, _, bags, held, output| {
                    pool::<f32, Add, _>(ByteRows(rows), bags, held, output);
                },
            },
        }
    }
}

/// All bags of a call, which all threads read.
struct Bags<'a> {
    source: Source<'a>,
    /// [`TableRows::bad`].
    bad: Vec<u8>,
    loops: Loops,
}

impl Bags<'_> {
    /// Pools all of them; returns whether some index was bad.
    fn pool(&self, output: &mut Destination<'_>) -> bool {
        let plan = self.source.plan;
        let (width, row_bytes) = (plan.dtype.bytes(), plan.row_bytes());
        let (bags, columns) = (plan.ranges.len(), row_bytes / width);
        let lookups = plan.lookups.lookups().elements();
        let bytes = lookups.saturating_mul(row_bytes + LOOKUP_BYTES);
        // As many parts as threads can share, and as even.
        let most = match bytes {
            0..=BYTES_OF_ONE => 1,
            _ => threads() * PARTS_PER_THREAD,
        };
        let parts = (bytes / LEAST_BYTES).clamp(1, most);
        if parts == 1 {
            let any_bad = self.pool_part(0..bags, 0..columns, output);
            output.all();
            return any_bad;
        }
        if bags < 4 * threads() {
            let shared = columns.div_ceil(threads()).max(LEAST_COLUMNS);
            let shared = shared.next_multiple_of(self.source.table.unit());
            let ranges: Vec<_> = parts_of(columns, shared).collect();
            let lengths: Vec<_> = ranges.iter().map(|part| part.len() * width).collect();
            return output.for_each_part(&lengths.repeat(bags), &|n, part| {
                let bag = n / ranges.len();
                self.pool_part(bag..bag + 1, ranges[n % ranges.len()].clone(), part)
            });
        }
        let ranges: Vec<_> = parts_of(bags, bags.div_ceil(parts)).collect();
        let lengths: Vec<_> = ranges.iter().map(|part| part.len() * row_bytes).collect();
        output.for_each_part(&lengths, &|n, part| {
            self.pool_part(ranges[n].clone(), 0..columns, part)
        })
    }

    /// Pools some columns of some bags into `output`, which has them row after row.
    fn pool_part(
        &self,
        bags: Range<usize>,
        columns: Range<usize>,
        output: &mut Destination<'_>,
    ) -> bool {
        let Source { plan, table, .. } = &self.source;
        let row_bytes = columns.len() * plan.dtype.bytes();
        let at_once = match table {
            Table::There(_) => WINDOW,
            _ => (MADE_BYTES / row_bytes).clamp(1, MADE_ROWS),
        };
        // A row is asked for block by block, as it is folded; without AVX2, a block has eight columns.
        let block = columns.len().min(Vectors::of_processor().wide().max(8));
        let ahead = rows_ahead(match table {
            Table::There(rows) => block * rows.width,
            _ => block * plan.dtype.bytes(),
        });
        let mut held = vec![0; columns.len() * self.loops.sum_bytes];
        let mut made = Vec::new();
        let mut any_bad = false;
        let mut window = Window::before(&self.source, bags.clone(), at_once);
        loop {
            window.advance();
            let Some(bag) = window.first_bag() else {
                return any_bad;
            };
            any_bad |= window.has_bad();
            let (bytes, first) = match table {
                Table::There(rows) => (rows.bytes, columns.start * rows.width),
                _ => {
                    let rows = &mut window.starts;
                    (table.make_rows(rows, columns.clone(), &mut made), 0)
                }
            };
            let rows = TableRows {
                bytes,
                starts: Starts::asked_ahead(&mut window.starts, ahead),
                first,
                columns: plan.row_bytes() / plan.dtype.bytes(),
                bad: &self.bad,
            };
            let pooled = Pooled {
                ends: &window.ends,
                first_bag: bag - bags.start,
                before: window.before,
                goes_on: window.goes_on,
                is_mean: plan.mode == BagMode::Mean,
                columns: columns.len(),
                // Those that were asked for last are in the first cache still when the next columns are folded.
                at_once: if columns.len() > Vectors::of_processor().wide() {
                    ahead
                } else {
                    usize::MAX
                },
            };
            (self.loops.pool)(rows, &window.weights, pooled, &mut held, output);
        }
    }
}

/// A row of bytes whose columns are all `value`, -0 included.
fn row_of_bytes(columns: usize, value: f32) -> Vec<u8> {
    let tail = [-0f32, value].map(f32::to_le_bytes);
    [&vec![0; columns], tail.as_flattened()].concat()
}

/// So many, in parts of `each`; the last may have fewer.
fn parts_of(count: usize, each: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count)
        .step_by(each)
        .map(move |first| first..count.min(first + each))
}
