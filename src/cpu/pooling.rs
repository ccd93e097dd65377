//! What becomes of the rows of a bag, for each element type: the arithmetic of `fold`, and a start, a
//! weight and an end.

use crate::bag::BagMode;
use crate::element::DType;
use crate::fold::{Arithmetic, BF16, C64, C128, F16, Fold, Ordered};
use crate::plan::BagPlan;

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

/// Does `work` for the elements of a plan, whose mode its type has.
pub(super) fn pool_with<W: Pooling>(plan: &BagPlan, work: W) -> W::Output {
    match plan.dtype {
        DType::F16 => of_floats::<F16, W>(plan, work),
        DType::BF16 => of_floats::<BF16, W>(plan, work),
        DType::F32 => of_floats::<f32, W>(plan, work),
        DType::F64 => of_floats::<f64, W>(plan, work),
        DType::C64 => of_sums::<C64, W>(plan, work),
        DType::C128 => of_sums::<C128, W>(plan, work),
        DType::Bool | DType::U8 => of_integers::<u8, W>(plan, work),
        DType::I8 => of_integers::<i8, W>(plan, work),
        DType::U16 => of_integers::<u16, W>(plan, work),
        DType::I16 => of_integers::<i16, W>(plan, work),
        DType::U32 => of_integers::<u32, W>(plan, work),
        DType::I32 => of_integers::<i32, W>(plan, work),
        DType::U64 => of_integers::<u64, W>(plan, work),
        DType::I64 => of_integers::<i64, W>(plan, work),
    }
}

fn of_floats<T: Arithmetic<Sum: Divide> + Ordered, W: Pooling>(
    plan: &BagPlan,
    work: W,
) -> W::Output {
    match plan.mode {
        BagMode::Mean => work.pool::<T, Mean>(),
        BagMode::Max => work.pool::<T, Max>(),
        BagMode::Sum => of_sums::<T, W>(plan, work),
    }
}

fn of_integers<T: Arithmetic + Ordered, W: Pooling>(plan: &BagPlan, work: W) -> W::Output {
    match plan.mode {
        BagMode::Max => work.pool::<T, Max>(),
        BagMode::Sum | BagMode::Mean => work.pool::<T, Sum>(),
    }
}

fn of_sums<T: Arithmetic, W: Pooling>(plan: &BagPlan, work: W) -> W::Output {
    match plan.weights {
        Some(_) => work.pool::<T, WeightedSum>(),
        None => work.pool::<T, Sum>(),
    }
}
