//! The types of the output, and conversions between floats by integers alone: the shaders do the same
//! steps (`shaders/decode/floats.wgsl`), as the rounding of `pack2x16float` is not specified.

use crate::element::{DType, Element};

/// The type that elements are decoded to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FloatType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision: rounded to nearest even from `f32`.
    F16,
    /// The upper half of an `f32`: rounded to nearest even.
    BF16,
}

impl FloatType {
    /// All of them.
    pub const ALL: [FloatType; 3] = [FloatType::F32, FloatType::F16, FloatType::BF16];

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            FloatType::F32 => 4,
            FloatType::F16 | FloatType::BF16 => 2,
        }
    }

    /// The element type with this name in files.
    pub const fn dtype(self) -> DType {
        match self {
            FloatType::F32 => DType::F32,
            FloatType::F16 => DType::F16,
            FloatType::BF16 => DType::BF16,
        }
    }

    /// The short name: `f32`, `f16` or `bf16`.
    pub const fn name(self) -> &'static str {
        self.dtype().name()
    }

    /// Writes values as elements of this type, in this machine's byte order.
    pub(crate) fn write(self, values: &[f32], output: &mut [u8]) {
        match self {
            FloatType::F32 => output.copy_from_slice(bytemuck::cast_slice(values)),
            FloatType::F16 => write_halves(values, output, f32_to_f16),
            FloatType::BF16 => write_halves(values, output, f32_to_bf16),
        }
    }
}

fn write_halves(values: &[f32], output: &mut [u8], round: impl Fn(f32) -> u16) {
    for (to, &value) in output.chunks_exact_mut(2).zip(values) {
        to.copy_from_slice(&round(value).to_ne_bytes());
    }
}

/// An element type that quantized tables decode to: `f32`, and with the feature `half` `half::f16` and
/// `half::bf16`.
pub trait Float: Element + bytemuck::Pod + sealed::Sealed {
    /// Which one it is.
    const TYPE: FloatType;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! floats {
    ($($(#[$attribute:meta])* $type:ty: $variant:ident,)*) => {$(
        $(#[$attribute])*
        impl sealed::Sealed for $type {}
        $(#[$attribute])*
        impl Float for $type {
            const TYPE: FloatType = FloatType::$variant;
        }
    )*};
}

floats! {
    f32: F32,
    #[cfg(feature = "half")]
    half::f16: F16,
    #[cfg(feature = "half")]
    half::bf16: BF16,
}

const QUIET_NAN: u32 = 0x7fc0_0000;

/// Exact, subnormals and the payload of a NaN as well.
pub(super) fn f16_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(bits >> 10) & 0x1f, u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => return scaled(sign, fraction, -24),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// Exact.
pub(super) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// `mantissa * 2^exponent` with a sign bit, for a mantissa below 2^23 and an exponent of -149 or more:
/// exact, or infinite.
pub(super) fn scaled(sign: u32, mantissa: u32, exponent: i32) -> f32 {
    let magnitude = match mantissa.checked_ilog2() {
        None => 0,
        Some(top) => match exponent + top as i32 + 127 {
            255.. => 0x7f80_0000,
            biased @ 1.. => (biased as u32) << 23 | (mantissa << (23 - top)) & 0x7f_ffff,
            _ => mantissa << (exponent + 149),
        },
    };
    f32::from_bits(sign | magnitude)
}

/// An OCP FP8 number (4 bits of exponent, 3 of mantissa) times `2^(scale - 127)`. The scale 255 is NaN.
pub(super) fn e4m3_scaled(code: u8, scale: u8) -> f32 {
    if code & 0x7f == 0x7f || scale == 255 {
        return f32::from_bits(QUIET_NAN);
    }
    let sign = u32::from(code & 0x80) << 24;
    let (exponent, fraction) = (i32::from(code >> 3) & 15, u32::from(code & 7));
    let mantissa = if exponent == 0 {
        fraction
    } else {
        8 | fraction
    };
    scaled(
        sign,
        mantissa,
        exponent.max(1) - 10 + i32::from(scale) - 127,
    )
}

/// To nearest even. A NaN keeps its sign and the upper bits of its payload, and is quiet.
fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let half = match magnitude {
        0x7f80_0001.. => 0x7e00 | (magnitude >> 13) & 0x3ff,
        0x3880_0000.. => (nearest_even(magnitude, 13) - (112 << 10)).min(0x7c00),
        // In units of 2^-24, the least subnormal; further away, they are less than half of one.
        _ => {
            let mantissa = magnitude & 0x7f_ffff | 0x80_0000;
            nearest_even(mantissa, (126 - (magnitude >> 23)).min(25))
        }
    };
    (half | (bits >> 16) & 0x8000) as u16
}

/// To nearest even. A NaN keeps its sign and the upper bits of its payload, and is quiet.
fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    match bits & 0x7fff_ffff {
        0x7f80_0001.. => (bits >> 16 | 0x40) as u16,
        _ => nearest_even(bits, 16) as u16,
    }
}

/// `value / 2^shift`, rounded; a tie to the even neighbour. The shift is not 0.
fn nearest_even(value: u32, shift: u32) -> u32 {
    let below_half = (1 << (shift - 1)) - 1;
    (value + below_half + (value >> shift & 1)) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_convert_as_the_half_crate_does() {
        for bits in 0..=u16::MAX {
            let (f16, bf16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
            if !f16.is_nan() {
                assert_eq!(f16_to_f32(bits).to_bits(), f16.to_f32_const().to_bits());
                assert_eq!(f32_to_f16(f16_to_f32(bits)), bits);
            } else {
                assert!(f16_to_f32(bits).is_nan());
            }
            if !bf16.is_nan() {
                assert_eq!(bf16_to_f32(bits).to_bits(), bf16.to_f32_const().to_bits());
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        // Around every half, every tie and every bound of a range of exponents.
        let around = |bits: u32| bits.saturating_sub(2)..=bits.saturating_add(2);
        let ties = (0..=u16::MAX).flat_map(|h| {
            let tie = (
                half::f16::from_bits(h & 0x7fff).to_f32_const().to_bits(),
                1 << 12,
            );
            [
                tie.0,
                tie.0 + tie.1,
                u32::from(h) << 16,
                u32::from(h) << 16 | 0x8000,
            ]
        });
        for bits in ties.flat_map(around) {
            for bits in [bits, bits | 1 << 31] {
                let value = f32::from_bits(bits);
                assert_eq!(
                    f32_to_f16(value),
                    half::f16::from_f32_const(value).to_bits(),
                    "{bits:#x}"
                );
                assert_eq!(
                    f32_to_bf16(value),
                    half::bf16::from_f32_const(value).to_bits(),
                    "{bits:#x}"
                );
            }
        }
    }

    #[test]
    fn eight_bit_floats_by_their_definition() {
        for code in (0..=255u8).filter(|code| code & 0x7f != 0x7f) {
            let (e, m) = (i32::from(code >> 3 & 15), f64::from(code & 7));
            let magnitude = match e {
                0 => m * 2f64.powi(-9),
                _ => (1.0 + m / 8.0) * 2f64.powi(e - 7),
            };
            let value = if code < 128 { magnitude } else { -magnitude };
            for scale in 0..255u8 {
                let expected = value * 2f64.powi(i32::from(scale) - 127);
                let got = e4m3_scaled(code, scale);
                assert_eq!(got.to_bits(), (expected as f32).to_bits(), "{code} {scale}");
            }
        }
        assert!(e4m3_scaled(0x7f, 127).is_nan() && e4m3_scaled(0xff, 0).is_nan());
        assert!(e4m3_scaled(0, 255).is_nan());
    }
}
