//! The loops of folds, for scatters and for bags: rows are combined, one after the other, into a row of sums.
//!
//! Each column takes the rows in their order, so the bits do not depend on which columns are folded together. A
//! block of columns has its sums in registers while it takes the rows: a row of sums is read and written once
//! for all of them.

use std::iter::zip;

use super::fetch::{AHEAD, fetch, rows_ahead};
use crate::fold::{Combine, Fold};

/// Rows that can be folded.
pub(super) trait Rows<T: Fold>: Copy {
    /// What tells one from another.
    type Row: Copy;
    /// Combines `N` columns of a row, from `column` on, with the sums of those before.
    fn combine<C: Combine<T>, const N: usize>(
        &self,
        row: Self::Row,
        column: usize,
        sums: &mut [T::Sum; N],
    );
    /// Asks for `N` columns of a row that is combined soon.
    fn fetch<const N: usize>(&self, row: Self::Row, column: usize);
}

/// Rows that are folded into one: the first `count` of a list, whose others are folded into other rows after it.
#[derive(Clone, Copy)]
pub(super) struct List<'a, R> {
    rows: &'a [R],
    count: usize,
}

impl<'a, R> List<'a, R> {
    pub(super) fn new(rows: &'a [R], count: usize) -> Self {
        List { rows, count }
    }

    /// The rows that are folded now.
    pub(super) fn now(self) -> &'a [R] {
        &self.rows[..self.count]
    }

    /// The first `count` rows, or all that are folded now, and the rest of those.
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        let count = count.min(self.count);
        let first = List::new(self.rows, count);
        (first, List::new(&self.rows[count..], self.count - count))
    }

    /// For each row that is folded now, the one to fetch meanwhile, as long as there are such.
    fn soon(self) -> &'a [R] {
        &self.rows[self.count.min(AHEAD)..]
    }
}

/// A row of sums.
trait Sums<T: Fold> {
    fn load<const N: usize>(&self, column: usize) -> [T::Sum; N];
    fn store<const N: usize>(&mut self, column: usize, sums: [T::Sum; N]);
}

/// Sums that are kept as they are.
struct Held<'a, S>(&'a mut [S]);

impl<T: Fold> Sums<T> for Held<'_, T::Sum> {
    #[inline(always)]
    fn load<const N: usize>(&self, column: usize) -> [T::Sum; N] {
        let sums = &self.0[column..][..N];
        std::array::from_fn(|n| sums[n])
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, column: usize, sums: [T::Sum; N]) {
        self.0[column..][..N].copy_from_slice(&sums);
    }
}

/// Sums in the elements of a tensor, which are rounded when they are stored.
struct Elements<'a>(&'a mut [u8]);

impl<T: Fold> Sums<T> for Elements<'_> {
    #[inline(always)]
    fn load<const N: usize>(&self, column: usize) -> [T::Sum; N] {
        let mut sums = [T::zeroed().widen(); N];
        step_by_elements::<T, N>(self.0, column, &mut sums, |_, value| value);
        sums
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, column: usize, sums: [T::Sum; N]) {
        let bytes = &mut self.0[column * size_of::<T>()..][..N * size_of::<T>()];
        if T::narrow_all(&sums, bytes) {
            return;
        }
        let elements = bytes.chunks_exact_mut(size_of::<T>());
        for (to, sum) in elements.zip(sums) {
            to.copy_from_slice(bytemuck::bytes_of(&T::narrow(sum)));
        }
    }
}

/// Combines `N` elements, from number `first` on, with sums.
#[inline(always)]
pub(super) fn combine_elements<T: Fold, C: Combine<T>, const N: usize>(
    bytes: &[u8],
    first: usize,
    sums: &mut [T::Sum; N],
) {
    step_by_elements::<T, N>(bytes, first, sums, C::combine);
}

/// Takes each sum a step on by the value of its element, of those from number `first` on.
#[inline(always)]
pub(super) fn step_by_elements<T: Fold, const N: usize>(
    bytes: &[u8],
    first: usize,
    sums: &mut [T::Sum; N],
    step: impl Fn(T::Sum, T::Sum) -> T::Sum,
) {
    let bytes = &bytes[first * size_of::<T>()..][..N * size_of::<T>()];
    if let Some(values) = T::widen_all::<N>(bytes) {
        for (sum, &value) in sums.iter_mut().zip(&values) {
            *sum = step(*sum, value);
        }
        return;
    }
    for (sum, bytes) in sums.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
        *sum = step(*sum, bytemuck::pod_read_unaligned::<T>(bytes).widen());
    }
}

/// Loops that are compiled once more for processors with AVX2, which not every processor of its kind has. Those that
/// have it have F16C.
macro_rules! vectorized {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        $(#[$attribute])*
        #[cfg_attr(
            target_arch = "x86_64",
            allow(unsafe_code, reason = "a function for processors with AVX2")
        )]
        pub(super) fn $name<T: Fold, C: Combine<T>, R: Rows<T>>($($argument: $type),*) {
            #[inline(always)]
            fn loops<T: Fold, C: Combine<T>, R: Rows<T>>($($argument: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("f16c")
            {
                #[target_feature(enable = "avx2,f16c")]
                fn with_avx2<T: Fold, C: Combine<T>, R: Rows<T>>($($argument: $type),*) {
                    loops::<T, C, R>($($argument),*);
                }
                // SAFETY: the processor has AVX2 and F16C.
                return unsafe { with_avx2::<T, C, R>($($argument),*) };
            }
            loops::<T, C, R>($($argument),*);
        }
    )*};
}

vectorized! {
    /// Folds the rows of `list` into `sums`.
    fn fold_into_sums(sums: &mut [T::Sum], rows: R, list: List<'_, R::Row>) {
        let columns = sums.len();
        fold_columns::<T, C, R, _>(&mut Held(sums), columns, rows, list);
    }

    /// Folds the rows of `list` into elements, which are rounded once.
    fn fold_into_elements(target: &mut [u8], rows: R, list: List<'_, R::Row>) {
        let columns = target.len() / size_of::<T>();
        fold_columns::<T, C, R, _>(&mut Elements(target), columns, rows, list);
    }

    /// Folds each of `list` into the row of `target`, of so many columns, that is named in `to`. What is folded is
    /// rounded each time, which [`Combine::RESUMES`] allows.
    fn fold_each(target: &mut [u8], columns: usize, to: &[u32], rows: R, list: &[R::Row]) {
        // In a short row, to find out how long it is takes longer than to fold it.
        match columns {
            1 => fold_short::<T, C, R, 1>(target, to, rows, list),
            2 => fold_short::<T, C, R, 2>(target, to, rows, list),
            3 => fold_short::<T, C, R, 3>(target, to, rows, list),
            4 => fold_short::<T, C, R, 4>(target, to, rows, list),
            8 => fold_short::<T, C, R, 8>(target, to, rows, list),
            16 => fold_short::<T, C, R, 16>(target, to, rows, list),
            32 => fold_short::<T, C, R, 32>(target, to, rows, list),
            _ => each_row::<T, _>(target, columns, to, list, |sums, row| {
                let list = List::new(std::slice::from_ref(row), 1);
                fold_columns::<T, C, R, _>(sums, columns, rows, list);
            }),
        }
    }
}

/// [`fold_each`] for rows of `N` columns.
#[inline(always)]
fn fold_short<T: Fold, C: Combine<T>, R: Rows<T>, const N: usize>(
    target: &mut [u8],
    to: &[u32],
    rows: R,
    list: &[R::Row],
) {
    each_row::<T, _>(target, N, to, list, |sums, row| {
        let list = List::new(std::slice::from_ref(row), 1);
        fold_block::<T, C, R, _, N>(sums, 0, rows, list);
    });
}

/// Calls `fold` with the row of sums of each row of `list`.
#[inline(always)]
fn each_row<T, R>(
    target: &mut [u8],
    columns: usize,
    to: &[u32],
    list: &[R],
    fold: impl Fn(&mut Elements<'_>, &R),
) {
    let row_bytes = columns * size_of::<T>();
    let ahead = rows_ahead(row_bytes);
    for (n, (&at, row)) in zip(to, list).enumerate() {
        if let Some(&soon) = ahead.and_then(|ahead| to.get(n + ahead)) {
            fetch(target, soon as usize * row_bytes, row_bytes);
        }
        let sums = &mut target[at as usize * row_bytes..][..row_bytes];
        fold(&mut Elements(sums), row);
    }
}

/// Columns whose sums are in registers together: half of what AVX2 and NEON have, for 4 bytes each.
pub(super) const WIDE: usize = 64;

/// Folds rows block by block.
#[inline(always)]
fn fold_columns<T: Fold, C: Combine<T>, R: Rows<T>, S: Sums<T>>(
    sums: &mut S,
    columns: usize,
    rows: R,
    list: List<'_, R::Row>,
) {
    let mut column = 0;
    while columns - column >= WIDE {
        fold_block::<T, C, R, S, WIDE>(sums, column, rows, list);
        column += WIDE;
    }
    while columns - column >= 8 {
        fold_block::<T, C, R, S, 8>(sums, column, rows, list);
        column += 8;
    }
    while column < columns {
        fold_block::<T, C, R, S, 1>(sums, column, rows, list);
        column += 1;
    }
}

/// Folds `N` columns of rows.
#[inline(always)]
fn fold_block<T: Fold, C: Combine<T>, R: Rows<T>, S: Sums<T>, const N: usize>(
    sums: &mut S,
    column: usize,
    rows: R,
    list: List<'_, R::Row>,
) {
    let mut held: [T::Sum; N] = sums.load(column);
    let soon = list.soon();
    for (n, &row) in list.now().iter().enumerate() {
        if N > 1
            && let Some(&next) = soon.get(n)
        {
            rows.fetch::<N>(next, column);
        }
        rows.combine::<C, N>(row, column, &mut held);
    }
    sums.store(column, held);
}
