//! The rows of a table as the loops of bags read them.

use std::iter::zip;

use super::super::fetch::fetch;
use super::super::fold::{Rows, fetch_elements, step_by_elements};
use super::super::lookups::BAD;
use crate::fold::Fold;
use crate::quantized::{ROW_TAIL_BYTES, scale_and_bias};

/// Rows of a table, by what lookups have found.
#[derive(Clone, Copy)]
pub(super) struct TableRows<'a> {
    pub(super) bytes: &'a [u8],
    /// Where each row starts, in elements, or [`BAD`].
    pub(super) starts: &'a [usize],
    /// The first column that is folded.
    pub(super) first: usize,
    /// How many columns a row has.
    pub(super) row: usize,
    /// As many elements as are folded at once, of what a bad index brings.
    pub(super) bad: &'a [u8],
    /// How many rows are asked for ahead of their turn.
    pub(super) ahead: usize,
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
    ) {
        let (bytes, first) = match self.starts[n] {
            BAD => (self.bad, 0),
            start => (self.bytes, start + self.first + column),
        };
        step_by_elements::<T, N>(bytes, first, sums, step);
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        if let Some(&soon) = self.starts.get(n + self.ahead)
            && soon != BAD
        {
            fetch_elements::<T, N>(self.bytes, soon + self.first + column);
        }
    }
}

/// Rows of bytes, each with a scale and a bias behind it. Where one starts is in bytes.
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
    ) {
        let TableRows { bytes, starts, .. } = self.0;
        if starts[n] == BAD {
            return step_by_elements::<f32, N>(self.0.bad, 0, sums, step);
        }
        let row = &bytes[starts[n]..][..self.0.row + ROW_TAIL_BYTES];
        let (codes, tail) = row.split_at(self.0.row);
        let (scale, bias) = scale_and_bias(tail);
        for (sum, &code) in zip(sums, &codes[self.0.first + column..][..N]) {
            *sum = step(*sum, f32::from(code) * scale + bias);
        }
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        if let Some(&soon) = self.0.starts.get(n + self.0.ahead)
            && soon != BAD
        {
            fetch(self.0.bytes, soon + self.0.first + column, N);
            fetch(self.0.bytes, soon + self.0.row, ROW_TAIL_BYTES);
        }
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
    ) {
        let weight = &self.weights[n * size_of::<T>()..][..size_of::<T>()];
        let weight = bytemuck::pod_read_unaligned::<T>(weight).widen();
        let weighted = |sum, value| step(sum, T::mul(weight, value));
        self.rows.step::<N>(n, column, sums, weighted);
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        self.rows.fetch_after::<N>(n, column);
    }
}
