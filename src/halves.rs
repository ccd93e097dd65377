//! f16 and bf16 as their bits: to f32 exactly, and back to nearest even. All cases of a value are computed, and one
//! is chosen: so compilers take many values side by side. Shaders have their own steps (`shaders/halves.wgsl`), as
//! WGSL does not say how its conversions round.

/// 2^-24, the least positive f16.
const LEAST: f32 = 1.0 / 16_777_216.0;

/// Exact, subnormals and the payload of a NaN as well.
#[inline]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff);
    let mantissa_in_place = magnitude << 13;
    let subnormal = (magnitude as f32 * LEAST).to_bits(); // f32 has it as normal
    let normal = mantissa_in_place + (112 << 23);
    let special = mantissa_in_place | 0x7f80_0000;
    let magnitude = match magnitude {
        0..0x400 => subnormal,
        0x400..0x7c00 => normal,
        _ => special,
    };
    f32::from_bits(sign | magnitude)
}

/// Exact.
#[inline]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// To nearest even. A NaN keeps its sign and the upper bits of its payload, and is quiet.
#[inline]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let normal = nearest_even(magnitude, 13)
        .wrapping_sub(112 << 10)
        .min(0x7c00);
    // A sum next to 0.5 is rounded to a multiple of the least.
    let subnormal = (value.abs() + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let nan = 0x7e00 | (magnitude >> 13) & 0x3ff;
    let half = match magnitude {
        0x7f80_0001.. => nan,
        0x3880_0000.. => normal,
        _ => subnormal,
    };
    (half | (bits >> 16) & 0x8000) as u16
}

/// To nearest even. A NaN keeps its sign and the upper bits of its payload, and is quiet.
#[inline]
pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    match bits & 0x7fff_ffff {
        0x7f80_0001.. => (bits >> 16 | 0x40) as u16,
        _ => nearest_even(bits, 16) as u16,
    }
}

/// `value / 2^shift`, rounded; a tie to the even neighbour. The shift is not 0.
#[inline]
pub(crate) fn nearest_even(value: u32, shift: u32) -> u32 {
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
}
