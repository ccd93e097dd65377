//! Kernels whose number of rows a count on the device decides.

use std::mem::offset_of;

use bytemuck::{Pod, Zeroable};

use crate::plan::block::GeometryBlock;
use crate::plan::kernel::Work;

/// The uniform block of `shaders/limit.wgsl`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct LimitBlock {
    entries_before: u32,
    entries_through: u32,
    rows_per_entry: u32,
    rows_before: u32,
    row_count: u32,
    scale: u32,
    lead: u32,
    span: u32,
    max_workgroups: u32,
    chunks: u32,
    row_count_word: u32,
    grid_x_word: u32,
}

impl LimitBlock {
    /// For a dispatch of `work` whose rows follow on `first_row` others, where an entry of indices
    /// has `rows_per_entry` rows.
    pub(crate) fn new(
        work: &Work,
        first_row: u64,
        rows_per_entry: u64,
        max_workgroups: u32,
        chunks: u32,
    ) -> Self {
        let end = first_row + u64::from(work.rows);
        let before = first_row / rows_per_entry;
        let word = |offset: usize| (offset / 4) as u32;
        // The rest wraps where an entry has more rows than 32 bits count: then the pass lies
        // within one or two entries, and what counts is right again.
        LimitBlock {
            entries_before: u32::try_from(before).unwrap_or(u32::MAX),
            entries_through: (end.div_ceil(rows_per_entry) - before) as u32,
            rows_per_entry: rows_per_entry as u32,
            rows_before: (first_row % rows_per_entry) as u32,
            row_count: work.rows,
            scale: work.scale,
            lead: work.lead,
            span: work.span,
            max_workgroups,
            chunks,
            row_count_word: word(offset_of!(GeometryBlock, row_count)),
            grid_x_word: word(offset_of!(GeometryBlock, grid_x)),
        }
    }
}
