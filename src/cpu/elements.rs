//! Single elements with one coordinate: lookup and copy in one loop.
//!
//! Whether a row can leave params is settled once for each run, and what is left to each row is one
//! comparison.

use std::iter::zip;
use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::copy::Work;
use super::sources::{BLOCK, Coordinate};
use super::walk::{Run, Walk};

/// How many indices are compared before their rows are copied.
const GROUP: usize = 8;

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
    fn copy_inside<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
        only: &Coordinate,
    ) -> usize {
        if !self.covers(run, only, WIDTH) {
            return 0;
        }
        let (_, step) = self.lookups.start(run);
        match step == 0 && only.stride_bytes == WIDTH as isize {
            true => self.copy_covered::<W, WIDTH, true>(run, rows, only),
            false => self.copy_covered::<W, WIDTH, false>(run, rows, only),
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

    /// [`Work::copy_inside`] for a run that [`Work::covers`]. `STRAIGHT`: no step from row to row
    /// but by the index, and that by `WIDTH` bytes.
    #[inline(never)]
    #[allow(unsafe_code, reason = "a second bound check costs 13 to 22 %")]
    fn copy_covered<W: Pod + Into<u64>, const WIDTH: usize, const STRAIGHT: bool>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
        only: &Coordinate,
    ) -> usize {
        let (params, inside) = (self.params, only.inside);
        let (base, step) = self.lookups.start(run);
        let (stride, step) = match STRAIGHT {
            true => (WIDTH, 0),
            false => (only.stride_bytes as usize, step as usize),
        };
        let first = run.indices * size_of::<W>();
        let indices = &self.lookups.indices()[first..first + run.rows * size_of::<W>()];
        let load = |index: &[u8]| -> u64 { bytemuck::pod_read_unaligned::<W>(index).into() };
        let copy = |row: &mut [MaybeUninit<u8>], n: usize, bits: u64| {
            let start = base.wrapping_add(n.wrapping_mul(step));
            let at = start.wrapping_add((bits as usize).wrapping_mul(stride));
            // SAFETY: bits < inside, n < run.rows and the run is covered, so
            // at + WIDTH <= params.len().
            row.copy_from_slice(unsafe { params.get_unchecked(at..at + WIDTH) });
        };
        let mut copied = 0;
        let groups = rows.chunks_exact_mut(GROUP * WIDTH);
        for (rows, indices) in zip(groups, indices.chunks_exact(GROUP * size_of::<W>())) {
            let bits: [u64; GROUP] =
                std::array::from_fn(|k| load(&indices[k * size_of::<W>()..][..size_of::<W>()]));
            if bits.iter().any(|&bits| bits >= inside) {
                break;
            }
            for (k, row) in rows.chunks_exact_mut(WIDTH).enumerate() {
                copy(row, copied + k, bits[k]);
            }
            copied += GROUP;
        }
        let rows = rows[copied * WIDTH..].chunks_exact_mut(WIDTH);
        let indices = indices[copied * size_of::<W>()..].chunks_exact(size_of::<W>());
        for (row, index) in zip(rows, indices) {
            let bits = load(index);
            if bits >= inside {
                break;
            }
            copy(row, copied, bits);
            copied += 1;
        }
        copied
    }
}
