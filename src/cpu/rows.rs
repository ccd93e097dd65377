//! The rows of an output: in which order they come, and where in params each of them starts.
//!
//! A row is what one lookup selects. [`Rows`] steps through the loops of a plan and knows no index;
//! [`Lookups`] reads the indices and applies the rules. What is copied, and how, is not known here.

use bytemuck::Pod;

use crate::index::IndexType;
use crate::plan::{Geometry, Loop, Plan};
use crate::rules::Negative;

/// The start of a row with a bad index. No row starts there, as a row has at least one byte.
pub(super) const BAD: usize = usize::MAX;

/// Consecutive rows of the output: steps of the innermost loop, at even distances in params and in
/// indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// How many rows.
    pub(super) rows: usize,
    /// Where the first row starts in params before its index is added, in elements.
    pub(super) params: usize,
    /// The step from row to row in params, in elements.
    pub(super) params_stride: isize,
    /// The position of the first index of the first row.
    pub(super) indices: usize,
    /// The step from row to row in indices.
    pub(super) indices_stride: isize,
}

/// Steps through the rows of a loop nest, like an odometer whose last wheel is read as runs.
///
/// Positions wrap around: the strides of an empty tensor may be anything, and none of its elements
/// is read.
pub(super) struct Rows<'a> {
    outer: &'a [Loop],
    inner: Loop,
    /// The current step of each outer loop.
    steps: Vec<usize>,
    /// The current step of the inner loop.
    step: usize,
    /// Where the current steps of the outer loops lie.
    params: usize,
    indices: usize,
}

impl<'a> Rows<'a> {
    /// Starts at row number `row`.
    pub(super) fn new(geometry: &'a Geometry, mut row: usize) -> Self {
        const ONCE: Loop = Loop {
            extent: 1,
            params_stride: 0,
            indices_stride: 0,
        };
        let (inner, outer) = geometry
            .row_loops()
            .split_last()
            .map_or((ONCE, &[][..]), |(&inner, outer)| (inner, outer));
        let mut rows = Rows {
            outer,
            inner,
            steps: vec![0; outer.len()],
            step: row % inner.extent,
            params: geometry.params_offset,
            indices: geometry.indices_offset,
        };
        row /= inner.extent;
        for d in (0..outer.len()).rev() {
            rows.steps[d] = row % outer[d].extent;
            rows.advance(rows.steps[d] as isize, outer[d]);
            row /= outer[d].extent;
        }
        rows
    }

    /// The next rows, at most `limit` (which is not 0); after the last row comes the first.
    pub(super) fn next_run(&mut self, limit: usize) -> Run {
        let (step, inner) = (self.step as isize, self.inner);
        let run = Run {
            rows: limit.min(inner.extent - self.step),
            params: forward(self.params, step, inner.params_stride),
            params_stride: inner.params_stride,
            indices: forward(self.indices, step, inner.indices_stride),
            indices_stride: inner.indices_stride,
        };
        self.step += run.rows;
        if self.step == inner.extent {
            self.step = 0;
            self.carry();
        }
        run
    }

    /// Takes the outer loops to their next step.
    fn carry(&mut self) {
        for d in (0..self.outer.len()).rev() {
            let l = self.outer[d];
            self.steps[d] += 1;
            self.advance(1, l);
            if self.steps[d] < l.extent {
                return;
            }
            self.steps[d] = 0;
            self.advance(-(l.extent as isize), l);
        }
    }

    fn advance(&mut self, steps: isize, l: Loop) {
        self.params = forward(self.params, steps, l.params_stride);
        self.indices = forward(self.indices, steps, l.indices_stride);
    }
}

/// The position `steps` strides after `position`.
pub(super) fn forward(position: usize, steps: isize, stride: isize) -> usize {
    position.wrapping_add_signed(steps.wrapping_mul(stride))
}

/// The lookups of one execution.
pub(super) struct Lookups<'a> {
    plan: &'a Plan,
    indices: &'a [u8],
    coordinates: Vec<Coordinate>,
    /// Whether the rules neither count from the end nor move an index: what is outside is bad then.
    outside_is_bad: bool,
}

/// A looked-up coordinate.
struct Coordinate {
    /// An index is plainly inside if its bits, as an unsigned number, are below this: one
    /// comparison also finds the negative ones.
    inside: u64,
    extent: usize,
    /// In bytes.
    stride: isize,
}

impl<'a> Lookups<'a> {
    pub(super) fn new(plan: &'a Plan, indices: &'a [u8]) -> Self {
        // Bits from here on are those of negative numbers.
        let numbers = match plan.index_type() {
            IndexType::I32 => 1 << 31,
            IndexType::U32 => 1 << 32,
            IndexType::I64 => 1 << 63,
            IndexType::U64 => u64::MAX,
        };
        let coordinate = |c: &crate::plan::Coordinate| Coordinate {
            inside: numbers.min(c.extent as u64),
            extent: c.extent,
            stride: c.stride.wrapping_mul(plan.element_bytes() as isize),
        };
        let rules = plan.rules();
        Lookups {
            plan,
            indices,
            outside_is_bad: rules.negative == Negative::OutOfBounds
                && rules.out_of_bounds.moves().is_none(),
            coordinates: plan.geometry().coordinates.iter().map(coordinate).collect(),
        }
    }

    /// How many indices a row has, if those of neighbouring rows follow each other; else 0.
    pub(super) fn packed_depth(&self) -> usize {
        let (geometry, depth) = (self.plan.geometry(), self.coordinates.len());
        let inner = geometry.row_loops().last();
        let packed = (depth == 1 || geometry.index_step == 1)
            && inner.is_none_or(|l| l.indices_stride == depth as isize);
        if packed { depth } else { 0 }
    }

    /// Where the rows of `run` start in params, in bytes, or [`BAD`], if there are `DEPTH` indices
    /// for each and they are [packed](Lookups::packed_depth).
    #[inline]
    pub(super) fn starts_packed<W: Pod + Into<u64>, const DEPTH: usize>(
        &self,
        run: Run,
    ) -> impl Iterator<Item = usize> {
        let inside: [u64; DEPTH] = std::array::from_fn(|k| self.coordinates[k].inside);
        let strides: [isize; DEPTH] = std::array::from_fn(|k| self.coordinates[k].stride);
        let outside_is_bad = self.outside_is_bad;
        let (mut start, step) = self.affine(run);
        let bytes = DEPTH * size_of::<W>();
        let tuples = &self.indices[run.indices * size_of::<W>()..][..run.rows * bytes];
        tuples.chunks_exact(bytes).map(move |tuple| {
            let (mut found, mut all_inside) = (start, true);
            for k in 0..DEPTH {
                let bits = load::<W>(tuple, k);
                all_inside &= bits < inside[k];
                found = forward(found, bits as isize, strides[k]);
            }
            if !all_inside {
                found = match outside_is_bad {
                    true => BAD,
                    false => self.by_rules(start, tuple, 0),
                };
            }
            start = start.wrapping_add_signed(step);
            found
        })
    }

    /// As [`Lookups::starts_packed`], for any number of indices that lie anywhere.
    #[inline]
    pub(super) fn starts<W: Pod + Into<u64>>(&self, run: Run) -> impl Iterator<Item = usize> {
        let index_step = self.plan.geometry().index_step;
        let (mut start, step) = self.affine(run);
        let mut first = run.indices;
        (0..run.rows).map(move |_| {
            let (mut found, mut position, mut all_inside) = (start, first, true);
            for c in &self.coordinates {
                let bits = load::<W>(self.indices, position);
                all_inside &= bits < c.inside;
                found = forward(found, bits as isize, c.stride);
                position = position.wrapping_add_signed(index_step);
            }
            if !all_inside {
                found = match self.outside_is_bad {
                    true => BAD,
                    false => self.by_rules(start, self.indices, first),
                };
            }
            start = start.wrapping_add_signed(step);
            first = first.wrapping_add_signed(run.indices_stride);
            found
        })
    }

    /// Where a row starts by the rules, or [`BAD`]: `start` is where before its indices are added,
    /// `position` that of its first index in `indices`.
    #[cold]
    #[inline(never)]
    fn by_rules(&self, start: usize, indices: &[u8], mut position: usize) -> usize {
        let found = self.coordinates.iter().try_fold(start, |start, c| {
            let index = self.plan.index_type().load(indices, position);
            position = position.wrapping_add_signed(self.plan.geometry().index_step);
            let coordinate = self.plan.rules().resolve(index, c.extent)?;
            Some(forward(start, coordinate as isize, c.stride))
        });
        found.unwrap_or(BAD)
    }

    /// Where `run` starts in params before its indices are added, and its step there, in bytes.
    fn affine(&self, run: Run) -> (usize, isize) {
        let bytes = self.plan.element_bytes();
        let step = run.params_stride.wrapping_mul(bytes as isize);
        (run.params.wrapping_mul(bytes), step)
    }
}

/// The index at `position`, as an unsigned number.
#[inline]
fn load<W: Pod + Into<u64>>(indices: &[u8], position: usize) -> u64 {
    let index = &indices[position * size_of::<W>()..][..size_of::<W>()];
    bytemuck::pod_read_unaligned::<W>(index).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_any_row_in_runs_of_any_length_every_row_comes_in_order() {
        let row_loop = |extent, params_stride, indices_stride| Loop {
            extent,
            params_stride,
            indices_stride,
        };
        let geometry = Geometry {
            loops: vec![row_loop(3, 100, -7), row_loop(2, -10, 0), row_loop(5, 3, 1)],
            params_offset: 50,
            indices_offset: 20,
            ..Geometry::empty()
        };
        let row = |n: usize| {
            let (a, b, c) = (n / 10 % 3, n / 5 % 2, n % 5);
            (50 + 100 * a - 10 * b + 3 * c, 20 - 7 * a + c)
        };
        for first in 0..30 {
            for limit in if cfg!(miri) { 3..5 } else { 1..7 } {
                let mut rows = Rows::new(&geometry, first);
                let mut n = first;
                while n < first + 30 {
                    let run = rows.next_run(limit);
                    assert!((1..=limit).contains(&run.rows));
                    for step in 0..run.rows as isize {
                        let params = forward(run.params, step, run.params_stride);
                        let indices = forward(run.indices, step, run.indices_stride);
                        assert_eq!((params, indices), row(n), "{first} {limit} {n}");
                        n += 1;
                    }
                }
            }
        }
        let scalar = Rows::new(&Geometry::empty(), 0).next_run(9);
        assert_eq!((scalar.rows, scalar.params, scalar.indices), (1, 0, 0));
    }
}
