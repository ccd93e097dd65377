//! Rows of updates that are folded one by one, in the order of the lookups: each column of a row of the destination is
//! read and written again for each of them, from caches if they are near.

use std::iter::zip;

use bytemuck::Zeroable;

use super::super::fetch::{FETCHED_BYTES, LINE_BYTES, NEAR_BYTES, fetch, rows_ahead};
use super::super::fold::{Elements, fold_columns, fold_row};
use super::super::rows::forward;
use super::super::vectors::vectorized;
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

/// Stands for a number of columns that is not known at compile time.
const ANY: usize = 0;

/// Rows of more columns are folded in pieces of so many: their sums are in few registers, so a processor has begun with
/// the next pieces before it has stored the first.
const PIECE: usize = 32;

/// The most that is asked for of a row of updates, where other threads take those between. More than of the target:
/// nothing of it is in caches. Prefetchers of processors stop at the end of a page.
const PAGE_BYTES: usize = 4 << 10;

/// So many rows that follow each other tell of NaNs side by side: else each would wait for the one before.
const SIDE_BY_SIDE: usize = 4;

vectorized! {
    /// Folds rows, each into the row of `target` that is named in `to`: those of `rows` that have these numbers, or all
    /// in their order, where no numbers are given. Returns how many there are before the first that goes to no row. What
    /// is folded is rounded each time, which [`Combine::RESUMES`] allows. Short rows of some widths that lie one after
    /// the other have loops of their own, as to find out how long they are takes longer than to fold them.
    [Avx2] fn fold_each<T: Fold, C: Combine<T>>(
        f16c; target: &mut [u8], columns: usize, to: &[u32], numbers: Option<&[u32]>, rows: EvenRows<'_>
    ) -> usize {
        let is_dense = WIDE > 0 && rows.step == (columns * size_of::<T>()) as isize;
        let each = Each { target, columns, to, numbers, rows, f16c };
        match columns {
            1 if is_dense => each.fold::<T, C, 1>(),
            2 if is_dense => each.fold::<T, C, 2>(),
            3 if is_dense => each.fold::<T, C, 3>(),
            4 if is_dense => each.fold::<T, C, 4>(),
            8 if is_dense => each.fold::<T, C, 8>(),
            16 if is_dense => each.fold::<T, C, 16>(),
            32 if is_dense => each.fold::<T, C, 32>(),
            64 if is_dense => each.fold::<T, C, 64>(),
            _ => each.fold::<T, C, ANY>(),
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
    fn fold<T: Fold, C: Combine<T>, const N: usize>(self) -> usize {
        let columns = if N == ANY { self.columns } else { N };
        let row_bytes = columns * size_of::<T>();
        let (target, to, ahead) = (self.target, self.to, rows_ahead(row_bytes));
        // A processor sees by itself how a long row goes on, and of single elements it has enough on their way.
        let asked_bytes = row_bytes.min(FETCHED_BYTES);
        let asks_target = row_bytes > 8 && target.len() > NEAR_BYTES;
        // Where other threads take some of the rows; shorter ones share cache lines, which are then read one after the
        // other.
        let asks_rows = self.numbers.is_some() && row_bytes >= LINE_BYTES;
        let mut left = [[T::Sum::zeroed(); N]; SIDE_BY_SIDE];
        let mut left_of_pieces = [T::Sum::zeroed(); PIECE];
        let dense = &self.rows.bytes[self.rows.start..];
        let mut folded = 0;
        if N != ANY && self.numbers.is_none() {
            // To ask takes longer than the shortest rows do.
            let ahead = (asks_target && N > 4 && row_bytes > 16).then_some(ahead);
            folded = fold_dense::<T, C, N>(target, to, dense, ahead, &mut left, self.f16c);
        }
        let number = |n: usize| match self.numbers {
            Some(numbers) => numbers.get(n).copied(),
            None => Some(n as u32),
        };
        while let Some(&row) = to.get(folded) {
            if asks_target && let Some(&soon) = to.get(folded + ahead) {
                fetch(target, soon as usize * row_bytes, asked_bytes);
            }
            if asks_rows && let Some(soon) = number(folded + ahead) {
                let start = self.rows.start_of(soon as usize);
                fetch(self.rows.bytes, start, row_bytes.min(PAGE_BYTES));
            }
            // One range, not two: of a number of 32 bits compilers know that it does not overflow.
            let at = row as usize * row_bytes;
            let Some(place) = target.get_mut(at..at + row_bytes) else {
                break;
            };
            let number = number(folded).expect("each row has a number") as usize;
            if N == ANY {
                let values = self.rows.row(number, row_bytes);
                fold_pieces::<T, C>(place, values, &mut left_of_pieces, self.f16c);
            } else {
                let from = number * row_bytes;
                let values = &dense[from..from + row_bytes];
                fold_row::<T, C, N>(&mut Elements(place), values, &mut left[0], self.f16c);
            }
            folded += 1;
        }
        if T::has_left(left.as_flattened()) || T::has_left(&left_of_pieces) {
            narrow_rest::<T>(target, row_bytes, &to[..folded]);
        }
        folded
    }
}

/// Folds rows of `N` columns that lie one after the other, in loops as short as can be; returns how many: all but a few,
/// or those before the first that goes to no row. A row of `target` is asked for so many rows `ahead` of its turn, if at
/// all.
#[inline(always)]
fn fold_dense<T: Fold, C: Combine<T>, const N: usize>(
    target: &mut [u8],
    to: &[u32],
    dense: &[u8],
    ahead: Option<usize>,
    left: &mut [[T::Sum; N]; SIDE_BY_SIDE],
    f16c: Option<F16c>,
) -> usize {
    let row_bytes = N * size_of::<T>();
    let Ok(target) = bytemuck::try_cast_slice_mut::<u8, [T; N]>(target) else {
        return 0;
    };
    if let Some(ahead) = ahead {
        let soon = to.get(ahead..).unwrap_or_default();
        let each = zip(zip(to, soon), dense.chunks_exact(row_bytes));
        for (n, ((&row, &soon), values)) in each.enumerate() {
            fetch(target, soon as usize * row_bytes, row_bytes);
            let Some(place) = target.get_mut(row as usize) else {
                return n;
            };
            let mut sums = Elements(bytemuck::bytes_of_mut(place));
            fold_row::<T, C, N>(&mut sums, values, &mut left[0], f16c);
        }
        return soon.len();
    }
    let (groups, _) = to.as_chunks::<SIDE_BY_SIDE>();
    let each = zip(groups, dense.chunks_exact(SIDE_BY_SIDE * row_bytes));
    for (group, (rows, values)) in each.enumerate() {
        for (k, left) in left.iter_mut().enumerate() {
            let Some(place) = target.get_mut(rows[k] as usize) else {
                return group * SIDE_BY_SIDE + k;
            };
            let mut sums = Elements(bytemuck::bytes_of_mut(place));
            let values = &values[k * row_bytes..][..row_bytes];
            fold_row::<T, C, N>(&mut sums, values, left, f16c);
        }
    }
    groups.len() * SIDE_BY_SIDE
}

/// Folds a row of any length.
#[inline(always)]
fn fold_pieces<T: Fold, C: Combine<T>>(
    place: &mut [u8],
    values: &[u8],
    left: &mut [T::Sum; PIECE],
    f16c: Option<F16c>,
) {
    let piece = PIECE * size_of::<T>();
    let (places, rest) = place.split_at_mut(place.len() / piece * piece);
    let (pieces, rest_values) = values.split_at(places.len());
    for (place, values) in zip(places.chunks_exact_mut(piece), pieces.chunks_exact(piece)) {
        fold_row::<T, C, PIECE>(&mut Elements(place), values, left, f16c);
    }
    let columns = rest.len() / size_of::<T>();
    fold_columns::<T, C, _, _, 0>(&mut Elements(rest), columns, rest_values, f16c);
}

/// Narrows what [`fold_row`] has left in these rows.
#[cold]
#[inline(never)]
fn narrow_rest<T: Fold>(target: &mut [u8], row_bytes: usize, rows: &[u32]) {
    for &row in rows {
        T::narrow_rest(&mut target[row as usize * row_bytes..][..row_bytes]);
    }
}
