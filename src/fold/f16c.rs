//! f16 to f32 and back, eight at once, by the instructions F16C of x86. Their twins are in [`super::half`].
//!
//! They keep subnormals and round to nearest even. A signalling NaN becomes quiet; no fold shows it, as a fold that
//! ends in a NaN ends in a fixed one.
#![cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    allow(unsafe_code, reason = "functions for processors with F16C")
)]

/// The values of `N` elements; none where the processor lacks the instructions, or there are too few elements.
#[inline(always)]
pub(super) fn widen_all<const N: usize>(elements: &[u8]) -> Option<[f32; N]> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if N.is_multiple_of(8) && std::arch::is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has F16C.
        return Some(unsafe { x86::widen(elements) });
    }
    let _ = elements;
    None
}

/// Rounds `N` values to elements; does nothing, and says so, where [`widen_all`] has none.
#[inline(always)]
pub(super) fn narrow_all<const N: usize>(values: &[f32; N], elements: &mut [u8]) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if N.is_multiple_of(8) && std::arch::is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has F16C.
        unsafe { x86::narrow(values, elements) };
        return true;
    }
    let _ = (values, elements);
    false
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256, _CMP_UNORD_Q, _MM_FROUND_TO_NEAREST_INT, _mm256_blendv_ps, _mm256_cmp_ps,
        _mm256_cvtph_ps, _mm256_cvtps_ph, _mm256_set1_ps,
    };

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen<const N: usize>(elements: &[u8]) -> [f32; N] {
        let mut values = [0.0; N];
        for (values, elements) in values.chunks_exact_mut(8).zip(elements.chunks_exact(16)) {
            let elements: __m128i = bytemuck::pod_read_unaligned(elements);
            let eight: [f32; 8] = bytemuck::cast(_mm256_cvtph_ps(elements));
            values.copy_from_slice(&eight);
        }
        values
    }

    /// A NaN becomes the one without sign and payload.
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn narrow<const N: usize>(values: &[f32; N], elements: &mut [u8]) {
        let nan = _mm256_set1_ps(f32::from_bits(0x7fc0_0000));
        for (values, elements) in values.chunks_exact(8).zip(elements.chunks_exact_mut(16)) {
            let values: __m256 = bytemuck::pod_read_unaligned(bytemuck::cast_slice(values));
            let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values);
            let values = _mm256_blendv_ps(values, nan, is_nan);
            let eight: __m128i = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values);
            elements.copy_from_slice(bytemuck::bytes_of(&eight));
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::super::half::F16;

    #[test]
    fn what_the_processor_converts_is_what_integers_convert() {
        assert!(
            std::arch::is_x86_feature_detected!("f16c"),
            "this needs a processor with F16C"
        );
        for first in (0..=u16::MAX).step_by(8) {
            let bits: [u16; 8] = std::array::from_fn(|n| first + n as u16);
            let values = super::widen_all::<8>(bytemuck::cast_slice(&bits)).unwrap();
            for (value, bits) in values.into_iter().zip(bits) {
                let expected = F16(bits).to_f32();
                assert!(
                    value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(),
                    "{bits:#x}"
                );
            }
        }
        // Each f32 by its upper bits, and next to every tie.
        let low = [0, 1, 0xfff, 0x1000, 0x1001, 0x2000, 0x8000, 0xffff];
        for high in 0..=u16::MAX {
            let values = low.map(|low| f32::from_bits(u32::from(high) << 16 | low));
            let mut elements = [0; 16];
            assert!(super::narrow_all(&values, &mut elements));
            let expected = values.map(|value| F16::from_f32(value).0);
            assert_eq!(
                bytemuck::cast::<_, [u16; 8]>(elements),
                expected,
                "{high:#x}"
            );
        }
    }
}
