//! Rows of params that are asked for before it is their turn to be copied.

use std::iter::Skip;
use std::mem::MaybeUninit;
use std::slice::ChunksExact;

use super::fetch::{FETCHED_BYTES, LINE_BYTES, NEAR_BYTES, fetch, rows_ahead};
use super::lookups::{GROUP, Lookups, Packed};
use super::rows::{Rows, Run};
use crate::index::{Bits, Word, with_index_type};
use crate::plan::Plan;

/// Params of more bytes are not in the caches as a whole.
const FAR_BYTES: usize = 16 << 20;

/// How many short rows of one index are asked for ahead of their turn, where they lie apart. By itself a processor looks
/// some 70 of them ahead; so many cache lines are 32 KiB, which the first cache holds.
const SHORT_AHEAD: usize = 512;

/// The same for short rows of several indices, which are asked for group by group.
const TUPLES_AHEAD: usize = 128;

/// Where each cache line is looked up so often, it is asked for in vain most of the time.
const OFTEN: usize = 8;

/// Whether no processor guesses where the second of two rows starts: with `rows` from one to the other, these are more
/// than two cache lines apart.
fn is_far(start: usize, other: usize, rows: usize) -> bool {
    start.abs_diff(other) > rows * 2 * LINE_BYTES
}

/// Short rows of params that are far.
pub(super) struct ShortRows<'a> {
    pub(super) plan: &'a Plan,
    pub(super) lookups: &'a Lookups<'a>,
    pub(super) params: &'a [MaybeUninit<u8>],
    pub(super) row_bytes: usize,
}

impl ShortRows<'_> {
    /// Whether they are worth to be asked for: if they are short, have one index each, out of params that are far, and
    /// come in long runs, but not so many that each cache line is looked up often.
    pub(super) fn pay(&self) -> bool {
        let in_run = self
            .plan
            .geometry()
            .row_loops()
            .last()
            .map_or(1, |l| l.extent);
        let reach = self.lookups.reach_bytes();
        let are_few = in_run / OFTEN < reach / LINE_BYTES || reach > FAR_BYTES;
        let are_short = self.lookups.packed_depth == 1 && self.row_bytes < LINE_BYTES;
        are_short && are_few && in_run > SHORT_AHEAD && self.params.len() > FAR_BYTES
    }

    /// Calls `copy` with so many rows from number `first` on, run by run, and asks for those that come after, where they
    /// lie apart.
    pub(super) fn for_each_run(&self, first: usize, mut count: usize, mut copy: impl FnMut(Run)) {
        let geometry = self.plan.geometry();
        let mut rows = Rows::new(geometry, first);
        let mut soon = Rows::new(geometry, first + SHORT_AHEAD);
        let mut lie_apart = true;
        while count > 0 {
            let most = if lie_apart {
                SHORT_AHEAD
            } else {
                8 * SHORT_AHEAD
            };
            let run = rows.next_run(most.min(count));
            with_index_type!(self.plan.index_type(), I => {
                let mut left = run.rows;
                while left > 0 {
                    let run = soon.next_run(left);
                    if lie_apart {
                        self.fetch::<<I as Word>::Bits>(run);
                    }
                    left -= run.rows;
                }
                copy(run);
                // These are in the caches now; they tell how those lie that come.
                let some = run.split_at(run.rows.min(SHORT_AHEAD)).0;
                lie_apart = self.lie_apart::<<I as Word>::Bits>(some);
            });
            count -= run.rows;
        }
    }

    fn packed<W: Bits>(&self, run: Run) -> Option<Packed<'_, W, 1>> {
        self.lookups.packed(run, self.row_bytes, self.params.len())
    }

    /// Where row number `n` of a group starts, the first of which is at `start` before its index is added.
    fn row<W: Bits>(
        &self,
        lookups: &Packed<'_, W, 1>,
        group: &[u8],
        n: usize,
        start: usize,
    ) -> usize {
        let start = start.wrapping_add(lookups.step::<false>().wrapping_mul(n));
        lookups.row::<false>(group, n, start, self.row_bytes)
    }

    /// Whether those of a run lie apart, by a few of them.
    fn lie_apart<W: Bits>(&self, run: Run) -> bool {
        self.packed::<W>(run).is_some_and(|lookups| {
            let (mut start, step) = (lookups.start, lookups.step::<false>());
            let mut last = None;
            let mut some = lookups.indices.chunks_exact(8 * GROUP * size_of::<W>());
            some.any(|groups| {
                let row = |n| self.row(&lookups, groups, n, start);
                let (first, next) = (row(0), row(GROUP));
                let before = last.replace(first).unwrap_or(first);
                start = start.wrapping_add(step.wrapping_mul(8 * GROUP));
                is_far(before, first, 8 * GROUP) || is_far(first, next, GROUP)
            })
        })
    }

    /// Asks for those of a run, but for groups near to the one before.
    fn fetch<W: Bits>(&self, run: Run) {
        let Some(lookups) = self.packed::<W>(run) else {
            return;
        };
        let (mut start, step) = (lookups.start, lookups.step::<false>());
        let mut last = usize::MAX;
        for group in lookups.indices.chunks_exact(GROUP * size_of::<W>()) {
            let row = |n| self.row(&lookups, group, n, start);
            let first = row(0);
            if is_far(first, last, GROUP) {
                for n in 0..GROUP {
                    fetch(self.params, row(n), self.row_bytes);
                }
            }
            last = first;
            start = start.wrapping_add(step.wrapping_mul(GROUP));
        }
    }
}

/// Rows that are asked for before it is their turn.
pub(super) struct Ahead<'a> {
    params: &'a [MaybeUninit<u8>],
    groups: Skip<ChunksExact<'a, u8>>,
    /// Where the first row of the next group starts before its indices are added.
    start: usize,
    width: usize,
    /// Where the first row of the last group starts.
    last: usize,
}

impl<'a> Ahead<'a> {
    /// None of params that are near.
    pub(super) fn new<W: Bits, const DEPTH: usize>(
        params: &'a [MaybeUninit<u8>],
        lookups: &Packed<'a, W, DEPTH>,
        groups: ChunksExact<'a, u8>,
        width: usize,
    ) -> Self {
        let ahead = match params.len() {
            0..=NEAR_BYTES => groups.len(),
            _ if width < LINE_BYTES => TUPLES_AHEAD / GROUP,
            _ => (rows_ahead(width) / GROUP).max(1),
        };
        let steps = lookups.step::<false>().wrapping_mul(ahead * GROUP);
        Ahead {
            params,
            groups: groups.skip(ahead),
            start: lookups.start.wrapping_add(steps),
            width,
            last: 0,
        }
    }

    /// Asks for the next group; not for short rows that share cache lines with those before.
    #[inline(always)]
    pub(super) fn fetch_group<W: Bits, const DEPTH: usize, const DENSE: bool>(
        &mut self,
        lookups: &Packed<'a, W, DEPTH>,
    ) {
        let Some(group) = self.groups.next() else {
            return;
        };
        let mut start = self.start;
        let step = lookups.step::<DENSE>();
        self.start = start.wrapping_add(step.wrapping_mul(GROUP));
        let row = |n: usize, start: usize| lookups.row::<DENSE>(group, n, start, self.width);
        let first = row(0, start);
        let are_far = self.width >= LINE_BYTES || first.abs_diff(self.last) > GROUP * LINE_BYTES;
        self.last = first;
        if are_far {
            for n in 0..GROUP {
                fetch(self.params, row(n, start), self.width.min(FETCHED_BYTES));
                start = start.wrapping_add(step);
            }
        }
    }
}
