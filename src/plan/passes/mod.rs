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

mod cut;
mod segment;
#[cfg(test)]
mod tests;

pub(crate) use segment::{Part, Segment, bind};

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::plan::{Geometry, Origins, Plan};
pub(in crate::plan) use cut::greatest;
pub(in crate::plan) use segment::{reach, segments};

use cut::Cutter;

/// The limits of one dispatch on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BindingLimits {
    /// Bytes of a binding of params; a multiple of 16, as the next two.
    pub params_bytes: u64,
    /// Bytes of a binding of indices.
    pub indices_bytes: u64,
    /// Bytes of a binding of the output.
    pub output_bytes: u64,
    /// Segments of params that one dispatch can bind.
    pub segments: usize,
    /// Alignment of the offsets of bindings in bytes; at least 16.
    pub alignment: u64,
    /// Bytes of output of one pass, so that no pass keeps the device busy for long.
    pub pass_bytes: u64,
    /// Workgroups in each dimension of a dispatch.
    pub workgroups: u32,
}

impl BindingLimits {
    /// Segments of a table that a pooled lookup can bind. (Its offsets and weights take a binding.)
    pub(crate) fn bag_segments(&self) -> usize {
        BindingLimits::bag_segments_of(self.segments)
    }

    /// [`bag_segments`](Self::bag_segments), if a gather can bind `segments`.
    pub(crate) fn bag_segments_of(segments: usize) -> usize {
        segments.saturating_sub(1).max(1)
    }

    /// The most bytes that neighbouring segments share.
    fn overlap(&self) -> u64 {
        self.params_bytes / 4
    }
}

/// The bytes of a flag: as wide as the widest store.
pub(crate) const FLAG_BYTES: u64 = 16;

/// One dispatch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pass {
    /// The loop nest of the box.
    pub(crate) geometry: Geometry,
    /// The elements of the output that the box makes.
    pub(crate) elements: Range<usize>,
    /// Segments of params to bind; empty if the box reads none.
    pub(crate) params: Vec<Segment>,
    /// The byte of params that positions count from, the same in all passes over the box: the
    /// origin of its first segment.
    pub(crate) origin: i64,
    /// The byte of params where the next pass over the same box takes over.
    pub(crate) owned_to: i64,
    /// The byte of params behind all that the passes over the box bind.
    pub(crate) params_end: i64,
    /// Segment of indices to bind; `None` if there are no indices.
    pub(crate) indices: Option<Segment>,
    /// Segment of the output to bind.
    pub(crate) output: Segment,
    /// From the start of that binding to the first byte of the box.
    pub(crate) output_offset: u64,
    /// The last [`FLAG_BYTES`] of that binding are the flag that a bad index raises.
    pub(crate) flagged: bool,
    /// This is the first pass over the box, which writes the fill value for bad indices.
    pub(crate) first: bool,
}

impl Pass {
    /// The only pass over its box, with params in one segment.
    pub(crate) fn is_alone(&self) -> bool {
        self.params.len() <= 1 && self.is_whole()
    }

    /// The only pass over its box.
    pub(crate) fn is_whole(&self) -> bool {
        self.first && self.owned_to == i64::MAX
    }

    /// Origins of the bindings; for params, that of the first segment of the box.
    pub(crate) fn origins(&self) -> Origins {
        Origins {
            params: self.origin,
            indices: self.indices.map_or(0, |s| s.origin),
            output: -(self.output_offset as i64),
        }
    }
}

/// One dispatch that looks for bad indices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckPass {
    /// The loop nest of the box.
    pub(crate) geometry: Geometry,
    /// The lookups of the box, in row-major order of indices.
    pub(crate) lookups: Range<usize>,
    /// Segment of indices to bind.
    pub(crate) indices: Segment,
    /// Segment of the output that ends with the flag. Without a flag, bad indices are always counted.
    pub(crate) flagged: Option<Segment>,
}

/// The parts (buffers) of each tensor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// The parts of params, in order.
    pub(crate) params: &'a [Part],
    /// The parts of indices, in order.
    pub(crate) indices: &'a [Part],
    /// The parts of the output, in order.
    pub(crate) output: &'a [Part],
}

/// The passes over a non-empty plan.
///
/// # Errors
///
/// [`Error::TensorTooLarge`](crate::Error::TensorTooLarge) if a single element of the output, or the tuple of indices of one
/// lookup, is larger than a binding.
pub(crate) fn passes(plan: &Plan, parts: Parts<'_>, limits: &BindingLimits) -> Result<Vec<Pass>> {
    let cutter = Cutter {
        op: plan.op(),
        element_bytes: plan.element_bytes(),
        index_bytes: plan.index_type().bytes(),
        parts,
        limits,
        counts_rows: false,
    };
    let mut passes = Vec::new();
    let nest = cutter.with_rows_in_parts(plan.geometry().clone());
    cutter.cut(nest, 0, &mut |nest, elements| {
        cutter.emit(nest, elements, &mut passes)
    })?;
    Ok(passes)
}

impl Plan {
    /// The part of the plan that one pass executes.
    pub(crate) fn part(&self, pass: &Pass) -> Cow<'_, Plan> {
        match pass.geometry == self.geometry {
            true => Cow::Borrowed(self),
            false => Cow::Owned(self.over(pass.geometry.clone())),
        }
    }
}

/// The passes that look for bad indices: over the lookups, with indices bound only.
///
/// # Errors
///
/// Tensors that the device cannot bind: those of [`passes`].
pub(crate) fn check_passes(
    plan: &Plan,
    indices: &[Part],
    limits: &BindingLimits,
) -> Result<Vec<CheckPass>> {
    let boxes = lookup_passes(plan, plan.lookups(), indices, limits)?;
    let passes = boxes.into_iter().filter_map(|pass| {
        Some(CheckPass {
            indices: pass.indices?,
            geometry: pass.geometry,
            lookups: pass.lookups,
            flagged: None,
        })
    });
    Ok(passes.collect())
}

/// A range of lookups, and the segment of indices that holds theirs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LookupPass {
    /// The loop nest of the box.
    pub(crate) geometry: Geometry,
    /// The lookups of the box, in row-major order of indices.
    pub(crate) lookups: Range<usize>,
    /// Segment of indices to bind; `None` if there are no indices.
    pub(crate) indices: Option<Segment>,
}

/// The passes over a nest whose rows are the lookups of a plan, each with its indices in one binding.
pub(crate) fn lookup_passes(
    plan: &Plan,
    nest: &Geometry,
    indices: &[Part],
    limits: &BindingLimits,
) -> Result<Vec<LookupPass>> {
    let cutter = Cutter {
        op: plan.op(),
        element_bytes: 0,
        index_bytes: plan.index_type().bytes(),
        parts: Parts {
            params: &[],
            indices,
            output: &[],
        },
        limits,
        counts_rows: true,
    };
    let mut passes = Vec::new();
    cutter.cut(nest.clone(), 0, &mut |geometry, lookups| {
        passes.push(LookupPass {
            indices: cutter.indices(&geometry)?,
            geometry,
            lookups,
        });
        Ok(())
    })?;
    Ok(passes)
}

/// The parts of a tensor's bytes that are bound one after the other, where each unit lies whole in the
/// one that it starts in.
pub(crate) fn windows(
    parts: &[Part],
    bytes: Range<i64>,
    unit_bytes: usize,
    limits: &BindingLimits,
) -> Vec<Segment> {
    segment::segments(parts, bytes, unit_bytes as u64, limits)
}
