//! From an element type and a way to reduce, known at run time, to the code for them.

use super::Reduce;
use super::complex::{C64, C128};
use super::half::{BF16, F16};
use super::number::{Add, Combine, Fold, Last, Max, Min, Mul, Ordered};
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
        // Integers wrap, so those with a sign have the bits of those without.
        Reduce::Add | Reduce::Mul => match dtype {
            DType::U8 | DType::I8 | DType::Bool => arithmetic::<u8, F>(reduce, work),
            DType::U16 | DType::I16 => arithmetic::<u16, F>(reduce, work),
            DType::U32 | DType::I32 => arithmetic::<u32, F>(reduce, work),
            DType::U64 | DType::I64 => arithmetic::<u64, F>(reduce, work),
            DType::F16 => arithmetic::<F16, F>(reduce, work),
            DType::BF16 => arithmetic::<BF16, F>(reduce, work),
            DType::F32 => arithmetic::<f32, F>(reduce, work),
            DType::F64 => arithmetic::<f64, F>(reduce, work),
            DType::C64 => arithmetic::<C64, F>(reduce, work),
            DType::C128 => arithmetic::<C128, F>(reduce, work),
        },
        Reduce::Min | Reduce::Max => match dtype {
            DType::U8 => ordered::<u8, F>(reduce, work),
            DType::I8 => ordered::<i8, F>(reduce, work),
            DType::U16 => ordered::<u16, F>(reduce, work),
            DType::I16 => ordered::<i16, F>(reduce, work),
            DType::F16 => ordered::<F16, F>(reduce, work),
            DType::BF16 => ordered::<BF16, F>(reduce, work),
            DType::U32 => ordered::<u32, F>(reduce, work),
            DType::I32 => ordered::<i32, F>(reduce, work),
            DType::F32 => ordered::<f32, F>(reduce, work),
            DType::U64 => ordered::<u64, F>(reduce, work),
            DType::I64 => ordered::<i64, F>(reduce, work),
            DType::F64 => ordered::<f64, F>(reduce, work),
            DType::Bool | DType::C64 | DType::C128 => return Err(refusal(op, reduce, dtype)),
        },
    })
}

fn arithmetic<T: Fold, F: Folding>(reduce: Reduce, work: F) -> F::Output {
    match reduce {
        Reduce::Mul => work.fold::<T, Mul>(),
        _ => work.fold::<T, Add>(),
    }
}

fn ordered<T: Ordered, F: Folding>(reduce: Reduce, work: F) -> F::Output {
    match reduce {
        Reduce::Min => work.fold::<T, Min>(),
        _ => work.fold::<T, Max>(),
    }
}
