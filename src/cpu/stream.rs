//! Copies past the caches: what is written whole need not be read first.
//!
//! For outputs that no cache holds, in memory that has been written to before: 1.0 to 1.5 times as
//! fast with rows of 48 bytes to 32 KiB from memory, 2.2 times with 512 bytes from a cache. Stores of 16
//! bytes instead of 32 took 1.15 to 1.4 times as long. Slower are outputs of 16 MiB, and memory that the
//! system clears when it is first written to, and leaves in the caches (half as fast).

use std::mem::MaybeUninit;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::ops::Range;

/// Bytes of the smallest such store, whose address is a multiple of this.
const UNIT: usize = 16;

/// Rows that are not of whole units share a line of a cache with the next, which has to be read. From
/// this length on they gain all the same: 1.0 to 1.6 times as fast. Shorter ones lose.
const UNEVEN_FROM_BYTES: usize = 512;

/// Whether there are such stores.
pub(super) const EXISTS: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Whether rows of so many bytes are faster past the caches.
pub(super) fn pays(row_bytes: usize) -> bool {
    row_bytes >= UNEVEN_FROM_BYTES || row_bytes > UNIT && row_bytes.is_multiple_of(UNIT)
}

/// Copies a row past the caches, as far as it lies in whole units and if the processor can. [`fence`]
/// is to come before anybody else sees the row.
///
/// # Panics
///
/// If the lengths differ.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
#[allow(unsafe_code, reason = "instructions without a safe wrapper")]
pub(super) fn copy(row: &mut [MaybeUninit<u8>], source: &[MaybeUninit<u8>]) {
    let start = row.as_ptr().addr();
    let even = (start | row.len()).is_multiple_of(UNIT);
    let short = row.len() < UNEVEN_FROM_BYTES;
    if row.len() != source.len() || short && !even || !std::arch::is_x86_feature_detected!("avx") {
        row.copy_from_slice(source);
    } else if even {
        // SAFETY: there is AVX. The row starts and ends at multiples of UNIT, and the source is as
        // long.
        unsafe { copy_units(row, source) };
    } else {
        let (head, lines, tail) = lines(start, row.len());
        row[head.clone()].copy_from_slice(&source[head]);
        // SAFETY: there is AVX. Lines are whole units, and these are as many of either.
        unsafe { copy_units(&mut row[lines.clone()], &source[lines]) };
        row[tail.clone()].copy_from_slice(&source[tail]);
    }
}

/// The whole lines of a cache in `len` bytes from address `start` on, and what is before and after.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn lines(start: usize, len: usize) -> (Range<usize>, Range<usize>, Range<usize>) {
    const LINE: usize = 4 * UNIT;
    let first = (start.next_multiple_of(LINE) - start).min(len);
    let last = len - (len - first) % LINE;
    (0..first, first..last, last..len)
}

/// A loop over pointers: with slices of units of each size, whose loops are entered for each row,
/// rows of 256 bytes took 1.3 times as long.
///
/// # Safety
///
/// `row` must start and end at multiples of [`UNIT`], and `source` must be as long and initialised.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx")]
#[allow(unsafe_code, reason = "instructions without a safe wrapper")]
unsafe fn copy_units(row: &mut [MaybeUninit<u8>], source: &[MaybeUninit<u8>]) {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm_stream_si128, _mm256_loadu_si256, _mm256_stream_si256,
    };
    let (mut to, mut from) = (row.as_mut_ptr(), source.as_ptr());
    let end = row.as_mut_ptr_range().end;
    // SAFETY: `from` goes along with `to`. From `to` to `end` there are whole units, of which each
    // step takes as many as there are; `to` is a multiple of 32 where 32 bytes are stored.
    unsafe {
        if to != end && !to.addr().is_multiple_of(2 * UNIT) {
            _mm_stream_si128(to.cast(), _mm_loadu_si128(from.cast()));
            (to, from) = (to.add(UNIT), from.add(UNIT));
        }
        while end.addr() - to.addr() >= 4 * UNIT {
            let low = _mm256_loadu_si256(from.cast());
            let high = _mm256_loadu_si256(from.add(2 * UNIT).cast());
            _mm256_stream_si256(to.cast(), low);
            _mm256_stream_si256(to.add(2 * UNIT).cast(), high);
            (to, from) = (to.add(4 * UNIT), from.add(4 * UNIT));
        }
        while to != end {
            _mm_stream_si128(to.cast(), _mm_loadu_si128(from.cast()));
            (to, from) = (to.add(UNIT), from.add(UNIT));
        }
    }
}

/// Puts what [`copy`] wrote before all that this thread writes later.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "an instruction without a safe wrapper")]
pub(super) fn fence() {
    // SAFETY: SSE is part of x86-64.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
pub(super) fn copy(row: &mut [MaybeUninit<u8>], source: &[MaybeUninit<u8>]) {
    row.copy_from_slice(source);
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(super) fn fence() {}

#[cfg(test)]
mod tests {
    use super::super::copy::as_uninit;
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "no such stores")]
    fn every_byte_of_rows_at_any_start_and_of_any_length_is_copied_and_no_other() {
        let source: Vec<u8> = (0..700).map(|n| (n % 251) as u8 + 1).collect();
        for start in 0..64 {
            for len in (0..=200).chain([224, 512, 513, 600, 640]) {
                let mut output = vec![MaybeUninit::new(0_u8); 710];
                let from = &source[start / 3..][..len];
                copy(&mut output[start..start + len], as_uninit(from));
                fence();
                // SAFETY: all bytes were initialised, and only such bytes were copied.
                #[allow(unsafe_code, reason = "what was written is read")]
                let output: Vec<u8> = output.iter().map(|b| unsafe { b.assume_init() }).collect();
                assert!(output[..start].iter().all(|&byte| byte == 0));
                assert_eq!(&output[start..start + len], from);
                assert!(output[start + len..].iter().all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    #[should_panic = "length"]
    fn lengths_that_differ_are_no_copy() {
        copy(&mut [MaybeUninit::new(0); 32], &[MaybeUninit::new(0); 48]);
    }
}
