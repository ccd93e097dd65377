//! What becomes of the rows of a bag, for each element type: the arithmetic of `fold`, and a start, a
//! weight and an end; and the loops over its columns.

use crate::bag::BagMode;
use crate::call::EmbeddingBag;
use crate::element::DType;
use crate::fold::{Arithmetic, Fold, Ordered, by_number};

/// One way to pool elements `T`.
pub(super) trait Pool<T: Fold>: Send + Sync {
    /// Whether values have weights. Else a weight is not looked at.
    const WEIGHTED: bool;
    /// The fold with its first value.
    fn first(value: T::Sum, weight: T::Sum) -> T::Sum;
    /// The fold with one more value.
    fn next(sum: T::Sum, value: T::Sum, weight: T::Sum) -> T::Sum;
    /// The fold of so many values; at least one.
    fn end(sum: T::Sum, count: usize) -> T::Sum;
}

/// The sum, which starts from zero.
struct Sum;
/// The sum of values times their weights.
struct WeightedSum;
/// The sum divided by the count.
struct Mean;
/// The greatest.
struct Max;

fn zero<T: Fold>() -> T::Sum {
    T::zeroed().widen()
}

impl<T: Arithmetic> Pool<T> for Sum {
    const WEIGHTED: bool = false;
    #[inline(always)]
    fn first(value: T::Sum, weight: T::Sum) -> T::Sum {
        <Sum as Pool<T>>::next(zero::<T>(), value, weight)
    }
    #[inline(always)]
    fn next(sum: T::Sum, value: T::Sum, _: T::Sum) -> T::Sum {
        T::add(sum, value)
    }
    #[inline(always)]
    fn end(sum: T::Sum, _: usize) -> T::Sum {
        sum
    }
}

impl<T: Arithmetic> Pool<T> for WeightedSum {
    const WEIGHTED: bool = true;
    #[inline(always)]
    fn first(value: T::Sum, weight: T::Sum) -> T::Sum {
        <WeightedSum as Pool<T>>::next(zero::<T>(), value, weight)
    }
    #[inline(always)]
    fn next(sum: T::Sum, value: T::Sum, weight: T::Sum) -> T::Sum {
        T::add(sum, T::mul(weight, value))
    }
    #[inline(always)]
    fn end(sum: T::Sum, _: usize) -> T::Sum {
        sum
    }
}

impl<T: Arithmetic<Sum: Divide>> Pool<T> for Mean {
    const WEIGHTED: bool = false;
    #[inline(always)]
    fn first(value: T::Sum, weight: T::Sum) -> T::Sum {
        <Sum as Pool<T>>::first(value, weight)
    }
    #[inline(always)]
    fn next(sum: T::Sum, value: T::Sum, _: T::Sum) -> T::Sum {
        T::add(sum, value)
    }
    #[inline(always)]
    fn end(sum: T::Sum, count: usize) -> T::Sum {
        sum.divided(count)
    }
}

impl<T: Ordered> Pool<T> for Max {
    const WEIGHTED: bool = false;
    #[inline(always)]
    fn first(value: T::Sum, _: T::Sum) -> T::Sum {
        value
    }
    #[inline(always)]
    fn next(sum: T::Sum, value: T::Sum, _: T::Sum) -> T::Sum {
        T::max(sum, value)
    }
    #[inline(always)]
    fn end(sum: T::Sum, _: usize) -> T::Sum {
        sum
    }
}

/// A sum that has a mean.
trait Divide {
    fn divided(self, count: usize) -> Self;
}

impl Divide for f32 {
    fn divided(self, count: usize) -> f32 {
        self / count as f32
    }
}

impl Divide for f64 {
    fn divided(self, count: usize) -> f64 {
        self / count as f64
    }
}

/// Work that is the same for every element type and way to pool.
pub(super) trait Pooling {
    /// What comes of it.
    type Output;
    /// Does it for elements `T` that `P` pools.
    fn pool<T: Fold, P: Pool<T>>(self) -> Self::Output;
}

/// Does `work` for elements of this type, which has the mode of the call.
pub(super) fn pool_with<W: Pooling>(dtype: DType, call: &EmbeddingBag<'_>, work: W) -> W::Output {
    by_number!(dtype, T => {
        float: of_floats::<T, W>(call, work),
        integer: of_integers::<T, W>(call, work),
        complex: of_sums::<T, W>(call, work),
    })
}

fn of_floats<T: Arithmetic<Sum: Divide> + Ordered, W: Pooling>(
    call: &EmbeddingBag<'_>,
    work: W,
) -> W::Output {
    match call.bags.mode {
        BagMode::Mean => work.pool::<T, Mean>(),
        BagMode::Max => work.pool::<T, Max>(),
        BagMode::Sum => of_sums::<T, W>(call, work),
    }
}

fn of_integers<T: Arithmetic + Ordered, W: Pooling>(call: &EmbeddingBag<'_>, work: W) -> W::Output {
    match call.bags.mode {
        BagMode::Max => work.pool::<T, Max>(),
        BagMode::Sum | BagMode::Mean => work.pool::<T, Sum>(),
    }
}

fn of_sums<T: Arithmetic, W: Pooling>(call: &EmbeddingBag<'_>, work: W) -> W::Output {
    match call.weights {
        Some(_) => work.pool::<T, WeightedSum>(),
        None => work.pool::<T, Sum>(),
    }
}

/// What a lookup brings to a bag.
pub(super) struct Looked<'a, S> {
    /// The columns of a row; none, if the index is bad.
    pub(super) bytes: Option<&'a [u8]>,
    pub(super) weight: S,
}

/// Folds the columns of rows, one row after the other. `starts` says that nothing has been folded so far.
pub(super) fn fold_rows<T: Fold, P: Pool<T>>(
    sums: &mut [T::Sum],
    rows: &[Looked<'_, T::Sum>],
    fill: T,
    starts: bool,
) {
    let (wide, rest) = sums.as_chunks_mut::<32>();
    let (narrow, single) = rest.as_chunks_mut::<4>();
    let mut column = 0;
    for sums in wide {
        fold_columns::<T, P, 32>(sums, rows, &mut column, fill, starts);
    }
    for sums in narrow {
        fold_columns::<T, P, 4>(sums, rows, &mut column, fill, starts);
    }
    for sum in single {
        fold_columns::<T, P, 1>(std::array::from_mut(sum), rows, &mut column, fill, starts);
    }
}

/// Folds `N` columns from `column` on, whose sums stay in registers, and goes on to the next.
#[inline(always)]
fn fold_columns<T: Fold, P: Pool<T>, const N: usize>(
    sums: &mut [T::Sum; N],
    rows: &[Looked<'_, T::Sum>],
    column: &mut usize,
    fill: T,
    starts: bool,
) {
    let width = size_of::<T>();
    let mut held = *sums;
    for (n, row) in rows.iter().enumerate() {
        let values = match row.bytes {
            Some(bytes) => {
                let bytes = &bytes[*column * width..][..N * width];
                std::array::from_fn(|k| bytemuck::pod_read_unaligned(&bytes[k * width..][..width]))
            }
            None => [fill; N],
        };
        match starts && n == 0 {
            true => held = values.map(|value: T| P::first(value.widen(), row.weight)),
            false => {
                for (sum, value) in held.iter_mut().zip(values) {
                    *sum = P::next(*sum, value.widen(), row.weight);
                }
            }
        }
    }
    *sums = held;
    *column += N;
}
