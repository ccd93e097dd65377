//! The loop nest that every gather is, and the lowering of the operators to it.
//!
//! ```text
//! output[o] = params[ params_offset + Σ_loops o_d * params_stride_d + Σ_k resolve(index_k, extent_k) * stride_k ]
//! index_k   = indices[ indices_offset + Σ_loops o_d * indices_stride_d + k * index_step ]
//! ```
//!
//! This is the last file that knows operators.

use std::ops::Range;

use smallvec::SmallVec;

use crate::op::Checked;
use crate::shape::Layout;

/// One loop over the output, outermost first; the output itself is contiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Loop {
    /// Number of steps; at least 2 after lowering.
    pub extent: usize,
    /// The step through params, in elements.
    pub params_stride: isize,
    /// The step through indices, in indices.
    pub indices_stride: isize,
}

/// One looked-up coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Coordinate {
    /// The dim of params it selects from, for error messages.
    pub axis: usize,
    /// The extent of that dim: what an index is checked against.
    pub extent: usize,
    /// The step through params, in elements.
    pub stride: isize,
}

/// Loops, outermost first. Up to two are stored inline, without an allocation.
type Loops = SmallVec<[Loop; 2]>;

/// The loop nest of one gather.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// The loops, outermost first.
    pub loops: Loops,
    /// The looked-up coordinates; their number is the index depth.
    pub coordinates: SmallVec<[Coordinate; 1]>,
    /// The step from one component of an index tuple to the next, in indices.
    pub index_step: isize,
    /// Position of the first element of params, in elements.
    pub params_offset: usize,
    /// Position of the first index, in indices.
    pub indices_offset: usize,
    /// The slice is copied as a row. If not, each of its elements is read on its own.
    pub sliced: bool,
}

/// The dims that one loop steps through before loops are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LoopDims {
    /// The dim of params.
    pub params: Option<usize>,
    /// The dim of indices.
    pub indices: Option<usize>,
}

/// One dim, or one of each tensor, and what lowering made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DimsOfLoop {
    pub(super) dims: LoopDims,
    /// The loop it is, or is a part of; `None` for an extent of 1.
    pub(super) becomes: Option<usize>,
}

impl Geometry {
    /// The geometry of an empty output.
    pub(crate) fn empty() -> Self {
        Geometry {
            loops: SmallVec::new(),
            coordinates: SmallVec::new(),
            index_step: 0,
            params_offset: 0,
            indices_offset: 0,
            sliced: true,
        }
    }

    /// The number of output elements (of a non-empty output).
    pub fn elements(&self) -> usize {
        self.loops.iter().map(|l| l.extent).product()
    }

    /// The slice: how many elements in a row of the output lie in a row in params and share one
    /// lookup. The innermost loop, if it is that; else 1.
    pub fn slice(&self) -> usize {
        match self.loops.last() {
            Some(l) if self.sliced && l.params_stride == 1 && l.indices_stride == 0 => l.extent,
            _ => 1,
        }
    }

    /// The same nest over row numbers instead of rows, for lookups of one index.
    pub(crate) fn of_row_numbers(&self) -> Self {
        let mut nest = self.clone();
        nest.params_offset = 0;
        for c in &mut nest.coordinates {
            c.stride = 1;
        }
        nest
    }

    /// The nest with `count` steps of its outermost loop, from step `at` on.
    pub(super) fn range(&self, at: usize, count: usize) -> Self {
        let mut nest = self.clone();
        let outer = &mut nest.loops[0];
        outer.extent = count;
        let forward = |offset: usize, stride: isize| {
            offset.wrapping_add_signed(stride.wrapping_mul(at as isize))
        };
        nest.params_offset = forward(nest.params_offset, outer.params_stride);
        nest.indices_offset = forward(nest.indices_offset, outer.indices_stride);
        if count == 1 {
            nest.loops.remove(0);
        }
        nest
    }

    /// The loops without the one over the slice.
    pub fn row_loops(&self) -> &[Loop] {
        let slices = usize::from(self.slice() > 1);
        &self.loops[..self.loops.len() - slices]
    }
}

/// The loop nests of an operator with a non-empty output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lowered {
    /// The loops over the output.
    pub(super) geometry: Geometry,
    /// The loops over the lookups: each index tuple once.
    pub(super) lookups: Geometry,
}

impl Lowered {
    /// An empty output has no loops.
    pub(super) fn empty() -> Self {
        Lowered {
            geometry: Geometry::empty(),
            lookups: Geometry::empty(),
        }
    }
}

/// Lowers a checked operator with a non-empty output.
pub(super) fn lower(op: Checked, params: &Layout, indices: &Layout) -> Lowered {
    lower_each(op, params, indices, |_| ())
}

/// Each dim of the output with the loop that [`lower`] makes it a part of.
pub(super) fn dims_of_loops(op: Checked, params: &Layout, indices: &Layout) -> Vec<DimsOfLoop> {
    let mut all = Vec::new();
    lower_each(op, params, indices, |dims| all.push(dims));
    all
}

/// [`lower`], which passes each dim of the output to `each`.
fn lower_each(
    op: Checked,
    params: &Layout,
    indices: &Layout,
    mut each: impl FnMut(DimsOfLoop),
) -> Lowered {
    let all = output_dims(op, params.rank(), indices.rank());
    let (params, indices) = (&params.at_least_1d(), &indices.at_least_1d());
    let mut nest = Nest::new(params, indices);
    for dims in all {
        let becomes = nest.push(dims);
        each(DimsOfLoop { dims, becomes });
    }
    nest.look_up(op);
    nest.finish()
}

/// The dims that a loop over each dim of the output steps through, outermost first.
pub(crate) fn output_dims(
    op: Checked,
    params_rank: usize,
    indices_rank: usize,
) -> SmallVec<[LoopDims; 4]> {
    let mut all = SmallVec::new();
    let (shared, params_only, indices_only) = ([true; 2], [true, false], [false, true]);
    let mut steps = |dims: Range<usize>, [params, indices]: [bool; 2]| {
        for d in dims {
            all.push(LoopDims {
                params: params.then_some(d),
                indices: indices.then_some(d),
            });
        }
    };
    match op {
        Checked::Gather { axis, batch_dims } => {
            steps(0..batch_dims, shared);
            steps(batch_dims..axis, params_only);
            steps(batch_dims..indices_rank, indices_only);
            steps(axis + 1..params_rank, params_only);
        }
        Checked::GatherNd { batch_dims, depth } => {
            steps(0..batch_dims, shared);
            steps(batch_dims..indices_rank - 1, indices_only);
            steps(batch_dims + depth..params_rank, params_only);
        }
        // A scalar has no dim.
        Checked::GatherElements { axis } => {
            steps(0..axis, shared);
            steps(axis..indices_rank.min(axis + 1), indices_only);
            steps(axis + 1..indices_rank, shared);
        }
    }
    all
}

/// A loop nest under construction.
struct Nest<'a> {
    params: &'a Layout,
    indices: &'a Layout,
    loops: Loops,
    coordinates: SmallVec<[Coordinate; 1]>,
    index_step: isize,
    /// Number of leading dims of indices that are positions: all but the tuple of `gather_nd`.
    positions: usize,
}

impl<'a> Nest<'a> {
    fn new(params: &'a Layout, indices: &'a Layout) -> Self {
        Nest {
            params,
            indices,
            loops: SmallVec::new(),
            coordinates: SmallVec::new(),
            index_step: 0,
            positions: indices.rank(),
        }
    }

    /// Adds the coordinates of an operator.
    fn look_up(&mut self, op: Checked) {
        match op {
            Checked::Gather { axis, .. } | Checked::GatherElements { axis } => {
                self.coordinate(axis);
            }
            Checked::GatherNd { batch_dims, depth } => {
                self.positions = self.indices.rank() - 1;
                self.index_step = self.indices.strides()[self.positions];
                (batch_dims..batch_dims + depth).for_each(|d| self.coordinate(d));
            }
        }
    }

    /// Adds a loop, and returns its number once merged; `None` if it runs once. Its extent is that of indices, if it
    /// steps through them: they may be the smaller.
    fn push(&mut self, dims: LoopDims) -> Option<usize> {
        let inner = Loop {
            extent: match (dims.indices, dims.params) {
                (Some(d), _) => self.indices.shape()[d],
                (None, d) => d.map_or(1, |d| self.params.shape()[d]),
            },
            params_stride: dims.params.map_or(0, |d| self.params.strides()[d]),
            indices_stride: dims.indices.map_or(0, |d| self.indices.strides()[d]),
        };
        push_merged(&mut self.loops, inner)
    }

    fn coordinate(&mut self, axis: usize) {
        let extent = self.params.shape()[axis];
        // An axis of extent 1 has the one coordinate 0: its stride is never used.
        let stride = if extent > 1 {
            self.params.strides()[axis]
        } else {
            0
        };
        self.coordinates.push(Coordinate {
            axis,
            extent,
            stride,
        });
    }

    fn finish(self) -> Lowered {
        let mut lookups = Loops::new();
        for d in 0..self.positions {
            let inner = Loop {
                extent: self.indices.shape()[d],
                params_stride: 0,
                indices_stride: self.indices.strides()[d],
            };
            push_merged(&mut lookups, inner);
        }
        let geometry = Geometry {
            loops: self.loops,
            coordinates: self.coordinates,
            index_step: self.index_step,
            params_offset: self.params.offset(),
            indices_offset: self.indices.offset(),
            sliced: true,
        };
        Lowered {
            lookups: Geometry {
                loops: lookups,
                coordinates: geometry.coordinates.clone(),
                ..geometry
            },
            geometry,
        }
    }
}

/// Adds a loop inside the others, merged with the innermost if they are [`joined`]; returns which
/// of the loops it is now. One that runs once is none.
fn push_merged(loops: &mut Loops, inner: Loop) -> Option<usize> {
    if inner.extent == 1 {
        return None;
    }
    match loops.last_mut().map(|outer| (joined(outer, &inner), outer)) {
        Some((Some(one), outer)) => *outer = one,
        _ => loops.push(inner),
    }
    Some(loops.len() - 1)
}

/// The two loops as one, where one step of the outer equals a full run of the inner in both
/// tensors.
fn joined(outer: &Loop, inner: &Loop) -> Option<Loop> {
    let runs_on = |outer: isize, inner_stride: isize| {
        isize::try_from(inner.extent)
            .ok()
            .and_then(|extent| inner_stride.checked_mul(extent))
            == Some(outer)
    };
    let one = runs_on(outer.params_stride, inner.params_stride)
        && runs_on(outer.indices_stride, inner.indices_stride);
    one.then(|| Loop {
        extent: outer.extent * inner.extent,
        ..*inner
    })
}

#[cfg(test)]
mod tests;
