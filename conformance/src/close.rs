//! Floats that may be rounded in more than one way: how far apart they may be.

use approx::{AbsDiffEq, UlpsEq};
use wgpu_gather::DType;

/// Whether two floats of a type are at most so many units in its last place apart, or have the same bits.
/// Other types have to have the same bits.
///
/// Halves are compared as the f32 that they widen to, of whose last places one of theirs has 2^13 (f16)
/// or 2^16 (bf16); below the normal numbers of f16, one of theirs is 2^-24.
pub fn within_ulps(dtype: DType, a: &[u8], b: &[u8], ulps: u32) -> bool {
    if a == b {
        return true;
    }
    let single = |bytes: &[u8]| bytemuck::pod_read_unaligned::<f32>(bytes);
    let double = |bytes: &[u8]| bytemuck::pod_read_unaligned::<f64>(bytes);
    let half = |bytes: &[u8]| half::f16::from_bits(bytemuck::pod_read_unaligned(bytes)).to_f32();
    let brain = |bytes: &[u8]| half::bf16::from_bits(bytemuck::pod_read_unaligned(bytes)).to_f32();
    let parts = |of: DType| {
        let width = of.bytes();
        let mut pairs = a.chunks(width).zip(b.chunks(width));
        pairs.all(|(a, b)| within_ulps(of, a, b, ulps))
    };
    match dtype {
        DType::F32 => single(a).ulps_eq(&single(b), 0.0, ulps),
        DType::F64 => double(a).ulps_eq(&double(b), 0.0, ulps),
        DType::F16 => {
            let is_subnormal = half(a).abs().min(half(b).abs()) < 1.0 / 16_384.0;
            match is_subnormal {
                true => half(a).abs_diff_eq(&half(b), ulps as f32 / 16_777_216.0),
                false => half(a).ulps_eq(&half(b), 0.0, ulps << 13),
            }
        }
        DType::BF16 => brain(a).ulps_eq(&brain(b), 0.0, ulps << 16),
        DType::C64 => parts(DType::F32),
        DType::C128 => parts(DType::F64),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neighbours of a type: whether so many ulps are near enough.
    fn near(dtype: DType, a: u64, b: u64, ulps: u32) -> bool {
        let [a, b] = [a, b].map(u64::to_le_bytes);
        let width = dtype.bytes();
        within_ulps(dtype, &a[..width], &b[..width], ulps)
    }

    #[test]
    fn floats_are_as_far_apart_as_their_bits() {
        for (dtype, one, sign) in [
            (DType::F16, 0x3c00, 1 << 15),
            (DType::BF16, 0x3f80, 1 << 15),
            (DType::F32, 0x3f80_0000, 1 << 31),
            (DType::F64, 0x3ff0 << 48, 1u64 << 63),
        ] {
            for (a, b) in [
                (one, one + 3),
                (one - 2, one + 1),
                (one | sign, (one + 3) | sign),
            ] {
                assert!(near(dtype, a, b, 3) && near(dtype, b, a, 3), "{dtype}");
                assert!(!near(dtype, a, b, 2) && !near(dtype, b, a, 2), "{dtype}");
            }
            // Zeros are one number; a number is far from its negative, and NaN from all but its bits.
            assert!(near(dtype, 0, sign, 0), "{dtype}");
            assert!(!near(dtype, one, one | sign, 1000), "{dtype}");
            let nan = (sign - 1) & !1;
            assert!(
                near(dtype, nan, nan, 0) && !near(dtype, nan, nan + 1, 1000),
                "{dtype}"
            );
        }
        assert!(near(DType::F16, 3, 1, 2) && !near(DType::F16, 3, 1, 1)); // subnormal
        assert!(near(DType::F16, 0x3ff, 0x401, 2) && !near(DType::F16, 0x3ff, 0x401, 1));
        assert!(near(
            DType::C64,
            0x3f80_0001_3f80_0000,
            0x3f80_0000_3f80_0001,
            1
        ));
        assert!(!near(
            DType::C64,
            0x3f80_0002_3f80_0000,
            0x3f80_0000_3f80_0001,
            1
        ));
        assert!(near(DType::I32, 7, 7, 0) && !near(DType::I32, 7, 8, 9));
    }
}
