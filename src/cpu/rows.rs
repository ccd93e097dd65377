//! The rows of an output, in order. A row is what one lookup selects.

use crate::plan::{Geometry, Loop};

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

impl Run {
    /// The first `rows` of them, and the rest.
    pub(super) fn split_at(self, rows: usize) -> (Run, Run) {
        let steps = rows as isize;
        let rest = Run {
            rows: self.rows - rows,
            params: forward(self.params, steps, self.params_stride),
            indices: forward(self.indices, steps, self.indices_stride),
            ..self
        };
        (Run { rows, ..self }, rest)
    }
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
#[inline]
pub(super) fn forward(position: usize, steps: isize, stride: isize) -> usize {
    position.wrapping_add_signed(steps.wrapping_mul(stride))
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn from_any_row_in_runs_of_any_length_every_row_comes_in_order() {
        let row_loop = |extent, params_stride, indices_stride| Loop {
            extent,
            params_stride,
            indices_stride,
        };
        let geometry = Geometry {
            loops: smallvec![row_loop(3, 100, -7), row_loop(2, -10, 0), row_loop(5, 3, 1)],
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
