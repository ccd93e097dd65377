//! Rows of updates that are folded one by one, in the order of the lookups: each column of a row of the destination is
//! read and written again for each of them, from caches if they are near.

use std::iter::zip;

use bytemuck::Zeroable;

use super::super::fetch::{FETCHED_BYTES, LINE_BYTES, NEAR_BYTES, fetch, rows_ahead};
use super::super::fold::{Elements, fold_columns, fold_row};
use super::super::rows::forward;
use super::super::vectors::vectorized;
use super::keep::WINDOW;
use crate::fold::{Combine, F16c, Fold};

/// Rows of updates at even distances.
#[derive(Clone, Copy)]
pub(super) struct EvenRows<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the first starts, in bytes.
    pub(super) start: usize,
    /// From one to the next, in bytes.
    pub(super) step: isize,
}

impl<'a> EvenRows<'a> {
    #[inline(always)]
    pub(super) fn start_of(&self, number: usize) -> usize {
        forward(self.start, number as isize, self.step)
    }

    /// Those from a number on.
    pub(super) fn from(&self, number: usize) -> Self {
        EvenRows {
            start: self.start_of(number),
            ..*self
        }
    }

    #[inline(always)]
    fn row(&self, number: usize, row_bytes: usize) -> &'a [u8] {
        &self.bytes[self.start_of(number)..][..row_bytes]
    }
}

/// The numbers of all rows of a window.
static ALL: [u32; WINDOW] = {
    let mut numbers = [0; WINDOW];
    let mut n = 0;
    while n < WINDOW {
        numbers[n] = n as u32;
        n += 1;
    }
    numbers
};

/// Stands for a number of columns that is not known at compile time.
const ANY: usize = 0;

vectorized! {
    /// Folds rows, each into the row of `target` that is named in `to`: those of `rows` that have these numbers, or all
    /// in their order, where no numbers are given. What is folded is rounded each time, which [`Combine::RESUMES`]
    /// allows. Short rows of some widths that lie one after the other have loops of their own, as to find out how long
    /// they are takes longer than to fold them.
    [Avx2] fn fold_each<T: Fold, C: Combine<T>>(
        f16c; target: &mut [u8], columns: usize, to: &[u32], numbers: Option<&[u32]>, rows: EvenRows<'_>
    ) {
        let is_dense = WIDE > 0 && rows.step == (columns * size_of::<T>()) as isize;
        let each = Each { target, columns, to, numbers, rows, f16c };
        match columns {
            1 if is_dense => each.fold::<T, C, 1, WIDE>(),
            2 if is_dense => each.fold::<T, C, 2, WIDE>(),
            3 if is_dense => each.fold::<T, C, 3, WIDE>(),
            4 if is_dense => each.fold::<T, C, 4, WIDE>(),
            8 if is_dense => each.fold::<T, C, 8, WIDE>(),
            16 if is_dense => each.fold::<T, C, 16, WIDE>(),
            32 if is_dense => each.fold::<T, C, 32, WIDE>(),
            64 if is_dense => each.fold::<T, C, 64, WIDE>(),
            _ => each.fold::<T, C, ANY, WIDE>(),
        }
    }
}

/// What [`fold_each`] is given.
struct Each<'a> {
    target: &'a mut [u8],
    columns: usize,
    to: &'a [u32],
    numbers: Option<&'a [u32]>,
    rows: EvenRows<'a>,
    f16c: Option<F16c>,
}

impl Each<'_> {
    /// Folds rows of `N` columns, or of [`ANY`] number of them.
    #[inline(always)]
    fn fold<T: Fold, C: Combine<T>, const N: usize, const WIDE: usize>(self) {
        let columns = if N == ANY { self.columns } else { N };
        let row_bytes = columns * size_of::<T>();
        let (target, ahead) = (self.target, rows_ahead(row_bytes));
        // A processor sees by itself how a long row goes on, and of single elements it has enough on their way.
        let asked_bytes = row_bytes.min(FETCHED_BYTES);
        let asks_target = row_bytes > 8 && target.len() > NEAR_BYTES;
        // Where other threads take some of the rows; shorter ones share cache lines, which are then read one after the
        // other.
        let asks_rows = self.numbers.is_some() && row_bytes >= LINE_BYTES;
        let mut left = [T::Sum::zeroed(); N];
        let fold = |target: &mut [u8], row: u32, values: &[u8], left: &mut [T::Sum; N]| {
            // One range, not two: of a number of 32 bits compilers know that it does not overflow.
            let at = row as usize * row_bytes;
            let mut sums = Elements(&mut target[at..at + row_bytes]);
            if N == ANY {
                fold_columns::<T, C, _, _, WIDE>(&mut sums, columns, values, 0..1, self.f16c);
            } else {
                fold_row::<T, C, N>(&mut sums, values, left, self.f16c);
            }
        };
        let numbers = self.numbers.unwrap_or_else(|| &ALL[..self.to.len()]);
        assert_eq!(self.to.len(), numbers.len(), "each row goes somewhere");
        let dense = &self.rows.bytes[self.rows.start..];
        // As short a loop as can be: to ask takes longer than such rows do.
        let is_short = N <= 4 || row_bytes <= 16;
        if N != ANY && is_short && self.numbers.is_none() {
            let dense = &dense[..self.to.len() * row_bytes];
            for (&row, values) in zip(self.to, dense.chunks_exact(row_bytes)) {
                fold(target, row, values, &mut left);
            }
            narrow_rest::<T>(target, row_bytes, self.to, &left);
            return;
        }
        for (n, (&row, &number)) in zip(self.to, numbers).enumerate() {
            if asks_target && let Some(&soon) = self.to.get(n + ahead) {
                fetch(target, soon as usize * row_bytes, asked_bytes);
            }
            if asks_rows && let Some(&soon) = numbers.get(n + ahead) {
                let start = self.rows.start_of(soon as usize);
                fetch(self.rows.bytes, start, asked_bytes);
            }
            let values = if N == ANY {
                self.rows.row(number as usize, row_bytes)
            } else {
                let from = number as usize * row_bytes;
                &dense[from..from + row_bytes]
            };
            fold(target, row, values, &mut left);
        }
        narrow_rest::<T>(target, row_bytes, self.to, &left);
    }
}

/// Narrows what [`fold_row`] has left in these rows.
#[inline(always)]
fn narrow_rest<T: Fold>(target: &mut [u8], row_bytes: usize, rows: &[u32], left: &[T::Sum]) {
    if T::has_left(left) {
        for &row in rows {
            T::narrow_rest(&mut target[row as usize * row_bytes..][..row_bytes]);
        }
    }
}
