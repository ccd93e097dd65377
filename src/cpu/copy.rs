//! Writes rows of the output: each is copied as soon as it is looked up.
//!
//! Two loops copy: one for short rows, whose width is known at compile time so that a copy is no
//! call, and one for rows of any length.

use std::iter::zip;
use std::mem::MaybeUninit;

use super::rows::{BAD, Lookups, Rows, Run};
use crate::plan::Plan;
use crate::rules::OutOfBounds;

/// One execution, shared by all threads.
pub(super) struct Work<'a> {
    plan: &'a Plan,
    params: &'a [MaybeUninit<u8>],
    lookups: Lookups<'a>,
    /// Bytes of one row of the output.
    pub(super) row_bytes: usize,
}

impl<'a> Work<'a> {
    pub(super) fn new(plan: &'a Plan, params: &'a [u8], indices: &'a [u8]) -> Self {
        let row_bytes = plan.geometry().slice() * plan.element_bytes();
        Work {
            plan,
            params: bytemuck::cast_slice(params),
            lookups: Lookups::new(plan, indices),
            row_bytes,
        }
    }

    /// Writes all of `output`, whose first byte is byte `first` of the whole output and the first
    /// of an element; returns whether some index was bad.
    pub(super) fn write(&self, first: usize, mut output: &mut [MaybeUninit<u8>]) -> bool {
        let row_bytes = self.row_bytes;
        let mut rows = Rows::new(self.plan.geometry(), first / row_bytes);
        // The bytes of the next row that lie before `output`.
        let mut skip = first % row_bytes;
        let mut bad = false;
        while !output.is_empty() {
            let whole = match skip {
                0 => output.len() / row_bytes,
                _ => 0,
            };
            let run = rows.next_run(whole.max(1));
            let bytes = match whole {
                0 => output.len().min(row_bytes - skip),
                _ => run.rows * row_bytes,
            };
            let (now, later) = output.split_at_mut(bytes);
            bad |= match whole {
                0 => self.copy_part(run, now, skip),
                _ => self.copy_run(run, now),
            };
            (output, skip) = (later, 0);
        }
        bad
    }

    /// Copies the part of a row that begins after `skip` bytes; returns whether its index is bad.
    fn copy_part(&self, run: Run, part: &mut [MaybeUninit<u8>], skip: usize) -> bool {
        let start = match self.plan.index_type().bytes() {
            4 => self.lookups.starts::<u32>(run).next(),
            _ => self.lookups.starts::<u64>(run).next(),
        };
        // The part is a row, too, which starts `skip` bytes later.
        let start = start.map(|s| if s == BAD { BAD } else { s.wrapping_add(skip) });
        self.copy_any(part, part.len(), start.into_iter())
    }

    /// Copies the rows of a run; returns whether some of them have a bad index.
    fn copy_run(&self, run: Run, rows: &mut [MaybeUninit<u8>]) -> bool {
        let lookups = &self.lookups;
        match (lookups.packed_depth(), self.plan.index_type().bytes()) {
            (1, 4) => self.copy(rows, lookups.starts_packed::<u32, 1>(run)),
            (1, _) => self.copy(rows, lookups.starts_packed::<u64, 1>(run)),
            (2, 4) => self.copy(rows, lookups.starts_packed::<u32, 2>(run)),
            (2, _) => self.copy(rows, lookups.starts_packed::<u64, 2>(run)),
            (3, 4) => self.copy(rows, lookups.starts_packed::<u32, 3>(run)),
            (3, _) => self.copy(rows, lookups.starts_packed::<u64, 3>(run)),
            (_, 4) => self.copy(rows, lookups.starts::<u32>(run)),
            (_, _) => self.copy(rows, lookups.starts::<u64>(run)),
        }
    }

    #[inline]
    fn copy(&self, rows: &mut [MaybeUninit<u8>], starts: impl Iterator<Item = usize>) -> bool {
        match self.row_bytes {
            1 => self.copy_fixed::<1>(rows, starts),
            2 => self.copy_fixed::<2>(rows, starts),
            3 => self.copy_fixed::<3>(rows, starts),
            4 => self.copy_fixed::<4>(rows, starts),
            6 => self.copy_fixed::<6>(rows, starts),
            8 => self.copy_fixed::<8>(rows, starts),
            12 => self.copy_fixed::<12>(rows, starts),
            16 => self.copy_fixed::<16>(rows, starts),
            row_bytes => self.copy_any(rows, row_bytes, starts),
        }
    }

    /// Copies rows of `WIDTH` bytes.
    #[inline(never)]
    #[allow(unsafe_code, reason = "the check is `start < end`")]
    fn copy_fixed<const WIDTH: usize>(
        &self,
        rows: &mut [MaybeUninit<u8>],
        starts: impl Iterator<Item = usize>,
    ) -> bool {
        let params = self.params;
        let end = (params.len() + 1).saturating_sub(WIDTH);
        let mut bad = false;
        for (row, start) in zip(rows.as_chunks_mut::<WIDTH>().0, starts) {
            if start < end {
                // SAFETY: start + WIDTH < end + WIDTH == params.len() + 1, without overflow.
                row.copy_from_slice(unsafe { params.get_unchecked(start..start + WIDTH) });
            } else {
                self.fill(row, start);
                bad = true;
            }
        }
        bad
    }

    /// Copies rows of any length.
    #[inline(never)]
    fn copy_any(
        &self,
        rows: &mut [MaybeUninit<u8>],
        row_bytes: usize,
        starts: impl Iterator<Item = usize>,
    ) -> bool {
        let params = self.params;
        let end = (params.len() + 1).saturating_sub(row_bytes);
        let mut bad = false;
        for (row, start) in zip(rows.chunks_exact_mut(row_bytes), starts) {
            if start < end {
                row.copy_from_slice(&params[start..start + row_bytes]);
            } else {
                self.fill(row, start);
                bad = true;
            }
        }
        bad
    }

    /// Writes what a bad index gives: the fill value over and over, or zeros.
    #[cold]
    fn fill(&self, row: &mut [MaybeUninit<u8>], start: usize) {
        assert_eq!(start, BAD, "a plan reads outside params");
        let OutOfBounds::Fill(value) = &self.plan.rules().out_of_bounds else {
            row.fill(MaybeUninit::new(0));
            return;
        };
        let value: &[MaybeUninit<u8>] = bytemuck::cast_slice(value.bytes());
        row[..value.len()].copy_from_slice(value);
        // What is written is whole elements, and is there once more: twice as much each time.
        let mut written = value.len();
        while written < row.len() {
            let more = written.min(row.len() - written);
            row.copy_within(..more, written);
            written += more;
        }
    }
}
