//! f16 to f32 and back, several at once, by the instructions F16C and AVX-512 of x86. The twins of the conversions are
//! in [`super::half`].
//!
//! They keep subnormals and round to nearest even. A signalling NaN becomes quiet; no fold shows it, as a fold that
//! ends in a NaN ends in a fixed one.
#![cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    allow(unsafe_code, reason = "functions for processors with F16C or AVX-512")
)]

use super::half::F16;

/// The instructions, of a processor that has them.
#[derive(Clone, Copy)]
pub(crate) struct F16c(Lanes);

/// How many are converted at once: sixteen by AVX-512.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[derive(Clone, Copy, PartialEq)]
enum Lanes {
    Eight,
    Sixteen,
}
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
type Lanes = std::convert::Infallible;

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl F16c {
    #[inline(always)]
    pub(crate) fn of_processor() -> Option<Self> {
        let lanes = match std::arch::is_x86_feature_detected!("avx512f") {
            true => Lanes::Sixteen,
            false => Lanes::Eight,
        };
        std::arch::is_x86_feature_detected!("f16c").then_some(F16c(lanes))
    }

    /// For loops that are compiled for AVX2. The variant is a constant there, so no loop branches on it.
    #[inline(always)]
    pub(crate) fn for_avx2(self) -> Self {
        F16c(Lanes::Eight)
    }

    /// The same for AVX-512.
    #[inline(always)]
    pub(crate) fn for_avx512(self) -> Self {
        assert!(
            self.0 == Lanes::Sixteen,
            "loops for AVX-512, of a processor without"
        );
        F16c(Lanes::Sixteen)
    }

    /// Takes each of `N` sums a step on by the value of its element, if they are a multiple of eight; else returns false.
    #[inline(always)]
    pub(super) fn step_all<const N: usize>(
        self,
        elements: &[u8],
        sums: &mut [f32; N],
        step: impl Fn(f32, f32) -> f32,
    ) -> bool {
        match self.0 {
            Lanes::Sixteen if N.is_multiple_of(16) => {
                // SAFETY: the processor has AVX-512.
                step_groups(elements, sums, step, |group| unsafe {
                    x86::widen_sixteen(group)
                });
            }
            _ if N.is_multiple_of(8) => {
                // SAFETY: the processor has F16C.
                step_groups(elements, sums, step, |group| unsafe {
                    x86::widen_eight(group)
                });
            }
            _ => return false,
        }
        true
    }

    /// Rounds `N` values to nearest even, if they are a multiple of eight; else returns false. A NaN becomes the one
    /// without sign and payload.
    #[inline(always)]
    pub(super) fn narrow_all<const N: usize>(
        self,
        values: &[f32; N],
        elements: &mut [F16; N],
    ) -> bool {
        match self.0 {
            Lanes::Sixteen if N.is_multiple_of(16) => {
                // SAFETY: the processor has AVX-512.
                narrow_groups(values, elements, |group| unsafe {
                    x86::narrow_sixteen(group)
                });
            }
            _ if N.is_multiple_of(8) => {
                // SAFETY: the processor has F16C.
                narrow_groups(values, elements, |group| unsafe {
                    x86::narrow_eight(group)
                });
            }
            _ => return false,
        }
        true
    }

    /// The value of one element.
    #[inline(always)]
    pub(super) fn widen(self, element: F16) -> f32 {
        // SAFETY: the processor has F16C.
        let [value, ..] = unsafe { x86::widen_eight([element; 8]) };
        value
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
impl F16c {
    /// For Miri.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn of_processor() -> Option<Self> {
        None
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn for_avx2(self) -> Self {
        self
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn for_avx512(self) -> Self {
        self
    }

    pub(super) fn step_all<const N: usize>(
        self,
        _: &[u8],
        _: &mut [f32; N],
        _: impl Fn(f32, f32) -> f32,
    ) -> bool {
        match self.0 {}
    }

    pub(super) fn narrow_all<const N: usize>(self, _: &[f32; N], _: &mut [F16; N]) -> bool {
        match self.0 {}
    }

    pub(super) fn widen(self, _: F16) -> f32 {
        match self.0 {}
    }
}

/// Group by group: for all values and all sums there are not registers enough.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn step_groups<const LANES: usize>(
    elements: &[u8],
    sums: &mut [f32],
    step: impl Fn(f32, f32) -> f32,
    widen: impl Fn([F16; LANES]) -> [f32; LANES],
) {
    let groups = elements.chunks_exact(LANES * size_of::<F16>());
    for (sums, group) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(groups) {
        let mut elements = [F16(0); LANES];
        bytemuck::cast_slice_mut(&mut elements).copy_from_slice(group);
        for (sum, value) in sums.iter_mut().zip(widen(elements)) {
            *sum = step(*sum, value);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn narrow_groups<const LANES: usize>(
    values: &[f32],
    elements: &mut [F16],
    narrow: impl Fn([f32; LANES]) -> [F16; LANES],
) {
    let groups = elements.as_chunks_mut::<LANES>().0;
    for (elements, &values) in groups.iter_mut().zip(values.as_chunks().0) {
        *elements = narrow(values);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        _CMP_UNORD_Q, _MM_FROUND_TO_NEAREST_INT, _mm256_blendv_ps, _mm256_cmp_ps, _mm256_cvtph_ps,
        _mm256_cvtps_ph, _mm256_set1_ps, _mm512_cmp_ps_mask, _mm512_cvtph_ps, _mm512_cvtps_ph,
        _mm512_mask_mov_ps, _mm512_set1_ps,
    };

    use super::F16;

    const NAN: f32 = f32::from_bits(0x7fc0_0000);

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen_eight(elements: [F16; 8]) -> [f32; 8] {
        bytemuck::cast(_mm256_cvtph_ps(bytemuck::cast(elements)))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn widen_sixteen(elements: [F16; 16]) -> [f32; 16] {
        bytemuck::cast(_mm512_cvtph_ps(bytemuck::cast(elements)))
    }

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn narrow_eight(values: [f32; 8]) -> [F16; 8] {
        let values = bytemuck::cast(values);
        let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values);
        let values = _mm256_blendv_ps(values, _mm256_set1_ps(NAN), is_nan);
        bytemuck::cast(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn narrow_sixteen(values: [f32; 16]) -> [F16; 16] {
        let values = bytemuck::cast(values);
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(values, values);
        let values = _mm512_mask_mov_ps(values, is_nan, _mm512_set1_ps(NAN));
        bytemuck::cast(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values))
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::super::half::F16;
    use super::F16c;

    #[test]
    fn what_the_processor_converts_is_what_integers_convert() {
        let most = F16c::of_processor().expect("this needs a processor with F16C");
        for f16c in [most.for_avx2(), most] {
            for first in (0..=u16::MAX).step_by(16) {
                let elements: [F16; 16] = std::array::from_fn(|n| F16(first + n as u16));
                let mut values = [0.0; 16];
                assert!(
                    f16c.step_all(bytemuck::cast_slice(&elements), &mut values, |_, value| {
                        value
                    })
                );
                for (value, element) in values.into_iter().zip(elements) {
                    let expected = element.to_f32();
                    assert!(
                        value.to_bits() == expected.to_bits()
                            || value.is_nan() && expected.is_nan(),
                        "{element:?}"
                    );
                }
            }
            // Each f32 by its upper bits, and next to every tie.
            let low = [0, 1, 0xfff, 0x1000, 0x1001, 0x2000, 0x8000, 0xffff];
            for high in 0..=u16::MAX {
                let values: [f32; 16] =
                    std::array::from_fn(|n| f32::from_bits(u32::from(high) << 16 | low[n % 8]));
                let mut elements = [F16(0); 16];
                assert!(f16c.narrow_all(&values, &mut elements));
                assert_eq!(elements, values.map(F16::from_f32), "{high:#x}");
            }
        }
    }
}
