//! What each element type does in a fold.

use bytemuck::Pod;

use super::f16c::F16c;
use super::half::{BF16, F16};

/// An element that can be folded.
pub(crate) trait Fold: Pod + Send + Sync {
    /// What holds the value of a fold on its way.
    type Sum: Pod + Send + Sync;
    /// Whether no sum is rounded to an element.
    const IS_EXACT: bool;
    /// The value as the fold holds it, exactly.
    fn widen(self) -> Self::Sum;
    /// The same, by F16C if it is given.
    #[inline(always)]
    fn widen_by(self, _f16c: Option<F16c>) -> Self::Sum {
        self.widen()
    }
    /// The value at the end.
    fn narrow(sum: Self::Sum) -> Self;
    fn add(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
    fn mul(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
    /// Takes each of `N` sums a step on by the value of its element, which is widened by F16C if it is given.
    #[inline(always)]
    fn step_all<const N: usize>(
        elements: &[u8],
        sums: &mut [Self::Sum; N],
        step: impl Fn(Self::Sum, Self::Sum) -> Self::Sum,
        _f16c: Option<F16c>,
    ) {
        step_each::<Self, N>(elements, sums, step);
    }
    /// The elements that `N` sums end in, narrowed by F16C if it is given.
    #[inline(always)]
    fn narrow_all<const N: usize>(sums: &[Self::Sum; N], _f16c: Option<F16c>) -> [Self; N] {
        narrow_each(sums)
    }
    /// Writes them, but may leave NaNs as they are, which `left` has then been told: no step waits for the answer
    /// whether there are any.
    #[inline(always)]
    fn narrow_most<const N: usize>(
        sums: &[Self::Sum; N],
        elements: &mut [u8],
        _left: &mut [Self::Sum; N],
        f16c: Option<F16c>,
    ) {
        elements.copy_from_slice(bytemuck::cast_slice(&Self::narrow_all(sums, f16c)));
    }
    /// Whether [`Fold::narrow_most`] may have left something.
    #[inline(always)]
    fn has_left(_left: &[Self::Sum]) -> bool {
        false
    }
    /// Narrows what it has left in these elements.
    #[cold]
    #[inline(never)]
    fn narrow_rest(elements: &mut [u8]) {
        for element in elements.chunks_exact_mut(size_of::<Self>()) {
            let sum = bytemuck::pod_read_unaligned::<Self>(element).widen();
            element.copy_from_slice(bytemuck::bytes_of(&Self::narrow(sum)));
        }
    }
    /// The sum of `count` values, divided by it. Only floats have a mean; others keep the sum.
    #[inline(always)]
    fn mean(sum: Self::Sum, _count: usize) -> Self::Sum {
        sum
    }
}

/// [`Fold::step_all`], one after the other.
#[inline(always)]
fn step_each<T: Fold, const N: usize>(
    elements: &[u8],
    sums: &mut [T::Sum; N],
    step: impl Fn(T::Sum, T::Sum) -> T::Sum,
) {
    for (sum, element) in sums.iter_mut().zip(elements.chunks_exact(size_of::<T>())) {
        *sum = step(*sum, bytemuck::pod_read_unaligned::<T>(element).widen());
    }
}

/// [`Fold::narrow_all`], one after the other.
#[inline(always)]
fn narrow_each<T: Fold, const N: usize>(sums: &[T::Sum; N]) -> [T; N] {
    // Not `map`, of which compilers make a loop for large arrays.
    let mut elements = [T::zeroed(); N];
    for (element, &sum) in elements.iter_mut().zip(sums) {
        *element = T::narrow(sum);
    }
    elements
}

/// The least and the greatest.
pub(crate) trait Ordered: Fold {
    /// What is less than any value, or as little.
    const LEAST: Self::Sum;
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

/// A step of a fold that needs no value to start from, as those of bags.
pub(crate) trait Pool<T: Fold>: Combine<T> {
    /// Whether values may have weights.
    const TAKES_WEIGHTS: bool;
    /// Combined with a value, it is that value; only -0 becomes +0 where it is added.
    fn start() -> T::Sum;
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

impl<T: Fold> Pool<T> for Add {
    const TAKES_WEIGHTS: bool = true;
    #[inline(always)]
    fn start() -> T::Sum {
        T::zeroed().widen()
    }
}

impl<T: Ordered> Pool<T> for Max {
    const TAKES_WEIGHTS: bool = false;
    #[inline(always)]
    fn start() -> T::Sum {
        T::LEAST
    }
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
            const LEAST: $type = <$type>::MIN;
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
            #[inline(always)]
            fn narrow_most<const N: usize>(
                sums: &[$type; N],
                elements: &mut [u8],
                left: &mut [$type; N],
                _f16c: Option<F16c>,
            ) {
                elements.copy_from_slice(bytemuck::cast_slice(sums));
                for (left, sum) in left.iter_mut().zip(sums) {
                    // A NaN for a NaN, or where infinities meet, and a NaN ever after.
                    *left += sum;
                }
            }
            #[inline(always)]
            fn has_left(left: &[$type]) -> bool {
                left.iter().any(|left| left.is_nan())
            }
        }
        impl Ordered for $type {
            const LEAST: $type = <$type>::NEG_INFINITY;
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
            const LEAST: f32 = f32::NEG_INFINITY;
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
        fn widen_by(self, f16c: Option<F16c>) -> f32 {
            match f16c {
                Some(f16c) => f16c.widen(self),
                None => self.widen(),
            }
        }
        #[inline(always)]
        fn step_all<const N: usize>(
            elements: &[u8],
            sums: &mut [f32; N],
            step: impl Fn(f32, f32) -> f32,
            f16c: Option<F16c>,
        ) {
            if !f16c.is_some_and(|f16c| f16c.step_all(elements, sums, &step)) {
                step_each::<F16, N>(elements, sums, step);
            }
        }
        #[inline(always)]
        fn narrow_all<const N: usize>(sums: &[f32; N], f16c: Option<F16c>) -> [F16; N] {
            let mut elements = [F16(0); N];
            match f16c.is_some_and(|f16c| f16c.narrow_all(sums, &mut elements)) {
                true => elements,
                false => narrow_each(sums),
            }
        }
    }
    BF16 {}
}
