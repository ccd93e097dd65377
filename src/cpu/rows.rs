//! Rows whose indices, or tuples of indices, follow each other: each is copied when it is looked up.
//!
//! Against looking up a block of rows first, 1.1 (512 bytes) to 1.4 times (32 to 128 bytes) as fast,
//! from memory and from cache; 1.0 to 1.1 times with 8 KiB and more. With a quarter of bad indices,
//! whose zeros are written right here, 1.1 to 2.2 times. With three coordinates 1.15 (64 bytes) to 1.3
//! times (single elements).

use std::iter::zip;
use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::copy::Work;
use super::sources::{BAD, Coordinate, Tuples};
use super::walk::{Run, Walk};
use super::{line, stream};

/// How many rows ahead are asked for: 1.0 to 1.3 times as fast with rows of 24 to 256 bytes. With 8
/// instead of 24, 0.7 to 1.0 times as fast; with 48, 0.93 to 1.1.
const AHEAD: usize = 24;

/// Longer rows are not asked for: 0.84 to 0.96 times as fast with 384 and 512 bytes. Neither are
/// rows whose length is known when compiling, which are short: 0.6 to 0.9 times.
const LONGEST_AHEAD_BYTES: usize = 256;

impl Work<'_> {
    /// Writes rows of `WIDTH` bytes, or, if that is 0, of any length.
    pub(super) fn rows<W: Pod + Into<u64>, const DEPTH: usize, const WIDTH: usize>(
        &self,
        first: usize,
        mut rest: &mut [MaybeUninit<u8>],
        coordinates: [&Coordinate; DEPTH],
    ) -> bool {
        let added = coordinates.map(|c| self.added_from_end(c));
        let zeros = added.iter().all(Option::is_some);
        let added = zeros.then(|| added.map(Option::unwrap_or_default));
        let tuples = Tuples::new(coordinates, added);
        let mut walk = Walk::new(self.plan.geometry(), first);
        let mut bad = false;
        while !rest.is_empty() {
            let run = walk.run(rest.len() / self.row_bytes);
            let (rows, later) = rest.split_at_mut(run.rows * self.row_bytes);
            rest = later;
            bad |= self.rows_of_run::<W, DEPTH, WIDTH>(run, rows, tuples);
        }
        bad
    }

    // What the loop needs is in variables: a copy is a call, after which fields are read again.
    fn rows_of_run<W: Pod + Into<u64>, const DEPTH: usize, const WIDTH: usize>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
        lookups: Tuples<DEPTH>,
    ) -> bool {
        let row_bytes = if WIDTH > 0 { WIDTH } else { self.row_bytes };
        let asks = WIDTH == 0 && row_bytes <= LONGEST_AHEAD_BYTES;
        let past_caches = WIDTH == 0 && self.past_caches;
        let (params, starts) = (self.params, self.starts(row_bytes));
        let (first, tuple_bytes) = (run.indices * size_of::<W>(), DEPTH * size_of::<W>());
        let indices = &self.lookups.indices()[first..first + run.rows * tuple_bytes];
        let tuples = indices.chunks_exact(tuple_bytes);
        let mut soon = tuples.clone().skip(AHEAD);
        let (mut start, step) = self.lookups.start(run);
        let mut bad = false;
        for (n, (row, tuple)) in zip(rows.chunks_exact_mut(row_bytes), tuples).enumerate() {
            if asks && let Some(tuple) = soon.next() {
                line::prefetch(params, lookups.plain::<W>(start, tuple).0, row_bytes);
            }
            let at = match (lookups.plain::<W>(start, tuple), lookups.added) {
                ((at, true), _) => at,
                (_, Some(added)) => lookups.counted::<W>(start, tuple, added),
                _ => self.source_by_rules::<W>(run.after(n)),
            };
            if at < starts {
                let source = &params[at..at + row_bytes];
                match past_caches {
                    true => stream::copy(row, source),
                    false => row.copy_from_slice(source),
                }
            } else if at == BAD && lookups.added.is_some() && !past_caches {
                row.fill(MaybeUninit::new(0));
                bad = true;
            } else {
                bad |= self.write_bad(row, at);
            }
            start = start.wrapping_add_signed(step);
        }
        bad
    }

    /// Where the first row of `run` starts, if some index is not plainly inside, or [`BAD`].
    #[cold]
    fn source_by_rules<W: Pod + Into<u64>>(&self, run: Run) -> usize {
        let mut source = [BAD];
        self.lookups.sources_by_rules::<W>(run, &mut source);
        source[0]
    }
}
