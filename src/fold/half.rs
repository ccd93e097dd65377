//! f16 and bf16 as their bits: to f32 exactly, and back to nearest even, by integers alone.
//!
//! The shaders do the same steps, as WGSL does not say how its own conversion rounds.

use bytemuck::{Pod, Zeroable};

/// The bits of an f16.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct F16(pub(crate) u16);

/// The bits of a bf16.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct BF16(pub(crate) u16);

/// 2^-24, the least positive f16.
const LEAST: f32 = 1.0 / 16_777_216.0;

impl F16 {
    #[inline]
    pub(super) fn to_f32(self) -> f32 {
        let bits = u32::from(self.0);
        let sign = (bits & 0x8000) << 16;
        let magnitude = bits & 0x7fff;
        let mantissa_in_place = magnitude << 13;
        let magnitude = match magnitude {
            0..0x400 => (magnitude as f32 * LEAST).to_bits(), // subnormal, which f32 has as normal
            0x400..0x7c00 => mantissa_in_place + (112 << 23),
            _ => mantissa_in_place | 0x7f80_0000,
        };
        f32::from_bits(sign | magnitude)
    }

    /// Rounded to nearest even; a NaN is the one without sign and payload.
    #[inline]
    pub(super) fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = (bits >> 16) & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        let rounded = match magnitude {
            0x7f80_0001.. => return F16(0x7e00),
            // from half an ulp above the largest on
            0x477f_f000.. => 0x7c00,
            0x3880_0000.. => rounded_shift(magnitude - (112 << 23), 13),
            // less than half of the least
            ..0x3300_0000 => 0,
            // subnormal: so many of the least
            _ => rounded_shift((magnitude & 0x7f_ffff) | 0x80_0000, 126 - (magnitude >> 23)),
        };
        F16((sign | rounded) as u16)
    }
}

impl BF16 {
    #[inline]
    pub(super) fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Rounded to nearest even; a NaN is the one without sign and payload.
    #[inline]
    pub(super) fn from_f32(value: f32) -> Self {
        if value.is_nan() {
            return BF16(0x7fc0);
        }
        BF16(rounded_shift(value.to_bits(), 16) as u16)
    }
}

/// `bits` without the lowest `shift` (1 to 24), rounded to nearest even.
#[inline]
fn rounded_shift(bits: u32, shift: u32) -> u32 {
    let odd = (bits >> shift) & 1;
    (bits + (1 << (shift - 1)) - 1 + odd) >> shift
}
