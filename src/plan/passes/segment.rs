//! Segments of tensors: which bytes of which buffer are bound.

use std::ops::Range;

use crate::plan::passes::BindingLimits;

/// A part of a tensor's data that lies in one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The byte of the data that lies at the start of the part. Negative, if the buffer has other
    /// bytes before the data.
    pub(crate) origin: i64,
    /// Offset of that byte in the buffer; for all parts of a tensor but the first, a multiple of
    /// 16, as is the origin.
    pub(crate) offset: u64,
    /// Bytes of the part.
    pub(crate) bytes: u64,
}

/// A part of a tensor that is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The number of the [`Part`] that it lies in.
    pub(crate) part: usize,
    /// Offset of the binding in the buffer.
    pub(crate) offset: u64,
    /// Bytes of the binding.
    pub(crate) size: u64,
    /// The byte of the data that lies at the start of the binding; negative, as that of a part.
    pub(crate) origin: i64,
    /// The byte of the data from which on elements are read from this segment, and not from the
    /// one before.
    pub(crate) owned_from: i64,
}

/// The bytes from the first element that loops of these extents and strides reach to the last.
pub(in crate::plan) fn reach(
    offset: usize,
    loops: impl Iterator<Item = (usize, isize)>,
    element_bytes: usize,
) -> Range<i64> {
    let (mut first, mut last) = (offset as i64, offset as i64);
    for (extent, stride) in loops {
        let span = (extent as i64).wrapping_sub(1).wrapping_mul(stride as i64);
        let end = if span < 0 { &mut first } else { &mut last };
        *end = end.wrapping_add(span);
    }
    let byte = |position: i64| position.wrapping_mul(element_bytes as i64);
    byte(first)..byte(last.wrapping_add(1))
}

/// The one segment that covers `data`; `None` if that takes more than
/// `most_bytes`.
pub(crate) fn bind(
    parts: &[Part],
    data: Range<i64>,
    most_bytes: u64,
    limits: &BindingLimits,
) -> Option<Segment> {
    let part = parts.iter().position(|p| p.contains(data.start))?;
    let segment = parts[part].segment(part, data.clone(), limits);
    (segment.size <= most_bytes && segment.end() >= data.end).then_some(segment)
}

/// The segments that cover `data`. Where one ends because a binding holds no more, it overlaps
/// with the next by a row, so that each row lies within one of them.
pub(in crate::plan) fn segments(
    parts: &[Part],
    data: Range<i64>,
    row_bytes: u64,
    limits: &BindingLimits,
) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut at = data.start;
    for (n, part) in parts.iter().enumerate() {
        let end = data.end.min(part.end());
        while part.contains(at) && at < end {
            let all = part.segment(n, at..end, limits);
            if all.size <= limits.params_bytes {
                segments.push(all);
                at = end;
                break;
            }
            let room = limits.params_bytes;
            let overlap = row_bytes.min(limits.overlap());
            // 16 bytes hold whole accesses; the segment starts less than an alignment before `at`.
            let owned = (all.offset + room - overlap) / 16 * 16;
            segments.push(Segment { size: room, ..all });
            at = part.origin + (owned - part.offset) as i64;
        }
    }
    segments
}

impl Part {
    /// The byte of the data behind the part.
    pub(crate) fn end(&self) -> i64 {
        self.origin + self.bytes as i64
    }

    pub(super) fn contains(&self, byte: i64) -> bool {
        (self.origin..self.end()).contains(&byte)
    }

    /// The segment of this part, number `n`, that covers `data`: in whole words, from the aligned
    /// offset below on, and at least an access.
    fn segment(&self, n: usize, data: Range<i64>, limits: &BindingLimits) -> Segment {
        let place = |byte: i64| self.offset + (byte - self.origin) as u64;
        let (begin, end) = (place(data.start), place(data.end.min(self.end())));
        let offset = begin / limits.alignment * limits.alignment;
        let size = (end - offset).next_multiple_of(4).max(16);
        let whole = (self.offset + self.bytes - offset) & !3;
        Segment {
            part: n,
            offset,
            size: size.min(whole),
            origin: self.origin + (offset as i64 - self.offset as i64),
            owned_from: data.start,
        }
    }
}

impl Segment {
    /// The byte of the data behind the binding.
    pub(in crate::plan) fn end(&self) -> i64 {
        self.origin + self.size as i64
    }
}
