//! The rows of a table as bags fold them: where they lie as they are, or made a few columns at a time.

use std::ops::Range;

use super::fetch::fetch;
use super::fold::{Rows, combine_elements, step_by_elements};
use super::lookups::BAD;
use crate::error::{Result, Role};
use crate::fold::{Combine, Fold};
use crate::memory::room;
use crate::operand::{AnyTable, Params};
use crate::plan::BagPlan;
use crate::quantized::{Format, QuantizedTable};

/// What a lookup of a bag finds.
#[derive(Clone, Copy)]
pub(super) struct Found<S> {
    /// Where its row starts in the table, in elements; its number, if it is yet to be made; or [`BAD`].
    pub(super) start: usize,
    pub(super) weight: S,
}

/// Rows of a table by what was found.
#[derive(Clone, Copy)]
pub(super) struct TableRows<'a, const WEIGHTED: bool> {
    pub(super) bytes: &'a [u8],
    /// The first column that is folded.
    pub(super) first: usize,
    /// As many elements as are folded at once, of what a bad index brings.
    pub(super) bad: &'a [u8],
}

impl<T: Fold, const WEIGHTED: bool> Rows<T> for TableRows<'_, WEIGHTED> {
    type Row = Found<T::Sum>;

    #[inline(always)]
    fn combine<C: Combine<T>, const N: usize>(
        &self,
        found: Found<T::Sum>,
        column: usize,
        sums: &mut [T::Sum; N],
    ) {
        let (bytes, first) = match found.start {
            BAD => (self.bad, 0),
            start => (self.bytes, start + self.first + column),
        };
        if !WEIGHTED {
            return combine_elements::<T, C, N>(bytes, first, sums);
        }
        step_by_elements::<T, N>(bytes, first, sums, |sum, value| {
            C::combine(sum, T::mul(found.weight, value))
        });
    }

    #[inline(always)]
    fn fetch<const N: usize>(&self, found: Found<T::Sum>, column: usize) {
        if found.start != BAD {
            let first = (found.start + self.first + column) * size_of::<T>();
            fetch(self.bytes, first, N * size_of::<T>());
        }
    }
}

/// Where the elements of a row are.
pub(super) enum Table<'a> {
    /// One after the other.
    Runs(&'a Params<'a>),
    /// Each at an offset of its own from the first.
    Scattered(&'a Params<'a>, Vec<isize>),
    /// In codes, which are decoded as they are folded.
    Quantized(&'a QuantizedTable<'a>),
}

impl<'a> Table<'a> {
    pub(super) fn new(table: &'a AnyTable<'a>, plan: &BagPlan) -> Result<Self> {
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

    /// Columns that are decoded together: as many or a multiple are folded at once.
    pub(super) fn unit(&self) -> usize {
        match self {
            Table::Quantized(table) => match table.format() {
                Format::Blocks(format) => format.block_elements(),
                Format::Rows | Format::Split(_) => 1,
            },
            Table::Runs(_) | Table::Scattered(..) => 1,
        }
    }

    /// Makes some columns of a row of so many elements that does not lie in memory as it is.
    pub(super) fn make_row<T: Fold>(
        &self,
        row: usize,
        row_elements: usize,
        columns: Range<usize>,
        made: &mut [T],
    ) {
        match self {
            Table::Runs(_) => {}
            Table::Scattered(params, offsets) => {
                let first = first_of(params, row);
                for (value, &offset) in made.iter_mut().zip(&offsets[columns]) {
                    *value = load(params, first.wrapping_add_signed(offset));
                }
            }
            Table::Quantized(table) => {
                let first = row * row_elements + columns.start;
                table.decode_within(first, bytemuck::cast_slice_mut(made));
            }
        }
    }
}

/// Where a row starts, in elements.
pub(super) fn first_of(params: &Params<'_>, row: usize) -> usize {
    let layout = params.layout();
    let step = (row as isize).wrapping_mul(layout.strides()[0]);
    layout.offset().wrapping_add_signed(step)
}

pub(super) fn load<T: Fold>(tensor: &Params<'_>, position: usize) -> T {
    let start = position * size_of::<T>();
    bytemuck::pod_read_unaligned(&tensor.bytes()[start..start + size_of::<T>()])
}
