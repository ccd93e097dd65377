//! The loops for an element type and a way to reduce, which are looked up once for a call: what calls them is the same
//! for all.

use super::super::fold::{fold_each, fold_runs};
use super::updates::{Numbered, Strided, Updates};
use crate::fold::{Combine, Fold, Folding};

/// How rows of updates are folded into a destination.
#[derive(Clone, Copy)]
pub(super) struct Loops {
    /// See [`Combine::RESUMES`].
    pub(super) resumes: bool,
    /// [`fold_each`].
    pub(super) each: fn(&mut [u8], usize, &[u32], Numbered<'_>),
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
            resumes: C::RESUMES,
            each: |target, columns, to, rows| fold_each::<T, C, _>(target, columns, to, rows),
            runs: |target, row_bytes, to, rows| fold_runs::<T, C, _>(target, row_bytes, to, rows),
            strided_runs: |target, row_bytes, to, rows| {
                fold_runs::<T, C, _>(target, row_bytes, to, rows);
            },
        }
    }
}
