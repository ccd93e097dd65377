//! f16 to f32 and back, eight at once, by the instructions F16C of x86. The twins of the conversions are in [`super::half`].
//!
//! They keep subnormals and round to nearest even. A signalling NaN becomes quiet; no fold shows it, as a fold that
//! ends in a NaN ends in a fixed one.
#![cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    allow(unsafe_code, reason = "functions for processors with F16C")
)]

/// As many are converted at once.
pub(super) const LANES: usize = 8;

/// The instructions, of a processor that has them.
#[derive(Clone, Copy)]
pub(crate) struct F16c(Proof);

#[cfg(all(target_arch = "x86_64", not(miri)))]
type Proof = ();
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
type Proof = std::convert::Infallible;

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl F16c {
    #[inline(always)]
    pub(crate) fn of_processor() -> Option<Self> {
        std::arch::is_x86_feature_detected!("f16c").then_some(F16c(()))
    }

    #[inline(always)]
    pub(super) fn widen(self, elements: [u8; 2 * LANES]) -> [f32; LANES] {
        // SAFETY: the processor has F16C.
        unsafe { x86::widen(elements) }
    }

    /// Rounds to nearest even. A NaN becomes the one without sign and payload.
    #[inline(always)]
    pub(super) fn narrow(self, values: [f32; LANES]) -> [u8; 2 * LANES] {
        // SAFETY: the processor has F16C.
        unsafe { x86::narrow(values) }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
impl F16c {
    /// For Miri.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn of_processor() -> Option<Self> {
        None
    }

    pub(super) fn widen(self, _: [u8; 2 * LANES]) -> [f32; LANES] {
        match self.0 {}
    }

    pub(super) fn narrow(self, _: [f32; LANES]) -> [u8; 2 * LANES] {
        match self.0 {}
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        _CMP_UNORD_Q, _MM_FROUND_TO_NEAREST_INT, _mm256_blendv_ps, _mm256_cmp_ps, _mm256_cvtph_ps,
        _mm256_cvtps_ph, _mm256_set1_ps,
    };

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen(elements: [u8; 16]) -> [f32; 8] {
        bytemuck::cast(_mm256_cvtph_ps(bytemuck::cast(elements)))
    }

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn narrow(values: [f32; 8]) -> [u8; 16] {
        let values = bytemuck::cast(values);
        let nan = _mm256_set1_ps(f32::from_bits(0x7fc0_0000));
        let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values);
        let values = _mm256_blendv_ps(values, nan, is_nan);
        bytemuck::cast(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values))
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::super::half::F16;

    #[test]
    fn what_the_processor_converts_is_what_integers_convert() {
        let f16c = super::F16c::of_processor().expect("this needs a processor with F16C");
        for first in (0..=u16::MAX).step_by(8) {
            let bits: [u16; 8] = std::array::from_fn(|n| first + n as u16);
            let values = f16c.widen(bytemuck::cast(bits));
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
            let elements = f16c.narrow(values);
            let expected = values.map(|value| F16::from_f32(value).0);
            assert_eq!(
                bytemuck::cast::<_, [u16; 8]>(elements),
                expected,
                "{high:#x}"
            );
        }
    }
}
