//! Windows: the parts of a table, each decoded by one dispatch, if a binding does not hold the whole table.
//!
//! A window is a range of elements in row-major order, with the bytes of their codes and their scales. It ends at
//! the end of a block, so that positions within it follow from those of its start.

use std::ops::Range;

use crate::error::Result;
use crate::quantized::block::BlockFormat;
use crate::quantized::format::{Format, ROW_TAIL_BYTES, Sizes};
use crate::quantized::split::{Blocks, SplitFormat};

/// The most elements of a window: positions and rounding up stay within 32 bits.
const MOST_ELEMENTS: usize = 1 << 30;

/// Sentinel: unbounded axis or block.
const ENDLESS: usize = i32::MAX as usize;

/// A part of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) elements: Range<usize>,
    /// Byte range of its codes. The first and last byte may also hold codes of neighbouring elements.
    pub(crate) codes: Range<usize>,
    /// Codes in the first byte that come before the window.
    pub(crate) lead: usize,
    /// Its scales, and zero points.
    pub(crate) scales: Range<usize>,
    /// Layout of blocks within the window, for split formats.
    pub(crate) blocks: Option<Blocks>,
}

impl Window {
    /// The window of an empty table.
    pub(crate) fn empty() -> Self {
        Window {
            elements: 0..0,
            codes: 0..0,
            lead: 0,
            scales: 0..0,
            blocks: None,
        }
    }
}

/// Format, shape and sizes of a table, without its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableLayout {
    pub(crate) format: Format,
    pub(crate) shape: Vec<usize>,
    pub(crate) sizes: Sizes,
    /// Layout of blocks, for split formats.
    blocks: Option<Blocks>,
}

impl TableLayout {
    /// Checks that a table can have this shape.
    pub(crate) fn new(format: Format, shape: &[usize]) -> Result<Self> {
        let sizes = format.sizes(shape)?;
        let blocks = match &format {
            Format::Split(split) => Some(split.blocks(shape, split.axis_in(shape)?)),
            Format::Blocks(_) | Format::Rows => None,
        };
        Ok(TableLayout {
            format,
            shape: shape.to_vec(),
            sizes,
            blocks,
        })
    }

    /// The byte that holds the first code of a window that starts at an element.
    pub(crate) fn byte_of(&self, element: usize) -> usize {
        match &self.format {
            Format::Blocks(format) => element / format.block_elements() * format.block_bytes(),
            Format::Rows => element / self.row() * (self.row() + ROW_TAIL_BYTES),
            Format::Split(split) => element / (8 / split.codes.bits()),
        }
    }

    /// The number of the first scale of a window that starts there.
    pub(crate) fn scale_of(&self, element: usize) -> usize {
        self.blocks.map_or(0, |blocks| blocks.of(element))
    }

    /// The window from element `start` on, which is not behind the last, with codes before byte
    /// `codes_end` and scales before scale `scales_end`; `None`, if not even the smallest fits.
    pub(crate) fn window(
        &self,
        start: usize,
        codes_end: usize,
        scales_end: usize,
    ) -> Option<Window> {
        let most = self.elements_before(codes_end).min(self.sizes.elements);
        let end = most.min(start.saturating_add(MOST_ELEMENTS));
        let (end, blocks) = match (&self.blocks, &self.format) {
            (Some(blocks), _) => {
                let (end, blocks) = blocks.window(start, end, scales_end)?;
                (end, Some(blocks))
            }
            (None, Format::Rows) => (end - end % self.row(), None),
            // Formats of one element per block: whole vectors of 16 bytes.
            _ if end < self.sizes.elements => (end - end % self.block_elements().max(8), None),
            _ => (end, None),
        };
        (end > start).then(|| self.window_of(start..end, blocks))
    }

    fn window_of(&self, elements: Range<usize>, blocks: Option<Blocks>) -> Window {
        let (lead, end) = match &self.format {
            Format::Split(split) => {
                let per_byte = 8 / split.codes.bits();
                (elements.start % per_byte, elements.end.div_ceil(per_byte))
            }
            Format::Blocks(_) | Format::Rows => (0, self.byte_of(elements.end)),
        };
        let scales = match blocks {
            None => 0..0,
            Some(_) => self.scale_of(elements.start)..self.scale_of(elements.end - 1) + 1,
        };
        Window {
            codes: self.byte_of(elements.start)..end,
            lead,
            scales,
            blocks,
            elements,
        }
    }

    /// Elements of the window that are decoded together, aligned: blocks of GGUF, else four that share one
    /// scale. `None`, if four may have several.
    pub(crate) fn together(&self, window: &Window) -> Option<usize> {
        // An unbounded block cannot end within a group of four.
        let fours = |n: usize| n.is_multiple_of(4) || n == ENDLESS;
        let four_share = match (&self.format, &window.blocks) {
            (_, Some(b)) => b.inner == 1 && fours(b.extent) && fours(b.size),
            (Format::Rows, None) => self.row().is_multiple_of(4),
            _ => true,
        };
        four_share.then_some(self.block_elements().max(4))
    }

    /// The number of elements whose codes end before a byte.
    fn elements_before(&self, byte: usize) -> usize {
        match &self.format {
            Format::Blocks(format) => {
                (byte / format.block_bytes()).saturating_mul(format.block_elements())
            }
            Format::Rows => (byte / (self.row() + ROW_TAIL_BYTES)).saturating_mul(self.row()),
            Format::Split(split) => byte.saturating_mul(8 / split.codes.bits()),
        }
    }

    /// Number of separate scales.
    pub(crate) fn scales_count(&self) -> usize {
        let bytes = self.split().map_or(1, |split| split.scales.bytes());
        self.sizes.scales / bytes
    }

    /// Bytes of `scales` scales with their zero points, in the layout of a device: see
    /// [`QuantizedTable::device_scales`](crate::quantized::QuantizedTable::device_scales).
    pub(crate) fn device_scales_bytes(&self, scales: usize) -> usize {
        let Some(split) = self.split() else {
            return 0;
        };
        let bytes = scales * split.scales.bytes();
        match split.zero_points.are_stored() {
            true => bytes.next_multiple_of(4) + scales,
            false => bytes,
        }
    }

    /// Granularity of a window's codes in bytes: smaller pieces are better not split.
    pub(crate) fn unit_bytes(&self) -> usize {
        match &self.format {
            Format::Blocks(format) => format.block_bytes(),
            Format::Rows => self.row() + ROW_TAIL_BYTES,
            Format::Split(_) => 1,
        }
    }

    fn block_elements(&self) -> usize {
        match &self.format {
            Format::Blocks(format) => BlockFormat::block_elements(*format),
            Format::Rows | Format::Split(_) => 1,
        }
    }

    /// Elements of the last dim.
    pub(crate) fn row(&self) -> usize {
        self.shape[self.shape.len() - 1]
    }

    /// The format, if it is a split one.
    pub(crate) fn split(&self) -> Option<&SplitFormat> {
        match &self.format {
            Format::Split(split) => Some(split),
            Format::Blocks(_) | Format::Rows => None,
        }
    }
}

impl Blocks {
    /// Right shift from the position of an element to that of its block, if no division is needed.
    #[cfg(feature = "gpu")]
    pub(crate) fn shift(&self) -> Option<u32> {
        let size = self.size.min(self.extent);
        let is_whole = self.extent == ENDLESS || self.extent.is_multiple_of(size);
        match size {
            _ if self.inner != 1 || !is_whole => None,
            ENDLESS => Some(31), // a single one
            size => size.is_power_of_two().then(|| size.ilog2()),
        }
    }

    /// The end of the largest window from `start` that ends at or before `end` and needs only scales before
    /// `scales_end`, with the layout of its blocks. Tried from large to small: whole axes, lines from the
    /// start of a block, lines of one block, elements of one line.
    fn window(&self, start: usize, end: usize, scales_end: usize) -> Option<(usize, Blocks)> {
        let scales = scales_end.checked_sub(self.of(start))?;
        let room = end.checked_sub(start)?;
        let (line, column) = (start / self.inner, start % self.inner);
        let within = line % self.extent;
        let axis = self.extent * self.inner;
        let axes = (room / axis).min(scales / (self.along * self.inner));
        if column == 0 && within == 0 && axes > 0 {
            let size = self.size.min(ENDLESS);
            return Some((start + axes * axis, Blocks { size, ..*self }));
        }
        let lines = (room / self.inner).min(self.extent - within);
        let rows = scales / self.inner;
        if column == 0 && lines > 0 && rows > 0 {
            let in_block = self.size - within % self.size;
            let (lines, size) = match within % self.size {
                0 => (lines.min(rows.saturating_mul(self.size)), self.size),
                _ => (lines.min(in_block), ENDLESS),
            };
            let blocks = Blocks {
                extent: ENDLESS,
                along: ENDLESS,
                size: size.min(ENDLESS),
                inner: self.inner,
            };
            return Some((start + lines * self.inner, blocks));
        }
        let count = (self.inner - column).min(room).min(scales);
        let blocks = Blocks {
            extent: ENDLESS,
            inner: ENDLESS,
            size: ENDLESS,
            along: ENDLESS,
        };
        (count > 0).then_some((start + count, blocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantized::{CodeType, ScaleType, ZeroPoints};

    /// Windows of few bytes and scales follow each other, and lead to the right code and scale.
    #[test]
    fn windows_cover_a_table_and_know_its_scales() {
        let mut windows = 0;
        for (shape, axis) in [
            ([3, 7, 5], 0),
            ([3, 7, 5], 1),
            ([3, 7, 5], 2),
            ([1, 40, 1], 1),
        ] {
            for (codes, block_size) in [(CodeType::U2, 3), (CodeType::I4, 4), (CodeType::U8, 100)] {
                let format = SplitFormat {
                    codes,
                    scales: ScaleType::F32,
                    zero_points: ZeroPoints::Zero,
                    block_size,
                    axis,
                };
                let table = TableLayout::new(Format::Split(format), &shape).unwrap();
                let whole = table.blocks.unwrap();
                for (bytes, most_scales) in [(1, 1), (2, 3), (5, 5), (9, 100), (30, 7), (999, 999)]
                {
                    let mut at = 0;
                    while at < table.sizes.elements {
                        let (byte, scale) = (table.byte_of(at), table.scale_of(at));
                        let window = table.window(at, byte + bytes, scale + most_scales).unwrap();
                        assert_eq!((window.elements.start, window.codes.start), (at, byte));
                        assert!(window.codes.len() <= bytes && window.scales.len() <= most_scales);
                        let blocks = window.blocks.unwrap();
                        for element in window.elements.clone() {
                            let local = blocks.of(element - at) + window.scales.start;
                            assert_eq!(local, whole.of(element), "{shape:?} {axis} {at} {element}");
                            assert!(window.scales.contains(&local));
                        }
                        windows += 1;
                        at = window.elements.end;
                    }
                }
            }
        }
        assert!(windows > 1000, "{windows}");
    }

    #[test]
    fn windows_end_between_blocks_and_rows() {
        let q4_0 = Format::Blocks(BlockFormat::Q4_0);
        let table = TableLayout::new(q4_0, &[4, 64]).unwrap();
        assert_eq!(table.window(32, 18 + 53, 0).unwrap().elements, 32..96);
        assert_eq!(table.window(32, 18 + 17, 0), None);
        let halves = TableLayout::new(Format::Blocks(BlockFormat::F16), &[3, 7]).unwrap();
        assert_eq!(halves.window(0, 37, 0).unwrap().elements, 0..16);
        assert_eq!(halves.window(16, 42, 0).unwrap().elements, 16..21);
        let rows = TableLayout::new(Format::Rows, &[5, 3]).unwrap();
        assert_eq!(rows.window(3, 35, 0).unwrap().codes, 11..33);
        assert_eq!(rows.window(3, 21, 0), None);
    }
}
