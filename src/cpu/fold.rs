//! The loops of folds, for scatters and for bags: rows are combined, one after the other, into a row of sums.
//!
//! Each column takes the rows in their order, so the bits do not depend on which columns are folded together. A
//! block of columns has its sums in registers while it takes the rows: a row of sums is read and written once
//! for all of them.

use std::ops::Range;

use bytemuck::Zeroable;

use super::destination::Destination;
use super::fetch::{FETCHED_BYTES, NEAR_BYTES, fetch, rows_ahead};
use super::vectors::vectorized;
use crate::fold::{Combine, F16c, Fold, Pool};

/// A list of rows that can be folded.
pub(super) trait Rows<T: Fold>: Copy {
    /// Whether the columns of a row follow each other: else there is nothing to vectorize.
    const ARE_DENSE: bool = true;
    /// How many there are.
    fn count(&self) -> usize;
    /// Those from one number to another.
    fn some(&self, some: Range<usize>) -> Self;
    /// Takes each of `N` sums a step on by the value of its column in row number `n`, from `column` on. Halves are
    /// converted by F16C if it is given.
    fn step<const N: usize>(
        &self,
        n: usize,
        column: usize,
        sums: &mut [T::Sum; N],
        step: impl Fn(T::Sum, T::Sum) -> T::Sum,
        f16c: Option<F16c>,
    );
    /// Asks for `N` columns of a row that is combined soon after number `n`, if there is one that no processor guesses.
    #[inline(always)]
    fn fetch_after<const N: usize>(&self, _n: usize, _column: usize) {}
}

/// One row.
impl<T: Fold> Rows<T> for &[u8] {
    #[inline(always)]
    fn count(&self) -> usize {
        1
    }

    #[inline(always)]
    fn some(&self, _some: Range<usize>) -> Self {
        self
    }

    #[inline(always)]
    fn step<const N: usize>(
        &self,
        _n: usize,
        column: usize,
        sums: &mut [T::Sum; N],
        step: impl Fn(T::Sum, T::Sum) -> T::Sum,
        f16c: Option<F16c>,
    ) {
        step_by_elements::<T, N>(self, column, sums, step, f16c);
    }
}

/// A row of sums.
pub(super) trait Sums<T: Fold> {
    fn load<const N: usize>(&self, column: usize, f16c: Option<F16c>) -> [T::Sum; N];
    fn store<const N: usize>(&mut self, column: usize, sums: [T::Sum; N], f16c: Option<F16c>);
}

/// Sums in the elements of a tensor, which are rounded when they are stored.
pub(super) struct Elements<'a>(pub(super) &'a mut [u8]);

impl<T: Fold> Sums<T> for Elements<'_> {
    #[inline(always)]
    fn load<const N: usize>(&self, column: usize, f16c: Option<F16c>) -> [T::Sum; N] {
        let mut sums = [T::Sum::zeroed(); N];
        step_by_elements::<T, N>(self.0, column, &mut sums, |_, value| value, f16c);
        sums
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, column: usize, sums: [T::Sum; N], f16c: Option<F16c>) {
        let narrowed = T::narrow_all(&sums, f16c);
        columns_of::<T, N>(self.0, column).copy_from_slice(bytemuck::cast_slice(&narrowed));
    }
}

/// Bags in the list of rows, one after the other, and how they are pooled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pooled<'a> {
    /// Where each bag ends. The first starts with row 0.
    pub(super) ends: &'a [usize],
    /// Its number in the output.
    pub(super) first_bag: usize,
    /// How many rows of the first bag have been folded already, into the sums that are held.
    pub(super) before: usize,
    /// Whether the last bag goes on after its end here: its sums are held.
    pub(super) goes_on: bool,
    pub(super) is_mean: bool,
    pub(super) columns: usize,
    /// How many rows of a bag are folded at once, before the next columns of them.
    pub(super) at_once: usize,
}

/// The sums of a bag.
struct BagSums<'a, 'b, T: Fold> {
    held: &'a mut [u8],
    /// What they start from, unless that is held.
    start: Option<T::Sum>,
    /// What they end in and from which byte on, unless they are held on.
    output: Option<(&'a mut Destination<'b>, usize)>,
    /// By what they are divided then.
    divisor: Option<usize>,
}

impl<T: Fold> Sums<T> for BagSums<'_, '_, T> {
    #[inline(always)]
    fn load<const N: usize>(&self, column: usize, _f16c: Option<F16c>) -> [T::Sum; N] {
        if let Some(start) = self.start {
            return [start; N];
        }
        let mut sums = [T::Sum::zeroed(); N];
        bytemuck::cast_slice_mut(&mut sums)
            .copy_from_slice(columns_in::<T::Sum, N>(self.held, column));
        sums
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, column: usize, mut sums: [T::Sum; N], f16c: Option<F16c>) {
        let Some((output, first)) = &mut self.output else {
            return columns_of::<T::Sum, N>(self.held, column)
                .copy_from_slice(bytemuck::cast_slice(&sums));
        };
        if let Some(divisor) = self.divisor {
            for sum in &mut sums {
                *sum = T::mean(*sum, divisor);
            }
        }
        let narrowed = T::narrow_all(&sums, f16c);
        output.write(
            *first + column * size_of::<T>(),
            bytemuck::cast_slice(&narrowed),
        );
    }
}

/// The bytes of `N` columns of a row.
#[inline(always)]
fn columns_in<T, const N: usize>(row: &[u8], column: usize) -> &[u8] {
    part(row, column * size_of::<T>(), N * size_of::<T>())
}

/// The same, to be written to.
#[inline(always)]
fn columns_of<T, const N: usize>(row: &mut [u8], column: usize) -> &mut [u8] {
    part_mut(row, column * size_of::<T>(), N * size_of::<T>())
}

// These are not generic, so they are compiled once; the loops that call them are compiled for each type and each way
// to reduce.

/// So many bytes from number `first` on.
#[inline]
fn part(bytes: &[u8], first: usize, len: usize) -> &[u8] {
    &bytes[first..][..len]
}

/// The same, to be written to.
#[inline]
fn part_mut(bytes: &mut [u8], first: usize, len: usize) -> &mut [u8] {
    &mut bytes[first..][..len]
}

/// Where those that go to one place with number `first` end.
#[inline]
fn end_of_run(to: &[usize], first: usize) -> usize {
    let at = to[first];
    first + to[first..].iter().take_while(|&&next| next == at).count()
}

/// Takes each sum a step on by the value of its element, of those from number `first` on.
#[inline(always)]
pub(super) fn step_by_elements<T: Fold, const N: usize>(
    bytes: &[u8],
    first: usize,
    sums: &mut [T::Sum; N],
    step: impl Fn(T::Sum, T::Sum) -> T::Sum,
    f16c: Option<F16c>,
) {
    T::step_all(columns_in::<T, N>(bytes, first), sums, step, f16c);
}

/// Asks for `N` elements, from number `first` on.
#[inline(always)]
pub(super) fn fetch_elements<T, const N: usize>(bytes: &[u8], first: usize) {
    fetch(
        bytes,
        first.wrapping_mul(size_of::<T>()),
        N * size_of::<T>(),
    );
}

vectorized! {
    /// Folds the rows into those of `target`, of so many bytes, that start at the bytes in `to`: neighbours that go to
    /// one place together, rounded once.
    [Avx512 if R::ARE_DENSE] fn fold_runs<T: Fold, C: Combine<T>, R: Rows<T>>(
        f16c; target: &mut [u8], row_bytes: usize, to: &[usize], rows: R
    ) {
        assert_eq!(to.len(), rows.count(), "each row goes somewhere");
        let asked = match target.len() {
            ..=NEAR_BYTES => None,
            _ => to.get(rows_ahead(row_bytes)..),
        };
        let mut asked = asked.unwrap_or_default().iter();
        let mut first = 0;
        while let Some(&at) = to.get(first) {
            let end = end_of_run(to, first);
            // Prefetches one upcoming row for each row that is folded now.
            for &soon in asked.by_ref().take(end - first) {
                if soon != at {
                    fetch(target, soon, row_bytes.min(FETCHED_BYTES));
                }
            }
            let mut sums = Elements(part_mut(target, at, row_bytes));
            let columns = row_bytes / size_of::<T>();
            fold_columns::<T, C, R, _, WIDE>(&mut sums, columns, rows.some(first..end), f16c);
            first = end;
        }
    }

    /// Pools bags into the rows of `output`.
    [Avx512] fn pool<T: Fold, C: Pool<T>, R: Rows<T>>(
        f16c; rows: R, bags: Pooled<'_>, held: &mut [u8], output: &mut Destination<'_>
    ) {
        assert_eq!(bags.ends.last(), Some(&rows.count()), "each row is in a bag");
        let row_bytes = bags.columns * size_of::<T>();
        let (mut bag, mut first, mut before) = (0, 0usize, bags.before);
        // One loop, not a loop over the parts of each bag: that made short bags slower.
        while let Some(&end) = bags.ends.get(bag) {
            let some = first..end.min(first.saturating_add(bags.at_once));
            let is_whole = some.end == end && !(bags.goes_on && bag + 1 == bags.ends.len());
            let count = before + some.len();
            let place = (bags.first_bag + bag) * row_bytes;
            if count == 0 && is_whole {
                output.bytes(place..place + row_bytes).fill(0);
            } else {
                let mut sums = BagSums::<T> {
                    held: &mut *held,
                    start: (before == 0).then(C::start),
                    output: is_whole.then_some((&mut *output, place)),
                    divisor: bags.is_mean.then_some(count),
                };
                fold_columns::<T, C, R, _, WIDE>(&mut sums, bags.columns, rows.some(some.clone()), f16c);
            }
            first = some.end;
            (bag, before) = if first == end { (bag + 1, 0) } else { (bag, count) };
        }
    }
}

/// Folds one row of `N` columns; `left` is told of NaNs that are not narrowed.
#[inline(always)]
pub(super) fn fold_row<T: Fold, C: Combine<T>, const N: usize>(
    sums: &mut Elements<'_>,
    values: &[u8],
    left: &mut [T::Sum; N],
    f16c: Option<F16c>,
) {
    let mut held: [T::Sum; N] = Sums::<T>::load(sums, 0, f16c);
    T::step_all(values, &mut held, C::combine, f16c);
    T::narrow_most(&held, columns_of::<T, N>(sums.0, 0), left, f16c);
}

/// Folds rows block by block.
#[inline(always)]
pub(super) fn fold_columns<T: Fold, C: Combine<T>, R: Rows<T>, S: Sums<T>, const WIDE: usize>(
    sums: &mut S,
    columns: usize,
    rows: R,
    f16c: Option<F16c>,
) {
    let mut blocks = Blocks {
        sums,
        column: 0,
        columns,
        rows,
        f16c,
    };
    if R::ARE_DENSE && const { size_of::<T::Sum>() <= 4 } {
        if WIDE >= 256 {
            blocks.fold::<T, C, 256>();
            blocks.fold::<T, C, 128>();
        }
        if WIDE >= 64 {
            blocks.fold::<T, C, 64>();
        }
    } else if R::ARE_DENSE {
        if WIDE >= 256 {
            blocks.fold::<T, C, 128>();
            blocks.fold::<T, C, 64>();
        }
        if WIDE >= 64 {
            blocks.fold::<T, C, 32>();
        }
    }
    blocks.fold::<T, C, 8>();
    blocks.fold::<T, C, 4>();
    blocks.fold::<T, C, 2>();
    blocks.fold::<T, C, 1>();
}

/// Columns of rows that are folded block by block.
struct Blocks<'a, R, S> {
    sums: &'a mut S,
    /// The first that is to be folded, and how many there are.
    column: usize,
    columns: usize,
    rows: R,
    f16c: Option<F16c>,
}

impl<R, S> Blocks<'_, R, S> {
    /// Folds `N` columns at a time, as often as there are so many.
    #[inline(always)]
    fn fold<T: Fold, C: Combine<T>, const N: usize>(&mut self)
    where
        R: Rows<T>,
        S: Sums<T>,
    {
        while self.columns - self.column >= N {
            let (column, f16c) = (self.column, self.f16c);
            let mut held: [T::Sum; N] = self.sums.load(column, f16c);
            for n in 0..self.rows.count() {
                if N > 1 {
                    self.rows.fetch_after::<N>(n, column);
                }
                self.rows.step::<N>(n, column, &mut held, C::combine, f16c);
            }
            self.sums.store(column, held, f16c);
            self.column += N;
        }
    }
}
