//! Output types, and the conversion of codes to floats in integer arithmetic, step by step as in
//! `shaders/decode/floats.wgsl`.

use crate::element::{DType, Element};
use crate::halves::{f32_to_bf16, f32_to_f16};
use crate::names::named;

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

named!(FloatType, "float type", {
    F32 "f32",
    F16 "f16",
    BF16 "bf16",
});

impl FloatType {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        self.dtype().bytes()
    }

    /// The element type with this name in files.
    pub const fn dtype(self) -> DType {
        match self {
            FloatType::F32 => DType::F32,
            FloatType::F16 => DType::F16,
            FloatType::BF16 => DType::BF16,
        }
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
    /// This type, as a value.
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

#[cfg(test)]
mod tests {
    use super::*;

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
