//! Cache lines that are asked for before they are read: where the next row lies is known long before it is its
//! turn, and no processor guesses it from random indices.

/// How many rows ahead, where columns of rows are folded block by block and so many rows are known.
pub(super) const AHEAD: usize = 8;

/// How many rows ahead, where whole rows of so many bytes are folded: about two kilobytes. None for a row of a cache
/// line or less, of which a processor has enough on their way by itself.
#[inline(always)]
pub(super) fn rows_ahead(row_bytes: usize) -> Option<usize> {
    (row_bytes > 64).then(|| (2048 / row_bytes).max(1))
}

/// Asks for the lines of `len` bytes from number `first` on. Nothing but time depends on it.
#[inline(always)]
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    allow(unsafe_code, reason = "an instruction that has no safe form")
)]
pub(super) fn fetch(bytes: &[u8], first: usize, len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        let start = bytes.as_ptr().wrapping_add(first);
        let mut line = 0;
        while line < len {
            // SAFETY: it reads and writes nothing, whatever the address; each processor of this kind has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line).cast()) };
            line += 64;
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (bytes, first, len);
}
