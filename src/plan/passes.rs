//! Passes: which part of the output is made in one dispatch, from which segments of the tensors.
//!
//! A binding holds only so many bytes, so a tensor is bound as **segments**. The loop nest is cut
//! into boxes: a range of one loop, with the loops around it fixed and those inside it whole. A
//! box is a contiguous range of the output, and a [`Geometry`] of its own with other offsets. It
//! is small enough that its output and its indices fit one segment each. Params may need several
//! segments even so, as an index may point anywhere: they are bound together, as many as a
//! dispatch can bind, and if that is not enough, several passes make the box, each the elements
//! that lie in its segments.
//!
//! ```text
//! params   ├── segment 0 ──┤── segment 1 ──┤── segment 2 ──┤     at most 2 in a dispatch
//! output   ├──── box 0 ────┼──── box 1 ────┤
//! passes   box 0 × {0, 1}, box 0 × {2}, box 1 × {0, 1}, box 1 × {2}
//! ```

use std::ops::Range;

use crate::error::{Error, OpKind, Result, Role};
use crate::plan::{Geometry, Plan, Starts};

/// What a device can bind and run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a binding; a multiple of 16.
    pub binding_bytes: u64,
    /// How many segments of params one dispatch can bind.
    pub segments: usize,
    /// What the offset of a binding is a multiple of; at least 16.
    pub alignment: u64,
    /// Bytes of output of one pass, so that no pass keeps the device busy for long.
    pub pass_bytes: u64,
    /// Workgroups in each dimension of a dispatch.
    pub workgroups: u32,
}

/// A part of a tensor's data that lies in one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The byte of the data that the part starts with. Negative, if the buffer has other bytes
    /// before the data.
    pub start: i64,
    /// Where that byte lies in the buffer; for all parts of a tensor but the first, a multiple of
    /// 16, as is the start.
    pub offset: u64,
    /// Bytes of the part.
    pub bytes: u64,
}

/// A part of a tensor that is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The number of the [`Part`] that it lies in.
    pub part: usize,
    /// Where the binding starts in the buffer.
    pub offset: u64,
    /// Bytes of the binding.
    pub size: u64,
    /// The byte of the data at the start of the binding; negative, if that lies before the data.
    pub start: i64,
    /// The byte of the data from which on elements are read from this segment, and not from the
    /// one before.
    pub owned_from: i64,
}

/// One dispatch.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The loop nest of the box.
    pub geometry: Geometry,
    /// The elements of the output that the box makes.
    pub elements: Range<usize>,
    /// What is bound of params; empty, if the box reads nothing of it.
    pub params: Vec<Segment>,
    /// The byte of params where the next pass over the same box takes over.
    pub owned_to: i64,
    /// What is bound of indices; nothing, if there are none.
    pub indices: Option<Segment>,
    /// What is bound of the output.
    pub output: Segment,
    /// From the start of that binding to the first byte of the box.
    pub output_at: u64,
    /// Whether this is the first pass over the box: it writes what bad indices leave.
    pub first: bool,
}

impl Pass {
    /// Where the tensors start in their bindings; params in that of its first segment.
    pub fn starts(&self) -> Starts {
        Starts {
            params: self.params.first().map_or(0, |s| -s.start),
            indices: self.indices.map_or(0, |s| -s.start),
            output: self.output_at,
        }
    }
}

/// One dispatch that looks for bad indices.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckPass {
    /// The loop nest of the box.
    pub geometry: Geometry,
    /// The lookups of the box, in row-major order of indices.
    pub lookups: Range<usize>,
    /// What is bound of indices.
    pub indices: Segment,
}

/// Where the data of the tensors lie.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The parts of params, in order.
    pub params: &'a [Part],
    /// The parts of indices, in order.
    pub indices: &'a [Part],
    /// The parts of the output, in order.
    pub output: &'a [Part],
}

/// The passes over a non-empty plan.
///
/// # Errors
///
/// [`Error::TensorTooLarge`] if a single element of the output, or the tuple of indices of one
/// lookup, is larger than a binding.
pub fn passes(plan: &Plan, parts: Parts<'_>, bounds: &Bounds) -> Result<Vec<Pass>> {
    let cutter = Cutter {
        op: plan.op(),
        element_bytes: plan.element_bytes(),
        index_bytes: plan.index_type().bytes(),
        parts,
        bounds,
        counts_rows: false,
    };
    let mut passes = Vec::new();
    cutter.cut(plan.geometry(), &mut |nest, elements| {
        cutter.emit(nest, elements, &mut passes)
    })?;
    Ok(passes)
}

/// The passes that look for bad indices: over the lookups, with indices bound only.
///
/// # Errors
///
/// As [`passes`].
pub fn check_passes(plan: &Plan, indices: &[Part], bounds: &Bounds) -> Result<Vec<CheckPass>> {
    let cutter = Cutter {
        op: plan.op(),
        element_bytes: 0,
        index_bytes: plan.index_type().bytes(),
        parts: Parts {
            params: &[],
            indices,
            output: &[],
        },
        bounds,
        counts_rows: true,
    };
    let mut passes = Vec::new();
    cutter.cut(plan.lookups(), &mut |geometry, lookups| {
        let reach = cutter.reach_of_indices(&geometry).unwrap_or_default();
        let segment = bind(indices, reach, bounds);
        passes.push(CheckPass {
            indices: segment.ok_or_else(|| cutter.tuple_too_large(&geometry))?,
            geometry,
            lookups,
        });
        Ok(())
    })?;
    Ok(passes)
}

/// Cuts a loop nest into boxes.
struct Cutter<'a> {
    op: OpKind,
    element_bytes: usize,
    index_bytes: usize,
    parts: Parts<'a>,
    bounds: &'a Bounds,
    /// Whether the nest is over lookups and makes no output.
    counts_rows: bool,
}

impl Cutter<'_> {
    /// Calls `emit` with the boxes of `nest`, in order.
    fn cut(
        &self,
        nest: &Geometry,
        emit: &mut dyn FnMut(Geometry, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        self.cut_from(nest.clone(), 0, emit)
    }

    /// Cuts a nest whose output starts at element `first`.
    fn cut_from(
        &self,
        nest: Geometry,
        first: usize,
        emit: &mut dyn FnMut(Geometry, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let size = nest.elements();
        let Some(outer) = nest.loops.first() else {
            self.check_one(&nest, first)?;
            return emit(nest, first..first + 1);
        };
        let inner = size / outer.extent;
        let mut at = 0;
        while at < outer.extent {
            let from = first + at * inner;
            let fits = |count: usize| {
                let nest = nest.range(at, count);
                self.fits(&nest, from..from + count * inner)
            };
            let left = outer.extent - at;
            let most = greatest(left, fits);
            if most == 0 {
                self.cut_from(nest.range(at, 1), from, emit)?;
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

    /// How many steps of a loop, out of the `most` that fit, are best made together: no more than
    /// have their params in one dispatch's segments, if there are such.
    fn with_few_segments(&self, most: usize, nest: impl Fn(usize) -> Geometry) -> usize {
        let segments = |count| self.segments(&nest(count)).len();
        let all = segments(most);
        if all <= self.bounds.segments {
            return most;
        }
        let few = greatest(most, |count| segments(count) <= self.bounds.segments);
        match few {
            0 if segments(1) * 2 <= all => 1,
            0 => most,
            few => few,
        }
    }

    /// Whether the output and the indices of a box fit one segment each.
    fn fits(&self, nest: &Geometry, elements: Range<usize>) -> bool {
        // Counts stay below 2^31, so that rounding them up stays below 2^32 on the device.
        if elements.len() > i32::MAX as usize / 2 {
            return false;
        }
        let output = self.counts_rows || {
            let bytes = self.output_bytes(&elements);
            (bytes.end - bytes.start) as u64 <= self.bounds.pass_bytes.max(1)
                && bind(self.parts.output, bytes, self.bounds).is_some()
        };
        output
            && self
                .reach_of_indices(nest)
                .is_none_or(|reach| bind(self.parts.indices, reach, self.bounds).is_some())
    }

    /// Refuses a box of one element that does not fit.
    fn check_one(&self, nest: &Geometry, element: usize) -> Result<()> {
        let indices = self.reach_of_indices(nest);
        if indices.is_some_and(|reach| bind(self.parts.indices, reach, self.bounds).is_none()) {
            return Err(self.tuple_too_large(nest));
        }
        let bytes = self.output_bytes(&(element..element + 1));
        if !self.counts_rows && bind(self.parts.output, bytes, self.bounds).is_none() {
            return Err(Error::TensorTooLarge {
                op: self.op,
                role: Role::Output,
                bytes: self.element_bytes as u64,
                limit: self.bounds.binding_bytes,
            });
        }
        Ok(())
    }

    fn tuple_too_large(&self, nest: &Geometry) -> Error {
        let reach = self.reach_of_indices(nest).unwrap_or_default();
        Error::TensorTooLarge {
            op: self.op,
            role: Role::Indices,
            bytes: reach.end.abs_diff(reach.start),
            limit: self.bounds.binding_bytes,
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
        segments(self.parts.params, reach, row_bytes, self.bounds)
    }

    /// The passes over one box.
    fn emit(&self, nest: Geometry, elements: Range<usize>, passes: &mut Vec<Pass>) -> Result<()> {
        let indices = self
            .reach_of_indices(&nest)
            .and_then(|reach| bind(self.parts.indices, reach, self.bounds));
        let bytes = self.output_bytes(&elements);
        let output = bind(self.parts.output, bytes.clone(), self.bounds);
        let output = output.ok_or(Error::TensorTooLarge {
            op: self.op,
            role: Role::Output,
            bytes: self.element_bytes as u64,
            limit: self.bounds.binding_bytes,
        })?;
        let segments = self.segments(&nest);
        let groups: Vec<&[Segment]> = match segments.is_empty() {
            true => vec![&[]],
            false => segments.chunks(self.bounds.segments.max(1)).collect(),
        };
        for (n, group) in groups.iter().enumerate() {
            passes.push(Pass {
                geometry: nest.clone(),
                elements: elements.clone(),
                params: group.to_vec(),
                owned_to: groups
                    .get(n + 1)
                    .map_or(i64::MAX, |next| next[0].owned_from),
                indices,
                output,
                output_at: (bytes.start - output.start) as u64,
                first: n == 0,
            });
        }
        Ok(())
    }
}

/// The greatest count up to `most` that fits, where less always fits if more does; 0 if none.
fn greatest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
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

/// The bytes from the first element that loops of these extents and strides reach to the last.
fn reach(
    offset: usize,
    loops: impl Iterator<Item = (usize, isize)>,
    element_bytes: usize,
) -> Range<i64> {
    let (mut first, mut last) = (offset as i64, offset as i64);
    for (extent, stride) in loops {
        let span = (extent as i64 - 1).wrapping_mul(stride as i64);
        let end = if span < 0 { &mut first } else { &mut last };
        *end = end.wrapping_add(span);
    }
    let byte = |position: i64| position.wrapping_mul(element_bytes as i64);
    byte(first)..byte(last.wrapping_add(1))
}

/// The one segment that covers `data`; `None` if that takes more than a binding.
fn bind(parts: &[Part], data: Range<i64>, bounds: &Bounds) -> Option<Segment> {
    let part = parts.iter().position(|p| p.contains(data.start))?;
    let segment = parts[part].segment(part, data.clone(), bounds);
    (segment.size <= bounds.binding_bytes && segment.end() >= data.end).then_some(segment)
}

/// The segments that cover `data`. Where one ends because a binding holds no more, it overlaps
/// with the next by a row, so that each row lies within one of them.
fn segments(parts: &[Part], data: Range<i64>, row_bytes: u64, bounds: &Bounds) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut at = data.start;
    for (n, part) in parts.iter().enumerate() {
        let end = data.end.min(part.end());
        while part.contains(at) && at < end {
            let all = part.segment(n, at..end, bounds);
            if all.size <= bounds.binding_bytes {
                segments.push(all);
                at = end;
                break;
            }
            let room = bounds.binding_bytes;
            let overlap = if row_bytes <= room / 4 { row_bytes } else { 0 };
            // 16 bytes hold whole lanes; the segment starts less than an alignment before `at`.
            let owned = (all.offset + room - overlap) / 16 * 16;
            segments.push(Segment { size: room, ..all });
            at = part.start + (owned - part.offset) as i64;
        }
    }
    segments
}

impl Part {
    /// The byte of the data behind the part.
    pub(crate) fn end(&self) -> i64 {
        self.start + self.bytes as i64
    }

    fn contains(&self, byte: i64) -> bool {
        (self.start..self.end()).contains(&byte)
    }

    /// The segment of this part, number `n`, that covers `data`: in whole words, from the aligned
    /// offset below on, and at least a lane.
    fn segment(&self, n: usize, data: Range<i64>, bounds: &Bounds) -> Segment {
        let place = |byte: i64| self.offset + (byte - self.start) as u64;
        let (begin, end) = (place(data.start), place(data.end.min(self.end())));
        let offset = begin / bounds.alignment * bounds.alignment;
        let size = (end - offset).next_multiple_of(4).max(16);
        let whole = (self.offset + self.bytes - offset) & !3;
        Segment {
            part: n,
            offset,
            size: size.min(whole),
            start: self.start + (offset as i64 - self.offset as i64),
            owned_from: data.start,
        }
    }
}

impl Segment {
    /// The byte of the data behind the binding.
    fn end(&self) -> i64 {
        self.start + self.size as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexType;
    use crate::op::Op;
    use crate::rules::Rules;
    use crate::shape::{Layout, unravel};

    /// One buffer that holds the data from its byte `offset` on.
    fn whole(offset: u64, bytes: u64) -> Vec<Part> {
        vec![Part {
            start: -(offset as i64),
            offset: 0,
            bytes: offset + bytes,
        }]
    }

    /// Buffers of `each` bytes.
    fn several(bytes: u64, each: u64) -> Vec<Part> {
        let part = |n: u64| Part {
            start: (n * each) as i64,
            offset: 0,
            bytes: each.min(bytes - n * each),
        };
        (0..bytes.div_ceil(each)).map(part).collect()
    }

    /// Where element `element` of the box reads: its index tuple and, for some coordinates, params.
    fn places(nest: &Geometry, element: usize, choice: usize) -> (Vec<i64>, i64) {
        let extents: Vec<usize> = nest.loops.iter().map(|l| l.extent).collect();
        let (mut params, mut index) = (nest.params_offset as i64, nest.indices_offset as i64);
        for (l, at) in nest.loops.iter().zip(unravel(element, &extents)) {
            params += l.params_stride as i64 * at as i64;
            index += l.indices_stride as i64 * at as i64;
        }
        for (k, c) in nest.coordinates.iter().enumerate() {
            params += ((choice * 7 + k * 3 + element) % c.extent) as i64 * c.stride as i64;
        }
        let tuple = |k: usize| index + k as i64 * nest.index_step as i64;
        ((0..nest.coordinates.len()).map(tuple).collect(), params)
    }

    /// Every element is made once, from bytes that are bound.
    fn check(plan: &Plan, parts: Parts<'_>, bounds: &Bounds) -> usize {
        let all = passes(plan, parts, bounds).unwrap();
        let covers = |s: &Segment, byte: i64, bytes: usize| {
            s.start <= byte && byte + bytes as i64 <= s.end() && s.size <= bounds.binding_bytes
        };
        let (width, index_bytes) = (plan.element_bytes(), plan.index_type().bytes());
        let mut made = 0;
        for (n, pass) in all.iter().enumerate() {
            assert!(pass.params.len() <= bounds.segments);
            assert_eq!(pass.elements.len(), pass.geometry.elements());
            assert!(pass.elements.len() * width <= bounds.pass_bytes as usize);
            if !pass.first {
                assert_eq!(pass.elements, all[n - 1].elements);
                continue;
            }
            assert_eq!(pass.elements.start, made, "boxes follow each other");
            made = pass.elements.end;
            let group: Vec<&Pass> = all[n..]
                .iter()
                .take_while(|p| p.elements == pass.elements)
                .collect();
            for element in 0..pass.elements.len() {
                let to = ((pass.elements.start + element) * width) as i64;
                assert!(covers(&pass.output, to, width));
                for choice in 0..3 {
                    let (tuple, from) = places(&pass.geometry, element, choice);
                    for index in tuple {
                        let byte = index * index_bytes as i64;
                        assert!(covers(&pass.indices.unwrap(), byte, index_bytes));
                    }
                    let byte = from * width as i64;
                    let owner = |p: &&&Pass| {
                        p.params.first().is_some_and(|s| s.owned_from <= byte) && byte < p.owned_to
                    };
                    let owners: Vec<_> = group.iter().filter(owner).collect();
                    assert_eq!(owners.len(), 1, "element {element} is read in one pass");
                    let segment = owners[0].params.iter().rfind(|s| s.owned_from <= byte);
                    assert!(covers(segment.unwrap(), byte, width));
                }
            }
        }
        assert_eq!(made * width, plan.output_bytes());
        all.len()
    }

    fn bounds(binding_bytes: u64, segments: usize) -> Bounds {
        Bounds {
            binding_bytes,
            segments,
            alignment: 256,
            pass_bytes: 4096,
            workgroups: 65535,
        }
    }

    fn plan(op: Op, width: usize, params: &Layout, indices: &Layout) -> Plan {
        Plan::new(
            op,
            &Rules::default(),
            width,
            params,
            IndexType::I64,
            indices,
        )
        .unwrap()
    }

    #[test]
    fn every_element_is_made_once_from_bytes_that_are_bound() {
        let contiguous = Layout::contiguous;
        let transposed = contiguous(&[40, 50]).permute(&[1, 0]).unwrap();
        let reversed = Layout::strided(&[60, 20], &[-20, 1], 1180).unwrap();
        let plans = [
            plan(
                Op::gather(0),
                4,
                &contiguous(&[300, 8]),
                &contiguous(&[500]),
            ),
            plan(
                Op::gather(0),
                1,
                &contiguous(&[700, 3]),
                &contiguous(&[300, 2]),
            ),
            plan(Op::gather(0), 16, &contiguous(&[5, 300]), &contiguous(&[3])),
            plan(
                Op::gather(1),
                4,
                &contiguous(&[30, 40, 5]),
                &contiguous(&[20]),
            ),
            plan(Op::gather(0), 2, &transposed, &contiguous(&[60])),
            plan(Op::gather(0), 8, &reversed, &contiguous(&[30])),
            plan(
                Op::gather_nd(),
                4,
                &contiguous(&[20, 30, 7]),
                &contiguous(&[150, 2]),
            ),
            plan(
                Op::gather_elements(0),
                4,
                &contiguous(&[50, 40]),
                &contiguous(&[30, 40]),
            ),
            plan(
                Op::Gather {
                    axis: Some(1),
                    batch_dims: 1,
                },
                8,
                &contiguous(&[40, 30, 2]),
                &contiguous(&[40, 9]),
            ),
            plan(Op::gather(0), 4, &contiguous(&[2000]), &contiguous(&[3000])),
            plan(
                Op::gather_nd(),
                12,
                &contiguous(&[100, 9]),
                &contiguous(&[0]),
            ),
        ];
        let mut counts = Vec::new();
        for plan in &plans {
            let bytes = |layout: &Layout, width: usize| {
                layout
                    .reached()
                    .map_or(16, |(_, last)| ((last + 1) * width) as u64)
            };
            let params = bytes(plan.params_layout(), plan.element_bytes());
            let indices = bytes(plan.indices_layout(), 8);
            let output = plan.output_bytes() as u64;
            for (binding, segments) in [(512, 2), (1024, 3), (4096, 8), (1 << 30, 6)] {
                let bounds = bounds(binding, segments);
                let parts = Parts {
                    params: &whole(336, params),
                    indices: &whole(40, indices),
                    output: &whole(48, output),
                };
                counts.push(check(plan, parts, &bounds));
                let each = 1536; // a multiple of 16 and of every width here
                let parts = Parts {
                    params: &several(params, each),
                    indices: &whole(0, indices),
                    output: &several(output, each),
                };
                check(plan, parts, &bounds);
            }
        }
        assert!(
            counts.contains(&1) && counts.iter().any(|&n| n > 50),
            "{counts:?}"
        );
    }

    #[test]
    fn an_ordinary_gather_is_one_pass_with_one_segment() {
        let plan = plan(
            Op::gather(0),
            4,
            &Layout::contiguous(&[30522, 384]),
            &Layout::contiguous(&[512]),
        );
        let parts = Parts {
            params: &whole(0, 30522 * 384 * 4),
            indices: &whole(0, 512 * 8),
            output: &whole(0, 512 * 384 * 4),
        };
        let bounds = Bounds {
            pass_bytes: 1 << 30,
            ..bounds(1 << 27, 6)
        };
        let all = passes(&plan, parts, &bounds).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].params.len(), 1);
        assert_eq!(&all[0].geometry, plan.geometry());
    }

    #[test]
    fn batches_are_cut_so_that_their_params_fit_one_dispatch() {
        // 8 batches of 1,000 bytes; two segments of 1,024 bytes at a time
        let op = Op::Gather {
            axis: Some(1),
            batch_dims: 1,
        };
        let plan = plan(
            op,
            4,
            &Layout::contiguous(&[8, 250]),
            &Layout::contiguous(&[8, 30]),
        );
        let parts = Parts {
            params: &whole(0, 8000),
            indices: &whole(0, 8 * 30 * 8),
            output: &whole(0, 8 * 30 * 4),
        };
        let all = passes(&plan, parts, &bounds(1024, 2)).unwrap();
        assert!(all.iter().all(|p| p.first), "no box takes two passes");
    }

    #[test]
    fn a_tuple_beyond_a_binding_is_an_error() {
        let apart = Layout::strided(&[10, 2], &[1, 1000], 0).unwrap();
        let plan = plan(Op::gather_nd(), 4, &Layout::contiguous(&[9, 9]), &apart);
        let parts = Parts {
            params: &whole(0, 324),
            indices: &whole(0, 8080),
            output: &whole(0, 40),
        };
        let error = Error::TensorTooLarge {
            op: OpKind::GatherNd,
            role: Role::Indices,
            bytes: 8008,
            limit: 1024,
        };
        assert_eq!(passes(&plan, parts, &bounds(1024, 2)), Err(error.clone()));
        let check = check_passes(&plan, parts.indices, &bounds(1024, 2));
        assert_eq!(check, Err(error));
    }
}
