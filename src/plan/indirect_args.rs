//! Kernels whose number of rows a count on the device decides.

use std::mem::offset_of;

use bytemuck::{Pod, Zeroable};

use crate::plan::block::GeometryBlock;
use crate::plan::kernel::Work;

/// The uniform block of `shaders/indirect_args.wgsl`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct IndirectArgsBlock {
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
    count_word: u32,
    padding: [u32; 3],
}

/// A dispatch and where it lies among the rows of its plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndirectDispatch<'a> {
    /// Rows and workgroups of the dispatch.
    pub(crate) work: &'a Work,
    /// Its workgroups, without a count.
    pub(crate) workgroups: [u32; 3],
    /// The rows of the plan before it.
    pub(crate) first_row: u64,
    /// The rows that an entry of indices has.
    pub(crate) rows_per_entry: u64,
}

impl IndirectArgsBlock {
    /// For a dispatch on a device of at most `max_workgroups` workgroups per dimension, and a
    /// count that is word number `count_word` of its binding.
    pub(crate) fn new(
        indirect: &IndirectDispatch<'_>,
        max_workgroups: u32,
        count_word: u32,
    ) -> Self {
        let &IndirectDispatch {
            work,
            workgroups,
            first_row,
            rows_per_entry,
        } = indirect;
        let end = first_row + u64::from(work.rows);
        let before = first_row / rows_per_entry;
        let word = |offset: usize| (offset / 4) as u32;
        // Truncation to 32 bits wraps only if an entry has more rows than the pass. The pass then lies within
        // two entries, and the difference that the shader uses is correct modulo 2^32.
        IndirectArgsBlock {
            entries_before: u32::try_from(before).unwrap_or(u32::MAX),
            entries_through: (end.div_ceil(rows_per_entry) - before) as u32,
            rows_per_entry: rows_per_entry as u32,
            rows_before: (first_row % rows_per_entry) as u32,
            row_count: work.rows,
            scale: work.scale,
            lead: work.lead,
            span: work.span,
            max_workgroups,
            chunks: workgroups[2],
            row_count_word: word(offset_of!(GeometryBlock, row_count)),
            grid_x_word: word(offset_of!(GeometryBlock, grid_x)),
            count_word,
            padding: [0; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `shaders/indirect_args.wgsl`, in 32 bits as there.
    fn rows(l: &IndirectArgsBlock, count: u32) -> u32 {
        let entries = count.max(l.entries_before) - l.entries_before;
        match entries {
            n if n >= l.entries_through => l.row_count,
            0 => 0,
            n => n.wrapping_mul(l.rows_per_entry).wrapping_sub(l.rows_before),
        }
    }

    #[test]
    fn the_rows_of_a_pass_up_to_a_count_of_entries() {
        // per entry; first row and rows of the pass
        let cases = [
            (1u64, 0u64, 10u32),
            (3, 0, 30),
            (3, 7, 20),
            (1000, 1500, 200),
            (1000, 900, 200),
            (5 << 31, (5 << 31) - 100, 200),
            (5 << 31, 7 << 31, 1 << 30),
            (7, (7u64 << 31) + 3, 1 << 30),
        ];
        for (rows_per_entry, first_row, pass_rows) in cases {
            let work = Work {
                rows: pass_rows,
                scale: 1,
                lead: 0,
                span: 256,
            };
            let indirect = IndirectDispatch {
                work: &work,
                workgroups: [1, 1, 1],
                first_row,
                rows_per_entry,
            };
            let block = IndirectArgsBlock::new(&indirect, 65_535, 0);
            let near = (first_row / rows_per_entry) as u32;
            let counts = (0..12).chain(near.saturating_sub(3)..near + 40);
            for count in counts.chain([u32::MAX]) {
                let all = u128::from(count) * u128::from(rows_per_entry);
                let expected = all
                    .saturating_sub(u128::from(first_row))
                    .min(u128::from(pass_rows));
                assert_eq!(
                    u128::from(rows(&block, count)),
                    expected,
                    "{count} {block:?}"
                );
            }
        }
    }
}
