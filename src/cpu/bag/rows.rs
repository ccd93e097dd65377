//! The rows of a table as the loops of bags read them.

use std::iter::zip;

use super::super::fetch::fetch;
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
    pub(super) starts: &'a [usize],
    /// Where the first column that is folded is in a row.
    pub(super) first: usize,
    /// How many columns a row has.
    pub(super) columns: usize,
    /// What a bad index brings: as many elements as are folded at once, or a row of bytes.
    pub(super) bad: &'a [u8],
    /// How many rows are asked for ahead of their turn.
    pub(super) ahead: usize,
}

impl TableRows<'_> {
    /// So many bytes of row number `n`, from byte `first` of it on; nothing if it is [`NOWHERE`].
    #[inline(always)]
    fn part(&self, n: usize, first: usize, len: usize) -> Option<&[u8]> {
        let start = self.starts[n] + first;
        self.bytes.get(start..start + len)
    }

    /// Asks for such a part of the row that is folded after number `n`.
    #[inline(always)]
    fn fetch_part_after(&self, n: usize, first: usize, len: usize) {
        if let Some(&soon) = self.starts.get(n + self.ahead) {
            fetch(self.bytes, soon + first, len);
        }
    }
}

impl<T: Fold> Rows<T> for TableRows<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.starts.len()
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
        let row = self.part(n, first, len).unwrap_or(&self.bad[..len]);
        T::step_all(row, sums, step, f16c);
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
        self.0.starts.len()
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
        let (codes, tail) = row.unwrap_or(self.0.bad).split_at(self.0.columns);
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
pub(super) struct Weighted<'a, R> {
    pub(super) rows: R,
    /// An element for each row.
    pub(super) weights: &'a [u8],
}

impl<T: Fold, R: Rows<T>> Rows<T> for Weighted<'_, R> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.rows.count()
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
        let weight = &self.weights[n * size_of::<T>()..][..size_of::<T>()];
        let weight = bytemuck::pod_read_unaligned::<T>(weight).widen_by(f16c);
        let weighted = |sum, value| step(sum, T::mul(weight, value));
        self.rows.step::<N>(n, column, sums, weighted, f16c);
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        self.rows.fetch_after::<N>(n, column);
    }
}
