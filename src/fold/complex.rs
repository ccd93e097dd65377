//! Complex numbers as pairs: sums and products, no order.

use bytemuck::{Pod, Zeroable};

use super::number::Fold;

/// Real and imaginary part.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct C64(pub(crate) [f32; 2]);

/// Real and imaginary part.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct C128(pub(crate) [f64; 2]);

macro_rules! complex {
    ($($type:ident: $part:ty,)*) => {$(
        impl Fold for $type {
            type Sum = [$part; 2];
            const IS_EXACT: bool = true;
            #[inline(always)]
            fn widen(self) -> [$part; 2] { self.0 }
            #[inline(always)]
            fn narrow(sum: [$part; 2]) -> Self { $type(sum.map(<$part as Fold>::narrow)) }
            #[inline(always)]
            fn add([a, b]: [$part; 2], [c, d]: [$part; 2]) -> [$part; 2] { [a + c, b + d] }
            #[inline(always)]
            fn mul([a, b]: [$part; 2], [c, d]: [$part; 2]) -> [$part; 2] {
                [a * c - b * d, a * d + b * c]
            }
        }
    )*};
}

complex! {
    C64: f32,
    C128: f64,
}
