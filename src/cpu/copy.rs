//! Writes rows of an output: the inner loops of the CPU path.
//!
//! A row is looked up once and copied. What is the same for all rows is chosen outside the loops.
//! There are four of them:
//!
//! - `elements`, for single elements (rows of 1, 2, 4, 8 or 16 bytes) with one coordinate: lookup
//!   and copy in one loop, in groups of 8. Against a loop that checks each position in params,
//!   1.5 times as fast in cache, 1.4 times in rows of 16 KiB, 1.1 to 1.2 times in memory.
//! - `strips`, for single elements that are looked up column by column: 1.5 to 1.9 times as fast as
//!   `elements` on 4096 rows of 16 KiB.
//! - `rows`, for longer rows whose tuples of indices follow each other, and for elements with three
//!   coordinates: lookup and copy in one loop.
//! - `blocks`, for everything else: the sources of some rows first, then their copies. Copies of 3
//!   bytes without a call gain 1.5 times.
//!
//! Outputs that are larger than caches are written past them (`stream`).

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;

use bytemuck::Pod;

use super::sources::{BAD, BLOCK, Lookups};
use super::stream;
use super::walk::Walk;
use crate::plan::Plan;
use crate::rules::OutOfBounds;

/// Shorter rows are copied faster from a block of sources, as copies of a length that is known when
/// compiling are no calls.
const LONG_BYTES: usize = 17;

/// From this size on an output is more than the caches hold, whoever reads it next. Unit tests, which
/// compare with the reference, have no such outputs.
const PAST_CACHES_BYTES: usize = if cfg!(test) { 1 << 10 } else { 32 << 20 };

/// Short rows that are made in a cache before they are written past it: 1.1 to 1.3 times as fast with
/// 8 and 12 bytes, 0.93 to 1.0 times with 4 and 16.
const BUFFERED_BYTES: Range<usize> = 8..16;

/// How much of them at a time.
const BUFFER_BYTES: usize = 16 << 10;

/// The longest row that is kept for bad indices. Rows of 512 bytes of which a quarter were filled through
/// the caches, among others past them, took 2 to 3 times as long.
const MOST_BAD_BYTES: usize = 64 << 10;

/// What is known of an output's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// The system clears it when it is first written to, and leaves that in the caches.
    Fresh,
    /// It has been written to before.
    Used,
}

/// One execution, shared by all threads.
pub(super) struct Work<'a> {
    pub(super) plan: &'a Plan,
    pub(super) params: &'a [MaybeUninit<u8>],
    pub(super) lookups: Lookups<'a>,
    /// Bytes of one row of the output.
    pub(super) row_bytes: usize,
    /// Whether rows are written past the caches.
    pub(super) past_caches: bool,
    /// What is written past the caches for a bad index, once there was one.
    bad_row: OnceLock<Vec<MaybeUninit<u8>>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(plan: &'a Plan, params: &'a [u8], indices: &'a [u8], memory: Memory) -> Self {
        let row_bytes = plan.geometry().slice() * plan.element_bytes();
        let pays = BUFFERED_BYTES.contains(&row_bytes) || stream::pays(row_bytes);
        Work {
            plan,
            params: as_uninit(params),
            lookups: Lookups::new(plan, indices),
            row_bytes,
            past_caches: stream::EXISTS
                && pays
                && memory == Memory::Used
                && plan.output_bytes() >= PAST_CACHES_BYTES,
            bad_row: OnceLock::new(),
        }
    }

    /// About so many bytes, and whole elements.
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    pub(super) fn part_bytes(&self, about: usize) -> usize {
        let element = self.plan.element_bytes();
        (about / element).max(1) * element
    }

    /// Writes all of `output`, whose first row is row number `first`; returns whether some index
    /// was bad.
    pub(super) fn write(&self, first: usize, output: &mut [MaybeUninit<u8>]) -> bool {
        // No plan leaves a part of a row; nothing is left unwritten all the same.
        let (rows, tail) = output.split_at_mut(output.len() - output.len() % self.row_bytes);
        fill(tail, &[]);
        if !self.past_caches {
            return self.write_rows(first, rows);
        }
        let bad = match BUFFERED_BYTES.contains(&self.row_bytes) {
            true => self.write_by_buffer(first, rows),
            false => self.write_rows(first, rows),
        };
        stream::fence();
        bad
    }

    /// Writes rows to a buffer first, and from there past the caches.
    fn write_by_buffer(&self, first: usize, rows: &mut [MaybeUninit<u8>]) -> bool {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let count = BUFFER_BYTES / self.row_bytes / 16 * 16;
        let mut bad = false;
        for (n, rows) in rows.chunks_mut(count * self.row_bytes).enumerate() {
            let buffer = &mut buffer[..rows.len()];
            bad |= self.write_rows(first + n * count, buffer);
            stream::copy(rows, buffer);
        }
        bad
    }

    fn write_rows(&self, first: usize, rows: &mut [MaybeUninit<u8>]) -> bool {
        match self.plan.index_type().bytes() {
            4 => self.write_for::<u32>(first, rows),
            _ => self.write_for::<u64>(first, rows),
        }
    }

    fn write_for<W: Pod + Into<u64>>(&self, first: usize, rows: &mut [MaybeUninit<u8>]) -> bool {
        if let Some([only]) = self.lookups.tuples() {
            return match self.row_bytes {
                1 => self.elements::<W, 1>(first, rows, only),
                2 => self.elements::<W, 2>(first, rows, only),
                4 => self.elements::<W, 4>(first, rows, only),
                8 => self.elements::<W, 8>(first, rows, only),
                16 => self.elements::<W, 16>(first, rows, only),
                LONG_BYTES.. => self.rows::<W, 1, 0>(first, rows, [only]),
                _ => self.blocks::<W>(first, rows),
            };
        }
        match self.row_bytes {
            LONG_BYTES.. => match (self.lookups.tuples(), self.lookups.tuples()) {
                (Some(pair), _) => self.rows::<W, 2, 0>(first, rows, pair),
                (_, Some(three)) => self.rows::<W, 3, 0>(first, rows, three),
                _ => self.blocks::<W>(first, rows),
            },
            // Short rows with two coordinates are as fast from blocks, or faster.
            bytes => match (self.lookups.tuples(), bytes) {
                (Some(three), 2) => self.rows::<W, 3, 2>(first, rows, three),
                (Some(three), 4) => self.rows::<W, 3, 4>(first, rows, three),
                _ => self.blocks::<W>(first, rows),
            },
        }
    }

    /// How many positions in params a row of so many bytes can start at.
    pub(super) fn starts(&self, row_bytes: usize) -> usize {
        (self.params.len() + 1).saturating_sub(row_bytes)
    }

    /// Writes rows of any length, with any lookups.
    fn blocks<W: Pod + Into<u64>>(&self, first: usize, rows: &mut [MaybeUninit<u8>]) -> bool {
        let mut walk = Walk::new(self.plan.geometry(), first);
        let mut sources = [0; BLOCK];
        let mut bad = false;
        for block in rows.chunks_mut(BLOCK * self.row_bytes) {
            let sources = &mut sources[..block.len() / self.row_bytes];
            let mut rest = &mut *sources;
            while !rest.is_empty() {
                let run = walk.run(rest.len());
                let (now, later) = rest.split_at_mut(run.rows);
                self.lookups.sources::<W>(run, now);
                rest = later;
            }
            bad |= self.copy(block, sources);
        }
        bad
    }

    /// Copies a block of rows; returns whether some of them were bad.
    fn copy(&self, rows: &mut [MaybeUninit<u8>], sources: &[usize]) -> bool {
        macro_rules! copy {
            ($($width:literal)*) => {
                match self.row_bytes {
                    $($width => self.copy_fixed::<$width>(rows, sources),)*
                    _ => self.copy_rows(rows, sources),
                }
            };
        }
        copy!(1 2 3 4 6 8 12 16)
    }

    /// Copies short rows of `WIDTH` bytes.
    #[inline(never)]
    #[allow(unsafe_code, reason = "the check is `at < starts`")]
    pub(super) fn copy_fixed<const WIDTH: usize>(
        &self,
        rows: &mut [MaybeUninit<u8>],
        sources: &[usize],
    ) -> bool {
        let (params, starts) = (self.params, self.starts(WIDTH));
        let mut bad = false;
        for (row, &at) in rows.chunks_exact_mut(WIDTH).zip(sources) {
            if at < starts {
                // SAFETY: at + WIDTH < starts + WIDTH == params.len() + 1, without overflow.
                row.copy_from_slice(unsafe { params.get_unchecked(at..at + WIDTH) });
            } else {
                bad |= self.write_bad(row, at);
            }
        }
        bad
    }

    /// Copies rows of any length.
    fn copy_rows(&self, rows: &mut [MaybeUninit<u8>], sources: &[usize]) -> bool {
        let starts = self.starts(self.row_bytes);
        let mut bad = false;
        for (row, &at) in rows.chunks_exact_mut(self.row_bytes).zip(sources) {
            if at < starts {
                self.copy_row(row, &self.params[at..at + self.row_bytes]);
            } else {
                bad |= self.write_bad(row, at);
            }
        }
        bad
    }

    #[inline]
    fn copy_row(&self, row: &mut [MaybeUninit<u8>], source: &[MaybeUninit<u8>]) {
        match self.past_caches {
            true => stream::copy(row, source),
            false => row.copy_from_slice(source),
        }
    }

    /// Writes the part of row number `row` that starts at its byte `from`, which is a multiple of
    /// the bytes of an element.
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    pub(super) fn write_part(&self, row: usize, from: usize, part: &mut [MaybeUninit<u8>]) -> bool {
        let mut source = [0];
        let run = Walk::new(self.plan.geometry(), row).run(1);
        match self.plan.index_type().bytes() {
            4 => self.lookups.sources::<u32>(run, &mut source),
            _ => self.lookups.sources::<u64>(run, &mut source),
        }
        let [at] = source;
        if at >= self.starts(self.row_bytes) {
            return self.write_bad(part, at);
        }
        self.copy_row(part, &self.params[at + from..][..part.len()]);
        stream::fence();
        false
    }

    /// Writes a row whose index is bad; returns true.
    #[cold]
    pub(super) fn write_bad(&self, row: &mut [MaybeUninit<u8>], at: usize) -> bool {
        assert_eq!(at, BAD, "a plan reads outside params");
        let element = match &self.plan.rules().out_of_bounds {
            OutOfBounds::Fill(element) => element.bytes(),
            _ => &[],
        };
        if self.past_caches && row.len() == self.row_bytes && row.len() <= MOST_BAD_BYTES {
            stream::copy(row, self.bad_row.get_or_init(|| filled(row.len(), element)));
        } else {
            fill(row, element);
        }
        true
    }
}

/// So many bytes, with `element` repeated.
fn filled(bytes: usize, element: &[u8]) -> Vec<MaybeUninit<u8>> {
    let mut row = vec![MaybeUninit::uninit(); bytes];
    fill(&mut row, element);
    row
}

/// Repeats `element` (zeros, if it has no bytes) over the row.
fn fill(row: &mut [MaybeUninit<u8>], element: &[u8]) {
    if element.is_empty() {
        row.fill(MaybeUninit::new(0));
        return;
    }
    let mut written = element.len().min(row.len());
    row[..written].copy_from_slice(as_uninit(&element[..written]));
    // What is written is whole elements, and is there once more: twice as much each time.
    while written < row.len() {
        let more = written.min(row.len() - written);
        row.copy_within(..more, written);
        written += more;
    }
}

/// Bytes as what may be copied to memory that is not yet written: a copy from `&[u8]` byte by byte
/// does not become one of 16 bytes or a call of memcpy, as the compiler cannot tell the two slices
/// apart (up to 2 times slower).
#[allow(
    unsafe_code,
    reason = "std has no safe copy of this kind before Rust 1.93"
)]
pub(super) fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    // SAFETY: MaybeUninit<u8> has the layout of u8, and nothing is written through a shared
    // reference.
    unsafe { &*(std::ptr::from_ref(bytes) as *const [MaybeUninit<u8>]) }
}
