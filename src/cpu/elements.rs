//! Single elements with one coordinate: lookup and copy in one loop.
//!
//! Whether a row can leave params is settled once for each run, and what is left to each row is one
//! comparison.

use std::hint::select_unpredictable;
use std::iter::zip;
use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::copy::Work;
use super::sources::{BLOCK, Coordinate, counted};
use super::walk::{Run, Walk};
use crate::rules::{Negative, OutOfBounds};

/// How many indices are compared before their rows are copied.
const GROUP: usize = 8;

/// What is copied for a bad index: choosing that takes no branch, which the processor would foresee
/// wrong wherever good and bad indices mix. Against asking the rules and branching, 1.2 times (random
/// 4 bytes in 64 MiB) to 4 times (in 64 KiB) as fast with a quarter of bad indices, 1.2 to 2.4 with
/// one in a hundred.
const ZEROS: [MaybeUninit<u8>; 16] = [MaybeUninit::new(0); 16];

impl Work<'_> {
    /// Writes rows of `WIDTH` bytes, which have one coordinate and whose indices are neighbours.
    pub(super) fn elements<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        first: usize,
        mut rest: &mut [MaybeUninit<u8>],
        only: &Coordinate,
    ) -> bool {
        let mut walk = Walk::new(self.plan.geometry(), first);
        let mut sources = [0; BLOCK];
        let from_end = self.added_from_end(only);
        let mut bad = false;
        while !rest.is_empty() {
            let mut run = walk.run(rest.len() / WIDTH);
            let (mut rows, later) = rest.split_at_mut(run.rows * WIDTH);
            rest = later;
            let covered = self.covers(run, only, WIDTH);
            loop {
                if covered {
                    let (mut copied, _) = self.copy_inside::<W, WIDTH, false>(run, rows, only, 0);
                    if copied < run.rows
                        && let Some(from_end) = from_end
                    {
                        let (run, rows) = (run.after(copied), &mut rows[copied * WIDTH..]);
                        let (more, some_bad) =
                            self.copy_inside::<W, WIDTH, true>(run, rows, only, from_end);
                        copied += more;
                        bad |= some_bad;
                    }
                    run = run.after(copied);
                    rows = &mut rows[copied * WIDTH..];
                }
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

    /// What to add to an index that is not plainly inside, in its own bits, so that one that is not
    /// inside then is bad and leaves zeros; nothing, if the rules are others.
    pub(super) fn added_from_end(&self, only: &Coordinate) -> Option<u64> {
        let rules = self.plan.rules();
        let zeros = matches!(rules.out_of_bounds, OutOfBounds::Zero | OutOfBounds::Error);
        // An index that is not negative stays outside when the extent is added, without wrapping
        // around: both are below half of what its bits hold.
        let in_own_bits = only.inside == only.extent as u64;
        let counts = rules.negative == Negative::FromEnd && self.plan.index_type().is_signed();
        (zeros && in_own_bits).then_some(if counts { only.inside } else { 0 })
    }

    /// Copies the rows of a covered `run` up to the first whose index needs the rules, which is none
    /// if good and bad ones are `MIXED`. Returns how many, and whether some were bad.
    fn copy_inside<W: Pod + Into<u64>, const WIDTH: usize, const MIXED: bool>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
        only: &Coordinate,
        from_end: u64,
    ) -> (usize, bool) {
        let (_, step) = self.lookups.start(run);
        match step == 0 && only.stride_bytes == WIDTH as isize {
            true => self.copy_covered::<W, WIDTH, true, MIXED>(run, rows, only, from_end),
            false => self.copy_covered::<W, WIDTH, false, MIXED>(run, rows, only, from_end),
        }
    }

    /// Whether every row of `run` lies in params wherever inside its index is.
    fn covers(&self, run: Run, only: &Coordinate, width: usize) -> bool {
        let (Some(last), Some(last_row)) = (only.inside.checked_sub(1), run.rows.checked_sub(1))
        else {
            return false;
        };
        let (base, step) = self.lookups.start(run);
        let far = i128::from(last).saturating_mul(only.stride_bytes as i128);
        let along = (last_row as i128).saturating_mul(step as i128);
        // A position beyond isize::MAX is one before the start that has wrapped around.
        let ends = [far.min(0), far.max(0)].map(|far| far.saturating_add(base as isize as i128));
        let lowest = ends[0].saturating_add(along.min(0));
        let highest = ends[1].saturating_add(along.max(0));
        lowest >= 0 && highest.saturating_add(width as i128) <= self.params.len() as i128
    }

    /// Rows of a covered run: up to the first whose index is not plainly inside, or, if `MIXED`, all,
    /// with zeros for bad indices. Groups that are all inside are a loop of their own in both, but
    /// it is 1.1 to 1.2 times as fast where it is the only one. `STRAIGHT`: no step from row to row
    /// but by the index, and that by `WIDTH` bytes.
    #[inline(never)]
    #[allow(unsafe_code, reason = "a second bound check costs 13 to 22 %")]
    fn copy_covered<
        W: Pod + Into<u64>,
        const WIDTH: usize,
        const STRAIGHT: bool,
        const MIXED: bool,
    >(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
        only: &Coordinate,
        from_end: u64,
    ) -> (usize, bool) {
        let (params, inside) = (self.params, only.inside);
        let (base, step) = self.lookups.start(run);
        let (stride, step) = match STRAIGHT {
            true => (WIDTH, 0),
            false => (only.stride_bytes as usize, step as usize),
        };
        let first = run.indices * size_of::<W>();
        let indices = &self.lookups.indices()[first..first + run.rows * size_of::<W>()];
        let load = |index: &[u8]| -> u64 { bytemuck::pod_read_unaligned::<W>(index).into() };
        // Of row `n`, if its index is `index`, which is below `inside`.
        let source = |n: usize, index: u64| {
            let start = base.wrapping_add(n.wrapping_mul(step));
            let at = start.wrapping_add((index as usize).wrapping_mul(stride));
            // SAFETY: index < inside, n < run.rows and the run is covered, so
            // at + WIDTH <= params.len().
            unsafe { params.get_unchecked(at..at + WIDTH) }
        };
        let mut bad = false;
        let mut copy_or_zero = |row: &mut [MaybeUninit<u8>], n: usize, bits: u64| {
            let index = select_unpredictable(bits < inside, bits, counted::<W>(bits, from_end));
            let valid = index < inside;
            let found = source(n, select_unpredictable(valid, index, 0));
            row.copy_from_slice(select_unpredictable(valid, found, &ZEROS[..WIDTH]));
            bad |= !valid;
        };
        let mut copied = 0;
        let groups = rows.chunks_exact_mut(GROUP * WIDTH);
        for (rows, indices) in zip(groups, indices.chunks_exact(GROUP * size_of::<W>())) {
            let bits: [u64; GROUP] =
                std::array::from_fn(|k| load(&indices[k * size_of::<W>()..][..size_of::<W>()]));
            let rows = rows.chunks_exact_mut(WIDTH).enumerate();
            if bits.iter().all(|&bits| bits < inside) {
                rows.for_each(|(k, row)| row.copy_from_slice(source(copied + k, bits[k])));
            } else if MIXED {
                rows.for_each(|(k, row)| copy_or_zero(row, copied + k, bits[k]));
            } else {
                break;
            }
            copied += GROUP;
        }
        let rows = rows[copied * WIDTH..].chunks_exact_mut(WIDTH);
        let indices = indices[copied * size_of::<W>()..].chunks_exact(size_of::<W>());
        for (row, index) in zip(rows, indices) {
            let bits = load(index);
            if MIXED {
                copy_or_zero(row, copied, bits);
            } else if bits < inside {
                row.copy_from_slice(source(copied, bits));
            } else {
                break;
            }
            copied += 1;
        }
        (copied, bad)
    }
}
