//! The loops for an element type and a way to reduce, which are looked up once for a call: what calls them is the same
//! for all.

use super::super::fold::fold_runs;
use super::each::{EvenRows, fold_each};
use super::updates::{Strided, Updates};
use crate::fold::{Combine, Fold, Folding};

type FoldEach = fn(&mut [u8], usize, &[u32], Option<&[u32]>, EvenRows<'_>) -> usize;

/// How rows of updates are folded into a destination.
#[derive(Clone, Copy)]
pub(super) struct Loops {
    /// [`fold_each`], where [`Combine::RESUMES`] allows it.
    pub(super) each: Option<FoldEach>,
    /// [`fold_runs`].
    pub(super) runs: fn(&mut [u8], usize, &[usize], Updates<'_>),
    /// The same, of rows with a step from column to column.
    pub(super) strided_runs: fn(&mut [u8], usize, &[usize], Strided<'_>),
}

/// Finds them.
pub(super) struct Find;

impl Folding for Find {
    type Output = Loops;

    fn fold<T: Fold, C: Combine<T>>(self) -> Loops {
        Loops {
            // A constant is asked: loops that are never called are not compiled.
            each: match C::RESUMES {
                true => Some(fold_each::<T, C>),
                false => None,
            },
            runs: |target, row_bytes, to, rows| fold_runs::<T, C, _>(target, row_bytes, to, rows),
            strided_runs: |target, row_bytes, to, rows| {
                fold_runs::<T, C, _>(target, row_bytes, to, rows);
            },
        }
    }
}
