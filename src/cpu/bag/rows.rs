//! The rows of a table as the loops of bags read them.

use std::iter::zip;
use std::ops::Range;

use super::super::fetch::{Starts, fetch};
use super::super::fold::Rows;
use crate::fold::{F16c, Fold};
use crate::quantized::{ROW_TAIL_BYTES, scale_and_bias};

/// The start of a row with a bad index: no memory is so long, so what follows it is not inside either.
pub(super) const NOWHERE: usize = 1 << (usize::BITS - 1);

/// Rows of a table, by what lookups have found.
#[derive(Clone, Copy)]
pub(super) struct TableRows<'a> {
    pub(super) bytes: &'a [u8],
    /// Where each row starts, or [`NOWHERE`].
    pub(super) starts: Starts<'a>,
    /// Where the first column that is folded is in a row.
    pub(super) first: usize,
    /// How many columns a row has.
    pub(super) columns: usize,
    /// What a bad index brings: as many elements as are folded at once, or a row of bytes.
    pub(super) bad: &'a [u8],
}

impl TableRows<'_> {
    /// So many bytes of row number `n`, from byte `first` of it on; those of a bad index, if it is [`NOWHERE`].
    #[inline(always)]
    fn part(&self, n: usize, first: usize, len: usize) -> &[u8] {
        let start = self.starts.of(n) + first;
        match self.bytes.len().checked_sub(len) {
            Some(last) if start <= last => &self.bytes[start..start + len],
            _ => &self.bad[..len],
        }
    }

    /// Asks for such a part of the row that is asked for at the turn of number `n`.
    #[inline(always)]
    fn fetch_part_after(&self, n: usize, first: usize, len: usize) {
        fetch(self.bytes, self.starts.after(n) + first, len);
    }

    #[inline(always)]
    fn some(&self, some: Range<usize>) -> Self {
        TableRows {
            starts: self.starts.some(some),
            ..*self
        }
    }
}

impl<T: Fold> Rows<T> for TableRows<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.starts.count()
    }

    #[inline(always)]
    fn some(&self, some: Range<usize>) -> Self {
        self.some(some)
    }

    #[inline(always)]
    fn step<const N: usize>(
        &self,
        n: usize,
        column: usize,
        sums: &mut [T::Sum; N],
        step: impl Fn(T::Sum, T::Sum) -> T::Sum,
        f16c: Option<F16c>,
    ) {
        let first = self.first + column * size_of::<T>();
        let len = const { N * size_of::<T>() };
        T::step_all(self.part(n, first, len), sums, step, f16c);
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        let first = self.first + column * size_of::<T>();
        self.fetch_part_after(n, first, N * size_of::<T>());
    }
}

/// Rows of bytes, each with a scale and a bias behind it.
#[derive(Clone, Copy)]
pub(super) struct ByteRows<'a>(pub(super) TableRows<'a>);

impl Rows<f32> for ByteRows<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.0.starts.count()
    }

    #[inline(always)]
    fn some(&self, some: Range<usize>) -> Self {
        ByteRows(self.0.some(some))
    }

    #[inline(always)]
    fn step<const N: usize>(
        &self,
        n: usize,
        column: usize,
        sums: &mut [f32; N],
        step: impl Fn(f32, f32) -> f32,
        _f16c: Option<F16c>,
    ) {
        let row = self.0.part(n, 0, self.0.columns + ROW_TAIL_BYTES);
        let (codes, tail) = row.split_at(self.0.columns);
        let (scale, bias) = scale_and_bias(tail);
        for (sum, &code) in zip(sums, &codes[self.0.first + column..][..N]) {
            *sum = step(*sum, f32::from(code) * scale + bias);
        }
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        self.0.fetch_part_after(n, self.0.first + column, N);
        self.0.fetch_part_after(n, self.0.columns, ROW_TAIL_BYTES);
    }
}

/// Rows, each multiplied by a weight.
#[derive(Clone, Copy)]
pub(super) struct Weighted<'a, R, T> {
    pub(super) rows: R,
    /// One for each row.
    pub(super) weights: &'a [T],
}

impl<T: Fold, R: Rows<T>> Rows<T> for Weighted<'_, R, T> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.rows.count()
    }

    #[inline(always)]
    fn some(&self, some: Range<usize>) -> Self {
        Weighted {
            rows: self.rows.some(some.clone()),
            weights: &self.weights[some],
        }
    }

    #[inline(always)]
    fn step<const N: usize>(
        &self,
        n: usize,
        column: usize,
        sums: &mut [T::Sum; N],
        step: impl Fn(T::Sum, T::Sum) -> T::Sum,
        f16c: Option<F16c>,
    ) {
        let weight = self.weights[n].widen_by(f16c);
        let weighted = |sum, value| step(sum, T::mul(weight, value));
        self.rows.step::<N>(n, column, sums, weighted, f16c);
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        self.rows.fetch_after::<N>(n, column);
    }
}
