//! What each element type does in a fold.

use bytemuck::Pod;

use super::f16c;
use super::half::{BF16, F16};

/// An element that can be folded.
pub(crate) trait Fold: Pod + Send + Sync {
    /// What holds the value of a fold on its way.
    type Sum: Copy + Send + Sync;
    /// Whether no sum is rounded to an element.
    const IS_EXACT: bool;
    /// The value as the fold holds it, exactly.
    fn widen(self) -> Self::Sum;
    /// The value at the end.
    fn narrow(sum: Self::Sum) -> Self;
    fn add(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
    fn mul(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
    /// The values of `N` elements, where the processor has an instruction for it that compilers do not find.
    #[inline(always)]
    fn widen_all<const N: usize>(_elements: &[u8]) -> Option<[Self::Sum; N]> {
        None
    }
    /// The same for [`Fold::narrow`]; says whether it has written the elements.
    #[inline(always)]
    fn narrow_all<const N: usize>(_sums: &[Self::Sum; N], _elements: &mut [u8]) -> bool {
        false
    }
    /// The sum of `count` values, divided by it. Only floats have a mean; others keep the sum.
    #[inline(always)]
    fn mean(sum: Self::Sum, _count: usize) -> Self::Sum {
        sum
    }
}

/// The least and the greatest.
pub(crate) trait Ordered: Fold {
    fn min(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
    fn max(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
}

/// One step of a fold.
pub(crate) trait Combine<T: Fold>: Send + Sync {
    /// Whether a fold may be rounded to an element on its way and go on from there: where no value is rounded, or
    /// none is new.
    const RESUMES: bool;
    fn combine(sum: T::Sum, value: T::Sum) -> T::Sum;
}

/// The later value, whatever was before.
pub(crate) struct Last;
/// The sum.
pub(crate) struct Add;
/// The product.
pub(crate) struct Mul;
/// The least.
pub(crate) struct Min;
/// The greatest.
pub(crate) struct Max;

impl<T: Fold> Combine<T> for Last {
    const RESUMES: bool = true;
    #[inline(always)]
    fn combine(_: T::Sum, value: T::Sum) -> T::Sum {
        value
    }
}

macro_rules! combine {
    ($($way:ident: $bound:ident $function:ident, $resumes:expr;)*) => {$(
        impl<T: $bound> Combine<T> for $way {
            const RESUMES: bool = $resumes;
            #[inline(always)]
            fn combine(sum: T::Sum, value: T::Sum) -> T::Sum {
                T::$function(sum, value)
            }
        }
    )*};
}

combine! {
    Add: Fold add, T::IS_EXACT;
    Mul: Fold mul, T::IS_EXACT;
    Min: Ordered min, true;
    Max: Ordered max, true;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Fold for $type {
            type Sum = $type;
            const IS_EXACT: bool = true;
            #[inline(always)]
            fn widen(self) -> $type { self }
            #[inline(always)]
            fn narrow(sum: $type) -> $type { sum }
            #[inline(always)]
            fn add(sum: $type, value: $type) -> $type { sum.wrapping_add(value) }
            #[inline(always)]
            fn mul(sum: $type, value: $type) -> $type { sum.wrapping_mul(value) }
        }
        impl Ordered for $type {
            #[inline(always)]
            fn min(sum: $type, value: $type) -> $type { Ord::min(sum, value) }
            #[inline(always)]
            fn max(sum: $type, value: $type) -> $type { Ord::max(sum, value) }
        }
    )*};
}

// u128: elements of 16 bytes that are moved.
integers!(u8 u16 u32 u64 u128 i8 i16 i32 i64);

macro_rules! floats {
    ($($type:ty: $nan:literal,)*) => {$(
        impl Fold for $type {
            type Sum = $type;
            const IS_EXACT: bool = true;
            #[inline(always)]
            fn widen(self) -> $type { self }
            #[inline(always)]
            fn narrow(sum: $type) -> $type {
                if sum.is_nan() { <$type>::from_bits($nan) } else { sum }
            }
            #[inline(always)]
            fn add(sum: $type, value: $type) -> $type { sum + value }
            #[inline(always)]
            fn mul(sum: $type, value: $type) -> $type { sum * value }
            #[inline(always)]
            fn mean(sum: $type, count: usize) -> $type { sum / count as $type }
        }
        impl Ordered for $type {
            #[inline(always)]
            fn min(sum: $type, value: $type) -> $type {
                let least = if sum.total_cmp(&value).is_le() { sum } else { value };
                if sum.is_nan() || value.is_nan() { <$type>::from_bits($nan) } else { least }
            }
            #[inline(always)]
            fn max(sum: $type, value: $type) -> $type {
                let greatest = if sum.total_cmp(&value).is_ge() { sum } else { value };
                if sum.is_nan() || value.is_nan() { <$type>::from_bits($nan) } else { greatest }
            }
        }
    )*};
}

floats! {
    f32: 0x7fc0_0000,
    f64: 0x7ff8_0000_0000_0000,
}

macro_rules! halves {
    ($($type:ty { $($by_hardware:tt)* })*) => {$(
        impl Fold for $type {
            type Sum = f32;
            const IS_EXACT: bool = false;
            #[inline(always)]
            fn widen(self) -> f32 { self.to_f32() }
            #[inline(always)]
            fn narrow(sum: f32) -> Self { Self::from_f32(sum) }
            #[inline(always)]
            fn add(sum: f32, value: f32) -> f32 { sum + value }
            #[inline(always)]
            fn mul(sum: f32, value: f32) -> f32 { sum * value }
            #[inline(always)]
            fn mean(sum: f32, count: usize) -> f32 { sum / count as f32 }
            $($by_hardware)*
        }
        impl Ordered for $type {
            #[inline(always)]
            fn min(sum: f32, value: f32) -> f32 { <f32 as Ordered>::min(sum, value) }
            #[inline(always)]
            fn max(sum: f32, value: f32) -> f32 { <f32 as Ordered>::max(sum, value) }
        }
    )*};
}

halves! {
    F16 {
        #[inline(always)]
        fn widen_all<const N: usize>(elements: &[u8]) -> Option<[f32; N]> {
            f16c::widen_all(elements)
        }
        #[inline(always)]
        fn narrow_all<const N: usize>(sums: &[f32; N], elements: &mut [u8]) -> bool {
            f16c::narrow_all(sums, elements)
        }
    }
    BF16 {}
}
