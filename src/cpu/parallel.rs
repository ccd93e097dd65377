//! Executes a [`Plan`] on all cores.
//!
//! The output is cut into chunks of whole rows; each chunk walks the row loops like an odometer,
//! resolves the index tuple of a row once and copies its slice. What a row costs is known before
//! the walk starts, so index type and slice width are chosen once, outside the loop.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::index::{IndexType, Word, load};
use crate::plan::{Geometry, Loop, Plan};
use crate::rules::OutOfBounds;
use crate::tensor::{Indices, Params};

/// Below this many bytes of output, threads cost more than they save.
#[cfg(feature = "rayon")]
const CHUNK_BYTES: usize = 256 << 10;

/// How many threads share the work.
pub fn threads() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}

/// Executes `plan` for these tensors, writing the output's bytes, row-major.
///
/// # Errors
///
/// [`Error::OtherPlan`], [`Error::OutputLength`], and [`Error::IndexOutOfBounds`] under the rule
/// [`OutOfBounds::Error`]; the output then holds zeros for the bad indices.
pub fn execute(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
    output: &mut [u8],
) -> Result<()> {
    plan.check_tensors(params, indices, output)?;
    if plan.is_empty() {
        return Ok(());
    }
    let any_bad = match plan.index_type() {
        IndexType::I32 => execute_for::<i32>(plan, params, indices, output),
        IndexType::U32 => execute_for::<u32>(plan, params, indices, output),
        IndexType::I64 => execute_for::<i64>(plan, params, indices, output),
        IndexType::U64 => execute_for::<u64>(plan, params, indices, output),
    };
    if any_bad && plan.reports_bad_indices() {
        return Err(report(plan, indices));
    }
    Ok(())
}

/// Picks the copy for the width of a row; returns whether some index was bad.
fn execute_for<W: Word>(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
    output: &mut [u8],
) -> bool {
    let work = Work::new(plan, params.bytes(), indices.bytes());
    match work.row_bytes {
        1 => work.run::<W, 1>(output),
        2 => work.run::<W, 2>(output),
        4 => work.run::<W, 4>(output),
        8 => work.run::<W, 8>(output),
        16 => work.run::<W, 16>(output),
        _ => work.run::<W, 0>(output),
    }
}

/// One execution, shared by all threads.
struct Work<'a> {
    plan: &'a Plan,
    geometry: &'a Geometry,
    params: &'a [u8],
    indices: &'a [u8],
    /// The bytes written where an index is bad: one row's worth.
    bad_row: Vec<u8>,
    row_bytes: usize,
}

impl<'a> Work<'a> {
    fn new(plan: &'a Plan, params: &'a [u8], indices: &'a [u8]) -> Self {
        let geometry = plan.geometry();
        let bad_row = match &plan.rules().out_of_bounds {
            OutOfBounds::Fill(fill) => fill.bytes().repeat(geometry.slice()),
            _ => Vec::new(),
        };
        Work {
            plan,
            geometry,
            params,
            indices,
            bad_row,
            row_bytes: geometry.slice() * plan.element_bytes(),
        }
    }

    #[cfg(feature = "rayon")]
    fn run<W: Word, const WIDTH: usize>(&self, output: &mut [u8]) -> bool {
        use rayon::prelude::*;

        let rows = (CHUNK_BYTES / self.row_bytes).max(1);
        let any_bad = AtomicBool::new(false);
        if output.len() <= rows * self.row_bytes {
            self.rows::<W, WIDTH>(0, output, &any_bad);
        } else {
            output
                .par_chunks_mut(rows * self.row_bytes)
                .enumerate()
                .for_each(|(n, chunk)| self.rows::<W, WIDTH>(n * rows, chunk, &any_bad));
        }
        any_bad.into_inner()
    }

    #[cfg(not(feature = "rayon"))]
    fn run<W: Word, const WIDTH: usize>(&self, output: &mut [u8]) -> bool {
        let any_bad = AtomicBool::new(false);
        self.rows::<W, WIDTH>(0, output, &any_bad);
        any_bad.into_inner()
    }

    /// Writes the rows of `chunk`, the first of which is row number `first`.
    ///
    /// `WIDTH` is the row's bytes where that is a power of two up to 16, else 0.
    fn rows<W: Word, const WIDTH: usize>(
        &self,
        first: usize,
        chunk: &mut [u8],
        any_bad: &AtomicBool,
    ) {
        let row_bytes = if WIDTH > 0 { WIDTH } else { self.row_bytes };
        let mut walk = Walk::new(self.geometry, first);
        let mut bad = false;
        for row in chunk.chunks_exact_mut(row_bytes) {
            match self.source::<W>(&walk) {
                Some(at) => {
                    let at = at * self.plan.element_bytes();
                    row.copy_from_slice(&self.params[at..at + row_bytes]);
                }
                None => {
                    bad = true;
                    if self.bad_row.is_empty() {
                        row.fill(0);
                    } else {
                        row.copy_from_slice(&self.bad_row);
                    }
                }
            }
            walk.advance();
        }
        if bad {
            any_bad.store(true, Ordering::Relaxed);
        }
    }

    /// Where the row's slice starts in params, in elements.
    #[inline]
    fn source<W: Word>(&self, walk: &Walk<'_>) -> Option<usize> {
        let mut at = walk.params;
        let mut index = walk.indices;
        for c in &self.geometry.coordinates {
            let value = load::<W>(self.indices, index);
            let coordinate = self.plan.rules().resolve(value, c.extent)?;
            at = at.wrapping_add_signed((coordinate as isize).wrapping_mul(c.stride));
            index = index.wrapping_add_signed(self.geometry.index_step);
        }
        Some(at)
    }
}

/// A walk over the rows of the output, carrying the positions in params and indices.
struct Walk<'a> {
    geometry: &'a Geometry,
    /// The current step of each row loop.
    steps: Vec<usize>,
    params: usize,
    indices: usize,
}

impl<'a> Walk<'a> {
    /// Starts at row number `row`.
    fn new(geometry: &'a Geometry, mut row: usize) -> Self {
        let loops = geometry.row_loops();
        let mut walk = Walk {
            geometry,
            steps: vec![0; loops.len()],
            params: geometry.params_offset,
            indices: geometry.indices_offset,
        };
        for (step, l) in walk.steps.iter_mut().zip(loops).rev() {
            *step = row % l.extent;
            row /= l.extent;
            let n = *step as isize;
            let (params, indices) = run(n, l);
            walk.params = walk.params.wrapping_add_signed(params);
            walk.indices = walk.indices.wrapping_add_signed(indices);
        }
        walk
    }

    /// Goes to the next row; after the last one, back to the first.
    #[inline]
    fn advance(&mut self) {
        for (step, l) in self.steps.iter_mut().zip(self.geometry.row_loops()).rev() {
            *step += 1;
            self.params = self.params.wrapping_add_signed(l.params_stride);
            self.indices = self.indices.wrapping_add_signed(l.indices_stride);
            if *step < l.extent {
                return;
            }
            *step = 0;
            let (params, indices) = run(-(l.extent as isize), l);
            self.params = self.params.wrapping_add_signed(params);
            self.indices = self.indices.wrapping_add_signed(indices);
        }
    }
}

/// How far `steps` of a loop go in params and indices. Wraps around: the strides of an empty tensor
/// may be anything, and none of its elements is read.
fn run(steps: isize, l: &Loop) -> (isize, isize) {
    let params = steps.wrapping_mul(l.params_stride);
    (params, steps.wrapping_mul(l.indices_stride))
}

/// Finds the first bad lookup and counts them, in row-major order of indices.
fn report(plan: &Plan, indices: &Indices<'_>) -> Error {
    let lookups = plan.lookups();
    let mut walk = Walk::new(lookups, 0);
    let mut first = None;
    let mut count = 0;
    for lookup in 0..lookups.elements() as u64 {
        let value = |k: usize| {
            indices.load(
                walk.indices
                    .wrapping_add_signed(k as isize * lookups.index_step),
            )
        };
        let coordinates = &lookups.coordinates;
        let is_bad = |(k, c): (usize, &crate::plan::Coordinate)| {
            plan.rules().resolve(value(k), c.extent).is_none()
        };
        if coordinates.iter().enumerate().any(is_bad) {
            count += 1;
            first.get_or_insert_with(|| (lookup, (0..coordinates.len()).map(value).collect()));
        }
        walk.advance();
    }
    let (lookup, values): (u64, Vec<i128>) = first.unwrap_or_default();
    plan.bad_index(lookup, &values, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::reference;
    use crate::op::Op;
    use crate::rules::Rules;
    use crate::shape::Layout;

    #[test]
    fn the_strides_of_empty_tensors_are_never_used() {
        let output = |op: Op, params: (&[u8], Layout), indices: (&[u8], Layout)| {
            let rules = Rules::default();
            let params = Params::new(params.0, 1, params.1).unwrap();
            let indices = Indices::new(indices.0, IndexType::U32, indices.1).unwrap();
            let plan = Plan::of(op, &rules, &params, &indices).unwrap();
            let mut expected = vec![0xa5; plan.output_bytes()];
            let mut got = expected.clone();
            reference::gather(op, &rules, &params, &indices, &mut expected).unwrap();
            execute(&plan, &params, &indices, &mut got).unwrap();
            assert_eq!(got, expected);
            got
        };
        let far = [isize::MAX, isize::MIN, isize::MAX];
        let empty = |shape: &[usize]| Layout::strided(shape, &far, usize::MAX).unwrap();
        let nothing = (&b""[..], empty(&[0, 2, 3]));
        let one_index = (&[0; 4][..], Layout::contiguous(&[1]));
        assert_eq!(output(Op::gather(0), nothing, one_index), [0; 6]);
        let two = (&[8, 9][..], Layout::contiguous(&[2]));
        let no_index = (&b""[..], empty(&[3, 2, 0]));
        assert_eq!(output(Op::gather_nd(), two, no_index), [8, 9].repeat(6));
    }
}
