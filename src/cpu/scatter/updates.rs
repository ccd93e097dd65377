//! The rows of updates.

use std::ops::Range;

use super::super::fetch::Starts;
use super::super::fold::{Rows, fetch_elements, step_by_elements};
use crate::fold::{F16c, Fold};
use crate::scatter::ScatterPlan;

/// Where the update of a lookup lies, in elements.
#[inline]
pub(super) fn update_of(plan: &ScatterPlan, lookup: usize) -> usize {
    let [_, at] = plan.lookup_digits.position(lookup);
    plan.updates.offset().wrapping_add_signed(at)
}

/// Rows whose columns follow each other, by where they start, in elements.
#[derive(Clone, Copy)]
pub(super) struct Updates<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) starts: Starts<'a>,
}

impl<T: Fold> Rows<T> for Updates<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.starts.count()
    }

    #[inline(always)]
    fn some(&self, some: Range<usize>) -> Self {
        Updates {
            starts: self.starts.some(some),
            ..*self
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
        step_by_elements::<T, N>(self.bytes, self.starts.of(n) + column, sums, step, f16c);
    }

    #[inline(always)]
    fn fetch_after<const N: usize>(&self, n: usize, column: usize) {
        fetch_elements::<T, N>(self.bytes, self.starts.after(n) + column);
    }
}

/// Rows with a step from column to column. A type of their own: where loops have both, compilers load neighbours
/// piece by piece, too.
#[derive(Clone, Copy)]
pub(super) struct Strided<'a> {
    pub(super) updates: Updates<'a>,
    pub(super) step: isize,
}

impl<T: Fold> Rows<T> for Strided<'_> {
    const ARE_DENSE: bool = false;

    #[inline(always)]
    fn count(&self) -> usize {
        self.updates.starts.count()
    }

    #[inline(always)]
    fn some(&self, some: Range<usize>) -> Self {
        Strided {
            updates: Rows::<T>::some(&self.updates, some),
            ..*self
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
        let Updates { bytes, starts } = self.updates;
        for (k, sum) in sums.iter_mut().enumerate() {
            let at = starts
                .of(n)
                .wrapping_add_signed(self.step.wrapping_mul((column + k) as isize));
            step_by_elements::<T, 1>(bytes, at, std::array::from_mut(sum), &step, f16c);
        }
    }
}
