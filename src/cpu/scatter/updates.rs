//! The rows of updates, by where they start, in elements.

use super::super::fetch::fetch;
use super::super::fold::{Rows, combine_elements};
use super::super::rows::forward;
use crate::fold::{Combine, Fold};
use crate::scatter::ScatterPlan;

/// Where the update of a lookup lies, in elements.
#[inline]
pub(super) fn update_of(plan: &ScatterPlan, lookup: usize) -> usize {
    let [_, at] = plan.lookup_digits.position(lookup);
    plan.updates.offset().wrapping_add_signed(at)
}

/// Rows whose columns follow each other.
#[derive(Clone, Copy)]
pub(super) struct Updates<'a>(pub(super) &'a [u8]);

impl<T: Fold> Rows<T> for Updates<'_> {
    type Row = usize;

    #[inline(always)]
    fn combine<C: Combine<T>, const N: usize>(
        &self,
        start: usize,
        column: usize,
        sums: &mut [T::Sum; N],
    ) {
        combine_elements::<T, C, N>(self.0, start + column, sums);
    }

    #[inline(always)]
    fn fetch<const N: usize>(&self, start: usize, column: usize) {
        fetch(
            self.0,
            (start + column) * size_of::<T>(),
            N * size_of::<T>(),
        );
    }
}

/// The same with rows by number, each a step after the one before; the columns of each follow each other.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a> {
    pub(super) updates: Updates<'a>,
    /// Where number 0 lies.
    pub(super) start: usize,
    pub(super) step: isize,
}

impl<T: Fold> Rows<T> for Numbered<'_> {
    type Row = u32;

    #[inline(always)]
    fn combine<C: Combine<T>, const N: usize>(
        &self,
        number: u32,
        column: usize,
        sums: &mut [T::Sum; N],
    ) {
        let start = forward(self.start, number as isize, self.step);
        Rows::<T>::combine::<C, N>(&self.updates, start, column, sums);
    }

    #[inline(always)]
    fn fetch<const N: usize>(&self, _: u32, _: usize) {}
}

/// Rows with a step from column to column. A type of their own: where loops have both, compilers load neighbours
/// piece by piece, too.
#[derive(Clone, Copy)]
pub(super) struct Strided<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) step: isize,
}

impl<T: Fold> Rows<T> for Strided<'_> {
    type Row = usize;

    #[inline(always)]
    fn combine<C: Combine<T>, const N: usize>(
        &self,
        start: usize,
        column: usize,
        sums: &mut [T::Sum; N],
    ) {
        for (n, sum) in sums.iter_mut().enumerate() {
            let steps = self.step.wrapping_mul((column + n) as isize);
            let at = start.wrapping_add_signed(steps);
            combine_elements::<T, C, 1>(self.bytes, at, std::array::from_mut(sum));
        }
    }

    #[inline(always)]
    fn fetch<const N: usize>(&self, _: usize, _: usize) {}
}
