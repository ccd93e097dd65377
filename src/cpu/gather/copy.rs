//! Writes rows of the output.
//!
//! Rows whose indices are plainly inside are looked up and copied in one loop, in groups. The others
//! are looked up by the rules, some at a time, and then copied. Both loops are compiled for the
//! usual short rows, so that a copy is no call, and for rows of any length.

use std::array::from_fn;
use std::iter::zip;
use std::mem::MaybeUninit;

use super::super::fetch::LINE_BYTES;
use super::super::lookups::{BAD, BLOCK, GROUP, Lookups, Packed};
use super::super::rows::{Rows, Run};
use super::ahead::{Ahead, SHORT_AT_ONCE, ShortRows};
use crate::index::{Bits, Word, with_index_type};
use crate::plan::Plan;
use crate::rules::OutOfBounds;

/// The longest row of a width that is known at compile time.
const MOST_FIXED: usize = 64;

/// Stands for a width that is not known at compile time.
const ANY: usize = 0;

/// One execution, shared by all threads.
pub(super) struct Work<'a> {
    plan: &'a Plan,
    params: &'a [MaybeUninit<u8>],
    lookups: Lookups<'a>,
    /// Bytes of one row of the output.
    pub(super) row_bytes: usize,
    /// The row of a bad index, or its beginning.
    bad_row: [MaybeUninit<u8>; MOST_FIXED],
}

impl<'a> Work<'a> {
    pub(super) fn new(plan: &'a Plan, params: &'a [u8], indices: &'a [u8]) -> Self {
        let row_bytes = plan.geometry().slice() * plan.element_bytes();
        let mut bad_row = [MaybeUninit::new(0); MOST_FIXED];
        if row_bytes <= MOST_FIXED {
            fill(plan, &mut bad_row[..row_bytes]);
        }
        Work {
            plan,
            params: bytemuck::cast_slice(params),
            lookups: Lookups::new(plan, indices),
            row_bytes,
            bad_row,
        }
    }

    /// Writes all of `output`, whose first byte is byte `first` of the whole output and the first
    /// of an element; returns whether some index was bad.
    pub(super) fn write(&self, first: usize, mut output: &mut [MaybeUninit<u8>]) -> bool {
        let row_bytes = self.row_bytes;
        // The bytes of the next row that lie before `output`.
        let mut skip = first % row_bytes;
        let mut any_bad = false;
        let mut rows = Rows::new(self.plan.geometry(), first / row_bytes);
        while !output.is_empty() {
            let whole = if skip == 0 {
                output.len() / row_bytes
            } else {
                0
            };
            let run = rows.next_run(whole.max(1));
            let bytes = match whole {
                0 => output.len().min(row_bytes - skip),
                _ => run.rows * row_bytes,
            };
            let (now, later) = output.split_at_mut(bytes);
            any_bad |= match whole {
                0 => self.copy_part(run, now, skip),
                _ => self.copy_run(run, now),
            };
            (output, skip) = (later, 0);
        }
        any_bad
    }

    /// Copies the rows of a run; returns whether some of them have a bad index. Short rows are asked for, some at a time,
    /// before they are copied.
    fn copy_run(&self, mut run: Run, mut rows: &mut [MaybeUninit<u8>]) -> bool {
        let Some(short) = ShortRows::that_pay(run, &self.lookups, self.row_bytes, self.params)
        else {
            return self.copy_rows(run, rows);
        };
        let mut any_bad = false;
        while run.rows > 0 {
            let some = run.split_at(run.rows.min(SHORT_AT_ONCE)).0;
            // Where they do not lie apart, more are copied before it is looked at again.
            let more = if short.fetch(some) { 1 } else { 8 };
            let (some, later) = run.split_at(run.rows.min(more * SHORT_AT_ONCE));
            let (now, later_rows) = rows.split_at_mut(some.rows * self.row_bytes);
            any_bad |= self.copy_rows(some, now);
            (run, rows) = (later, later_rows);
        }
        any_bad
    }

    /// [`Work::copy`] for rows of this many bytes.
    fn copy_rows(&self, run: Run, rows: &mut [MaybeUninit<u8>]) -> bool {
        match self.row_bytes {
            1 => self.copy::<1>(run, rows),
            2 => self.copy::<2>(run, rows),
            3 => self.copy::<3>(run, rows),
            4 => self.copy::<4>(run, rows),
            6 => self.copy::<6>(run, rows),
            8 => self.copy::<8>(run, rows),
            12 => self.copy::<12>(run, rows),
            16 => self.copy::<16>(run, rows),
            32 => self.copy::<32>(run, rows),
            64 => self.copy::<64>(run, rows),
            _ => self.copy::<ANY>(run, rows),
        }
    }

    /// Copies the part of a row that begins after `skip` bytes; returns whether its index is bad.
    fn copy_part(&self, run: Run, part: &mut [MaybeUninit<u8>], skip: usize) -> bool {
        let mut start = [0];
        self.lookups.find(run, &mut start);
        let [start] = start;
        match start == BAD {
            true => fill(self.plan, part),
            false => part.copy_from_slice(&self.params[start..][skip..][..part.len()]),
        }
        start == BAD
    }

    /// Copies rows of `WIDTH` bytes, or of [`ANY`] number of bytes.
    fn copy<const WIDTH: usize>(&self, mut run: Run, mut rows: &mut [MaybeUninit<u8>]) -> bool {
        let width = self.width::<WIDTH>();
        let mut any_bad = false;
        loop {
            let inside = with_index_type!(self.plan.index_type(), I => {
                match self.lookups.packed_depth {
                    1 => self.copy_inside::<<I as Word>::Bits, 1, WIDTH>(run, rows),
                    2 => self.copy_inside::<<I as Word>::Bits, 2, WIDTH>(run, rows),
                    3 => self.copy_inside::<<I as Word>::Bits, 3, WIDTH>(run, rows),
                    _ => 0,
                }
            });
            if inside == run.rows {
                return any_bad;
            }
            // What comes next is not plainly inside, and its neighbours may not be either.
            let (_, rest) = run.split_at(inside);
            let (block, later) = rest.split_at(rest.rows.min(BLOCK));
            let (now, later_rows) = rows[inside * width..].split_at_mut(block.rows * width);
            any_bad |= self.copy_block::<WIDTH>(block, now);
            (run, rows) = (later, later_rows);
        }
    }

    /// Copies at most [`BLOCK`] rows by the rules.
    #[inline(never)]
    fn copy_block<const WIDTH: usize>(&self, block: Run, rows: &mut [MaybeUninit<u8>]) -> bool {
        let mut starts = [0; BLOCK];
        let starts = &mut starts[..block.rows];
        self.lookups.find(block, starts);
        self.copy_starts::<WIDTH>(rows, starts)
    }

    /// Copies groups of rows as long as their indices are plainly inside; returns how many rows.
    #[inline(never)]
    fn copy_inside<W: Bits, const DEPTH: usize, const WIDTH: usize>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
    ) -> usize {
        let (params, width) = (self.params, self.width::<WIDTH>());
        let Some(lookups) = self.lookups.packed::<W, DEPTH>(run, width, params.len()) else {
            return 0;
        };
        match WIDTH != ANY && lookups.is_dense(WIDTH) {
            true => self.copy_groups::<W, DEPTH, WIDTH, true>(&lookups, rows),
            false => self.copy_groups::<W, DEPTH, WIDTH, false>(&lookups, rows),
        }
    }

    /// Copies groups of rows as long as their indices are plainly inside; returns how many rows. Where lookups are
    /// [`DENSE`](Packed::is_dense), their last index is multiplied by a constant.
    #[inline(always)]
    #[allow(unsafe_code, reason = "the bounds are those of the run")]
    fn copy_groups<W: Bits, const DEPTH: usize, const WIDTH: usize, const DENSE: bool>(
        &self,
        lookups: &Packed<'_, W, DEPTH>,
        rows: &mut [MaybeUninit<u8>],
    ) -> usize {
        let (params, width) = (self.params, self.width::<WIDTH>());
        let groups = lookups.indices.chunks_exact(GROUP * DEPTH * size_of::<W>());
        // Single elements of one index are copied faster than they can be asked for.
        let mut ahead = (DEPTH > 1 || width >= LINE_BYTES)
            .then(|| Ahead::new(params, lookups, groups.clone(), width));
        let (mut copied, mut start) = (0, lookups.start);
        for (rows, group) in zip(rows.chunks_exact_mut(GROUP * width), groups) {
            if !lookups.all_inside(group) {
                break;
            }
            let soon = ahead
                .as_mut()
                .and_then(|ahead| ahead.next_group::<W, DEPTH, DENSE>(lookups));
            let fetch_row = |n| {
                if let (Some(ahead), Some(group)) = (&ahead, soon) {
                    ahead.fetch_row::<W, DEPTH, DENSE>(lookups, group, n);
                }
            };
            // Long rows are asked for one at a time, between copies: eight at once are more cache lines than a processor
            // has in flight, and the copies wait for them.
            if WIDTH != ANY {
                (0..GROUP).for_each(fetch_row);
            }
            let row = |n: usize, start: usize| {
                let first = lookups.row::<DENSE>(group, n, start, width);
                // SAFETY: the group is inside, so its rows lie in params, whose length was given.
                unsafe { params.get_unchecked(first..first + width) }
            };
            match WIDTH {
                // First all of them, which then are stored together.
                1 | 2 | 4 | 8 if DENSE && DEPTH == 1 => {
                    let group: [[MaybeUninit<u8>; WIDTH]; GROUP] =
                        from_fn(|n| *row(n, start).first_chunk().expect("a row of this width"));
                    rows.copy_from_slice(group.as_flattened());
                }
                _ => {
                    for (n, to) in rows.chunks_exact_mut(width).enumerate() {
                        if WIDTH == ANY {
                            fetch_row(n);
                        }
                        to.copy_from_slice(row(n, start));
                        start = start.wrapping_add(lookups.step::<DENSE>());
                    }
                }
            }
            copied += GROUP;
        }
        copied
    }

    /// Copies the rows that start at `starts`; short ones without a branch for bad indices, as any
    /// may be bad.
    #[allow(unsafe_code, reason = "the check is `start < end`")]
    fn copy_starts<const WIDTH: usize>(
        &self,
        rows: &mut [MaybeUninit<u8>],
        starts: &[usize],
    ) -> bool {
        let (params, width) = (self.params, self.width::<WIDTH>());
        let end = (params.len() + 1).saturating_sub(width);
        let mut all_inside = true;
        for (row, &start) in zip(rows.chunks_exact_mut(width), starts) {
            let inside = start < end;
            all_inside &= inside;
            row.copy_from_slice(match inside {
                // SAFETY: start + width < end + width == params.len() + 1, without overflow.
                true => unsafe { params.get_unchecked(start..start + width) },
                false if WIDTH == ANY => {
                    fill(self.plan, row);
                    continue;
                }
                false => &self.bad_row[..width],
            });
        }
        let known = |&start: &usize| start < end || start == BAD;
        assert!(
            all_inside || starts.iter().all(known),
            "a plan reads outside params"
        );
        !all_inside
    }

    /// Bytes of a row: a constant, if it is known.
    #[inline(always)]
    fn width<const WIDTH: usize>(&self) -> usize {
        if WIDTH == ANY { self.row_bytes } else { WIDTH }
    }
}

/// Writes what a bad index gives: the fill value over and over, or zeros.
fn fill(plan: &Plan, row: &mut [MaybeUninit<u8>]) {
    let OutOfBounds::Fill(value) = &plan.rules().out_of_bounds else {
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
