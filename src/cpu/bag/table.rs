//! Where the rows of a table are that bags fold: in memory as they are folded, or made a few at a time.

use std::iter::zip;
use std::ops::Range;

use super::super::fetch::fetch;
use super::super::rows::forward;
use super::rows::NOWHERE;
use crate::error::{Result, Role};
use crate::memory::room;
use crate::operand::{AnyTable, Params};
use crate::plan::BagPlan;
use crate::quantized::{Format, QuantizedTable, ROW_TAIL_BYTES};

/// How many rows are asked for before they are made; a window has a few more.
const AHEAD: usize = 8;

/// A table whose rows are folded.
pub(super) enum Table<'a> {
    /// Rows that are folded where they lie.
    There(There<'a>),
    /// Elements at an offset each from the first of their row.
    Scattered(&'a Params<'a>, Vec<isize>),
    /// Codes, which are decoded before they are folded.
    Quantized(&'a QuantizedTable<'a>),
}

/// Rows that lie in memory as they are folded, at even distances.
pub(super) struct There<'a> {
    pub(super) bytes: &'a [u8],
    /// Bytes of a column.
    pub(super) width: usize,
    /// How many there are, where the first starts, and the step to the next.
    rows: usize,
    offset: usize,
    step: isize,
    /// Whether they are bytes with a scale and a bias, not elements.
    pub(super) are_codes: bool,
}

impl<'a> Table<'a> {
    pub(super) fn new(table: &'a AnyTable<'a>, plan: &BagPlan) -> Result<Self> {
        let params = match table {
            AnyTable::Quantized(table, _) => return Ok(Table::quantized(table)),
            AnyTable::Plain(params) => params,
        };
        let geometry = &plan.row;
        if geometry.slice() == plan.row_bytes() / plan.dtype.bytes() {
            let rows = There::first_of(params).inside(plan.row_bytes());
            return Ok(Table::There(rows));
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

    fn quantized(table: &'a QuantizedTable<'a>) -> Self {
        match (table.format(), table.shape()) {
            (Format::Rows, &[rows, row]) => {
                let row_bytes = row + ROW_TAIL_BYTES;
                let rows = There {
                    bytes: table.codes(),
                    width: 1,
                    rows,
                    offset: 0,
                    step: row_bytes as isize,
                    are_codes: true,
                };
                Table::There(rows.inside(row_bytes))
            }
            _ => Table::Quantized(table),
        }
    }

    /// Where a row starts that lies in memory; the number of one that is yet to be made.
    pub(super) fn start(&self, row: usize) -> usize {
        match self {
            Table::There(rows) => rows.start(row),
            _ => row,
        }
    }

    /// [`Table::start`] of the first row, and the step to the next, for rows below `bound`.
    pub(super) fn starts(&self, bound: u64) -> (usize, isize) {
        match self {
            Table::There(rows) => {
                assert!(
                    bound <= rows.rows as u64,
                    "lookups find no row of the table"
                );
                (rows.offset, rows.step)
            }
            _ => (0, 1),
        }
    }

    /// Columns that are decoded together: as many or a multiple are folded at once.
    pub(super) fn unit(&self) -> usize {
        match self {
            Table::Quantized(table) => match table.format() {
                Format::Blocks(format) => format.block_elements(),
                Format::Rows | Format::Split(_) => 1,
            },
            _ => 1,
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
        let width = match self {
            Table::Scattered(params, _) => params.element_bytes(),
            _ => size_of::<f32>(),
        };
        let row_bytes = columns.len() * width;
        made.resize((rows.len() * row_bytes).div_ceil(size_of::<u64>()), 0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(made);
        let places = bytes.chunks_exact_mut(row_bytes);
        match self {
            Table::There(_) => {}
            Table::Scattered(params, offsets) => {
                let rows = zip(&*rows, places).filter(|&(&row, _)| row != NOWHERE);
                let (there, offsets) = (There::first_of(params), &offsets[columns.clone()]);
                // A width that compilers know is copied by an instruction, not by a call.
                let take = match width {
                    1 => There::take::<1>,
                    2 => There::take::<2>,
                    4 => There::take::<4>,
                    8 => There::take::<8>,
                    _ => There::take::<16>,
                };
                rows.for_each(|(&row, to)| take(&there, row, offsets, to));
            }
            Table::Quantized(table) => {
                let (elements, codes) = (
                    table.elements() / table.shape()[0],
                    table.codes().len() / table.shape()[0],
                );
                for (n, to) in (0..rows.len()).zip(places) {
                    if let Some(&soon) = rows.get(n + AHEAD)
                        && soon != NOWHERE
                    {
                        fetch(table.codes(), soon * codes, codes);
                    }
                    if rows[n] != NOWHERE {
                        let first = rows[n] * elements + columns.start;
                        table.decode_within(first, bytemuck::cast_slice_mut(to));
                    }
                }
            }
        }
        for (n, row) in rows
            .iter_mut()
            .enumerate()
            .filter(|(_, row)| **row != NOWHERE)
        {
            *row = n * row_bytes;
        }
        bytes
    }
}

impl<'a> There<'a> {
    /// Of rows whose elements follow each other, or their first elements.
    fn first_of(params: &'a Params<'a>) -> Self {
        let (layout, width) = (params.layout(), params.element_bytes());
        There {
            bytes: params.bytes(),
            width,
            rows: layout.shape()[0],
            offset: layout.offset() * width,
            step: layout.strides()[0].wrapping_mul(width as isize),
            are_codes: false,
        }
    }

    /// These rows, all of which are in memory: of rows at even distances the first and the last are. What loops find
    /// to be outside then has a bad index.
    fn inside(self, row_bytes: usize) -> Self {
        if let Some(last) = self.rows.checked_sub(1) {
            for row in [0, last] {
                let from = self.bytes.get(self.start(row)..).unwrap_or_default();
                assert!(from.len() >= row_bytes, "a row reaches outside the table");
            }
        }
        self
    }

    fn start(&self, row: usize) -> usize {
        assert!(row < self.rows, "a lookup finds no row of the table");
        forward(self.offset, row as isize, self.step)
    }

    /// Copies the elements of `WIDTH` bytes at these offsets from the start of a row.
    fn take<const WIDTH: usize>(&self, row: usize, offsets: &[isize], to: &mut [u8]) {
        let start = self.start(row);
        for (to, &offset) in zip(to.chunks_exact_mut(WIDTH), offsets) {
            let at = forward(start, offset, WIDTH as isize);
            to.copy_from_slice(&self.bytes[at..][..WIDTH]);
        }
    }
}
