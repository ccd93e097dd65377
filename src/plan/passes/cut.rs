//! Loop nests cut into boxes that fit their bindings.

use std::ops::Range;

use crate::error::{Error, OpKind, Result, Role};
use crate::plan::passes::segment::{bind, reach, segments};
use crate::plan::passes::{BindingLimits, Parts, Pass, Segment};
use crate::plan::{Geometry, Loop};

/// Cuts a loop nest into boxes.
pub(super) struct Cutter<'a> {
    pub(super) op: OpKind,
    pub(super) element_bytes: usize,
    pub(super) index_bytes: usize,
    pub(super) parts: Parts<'a>,
    pub(super) limits: &'a BindingLimits,
    /// The nest runs over lookups and makes no output.
    pub(super) counts_rows: bool,
}

impl Cutter<'_> {
    /// The nest with rows so short that none crosses from one part of params into the next.
    pub(super) fn with_rows_in_parts(&self, mut nest: Geometry) -> Geometry {
        if self.parts.params.len() <= 1 {
            return nest;
        }
        let slice = nest.slice();
        let width = self.element_bytes as i64;
        let breaks = self.parts.params.iter().skip(1).map(|p| p.origin / width);
        let offset = nest.params_offset as i64;
        let strides = nest.row_loops().iter().map(|l| l.params_stride);
        let strides = strides.chain(nest.coordinates.iter().map(|c| c.stride));
        // Rows start at the offset plus multiples of the strides, parts at the breaks.
        let apart = strides
            .map(|s| s as i64)
            .chain(breaks.map(|at| at - offset));
        let row = apart.fold(slice as u64, |row, n| gcd(row, n.unsigned_abs())) as usize;
        if row < slice {
            nest.loops.pop();
            let inner = |extent, params_stride| Loop {
                extent,
                params_stride,
                indices_stride: 0,
            };
            nest.loops.push(inner(slice / row, row as isize));
            nest.loops.extend((row > 1).then_some(inner(row, 1)));
            nest.sliced = row > 1;
        }
        nest
    }

    /// Calls `emit` with the boxes of a nest, in order. Its output starts at element `first`.
    pub(super) fn cut(
        &self,
        nest: Geometry,
        first: usize,
        emit: &mut dyn FnMut(Geometry, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let size = nest.elements();
        let elements = first..first + size;
        let fits = self.fits(&nest, &elements);
        if fits && self.segments(&nest).len() <= self.limits.segments {
            return emit(nest, elements);
        }
        let Some(outer) = nest.loops.first() else {
            self.check_one(&nest, &elements)?;
            return emit(nest, elements);
        };
        let inner = size / outer.extent;
        let mut at = 0;
        while at < outer.extent {
            let from = first + at * inner;
            let fits = |count: usize| {
                let nest = nest.range(at, count);
                self.fits(&nest, &(from..from + count * inner))
            };
            let left = outer.extent - at;
            let most = greatest(left, fits);
            if most == 0 {
                self.cut(nest.range(at, 1), from, emit)?;
                at += 1;
                continue;
            }
            let most = even(most, left);
            let count = even(
                self.with_few_segments(most, |count| nest.range(at, count)),
                left,
            );
            emit(nest.range(at, count), from..from + count * inner)?;
            at += count;
        }
        Ok(())
    }

    /// Steps of a loop to put into one box, of the `most` that fit: preferably no more than read params from
    /// the segments of a single dispatch.
    fn with_few_segments(&self, most: usize, nest: impl Fn(usize) -> Geometry) -> usize {
        let segments = |count| self.segments(&nest(count)).len();
        let all = segments(most);
        if all <= self.limits.segments {
            return most;
        }
        let few = greatest(most, |count| segments(count) <= self.limits.segments);
        match few {
            0 if segments(1) * 2 <= all => 1,
            0 => most,
            few => few,
        }
    }

    /// The output and the indices of a box fit one segment each; and if params takes several segments, a row
    /// fits the overlap of two.
    fn fits(&self, nest: &Geometry, elements: &Range<usize>) -> bool {
        let row_bytes = (nest.slice() * self.element_bytes) as u64;
        if row_bytes > self.limits.overlap() && self.segments(nest).len() > 1 {
            return false;
        }
        // Counts stay below 2^31, so that rounding them up stays below 2^32 on the device.
        if elements.len() > i32::MAX as usize / 2 {
            return false;
        }
        let small = |bytes: Range<i64>| (bytes.end - bytes.start) as u64 <= self.limits.pass_bytes;
        let output = self.counts_rows
            || (small(self.output_bytes(elements)) && self.output(elements).is_ok());
        output && self.indices(nest).is_ok()
    }

    /// Refuses a box of one element that does not fit.
    fn check_one(&self, nest: &Geometry, element: &Range<usize>) -> Result<()> {
        self.indices(nest)?;
        let width = self.element_bytes as u64;
        if width > self.limits.overlap() && self.segments(nest).len() > 1 {
            return Err(Error::TensorTooLarge {
                op: self.op,
                role: Role::Params,
                bytes: width,
                limit: self.limits.overlap(),
            });
        }
        match self.counts_rows {
            true => Ok(()),
            false => self.output(element).map(drop),
        }
    }

    /// The segment of the output to bind for these elements.
    fn output(&self, elements: &Range<usize>) -> Result<Segment> {
        let (bytes, limit) = (self.output_bytes(elements), self.limits.output_bytes);
        bind(self.parts.output, bytes, limit, self.limits).ok_or(Error::TensorTooLarge {
            op: self.op,
            role: Role::Output,
            bytes: self.element_bytes as u64,
            limit,
        })
    }

    /// The segment of indices to bind for a nest; `None`, if it reads none.
    pub(super) fn indices(&self, nest: &Geometry) -> Result<Option<Segment>> {
        let limit = self.limits.indices_bytes;
        let bound = self.reach_of_indices(nest).map(|reach| {
            let segment = bind(self.parts.indices, reach, limit, self.limits);
            segment.ok_or_else(|| self.tuple_too_large(nest))
        });
        bound.transpose()
    }

    fn tuple_too_large(&self, nest: &Geometry) -> Error {
        let reach = self.reach_of_indices(nest).unwrap_or_default();
        // A binding starts at a multiple of the alignment, which may lie before the tuple.
        let part = self
            .parts
            .indices
            .iter()
            .find(|part| part.contains(reach.start));
        let before = part.map_or(0, |part| {
            (reach.start - part.origin + part.offset as i64) as u64 % self.limits.alignment
        });
        Error::TensorTooLarge {
            op: self.op,
            role: Role::Indices,
            bytes: before + reach.end.abs_diff(reach.start),
            limit: self.limits.indices_bytes,
        }
    }

    fn output_bytes(&self, elements: &Range<usize>) -> Range<i64> {
        let byte = |element: usize| (element * self.element_bytes) as i64;
        byte(elements.start)..byte(elements.end)
    }

    /// The bytes of the indices that a nest reads; nothing, if there are none.
    fn reach_of_indices(&self, nest: &Geometry) -> Option<Range<i64>> {
        let depth = nest.coordinates.len();
        let loops = nest.loops.iter().map(|l| (l.extent, l.indices_stride));
        let tuple = std::iter::once((depth, nest.index_step));
        (depth > 0).then(|| reach(nest.indices_offset, loops.chain(tuple), self.index_bytes))
    }

    /// The segments that a nest may read of params.
    fn segments(&self, nest: &Geometry) -> Vec<Segment> {
        // An axis of extent 0 has nothing to read.
        if nest.coordinates.iter().any(|c| c.extent == 0) {
            return Vec::new();
        }
        let loops = nest.loops.iter().map(|l| (l.extent, l.params_stride));
        let looked_up = nest.coordinates.iter().map(|c| (c.extent, c.stride));
        let reach = reach(
            nest.params_offset,
            loops.chain(looked_up),
            self.element_bytes,
        );
        let row_bytes = (nest.slice() * self.element_bytes) as u64;
        segments(self.parts.params, reach, row_bytes, self.limits)
    }

    /// The passes over one box.
    pub(super) fn emit(
        &self,
        nest: Geometry,
        elements: Range<usize>,
        passes: &mut Vec<Pass>,
    ) -> Result<()> {
        let indices = self.indices(&nest)?;
        let output = self.output(&elements)?;
        let segments = self.segments(&nest);
        let together = self.limits.segments.max(1);
        for n in 0..segments.len().div_ceil(together).max(1) {
            let (first, end) = (n * together, (n + 1) * together);
            let next = segments.get(end);
            passes.push(Pass {
                geometry: nest.clone(),
                elements: elements.clone(),
                params: segments[first..end.min(segments.len())].to_vec(),
                origin: segments.first().map_or(0, |s| s.origin),
                params_end: segments.last().map_or(0, |s| s.end()),
                owned_to: next.map_or(i64::MAX, |next| next.owned_from),
                indices,
                output,
                output_offset: (self.output_bytes(&elements).start - output.origin) as u64,
                flagged: false,
                first: n == 0,
            });
        }
        Ok(())
    }
}

/// The greatest common divisor; of a number and 0, that number.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest count up to `most` that fits, where less always fits if more does; 0 if none.
pub(in crate::plan) fn greatest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    if fits(most) {
        return most;
    }
    let (mut fit, mut too_many) = (0, most);
    while too_many - fit > 1 {
        let middle = fit + (too_many - fit) / 2;
        match fits(middle) {
            true => fit = middle,
            false => too_many = middle,
        }
    }
    fit
}

/// A part of what is left of a loop, such that the next part starts as well aligned as this one.
fn even(count: usize, left: usize) -> usize {
    match count {
        count if count == left || count < 64 => count,
        count => count / 64 * 64,
    }
}
