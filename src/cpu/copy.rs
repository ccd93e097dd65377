//! Writes rows of an output: the inner loops of the CPU path.
//!
//! A row is looked up once and copied. Everything that is the same for all rows is chosen outside
//! the loop: the bytes of a row (1, 2, 4, 8 or 16: one load and one store), the bytes of an index,
//! and whether there is one coordinate or any number of them. Indices are read as unsigned
//! numbers, so that one comparison tells what lies inside; the rules are asked about the rest only.

use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::walk::{Run, Walk, forward};
use crate::index::IndexType;
use crate::plan::{Geometry, Plan};
use crate::rules::OutOfBounds;

/// One execution, shared by all threads.
pub(super) struct Work<'a> {
    plan: &'a Plan,
    geometry: &'a Geometry,
    params: &'a [MaybeUninit<u8>],
    indices: &'a [u8],
    coordinates: Vec<Coordinate>,
    /// Bytes of one row of the output.
    row_bytes: usize,
}

/// A looked-up coordinate, in bytes and bits.
#[derive(Clone, Copy)]
struct Coordinate {
    /// An index whose bits are below this is inside.
    inside: u64,
    extent: usize,
    stride_bytes: isize,
}

impl<'a> Work<'a> {
    pub(super) fn new(plan: &'a Plan, params: &'a [u8], indices: &'a [u8]) -> Self {
        let geometry = plan.geometry();
        // A negative index has its highest bit set.
        let numbers = match plan.index_type() {
            IndexType::I32 => 1 << 31,
            IndexType::U32 => 1 << 32,
            IndexType::I64 => 1 << 63,
            IndexType::U64 => u64::MAX,
        };
        let coordinate = |c: &crate::plan::Coordinate| Coordinate {
            inside: numbers.min(c.extent as u64),
            extent: c.extent,
            stride_bytes: c.stride.wrapping_mul(plan.element_bytes() as isize),
        };
        Work {
            plan,
            geometry,
            params: as_uninit(params),
            indices,
            coordinates: geometry.coordinates.iter().map(coordinate).collect(),
            row_bytes: geometry.slice() * plan.element_bytes(),
        }
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Writes all of `output`, whose first row is row number `first`; returns whether some index
    /// was bad.
    pub(super) fn write(&self, first: usize, output: &mut [MaybeUninit<u8>]) -> bool {
        match self.plan.index_type().bytes() {
            4 => self.write_for::<u32>(first, output),
            _ => self.write_for::<u64>(first, output),
        }
    }

    fn write_for<W: Pod + Into<u64>>(&self, first: usize, output: &mut [MaybeUninit<u8>]) -> bool {
        match self.row_bytes {
            1 => self.rows::<W, 1>(first, output),
            2 => self.rows::<W, 2>(first, output),
            4 => self.rows::<W, 4>(first, output),
            8 => self.rows::<W, 8>(first, output),
            16 => self.rows::<W, 16>(first, output),
            _ => self.rows::<W, 0>(first, output),
        }
    }

    /// `WIDTH` is the row's bytes where a loop of its own pays, else 0.
    fn rows<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        first: usize,
        output: &mut [MaybeUninit<u8>],
    ) -> bool {
        let mut walk = Walk::new(self.geometry, first);
        let mut bad = false;
        let (mut rest, tail) = output.split_at_mut(output.len() - output.len() % self.row_bytes);
        while !rest.is_empty() {
            let run = walk.run(rest.len() / self.row_bytes);
            let rows = rest.split_off_mut(..run.rows * self.row_bytes);
            bad |= match (rows, &*self.coordinates) {
                (Some(rows), [one]) => self.run::<W, WIDTH>(run, one, rows),
                (Some(rows), _) => self.run_any::<W, WIDTH>(run, rows),
                (None, _) => break,
            };
        }
        // No plan leaves a part of a row; nothing is left unwritten all the same.
        fill(tail, &[]);
        bad
    }

    /// Writes a run of rows that have one coordinate.
    fn run<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        run: Run,
        coordinate: &Coordinate,
        mut rows: &mut [MaybeUninit<u8>],
    ) -> bool {
        if run.indices_stride != 1 {
            return self.run_any::<W, WIDTH>(run, rows);
        }
        let element_bytes = self.plan.element_bytes();
        let mut source = Source {
            params: self.params,
            base: run.params.wrapping_mul(element_bytes),
            step: run.params_stride.wrapping_mul(element_bytes as isize),
            inside: coordinate.inside,
            stride: coordinate.stride_bytes,
        };
        let first = run.indices * size_of::<W>();
        let mut indices = &self.indices[first..first + run.rows * size_of::<W>()];
        let mut bad = false;
        let row_bytes = if WIDTH > 0 { WIDTH } else { self.row_bytes };
        loop {
            let done = source.copy_inside::<W, WIDTH>(rows, indices, row_bytes);
            indices = &indices[done * size_of::<W>()..];
            rows = &mut rows[done * row_bytes..];
            if rows.is_empty() {
                return bad;
            }
            let (row, rest) = rows.split_at_mut(row_bytes);
            let position = run.indices + run.rows - indices.len() / size_of::<W>();
            match self.look_up_outside(position, coordinate.extent) {
                Some(n) => copy::<WIDTH>(
                    row,
                    self.params,
                    forward(source.base, n as isize, source.stride),
                ),
                None => bad |= self.write_bad(row),
            }
            source.base = source.base.wrapping_add_signed(source.step);
            indices = &indices[size_of::<W>()..];
            rows = rest;
        }
    }

    /// Writes a run of rows that have any number of coordinates.
    #[inline(never)]
    fn run_any<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        run: Run,
        rows: &mut [MaybeUninit<u8>],
    ) -> bool {
        let element_bytes = self.plan.element_bytes();
        let step = run.params_stride.wrapping_mul(element_bytes as isize);
        let mut base = run.params.wrapping_mul(element_bytes);
        let mut first = run.indices;
        let mut bad = false;
        let row_bytes = if WIDTH > 0 { WIDTH } else { self.row_bytes };
        for row in rows.chunks_exact_mut(row_bytes) {
            let mut index = first;
            let source = self.coordinates.iter().try_fold(base, |at, c| {
                let n = self.look_up::<W>(index, c)?;
                index = index.wrapping_add_signed(self.geometry.index_step);
                Some(forward(at, n as isize, c.stride_bytes))
            });
            match source {
                Some(at) => copy::<WIDTH>(row, self.params, at),
                None => bad |= self.write_bad(row),
            }
            base = base.wrapping_add_signed(step);
            first = first.wrapping_add_signed(run.indices_stride);
        }
        bad
    }

    /// What the index at `position` selects.
    #[inline(always)]
    fn look_up<W: Pod + Into<u64>>(&self, position: usize, c: &Coordinate) -> Option<usize> {
        let start = position * size_of::<W>();
        let bytes = &self.indices[start..start + size_of::<W>()];
        let bits: u64 = bytemuck::pod_read_unaligned::<W>(bytes).into();
        if bits < c.inside {
            return Some(bits as usize);
        }
        self.look_up_outside(position, c.extent)
    }

    #[cold]
    fn look_up_outside(&self, position: usize, extent: usize) -> Option<usize> {
        let value = self.plan.index_type().load(self.indices, position);
        self.plan.rules().resolve(value, extent)
    }

    /// Writes a row whose index is bad; returns true.
    #[cold]
    fn write_bad(&self, row: &mut [MaybeUninit<u8>]) -> bool {
        let element = match &self.plan.rules().out_of_bounds {
            OutOfBounds::Fill(element) => element.bytes(),
            _ => &[],
        };
        fill(row, element);
        true
    }
}

/// Where rows come from, as little as a loop needs.
struct Source<'a> {
    params: &'a [MaybeUninit<u8>],
    base: usize,
    step: isize,
    inside: u64,
    stride: isize,
}

impl Source<'_> {
    /// Copies rows up to the first one whose index is not plainly inside; returns how many.
    #[inline(never)]
    fn copy_inside<W: Pod + Into<u64>, const WIDTH: usize>(
        &mut self,
        rows: &mut [MaybeUninit<u8>],
        indices: &[u8],
        row_bytes: usize,
    ) -> usize {
        let row_bytes = if WIDTH > 0 { WIDTH } else { row_bytes };
        let Source {
            params,
            mut base,
            step,
            inside,
            stride,
        } = *self;
        let mut done = 0;
        for (row, index) in rows
            .chunks_exact_mut(row_bytes)
            .zip(indices.chunks_exact(size_of::<W>()))
        {
            let index: u64 = bytemuck::pod_read_unaligned::<W>(index).into();
            if index >= inside {
                break;
            }
            copy::<WIDTH>(row, params, forward(base, index as isize, stride));
            base = base.wrapping_add_signed(step);
            done += 1;
        }
        self.base = base;
        done
    }
}

/// Copies a row that starts at byte `at` of params.
#[inline(always)]
fn copy<const WIDTH: usize>(row: &mut [MaybeUninit<u8>], params: &[MaybeUninit<u8>], at: usize) {
    let bytes = if WIDTH > 0 { WIDTH } else { row.len() };
    row.copy_from_slice(&params[at..at + bytes]);
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
/// apart (2 to 4 times slower).
#[allow(
    unsafe_code,
    reason = "std has no safe copy of this kind before Rust 1.93"
)]
fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    // SAFETY: MaybeUninit<u8> has the layout of u8, and nothing is written through a shared
    // reference.
    unsafe { &*(std::ptr::from_ref(bytes) as *const [MaybeUninit<u8>]) }
}
