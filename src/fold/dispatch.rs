//! From an element type and a way to reduce, known at run time, to the code for them.

use super::Reduce;
use super::complex::{C64, C128};
use super::half::{BF16, F16};
use super::number::{Add, Combine, Fold, Last, Max, Min, Mul, Pool};
use crate::bag::BagMode;
use crate::element::DType;
use crate::error::{Error, OpKind, Result};

/// Work that is the same for every element type and way to reduce.
pub(crate) trait Folding {
    /// What comes of it.
    type Output;
    /// Does it for elements `T` that `C` combines.
    fn fold<T: Fold, C: Combine<T>>(self) -> Self::Output;
}

/// [`Folding`] for the ways in which bags are combined.
pub(crate) trait Pooling {
    /// What comes of it.
    type Output;
    /// Does it for elements `T` that `C` combines.
    fn pool<T: Fold, C: Pool<T>>(self) -> Self::Output;
}

/// The ways to reduce that an element type has.
fn allowed(dtype: DType) -> &'static [Reduce] {
    match dtype {
        DType::Bool => &[Reduce::None],
        DType::C64 | DType::C128 => &[Reduce::None, Reduce::Add, Reduce::Mul],
        _ => &Reduce::ALL,
    }
}

/// Refuses a way to reduce that the element type does not have.
pub(crate) fn check(op: OpKind, reduce: Reduce, dtype: DType) -> Result<()> {
    match allowed(dtype).contains(&reduce) {
        true => Ok(()),
        false => Err(refusal(op, reduce, dtype)),
    }
}

fn refusal(op: OpKind, reduce: Reduce, dtype: DType) -> Error {
    Error::ReduceType {
        op,
        reduce: reduce.name(),
        dtype: dtype.name(),
        allowed: allowed(dtype).iter().map(|r| r.name()).collect(),
    }
}

/// Calls `$work` with the type that adds and multiplies elements of a type.
macro_rules! arithmetic {
    ($dtype:expr, $T:ident => $work:expr) => {{
        macro_rules! with {
            ($type:ty) => {{
                type $T = $type;
                $work
            }};
        }
        // Integers wrap, so those with a sign have the bits of those without.
        match $dtype {
            DType::U8 | DType::I8 | DType::Bool => with!(u8),
            DType::U16 | DType::I16 => with!(u16),
            DType::U32 | DType::I32 => with!(u32),
            DType::U64 | DType::I64 => with!(u64),
            DType::F16 => with!(F16),
            DType::BF16 => with!(BF16),
            DType::F32 => with!(f32),
            DType::F64 => with!(f64),
            DType::C64 => with!(C64),
            DType::C128 => with!(C128),
        }
    }};
}

/// The same for the type that orders them; `$else` for those without an order.
macro_rules! ordered {
    ($dtype:expr, $T:ident => $work:expr, else $else:expr) => {{
        macro_rules! with {
            ($type:ty) => {{
                type $T = $type;
                $work
            }};
        }
        match $dtype {
            DType::U8 => with!(u8),
            DType::I8 => with!(i8),
            DType::U16 => with!(u16),
            DType::I16 => with!(i16),
            DType::F16 => with!(F16),
            DType::BF16 => with!(BF16),
            DType::U32 => with!(u32),
            DType::I32 => with!(i32),
            DType::F32 => with!(f32),
            DType::U64 => with!(u64),
            DType::I64 => with!(i64),
            DType::F64 => with!(f64),
            DType::Bool | DType::C64 | DType::C128 => $else,
        }
    }};
}

/// Does `work` for elements of `dtype`.
///
/// # Errors
///
/// As [`check`].
pub(crate) fn fold_with<F: Folding>(
    op: OpKind,
    reduce: Reduce,
    dtype: DType,
    work: F,
) -> Result<F::Output> {
    check(op, reduce, dtype)?;
    Ok(match reduce {
        // What is moved keeps its bits, so only its width matters.
        Reduce::None => match dtype.bytes() {
            1 => work.fold::<u8, Last>(),
            2 => work.fold::<u16, Last>(),
            4 => work.fold::<u32, Last>(),
            8 => work.fold::<u64, Last>(),
            _ => work.fold::<u128, Last>(),
        },
        Reduce::Add => arithmetic!(dtype, T => work.fold::<T, Add>()),
        Reduce::Mul => arithmetic!(dtype, T => work.fold::<T, Mul>()),
        Reduce::Min => {
            ordered!(dtype, T => work.fold::<T, Min>(), else return Err(refusal(op, reduce, dtype)))
        }
        Reduce::Max => {
            ordered!(dtype, T => work.fold::<T, Max>(), else return Err(refusal(op, reduce, dtype)))
        }
    })
}

/// The same for the ways in which bags are combined, which are fewer.
pub(crate) fn pool_with<P: Pooling>(mode: BagMode, dtype: DType, work: P) -> Result<P::Output> {
    let (op, reduce) = (OpKind::EmbeddingBag, mode.reduce());
    check(op, reduce, dtype)?;
    Ok(match mode {
        BagMode::Sum | BagMode::Mean => arithmetic!(dtype, T => work.pool::<T, Add>()),
        BagMode::Max => {
            ordered!(dtype, T => work.pool::<T, Max>(), else return Err(refusal(op, reduce, dtype)))
        }
    })
}
