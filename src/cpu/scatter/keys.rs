//! The keys of lookups, sorted: pairs of a key and the number of its lookup.

use std::ops::Range;

use super::super::lookups::{BAD, Lookups};
use super::super::threads::{for_each_chunk, sort_unstable};
use crate::error::{Error, Result, Role};
use crate::operand::Indices;
use crate::scatter::ScatterPlan;

/// How many lookups a thread resolves at once.
const BLOCK: usize = 4096;

/// A key, and below it the number of the lookup: no two are equal, so every sort of them is stable.
pub(super) trait Pair: Copy + Ord + Send + Sync {
    fn new(key: usize, row: usize) -> Self;
    fn key(&self) -> usize;
    fn row(&self) -> usize;
}

impl Pair for u64 {
    #[inline]
    fn new(key: usize, row: usize) -> Self {
        (key as u64) << 32 | row as u64
    }
    #[inline]
    fn key(&self) -> usize {
        (self >> 32) as usize
    }
    #[inline]
    fn row(&self) -> usize {
        *self as u32 as usize
    }
}

impl Pair for u128 {
    #[inline]
    fn new(key: usize, row: usize) -> Self {
        (key as u128) << 64 | row as u128
    }
    #[inline]
    fn key(&self) -> usize {
        (self >> 64) as usize
    }
    #[inline]
    fn row(&self) -> usize {
        *self as u64 as usize
    }
}

/// Sorts pairs by key, and takes those off whose index is bad; says whether there are such.
pub(super) fn sort<P: Pair>(pairs: &mut Vec<P>) -> bool {
    let count = pairs.len();
    if !pairs.is_sorted() {
        sort_unstable(pairs);
    }
    let good = pairs.partition_point(|pair| *pair < none());
    pairs.truncate(good);
    good < count
}

/// Leaves the pairs of these lookups in `pairs`, in their order; those of bad indices are [`none`].
///
/// # Errors
///
/// [`Error::HostOutOfMemory`].
pub(super) fn find_pairs<P: Pair>(
    plan: &ScatterPlan,
    indices: &Indices<'_>,
    lookups: Range<usize>,
    pairs: &mut Vec<P>,
) -> Result<()> {
    let Some(keys) = &plan.keys else {
        return Ok(());
    };
    let count = lookups.len();
    pairs.clear();
    pairs
        .try_reserve_exact(count)
        .map_err(|_| Error::HostOutOfMemory {
            role: Role::Indices,
            bytes: count.saturating_mul(size_of::<P>()),
        })?;
    pairs.resize(count, P::new(0, 0));
    let finder = Lookups::new(keys, indices.bytes());
    let resolve = |n: usize, block: &mut [P]| {
        let first = lookups.start + n * BLOCK;
        let mut starts = [0; BLOCK];
        finder.find_from(first, &mut starts[..block.len()]);
        for (n, (pair, &key)) in block.iter_mut().zip(&starts).enumerate() {
            *pair = match key {
                BAD => none(),
                key => P::new(key, first + n),
            };
        }
    };
    for_each_chunk(pairs, BLOCK, 1, resolve);
    Ok(())
}

/// The pair of a bad index, behind all others: keys and lookups are fewer than what it holds.
pub(super) fn none<P: Pair>() -> P {
    P::new(none_of(size_of::<P>()), none_of(size_of::<P>()))
}

/// The greatest half of a pair.
const fn none_of(pair_bytes: usize) -> usize {
    match pair_bytes {
        8 => u32::MAX as usize,
        _ => usize::MAX,
    }
}
