//! Rows of params that are asked for before it is their turn to be copied.

use std::iter::Skip;
use std::mem::MaybeUninit;
use std::slice::ChunksExact;

use super::super::fetch::{FETCHED_BYTES, LINE_BYTES, NEAR_BYTES, fetch, rows_ahead};
use super::super::lookups::{GROUP, Lookups, Packed};
use super::super::rows::Run;
use crate::index::{Bits, Word, with_index_type};

/// Params of more bytes are not in the caches as a whole.
const FAR_BYTES: usize = 16 << 20;

/// How many short rows of one index are asked for before they are copied, where they lie apart. By itself a processor
/// looks some 70 of them ahead; so many cache lines are 32 KiB, which the first cache holds.
pub(super) const SHORT_AT_ONCE: usize = 512;

/// How many short rows of several indices are asked for ahead of their turn, group by group.
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
    lookups: &'a Lookups<'a>,
    row_bytes: usize,
    params: &'a [MaybeUninit<u8>],
}

impl<'a> ShortRows<'a> {
    /// Those of a run, if it is worth to ask for them: if they are short, have one index each, out of params that are
    /// far, and are many, but not so many that each cache line is looked up often.
    pub(super) fn that_pay(
        run: Run,
        lookups: &'a Lookups<'a>,
        row_bytes: usize,
        params: &'a [MaybeUninit<u8>],
    ) -> Option<Self> {
        let are_short = lookups.packed_depth == 1 && row_bytes < LINE_BYTES;
        let are_far = params.len() > FAR_BYTES;
        let are_many = run.rows > SHORT_AT_ONCE;
        let reach = lookups.reach_bytes();
        let are_few = || lookups.in_run() / OFTEN < reach / LINE_BYTES || reach > FAR_BYTES;
        let pay = are_short && are_far && are_many && are_few();
        pay.then_some(ShortRows {
            lookups,
            row_bytes,
            params,
        })
    }

    /// Asks for some of them, if they lie apart; returns whether they do.
    pub(super) fn fetch(&self, some: Run) -> bool {
        with_index_type!(self.lookups.index_type(), I => self.fetch_packed::<<I as Word>::Bits>(some))
    }

    fn fetch_packed<W: Bits>(&self, some: Run) -> bool {
        let params_bytes = self.params.len();
        let Some(lookups) = self
            .lookups
            .packed::<W, 1>(some, self.row_bytes, params_bytes)
        else {
            return false;
        };
        let apart = self.lie_apart(&lookups);
        if apart {
            self.fetch_groups(&lookups);
        }
        apart
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

    /// Whether rows lie apart, by a few of them.
    fn lie_apart<W: Bits>(&self, lookups: &Packed<'_, W, 1>) -> bool {
        let (mut start, step) = (lookups.start, lookups.step::<false>());
        let mut last = None;
        let mut some = lookups.indices.chunks_exact(8 * GROUP * size_of::<W>());
        some.any(|groups| {
            let row = |n| self.row(lookups, groups, n, start);
            let (first, next) = (row(0), row(GROUP));
            let before = last.replace(first).unwrap_or(first);
            start = start.wrapping_add(step.wrapping_mul(8 * GROUP));
            is_far(before, first, 8 * GROUP) || is_far(first, next, GROUP)
        })
    }

    /// Asks for all but groups near to the one before.
    fn fetch_groups<W: Bits>(&self, lookups: &Packed<'_, W, 1>) {
        let (mut start, step) = (lookups.start, lookups.step::<false>());
        let mut last = usize::MAX;
        for group in lookups.indices.chunks_exact(GROUP * size_of::<W>()) {
            let row = |n| self.row(lookups, group, n, start);
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

    /// The next group, with where its first row starts before its indices are added; not short rows that share cache
    /// lines with those before.
    #[inline(always)]
    pub(super) fn next_group<W: Bits, const DEPTH: usize, const DENSE: bool>(
        &mut self,
        lookups: &Packed<'a, W, DEPTH>,
    ) -> Option<(&'a [u8], usize)> {
        let (group, start) = (self.groups.next()?, self.start);
        let step = lookups.step::<DENSE>();
        self.start = start.wrapping_add(step.wrapping_mul(GROUP));
        let first = lookups.row::<DENSE>(group, 0, start, self.width);
        let are_far = self.width >= LINE_BYTES || first.abs_diff(self.last) > GROUP * LINE_BYTES;
        self.last = first;
        are_far.then_some((group, start))
    }

    /// Asks for one row of it.
    #[inline(always)]
    pub(super) fn fetch_row<W: Bits, const DEPTH: usize, const DENSE: bool>(
        &self,
        lookups: &Packed<'a, W, DEPTH>,
        (group, start): (&[u8], usize),
        n: usize,
    ) {
        let start = start.wrapping_add(lookups.step::<DENSE>().wrapping_mul(n));
        let row = lookups.row::<DENSE>(group, n, start, self.width);
        fetch(self.params, row, self.width.min(FETCHED_BYTES));
    }
}
