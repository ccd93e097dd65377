//! Rows with one coordinate: each is copied when it is looked up.
//!
//! Against looking up a block of rows first, 1.1 (512 bytes) to 1.4 times (32 to 128 bytes) as fast,
//! from memory and from cache; 1.0 to 1.1 times with 8 KiB and more. With a quarter of bad indices,
//! whose zeros are written right here, 1.1 to 2.2 times.

use std::iter::zip;
use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::copy::Work;
use super::sources::{BAD, Coordinate, counted};
use super::walk::{Run, Walk, forward};
use super::{line, stream};

/// How many rows ahead are asked for: 1.0 to 1.2 times as fast with rows of 24 to 256 bytes.
const AHEAD: usize = 16;

/// Longer rows are not asked for: 0.84 to 0.96 times as fast with 384 and 512 bytes.
const LONGEST_AHEAD_BYTES: usize = 256;

impl Work<'_> {
    /// Writes rows of any length, which have one coordinate and whose indices are neighbours.
    pub(super) fn rows<W: Pod + Into<u64>>(
        &self,
        first: usize,
        mut rest: &mut [MaybeUninit<u8>],
        only: &Coordinate,
    ) -> bool {
        let mut walk = Walk::new(self.plan.geometry(), first);
        let mut bad = false;
        while !rest.is_empty() {
            let run = walk.run(rest.len() / self.row_bytes);
            let (rows, later) = rest.split_at_mut(run.rows * self.row_bytes);
            rest = later;
            bad |= self.rows_of_run::<W>(run, rows, only);
        }
        bad
    }

    // What the loop needs is in variables: a copy is a call, after which fields are read again.
    fn rows_of_run<W: Pod + Into<u64>>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
        only: &Coordinate,
    ) -> bool {
        let (params, row_bytes) = (self.params, self.row_bytes);
        let (inside, stride) = (only.inside, only.stride_bytes);
        let starts = self.starts(row_bytes);
        let from_end = self.added_from_end(only);
        let past_caches = self.past_caches;
        let asks = row_bytes <= LONGEST_AHEAD_BYTES;
        let first = run.indices * size_of::<W>();
        let indices = &self.lookups.indices()[first..first + run.rows * size_of::<W>()];
        let load = |index: &[u8]| -> u64 { bytemuck::pod_read_unaligned::<W>(index).into() };
        let indices = indices.chunks_exact(size_of::<W>());
        let mut soon = indices.clone().skip(AHEAD);
        let (mut start, step) = self.lookups.start(run);
        let mut bad = false;
        for (n, (row, index)) in zip(rows.chunks_exact_mut(row_bytes), indices).enumerate() {
            if asks && let Some(index) = soon.next() {
                line::prefetch(
                    params,
                    forward(start, load(index) as isize, stride),
                    row_bytes,
                );
            }
            let bits = load(index);
            let at = if bits < inside {
                forward(start, bits as isize, stride)
            } else if let Some(added) = from_end {
                match counted::<W>(bits, added) {
                    index if index < inside => forward(start, index as isize, stride),
                    _ => BAD,
                }
            } else {
                self.source_by_rules::<W>(run.indices + n, start, only)
            };
            if at < starts {
                let source = &params[at..at + row_bytes];
                match past_caches {
                    true => stream::copy(row, source),
                    false => row.copy_from_slice(source),
                }
            } else if at == BAD && from_end.is_some() {
                row.fill(MaybeUninit::new(0));
                bad = true;
            } else {
                bad |= self.write_bad(row, at);
            }
            start = start.wrapping_add_signed(step);
        }
        bad
    }

    /// Where a row starts whose index is not plainly inside, or [`BAD`].
    #[cold]
    fn source_by_rules<W: Pod + Into<u64>>(
        &self,
        position: usize,
        start: usize,
        only: &Coordinate,
    ) -> usize {
        let index = self.lookups.look_up::<W>(position, only);
        index.map_or(BAD, |n| forward(start, n as isize, only.stride_bytes))
    }
}
