//! Pooled lookups ready to be executed: bags, rows and lookups, from shapes and rules. Pure data.
//!
//! The lookups are those of a `gather` along axis 0, whose [`Plan`] checks them and names bad ones;
//! its output, all rows one after the other, is never made. Executors take one bag after the other.

mod explain;
#[cfg(feature = "gpu")]
mod kernel;
#[cfg(feature = "gpu")]
mod pass;
#[cfg(feature = "gpu")]
mod passes;

pub use explain::BagExplanation;
#[cfg(feature = "gpu")]
pub(crate) use kernel::{BagKernel, BagPlaces, FOLD_BYTES, bag_block};
#[cfg(feature = "gpu")]
pub(crate) use pass::BagPass;
#[cfg(feature = "gpu")]
pub(crate) use passes::{BagParts, bag_passes};

use std::ops::Range;
use std::sync::Arc;

use crate::bag::{BagMode, Bags, Split};
use crate::element::DType;
use crate::error::{Error, OpKind, Result, Role};
use crate::index::IndexType;
use crate::memory::room;
use crate::op::Op;
use crate::plan::{Geometry, Plan};
use crate::rules::Rules;
use crate::shape::{Layout, check_output_bytes, elements, resolve_axis};

const OP: OpKind = OpKind::EmbeddingBag;

/// A pooled lookup ready to be executed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BagPlan {
    pub(crate) dtype: DType,
    pub(crate) mode: BagMode,
    /// The row of the table that counts for nothing.
    pub(crate) padding: Option<usize>,
    pub(crate) ranges: Ranges,
    /// The lookups: the plan of a gather with these indices.
    pub(crate) lookups: Plan,
    /// One lookup: its loops are those over a row of the table.
    pub(crate) row: Geometry,
    /// Layout of the weights of the indices, if there are any.
    pub(crate) weights: Option<Layout>,
    pub(crate) output_shape: Vec<usize>,
    pub(crate) output_bytes: usize,
}

/// Which lookups, in row-major order of the indices, each bag has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ranges {
    /// `bags` bags of `each` lookups.
    Even { bags: usize, each: usize },
    /// Bag `b` has the lookups `offsets[b]..offsets[b + 1]`.
    Offsets(Arc<Vec<usize>>),
}

impl Ranges {
    /// Number of bags.
    pub(crate) fn len(&self) -> usize {
        match self {
            Ranges::Even { bags, .. } => *bags,
            Ranges::Offsets(ends) => ends.len() - 1,
        }
    }

    /// Total number of lookups.
    fn lookups(&self) -> usize {
        match self {
            Ranges::Even { bags, each } => bags.saturating_mul(*each),
            Ranges::Offsets(ends) => ends.last().unwrap_or(&0) - ends.first().unwrap_or(&0),
        }
    }

    /// Lookups of the longest bag.
    fn longest(&self) -> usize {
        match self {
            Ranges::Even { bags: 0, .. } => 0,
            Ranges::Even { each, .. } => *each,
            Ranges::Offsets(ends) => ends.windows(2).map(|e| e[1] - e[0]).max().unwrap_or(0),
        }
    }

    /// The lookups of bag number `bag`.
    pub(crate) fn of(&self, bag: usize) -> Range<usize> {
        match self {
            Ranges::Even { each, .. } => bag * each..(bag + 1) * each,
            Ranges::Offsets(ends) => ends[bag]..ends[bag + 1],
        }
    }
}

/// The tensors of a pooled lookup, without their data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BagShapes<'a> {
    pub(crate) dtype: DType,
    pub(crate) params: &'a Layout,
    pub(crate) index_type: IndexType,
    pub(crate) indices: &'a Layout,
    pub(crate) weights: Option<&'a Layout>,
}

impl BagPlan {
    /// Checks a pooled lookup, and plans it.
    pub(crate) fn new(bags: Bags<'_>, rules: &Rules, shapes: BagShapes<'_>) -> Result<BagPlan> {
        let BagShapes { dtype, params, .. } = shapes;
        check_mode(bags.mode, dtype)?;
        check_weights(bags.mode, &shapes)?;
        let Some((&rows, row_shape)) = params.shape().split_first() else {
            return Err(Error::RankTooSmall {
                op: OP,
                role: Role::Params,
                rank: 0,
                min: 1,
            });
        };
        let (ranges, used) = split(bags.split, shapes.indices)?;
        let output_shape = [&[ranges.len()], row_shape].concat();
        let output_bytes = elements(Role::Output, &output_shape, dtype.bytes())? * dtype.bytes();
        let (width, index_type) = (dtype.bytes(), shapes.index_type);
        let checked = Op::gather(0).check(OP, params.shape(), used.shape(), rules)?;
        let lookups = Plan::of_checked(OP, checked, rules, width, params, index_type, &used)?;
        Ok(BagPlan {
            dtype,
            mode: bags.mode,
            padding: bags.padding_index.map(|p| padding(p, rows)).transpose()?,
            ranges,
            row: lookups.of_one_index(),
            weights: shapes.weights.map(|w| used_part(w, &used)).transpose()?,
            lookups,
            output_shape,
            output_bytes,
        })
    }

    /// The indices that bags have: all, or those before the last offset.
    pub(crate) fn indices(&self) -> &Layout {
        self.lookups.indices_layout()
    }

    /// Bytes of one row of the output.
    pub(crate) fn row_bytes(&self) -> usize {
        self.output_bytes
            .checked_div(self.ranges.len())
            .unwrap_or(0)
    }

    /// The bytes of the device's memory that a host call takes for whole tensors, if the table takes
    /// so many.
    #[cfg(feature = "gpu")]
    pub(crate) fn host_bytes(&self, table: u64) -> u64 {
        let weights = self.weights.as_ref().map_or(0, |_| self.dtype.bytes());
        let per_lookup = self.lookups.index_type().bytes() + weights + 4;
        let lookups = self.lookups.lookups().elements() as u64;
        let made =
            (self.output_bytes as u64).saturating_add((self.ranges.len() as u64).saturating_mul(4));
        table
            .saturating_add(lookups.saturating_mul(per_lookup as u64))
            .saturating_add(made)
    }

    /// Checks the length of the output.
    pub(crate) fn check_output(&self, got: usize) -> Result<()> {
        check_output_bytes(OP, self.output_bytes, got)
    }
}

/// The modes that a type has.
pub(crate) fn modes(dtype: DType) -> &'static [BagMode] {
    match dtype {
        DType::Bool => &[],
        DType::C64 | DType::C128 => &[BagMode::Sum],
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => &BagMode::ALL,
        _ => &[BagMode::Sum, BagMode::Max],
    }
}

fn check_mode(mode: BagMode, dtype: DType) -> Result<()> {
    match modes(dtype) {
        allowed if allowed.contains(&mode) => Ok(()),
        allowed => Err(Error::BagModeType {
            op: OP,
            mode: mode.name(),
            dtype: dtype.name(),
            allowed: allowed.iter().map(|mode| mode.name()).collect(),
        }),
    }
}

fn check_weights(mode: BagMode, shapes: &BagShapes<'_>) -> Result<()> {
    let Some(weights) = shapes.weights else {
        return Ok(());
    };
    let is_float = modes(shapes.dtype).contains(&BagMode::Mean)
        || matches!(shapes.dtype, DType::C64 | DType::C128);
    if mode != BagMode::Sum || !is_float {
        return Err(Error::WeightsWithout {
            op: OP,
            mode: mode.name(),
            dtype: shapes.dtype.name(),
        });
    }
    if weights.shape() != shapes.indices.shape() {
        return Err(Error::WeightsShape {
            op: OP,
            expected: shapes.indices.shape().to_vec(),
            got: weights.shape().to_vec(),
        });
    }
    Ok(())
}

/// The row that a padding index names.
fn padding(index: isize, rows: usize) -> Result<usize> {
    resolve_axis(index, rows).ok_or(Error::PaddingOutOfRange {
        op: OP,
        index,
        rows,
    })
}

/// The lookups of each bag, and the indices that bags have.
fn split(split: Split<'_>, indices: &Layout) -> Result<(Ranges, Layout)> {
    let expected = if split == Split::Rows { 2 } else { 1 };
    if indices.rank() != expected {
        return Err(Error::RankExpected {
            op: OP,
            role: Role::Indices,
            rank: indices.rank(),
            expected,
        });
    }
    let count = indices.shape()[0];
    match split {
        Split::Rows => {
            elements(Role::Indices, indices.shape(), 1)?;
            let (bags, each) = (count, indices.shape()[1]);
            Ok((Ranges::Even { bags, each }, indices.clone()))
        }
        Split::Offsets([]) if count == 0 => Ok((ranges(&[], Some(0))?, indices.clone())),
        Split::Offsets([]) | Split::OffsetsWithLast([]) => Err(Error::NoOffsets {
            op: OP,
            indices: count,
        }),
        Split::Offsets(offsets) => {
            check_offsets(offsets, count)?;
            Ok((ranges(offsets, Some(count))?, indices.clone()))
        }
        Split::OffsetsWithLast(offsets) => {
            check_offsets(offsets, count)?;
            let used = indices.slice(0, 0..offsets[offsets.len() - 1])?;
            Ok((ranges(offsets, None)?, used))
        }
    }
}

/// A copy of offsets, with the end of the last bag where it is not among them.
fn ranges(offsets: &[usize], end: Option<usize>) -> Result<Ranges> {
    let mut ends = room(Role::Offsets, offsets.len() + usize::from(end.is_some()))?;
    ends.extend_from_slice(offsets);
    ends.extend(end);
    Ok(Ranges::Offsets(Arc::new(ends)))
}

/// The first is 0, none is less than the one before, and none beyond the indices.
fn check_offsets(offsets: &[usize], indices: usize) -> Result<()> {
    let (mut least, mut greatest) = (0, 0);
    for (position, &offset) in offsets.iter().enumerate() {
        if !(least..=greatest).contains(&offset) {
            return Err(Error::OffsetOutOfRange {
                op: OP,
                position,
                value: offset as i128,
                least,
                greatest,
            });
        }
        (least, greatest) = (offset, indices);
    }
    Ok(())
}

/// The weights of the indices that bags have.
fn used_part(weights: &Layout, used: &Layout) -> Result<Layout> {
    match used.rank() {
        1 => weights.slice(0, 0..used.shape()[0]),
        _ => Ok(weights.clone()),
    }
}
