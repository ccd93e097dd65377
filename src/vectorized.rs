//! Loops for processors with AVX2, which not every x86-64 has.

/// Does `work`, a short loop, which is compiled once more for processors with AVX2.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    allow(unsafe_code, reason = "a function for processors with AVX2")
)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        // SAFETY: the processor has AVX2.
        return unsafe { with_avx2(work) };
    }
    work()
}
