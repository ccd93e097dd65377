//! From an element type and a way to reduce, known at run time, to the code for them.

use super::Reduce;
use super::number::{Add, Arithmetic, Combine, Fold, Last, Max, Min, Mul, Ordered};
use crate::element::DType;
use crate::error::{Error, OpKind, Result};

/// Work that is the same for every element type and way to reduce.
pub(crate) trait Folding {
    /// What comes of it.
    type Output;
    /// Does it for elements `T` that `C` combines.
    fn fold<T: Fold, C: Combine<T>>(self) -> Self::Output;
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
    match allowed(dtype) {
        allowed if allowed.contains(&reduce) => Ok(()),
        allowed => Err(Error::ReduceType {
            op,
            reduce: reduce.name(),
            dtype: dtype.name(),
            allowed: allowed.iter().map(|r| r.name()).collect(),
        }),
    }
}

/// Does something for each kind of numbers with the Rust type `$T` of elements of a type. Truth values are
/// integers.
macro_rules! by_number {
    ($dtype:expr, $T:ident => {
        float: $float:expr,
        integer: $integer:expr,
        complex: $complex:expr,
    }) => {
        $crate::fold::by_number!($dtype, $T,
            [F16 $crate::fold::F16, BF16 $crate::fold::BF16, F32 f32, F64 f64] $float;
            [Bool u8, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64] $integer;
            [C64 $crate::fold::C64, C128 $crate::fold::C128] $complex;
        )
    };
    ($dtype:expr, $T:ident, $([$($variant:ident $type:ty),*] $work:expr;)*) => {
        match $dtype {
            $($($crate::DType::$variant => {
                type $T = $type;
                $work
            })*)*
        }
    };
}
pub(crate) use by_number;

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
    if reduce == Reduce::None {
        return Ok(moved(dtype, work));
    }
    Ok(by_number!(dtype, T => {
        float: ordered::<T, F>(reduce, work),
        integer: ordered::<T, F>(reduce, work),
        complex: arithmetic::<T, F>(reduce, work),
    }))
}

/// What is moved keeps its bits, so only its width matters.
fn moved<F: Folding>(dtype: DType, work: F) -> F::Output {
    match dtype.bytes() {
        1 => work.fold::<u8, Last>(),
        2 => work.fold::<u16, Last>(),
        4 => work.fold::<u32, Last>(),
        8 => work.fold::<u64, Last>(),
        _ => work.fold::<u128, Last>(),
    }
}

fn ordered<T: Arithmetic + Ordered, F: Folding>(reduce: Reduce, work: F) -> F::Output {
    match reduce {
        Reduce::Min => work.fold::<T, Min>(),
        Reduce::Max => work.fold::<T, Max>(),
        other => arithmetic::<T, F>(other, work),
    }
}

fn arithmetic<T: Arithmetic, F: Folding>(reduce: Reduce, work: F) -> F::Output {
    match reduce {
        Reduce::Mul => work.fold::<T, Mul>(),
        _ => work.fold::<T, Add>(),
    }
}
