//! The memory that a call was given.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// A buffer, without keeping it alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BufferId(u64);

impl BufferId {
    pub(crate) fn of(buffer: &wgpu_gather::wgpu::Buffer) -> Self {
        let mut hasher = DefaultHasher::new();
        buffer.hash(&mut hasher);
        BufferId(hasher.finish())
    }
}

/// What of a buffer belongs to a call: bytes from the start of the buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) data: Range<u64>,
    /// The flag behind an output, to which several invocations write the same.
    pub(crate) flag: Option<Range<u64>>,
}

/// What the flag takes, at a multiple of itself: `FLAG_BYTES` in src/plan.
const FLAG: u64 = 16;

impl Memory {
    /// So many bytes of data from the start on, and a flag behind them if there is more room.
    pub(crate) fn new(bytes: u64, room: u64) -> Self {
        let at = bytes.next_multiple_of(FLAG);
        Memory {
            data: 0..bytes,
            flag: (room > bytes).then_some(at..at + FLAG),
        }
    }

    pub(crate) fn slice(data: Range<u64>) -> Self {
        Memory { data, flag: None }
    }

    /// Whether the bytes lie in the data or the flag.
    pub(crate) fn holds(&self, bytes: &Range<u64>) -> bool {
        contains(&self.data, bytes) || self.is_flag(bytes)
    }

    /// Whether the bytes lie in words of the data, of which the first and the last may be another's in part.
    pub(crate) fn holds_words(&self, bytes: &Range<u64>) -> bool {
        let words = self.data.start / 4 * 4..self.data.end.next_multiple_of(4);
        !self.data.is_empty() && contains(&words, bytes)
    }

    pub(crate) fn is_flag(&self, bytes: &Range<u64>) -> bool {
        self.flag.as_ref().is_some_and(|flag| contains(flag, bytes))
    }
}

fn contains(outer: &Range<u64>, inner: &Range<u64>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
