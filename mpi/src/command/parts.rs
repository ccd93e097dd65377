//! Which lookups a rank has, and how many it makes at a time. The model and the gather share it.

use std::ops::Range;

/// What a lookup takes besides its row: its place in several lists while they are sorted.
const LOOKUP_BYTES: u64 = 48;

/// A number of lookups over ranks, in chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// All lookups.
    pub(crate) lookups: u64,
    /// The ranks that share them.
    pub(crate) ranks: u64,
    /// How many a rank makes at a time, at most.
    pub(crate) chunk: u64,
}

impl Parts {
    /// Chunks of `chunk_bytes` bytes, about.
    pub(crate) fn new(lookups: u64, ranks: u64, row_bytes: u64, chunk_bytes: u64) -> Self {
        Parts {
            lookups,
            ranks,
            chunk: (chunk_bytes / row_bytes.saturating_add(LOOKUP_BYTES)).max(1),
        }
    }

    /// The lookups of a rank: as many as the others have, or one more.
    pub(crate) fn of_rank(&self, rank: u64) -> Range<u64> {
        let (each, more) = (self.lookups / self.ranks, self.lookups % self.ranks);
        let start = |rank: u64| rank * each + rank.min(more);
        start(rank)..start(rank + 1)
    }

    /// How many chunks all ranks go through: as many as the first has, which has the most lookups.
    pub(crate) fn chunks(&self) -> u64 {
        let most = self.of_rank(0);
        (most.end - most.start).div_ceil(self.chunk)
    }

    /// The lookups of a rank in one chunk; none where it has had them all.
    pub(crate) fn of_chunk(&self, rank: u64, chunk: u64) -> Range<u64> {
        let all = self.of_rank(rank);
        let at = |chunk: u64| all.start.saturating_add(chunk * self.chunk).min(all.end);
        at(chunk)..at(chunk + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lookup_is_made_once_and_in_order() {
        for (lookups, ranks, chunk) in [(0, 3, 2), (1, 3, 2), (10, 3, 2), (10, 1, 4), (7, 7, 1)] {
            let parts = Parts {
                lookups,
                ranks,
                chunk,
            };
            let mut next = 0;
            for rank in 0..ranks {
                assert_eq!(parts.of_rank(rank).start, next);
                for n in 0..parts.chunks() {
                    let here = parts.of_chunk(rank, n);
                    assert!(here.start == next && here.end - here.start <= chunk);
                    next = here.end;
                }
            }
            assert_eq!(next, lookups);
        }
    }
}
