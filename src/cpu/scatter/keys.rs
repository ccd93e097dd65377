//! The keys of lookups, sorted: pairs of a key and the number of its lookup.

use std::ops::Range;

use super::super::lookups::{BAD, Lookups};
use super::super::threads::{for_each, sort_unstable, threads};
use crate::error::{Result, Role};
use crate::memory::room;
use crate::operand::Indices;
use crate::plan::Plan;

/// How many lookups a thread resolves at once.
const BLOCK: usize = 4096;

/// Where a lookup goes, and its number. No two are equal, so every sort of them is stable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    /// The key, or [`BAD`].
    pub(super) key: usize,
    pub(super) lookup: usize,
}

/// Sorts pairs by key, of which there are so many, and takes those off whose index is bad; says whether there are
/// such.
///
/// # Errors
///
/// [`Error::HostOutOfMemory`](crate::Error::HostOutOfMemory).
pub(super) fn sort(pairs: &mut Vec<Pair>, keys: usize) -> Result<bool> {
    let count = pairs.len();
    pairs.retain(|pair| pair.key != BAD);
    if !pairs.is_sorted() {
        match digits_to_sort(pairs.len(), keys, threads()) {
            Some(digits) => sort_by_digits(pairs, digits, |pair| pair.key)?,
            None => sort_unstable(pairs),
        }
    }
    Ok(pairs.len() < count)
}

/// The most bits of a digit: its counters fit the L1 cache, and the cache lines that a pass writes to fit L2.
const DIGIT_BITS: u32 = 10;

/// The digits to sort `pairs` pairs of `keys` keys by, if that is less work than comparing them: a pass over a digit
/// costs about two levels of comparisons, which threads may share.
pub(super) fn digits_to_sort(pairs: usize, keys: usize, threads: usize) -> Option<Digits> {
    let bits = (keys.max(2) - 1).ilog2() + 1;
    let count = bits.div_ceil(DIGIT_BITS);
    let digits = Digits {
        count,
        bits: bits.div_ceil(count),
    };
    (2 * count as usize * threads <= pairs.max(1).ilog2() as usize).then_some(digits)
}

/// The digits of a key: their number, and the bits of each.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    count: u32,
    bits: u32,
}

/// Sorts by digits, the lowest first: each pass keeps the order that the passes before have made.
///
/// # Errors
///
/// [`Error::HostOutOfMemory`](crate::Error::HostOutOfMemory), and nothing is sorted then.
pub(super) fn sort_by_digits<P: Copy>(
    pairs: &mut Vec<P>,
    digits: Digits,
    key: impl Fn(&P) -> usize,
) -> Result<()> {
    let mut sorted = room(Role::Indices, pairs.len())?;
    sorted.extend_from_slice(pairs);
    for shift in (0..digits.count).map(|n| n * digits.bits) {
        let digit = |pair: &P| key(pair) >> shift & ((1 << digits.bits) - 1);
        let mut places = [0; 1 << DIGIT_BITS];
        pairs.iter().for_each(|pair| places[digit(pair)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for pair in &*pairs {
            let place = &mut places[digit(pair)];
            sorted[*place] = *pair;
            *place += 1;
        }
        std::mem::swap(pairs, &mut sorted);
    }
    Ok(())
}

/// Leaves the pairs of these lookups in `pairs`, in their order.
///
/// # Errors
///
/// [`Error::HostOutOfMemory`](crate::Error::HostOutOfMemory).
pub(super) fn find_pairs(
    keys: &Plan,
    indices: &Indices<'_>,
    lookups: Range<usize>,
    pairs: &mut Vec<Pair>,
) -> Result<()> {
    if pairs.capacity() < lookups.len() {
        *pairs = room(Role::Indices, lookups.len())?;
    }
    pairs.clear();
    pairs.extend(lookups.map(|lookup| Pair { key: BAD, lookup }));
    let finder = Lookups::new(keys, indices.bytes());
    for_each(pairs.chunks_mut(BLOCK), |_, block| {
        let mut starts = [0; BLOCK];
        finder.find_from(block[0].lookup, &mut starts[..block.len()]);
        block
            .iter_mut()
            .zip(starts)
            .for_each(|(pair, key)| pair.key = key);
        false
    });
    Ok(())
}
