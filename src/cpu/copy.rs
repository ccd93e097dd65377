//! Writes rows of an output: the inner loops of the CPU path.
//!
//! A row is looked up once and copied. What is the same for all rows is chosen outside the loops.
//! There are two of them:
//!
//! - `runs`, for single elements (rows of 1, 2, 4, 8 or 16 bytes) with one coordinate: lookup and
//!   copy in one loop of a dozen instructions. About 2 times as fast as `blocks` in cache, 1.4
//!   times in memory.
//! - `blocks`, for everything else: the sources of some rows first, then their copies. 1.2 times
//!   (single elements) to 1.4 times (rows of 64 bytes) as fast as row by row with several
//!   coordinates, the same with long rows.
//!
//! Software prefetch, 4 or 8 rows ahead, gained nothing on rows of 256 bytes to 8 KiB: the loads of
//! several rows are under way at once without it.

use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::sources::{BAD, BLOCK, Coordinate, Lookups};
use super::walk::{Run, Walk, forward};
use crate::plan::Plan;
use crate::rules::OutOfBounds;

/// One execution, shared by all threads.
pub(super) struct Work<'a> {
    plan: &'a Plan,
    params: &'a [MaybeUninit<u8>],
    lookups: Lookups<'a>,
    /// Bytes of one row of the output.
    row_bytes: usize,
}

impl<'a> Work<'a> {
    pub(super) fn new(plan: &'a Plan, params: &'a [u8], indices: &'a [u8]) -> Self {
        Work {
            plan,
            params: as_uninit(params),
            lookups: Lookups::new(plan, indices),
            row_bytes: plan.geometry().slice() * plan.element_bytes(),
        }
    }

    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    pub(super) fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Writes all of `output`, whose first row is row number `first`; returns whether some index
    /// was bad.
    pub(super) fn write(&self, first: usize, output: &mut [MaybeUninit<u8>]) -> bool {
        // No plan leaves a part of a row; nothing is left unwritten all the same.
        let (rows, tail) = output.split_at_mut(output.len() - output.len() % self.row_bytes);
        fill(tail, &[]);
        match self.plan.index_type().bytes() {
            4 => self.write_for::<u32>(first, rows),
            _ => self.write_for::<u64>(first, rows),
        }
    }

    fn write_for<W: Pod + Into<u64>>(&self, first: usize, rows: &mut [MaybeUninit<u8>]) -> bool {
        let Some(only) = self.lookups.only() else {
            return self.blocks::<W>(first, rows);
        };
        match self.row_bytes {
            1 => self.runs::<W, 1>(first, rows, only),
            2 => self.runs::<W, 2>(first, rows, only),
            4 => self.runs::<W, 4>(first, rows, only),
            8 => self.runs::<W, 8>(first, rows, only),
            16 => self.runs::<W, 16>(first, rows, only),
            _ => self.blocks::<W>(first, rows),
        }
    }

    /// Writes rows of `WIDTH` bytes, which have one coordinate and whose indices are neighbours.
    fn runs<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        first: usize,
        mut rest: &mut [MaybeUninit<u8>],
        only: &Coordinate,
    ) -> bool {
        let mut walk = Walk::new(self.plan.geometry(), first);
        let mut sources = [0; BLOCK];
        let mut bad = false;
        while !rest.is_empty() {
            let mut run = walk.run(rest.len() / WIDTH);
            let (mut rows, later) = rest.split_at_mut(run.rows * WIDTH);
            rest = later;
            loop {
                let copied = self.copy_inside::<W, WIDTH>(run, rows, only);
                run = run.after(copied);
                rows = &mut rows[copied * WIDTH..];
                if run.rows == 0 {
                    break;
                }
                // What follows is not plainly inside, and its neighbours may not be either.
                let sources = &mut sources[..run.rows.min(BLOCK)];
                self.lookups.sources_by_rules::<W>(run, sources);
                let (block, later) = rows.split_at_mut(sources.len() * WIDTH);
                bad |= self.copy_fixed::<WIDTH>(block, sources);
                run = run.after(sources.len());
                rows = later;
            }
        }
        bad
    }

    /// Copies the rows of `run` up to the first whose index is not plainly inside; returns how
    /// many.
    #[inline(never)]
    #[allow(unsafe_code, reason = "a second bound check costs 13 to 22 %")]
    fn copy_inside<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
        only: &Coordinate,
    ) -> usize {
        let (params, starts) = (self.params, self.starts(WIDTH));
        let &Coordinate {
            inside,
            stride_bytes,
            ..
        } = only;
        let (mut base, step) = self.lookups.start(run);
        let first = run.indices * size_of::<W>();
        let indices = &self.lookups.indices()[first..first + run.rows * size_of::<W>()];
        let rows = rows.chunks_exact_mut(WIDTH);
        let mut copied = 0;
        for (row, index) in rows.zip(indices.chunks_exact(size_of::<W>())) {
            let bits: u64 = bytemuck::pod_read_unaligned::<W>(index).into();
            let at = forward(base, bits as isize, stride_bytes);
            if bits >= inside || at >= starts {
                break;
            }
            // SAFETY: at + WIDTH < starts + WIDTH == params.len() + 1, without overflow.
            row.copy_from_slice(unsafe { params.get_unchecked(at..at + WIDTH) });
            base = base.wrapping_add_signed(step);
            copied += 1;
        }
        copied
    }

    /// How many positions in params a row of so many bytes can start at.
    fn starts(&self, row_bytes: usize) -> usize {
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
        match self.row_bytes {
            1 => self.copy_fixed::<1>(rows, sources),
            2 => self.copy_fixed::<2>(rows, sources),
            4 => self.copy_fixed::<4>(rows, sources),
            8 => self.copy_fixed::<8>(rows, sources),
            16 => self.copy_fixed::<16>(rows, sources),
            _ => self.copy_fixed::<0>(rows, sources),
        }
    }

    /// `WIDTH` is the row's bytes where a loop of its own pays, else 0.
    #[inline(never)]
    #[allow(unsafe_code, reason = "the check is `at < starts`")]
    fn copy_fixed<const WIDTH: usize>(
        &self,
        rows: &mut [MaybeUninit<u8>],
        sources: &[usize],
    ) -> bool {
        let row_bytes = if WIDTH > 0 { WIDTH } else { self.row_bytes };
        let (params, starts) = (self.params, self.starts(row_bytes));
        let mut bad = false;
        for (row, &at) in rows.chunks_exact_mut(row_bytes).zip(sources) {
            if at < starts {
                // SAFETY: at + row_bytes < starts + row_bytes == params.len() + 1, without overflow.
                row.copy_from_slice(unsafe { params.get_unchecked(at..at + row_bytes) });
            } else {
                bad |= self.write_bad(row, at);
            }
        }
        bad
    }

    /// Writes a row whose index is bad; returns true.
    #[cold]
    fn write_bad(&self, row: &mut [MaybeUninit<u8>], at: usize) -> bool {
        assert_eq!(at, BAD, "a plan reads outside params");
        let element = match &self.plan.rules().out_of_bounds {
            OutOfBounds::Fill(element) => element.bytes(),
            _ => &[],
        };
        fill(row, element);
        true
    }
}

/// Repeats `element` (zeros, if it has no bytes) over the row.
fn fill(row: &mut [MaybeUninit<u8>], element: &[u8]) {
    let bytes = if element.is_empty() { &[0] } else { element };
    for (to, &from) in row.iter_mut().zip(bytes.iter().cycle()) {
        to.write(from);
    }
}

/// Bytes as what may be copied to memory that is not yet written: a copy from `&[u8]` byte by byte
/// does not become one of 16 bytes or a call of memcpy, as the compiler cannot tell the two slices
/// apart (up to 2 times slower).
#[allow(
    unsafe_code,
    reason = "std has no safe copy of this kind before Rust 1.93"
)]
fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    // SAFETY: MaybeUninit<u8> has the layout of u8, and nothing is written through a shared
    // reference.
    unsafe { &*(std::ptr::from_ref(bytes) as *const [MaybeUninit<u8>]) }
}
