//! Cache lines that are asked for before they are read: where the next row lies is known long before it is its
//! turn, and no processor guesses it from random indices.

use std::ops::Range;

/// What a cache holds or lacks.
pub(super) const LINE_BYTES: usize = 64;

/// Up to so many bytes are in the second cache, or near it: nothing is gained by asking for them.
pub(super) const NEAR_BYTES: usize = 2 << 20;

/// The most that is asked for of a row: a processor sees by itself how a long row goes on.
pub(super) const FETCHED_BYTES: usize = 1 << 10;

/// How many rows of so many bytes are asked for ahead of their turn: eight kilobytes of them. To fold those takes longer
/// than to fetch a line, and they are a fraction of the first cache.
#[inline(always)]
pub(super) const fn rows_ahead(row_bytes: usize) -> usize {
    match (8 << 10) / row_bytes {
        0 | 1 => 2,
        rows @ 2..32 => rows,
        _ => 32,
    }
}

/// Where rows start, each with the start of one that is asked for when it is its turn: so no row looks whether there is
/// one.
#[derive(Clone, Copy)]
pub(super) struct Starts<'a> {
    now: &'a [usize],
    soon: &'a [usize],
}

impl<'a> Starts<'a> {
    /// Those in `starts`, to which more are added: of the last ones, the last is asked for once more.
    pub(super) fn asked_ahead(starts: &'a mut Vec<usize>, ahead: usize) -> Self {
        let count = starts.len();
        starts.resize(count + ahead, starts.last().copied().unwrap_or_default());
        Starts {
            now: &starts[..count],
            soon: &starts[ahead..],
        }
    }

    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.now.len()
    }

    /// Those from one number to another.
    #[inline(always)]
    pub(super) fn some(&self, some: Range<usize>) -> Self {
        Starts {
            now: &self.now[some.clone()],
            soon: &self.soon[some],
        }
    }

    /// Where row number `n` starts.
    #[inline(always)]
    pub(super) fn of(&self, n: usize) -> usize {
        self.now[n]
    }

    /// Where the row starts that is asked for then.
    #[inline(always)]
    pub(super) fn after(&self, n: usize) -> usize {
        self.soon[n]
    }
}

/// Asks for the lines of `len` bytes from number `first` on. Nothing but time depends on it.
#[inline(always)]
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    allow(unsafe_code, reason = "an instruction that has no safe form")
)]
pub(super) fn fetch<B>(bytes: &[B], first: usize, len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // Not `step_by`, which made the loops of bags slower.
        let start = bytes.as_ptr().cast::<u8>().wrapping_add(first);
        let mut line = 0;
        while line < len {
            // SAFETY: it reads and writes nothing, whatever the address; each processor of this kind has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line).cast()) };
            line += LINE_BYTES;
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (bytes, first, len);
}
