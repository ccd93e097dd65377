//! The numbers of a window of a table: `Table` in `shaders/decode/table.wgsl`, field for field.

use bytemuck::{Pod, Zeroable};

use crate::gpu::tensor::quantized::BoundWindow;
use crate::plan::divisor;
use crate::quantized::{
    Blocks, FloatType, ScaleType, SplitFormat, TableLayout, Window, ZeroPoints,
};

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(in crate::gpu) struct TableBlock {
    pub(in crate::gpu) count: u32,
    pub(in crate::gpu) codes_offset: u32,
    pub(in crate::gpu) last_word: u32,
    pub(in crate::gpu) fills: u32,
    options: u32,
    row_length: u32,
    row_divisor: [u32; 2],
    bits_log2: u32,
    lead: u32,
    is_signed: u32,
    zero: u32,
    pub(in crate::gpu) zeros_offset: u32,
    pub(in crate::gpu) scales_offset: u32,
    scale_log2: u32,
    extent: u32,
    along: u32,
    inner: u32,
    extent_divisor: [u32; 2],
    inner_divisor: [u32; 2],
    block_divisor: [u32; 2],
    block_log2: u32,
    padding: u32,
}

/// The bits of the options.
const HALVES: u32 = 1;
const BFLOAT: u32 = 2;
const ZERO_POINTS: u32 = 4;
const F16_SCALES: u32 = 8;
const BF16_SCALES: u32 = 16;
const ODD_BLOCKS: u32 = 32;
const SEVERAL_ROWS: u32 = 64;

impl TableBlock {
    /// The block of a window as it is bound. A row of the output may take elements of `several_rows` of the
    /// table; if the window `fills`, it also writes what bad indices leave.
    pub(in crate::gpu) fn of_window(
        layout: &TableLayout,
        bound: &BoundWindow<'_>,
        to: FloatType,
        several_rows: bool,
        fills: bool,
    ) -> Self {
        let mut block = TableBlock::new(layout, &bound.window, to);
        if several_rows {
            block.options |= SEVERAL_ROWS;
        }
        (block.codes_offset, block.last_word) = (bound.codes_offset, bound.last_word);
        block.fills = u32::from(fills);
        if let Some(scales) = &bound.scales {
            block.scales_offset = scales.scales_offset;
            block.zeros_offset = scales.zeros_offset;
        }
        block
    }

    /// Fields that follow from the window. Offsets within bindings are left at 0.
    fn new(layout: &TableLayout, window: &Window, to: FloatType) -> Self {
        let mut block = TableBlock::zeroed();
        block.count = window.elements.len() as u32;
        block.lead = window.lead as u32;
        block.options = match to {
            FloatType::F32 => 0,
            FloatType::F16 => HALVES,
            FloatType::BF16 => HALVES | BFLOAT,
        };
        // Rows of a table that has elements in a window are shorter than 2^31.
        block.row_length = layout.row() as u32;
        block.row_divisor = divisor(block.row_length);
        if let (Some(split), Some(blocks)) = (layout.split(), &window.blocks) {
            block.set_format(split);
            block.set_blocks(blocks);
        }
        block
    }

    fn set_format(&mut self, split: &SplitFormat) {
        self.bits_log2 = split.codes.bits().ilog2();
        self.is_signed = u32::from(split.codes.is_signed());
        if split.zero_points.are_stored() {
            self.options |= ZERO_POINTS;
        }
        if split.zero_points == ZeroPoints::Middle {
            self.zero = 1 << (split.codes.bits() - 1);
        }
        self.scale_log2 = split.scales.bytes().ilog2();
        self.options |= match split.scales {
            ScaleType::F32 | ScaleType::E8M0 => 0,
            ScaleType::F16 => F16_SCALES,
            ScaleType::BF16 => BF16_SCALES,
        };
    }

    fn set_blocks(&mut self, blocks: &Blocks) {
        // None of them is larger than 2^31 - 1 in a window.
        self.extent = blocks.extent as u32;
        self.along = blocks.along as u32;
        self.inner = blocks.inner as u32;
        self.extent_divisor = divisor(self.extent);
        self.inner_divisor = divisor(self.inner);
        self.block_divisor = divisor(blocks.size as u32);
        match blocks.shift() {
            Some(shift) => self.block_log2 = shift,
            None => self.options |= ODD_BLOCKS,
        }
    }
}
