//! f16 and bf16 as values of folds.

use bytemuck::{Pod, Zeroable};

use crate::halves::{bf16_to_f32, f16_to_f32, f32_to_f16, nearest_even};

/// The bits of an f16.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct F16(pub(crate) u16);

/// The bits of a bf16.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct BF16(pub(crate) u16);

impl F16 {
    #[inline]
    pub(super) fn to_f32(self) -> f32 {
        f16_to_f32(self.0)
    }

    /// Rounded to nearest even; a NaN is the one without sign and payload.
    #[inline]
    pub(super) fn from_f32(value: f32) -> Self {
        F16(if value.is_nan() {
            0x7e00
        } else {
            f32_to_f16(value)
        })
    }
}

impl BF16 {
    #[inline]
    pub(super) fn to_f32(self) -> f32 {
        bf16_to_f32(self.0)
    }

    /// Rounded to nearest even; a NaN is the one without sign and payload.
    #[inline]
    pub(super) fn from_f32(value: f32) -> Self {
        // The bits are chosen, not the answers: to round those of a NaN might overflow.
        let bits = if value.is_nan() {
            0x7fc0_0000
        } else {
            value.to_bits()
        };
        BF16(nearest_even(bits, 16) as u16)
    }
}
