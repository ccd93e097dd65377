//! The rows of a table as bags fold them: where they lie as they are, or made a few columns at a time.

use std::iter::zip;
use std::ops::Range;

use super::fetch::{AHEAD, fetch};
use super::fold::{Rows, step_by_elements};
use super::lookups::BAD;
use crate::error::{Result, Role};
use crate::fold::{Combine, Fold};
use crate::memory::room;
use crate::operand::{AnyTable, Params};
use crate::plan::BagPlan;
use crate::quantized::{Format, QuantizedTable};

/// Rows of a table, by what lookups have found.
#[derive(Clone, Copy)]
pub(super) struct TableRows<'a> {
    pub(super) bytes: &'a [u8],
    /// Where each row starts, in elements, or [`BAD`].
    pub(super) starts: &'a [usize],
    /// The first column that is folded.
    pub(super) first: usize,
    /// As many elements as are folded at once, of what a bad index brings.
    pub(super) bad: &'a [u8],
}

impl TableRows<'_> {
    /// The bytes that hold columns of row number `n`, from `column` on, and which element there is the first of them.
    #[inline(always)]
    fn columns_from(&self, n: usize, column: usize) -> (&[u8], usize) {
        match self.starts[n] {
            BAD => (self.bad, 0),
            start => (self.bytes, start + self.first + column),
        }
    }
}

impl<T: Fold> Rows<T> for TableRows<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.starts.len()
    }

    #[inline(always)]
    fn combine<C: Combine<T>, const N: usize>(
        &self,
        n: usize,
        column: usize,
        sums: &mut [T::Sum; N],
    ) {
        let (bytes, first) = self.columns_from(n, column);
        step_by_elements::<T, N>(bytes, first, sums, C::combine);
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        if let Some(&soon) = self.starts.get(n + AHEAD)
            && soon != BAD
        {
            let first = (soon + self.first + column) * size_of::<T>();
            fetch(self.bytes, first, N * size_of::<T>());
        }
    }
}

/// The same rows, each multiplied by a weight.
#[derive(Clone, Copy)]
pub(super) struct Weighted<'a> {
    pub(super) rows: TableRows<'a>,
    /// An element for each row.
    pub(super) weights: &'a [u8],
}

impl<T: Fold> Rows<T> for Weighted<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.rows.starts.len()
    }

    #[inline(always)]
    fn combine<C: Combine<T>, const N: usize>(
        &self,
        n: usize,
        column: usize,
        sums: &mut [T::Sum; N],
    ) {
        let weight = &self.weights[n * size_of::<T>()..][..size_of::<T>()];
        let weight = bytemuck::pod_read_unaligned::<T>(weight).widen();
        let (bytes, first) = self.rows.columns_from(n, column);
        step_by_elements::<T, N>(bytes, first, sums, |sum, value| {
            C::combine(sum, T::mul(weight, value))
        });
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        Rows::<T>::fetch_after::<N>(&self.rows, n, column);
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

    /// Makes some columns of the rows with these numbers, which do not lie in memory as they are. Returns them, and
    /// writes where each starts among them.
    pub(super) fn make_rows<'m>(
        &self,
        rows: &mut [usize],
        columns: Range<usize>,
        made: &'m mut Vec<u64>,
    ) -> &'m [u8] {
        let row_bytes = columns.len() * self.width();
        made.resize((rows.len() * row_bytes).div_ceil(size_of::<u64>()), 0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(made);
        for (n, (row, to)) in zip(rows, bytes.chunks_exact_mut(row_bytes)).enumerate() {
            if *row != BAD {
                self.make_row(*row, columns.clone(), to);
                *row = n * columns.len();
            }
        }
        bytes
    }

    fn make_row(&self, row: usize, columns: Range<usize>, made: &mut [u8]) {
        match self {
            Table::Runs(_) => {}
            Table::Scattered(params, offsets) => {
                let (first, width) = (first_of(params, row), self.width());
                for (element, &offset) in zip(made.chunks_exact_mut(width), &offsets[columns]) {
                    let start = first.wrapping_add_signed(offset) * width;
                    element.copy_from_slice(&params.bytes()[start..][..width]);
                }
            }
            Table::Quantized(table) => {
                let first = row * (table.elements() / table.shape()[0]) + columns.start;
                table.decode_within(first, bytemuck::cast_slice_mut(made));
            }
        }
    }

    /// Bytes of an element.
    fn width(&self) -> usize {
        match self {
            Table::Runs(params) | Table::Scattered(params, _) => params.element_bytes(),
            Table::Quantized(_) => size_of::<f32>(),
        }
    }
}

/// Where a row starts, in elements.
pub(super) fn first_of(params: &Params<'_>, row: usize) -> usize {
    let layout = params.layout();
    let step = (row as isize).wrapping_mul(layout.strides()[0]);
    layout.offset().wrapping_add_signed(step)
}
