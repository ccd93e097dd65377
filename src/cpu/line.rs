//! What a processor is told about the cache lines of a row, where that pays.

use std::mem::MaybeUninit;

/// How far into a row lines are asked for: the hardware finds the later ones itself.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const AHEAD_BYTES: usize = 512;

/// Bytes of a cache line.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LINE_BYTES: usize = 64;

/// Asks for the first lines of a row that is soon to be read. A hint: it may be about any row, and
/// changes no byte.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
#[allow(unsafe_code, reason = "an instruction without a safe wrapper")]
pub(super) fn prefetch(params: &[MaybeUninit<u8>], at: usize, row_bytes: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for n in (0..row_bytes.min(AHEAD_BYTES)).step_by(LINE_BYTES) {
        let line = params.as_ptr().wrapping_add(at).wrapping_add(n);
        // SAFETY: SSE is part of x86-64, and a prefetch reads nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
pub(super) fn prefetch(_params: &[MaybeUninit<u8>], _at: usize, _row_bytes: usize) {}
