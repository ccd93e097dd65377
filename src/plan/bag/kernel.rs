//! The kernel that pools: which words it folds, and the numbers that it is given.

use bytemuck::{Pod, Zeroable};

use crate::bag::BagMode;
use crate::error::{Error, Result};
use crate::fold::FoldElement;
use crate::plan::Loop;
use crate::plan::bag::pass::position;
use crate::plan::bag::{BagPass, BagPlan, OP, Ranges};
use crate::plan::block::{GeometryBlock, Origins, Scale, fill, narrow};
use crate::plan::choice::{Positions, widest_access};
use crate::plan::divisor::divisor;
use crate::plan::kernel::fold;
use crate::plan::kernels::WORKGROUP;
use crate::shape::Layout;

/// The uniform block of a pooled lookup: `Pooling` in `shaders/bag.wgsl`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct BagBlock {
    flags: u32,
    padding: [u32; 2],
    each: u32,
    offsets_at: u32,
    weights_at: u32,
    indices_step: [u32; 2],
    weights_step: [u32; 2],
    sign: u32,
    folds_at: u32,
    rows_step: u32,
}

/// Positions, in words, within the bindings that a bag kernel has in addition to those of a gather: the
/// offsets, and the partial folds that it reads and writes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BagPlaces {
    pub(crate) offsets: u32,
    pub(crate) folds: u32,
}

/// Bytes that an invocation leaves of a fold.
pub(crate) const FOLD_BYTES: u64 = 32;

const MAX: u32 = 1;
const MEAN: u32 = 2;
const WEIGHTED: u32 = 4;
const OFFSETS: u32 = 8;
const PADDED: u32 = 16;
const RESUMES: u32 = 32;
const PARTIAL: u32 = 64;

/// A kernel with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BagKernel {
    pub(crate) element: FoldElement,
    pub(crate) access_bytes: usize,
    /// Params is bound in several segments.
    pub(crate) in_segments: bool,
    /// Stride of decoded rows in lookup order, in accesses; 0 if the indices select rows.
    pub(crate) rows_step: u32,
    pub(crate) workgroups: [u32; 3],
    pub(crate) geometry: GeometryBlock,
}

impl BagKernel {
    /// Widths of an access in bytes, widest first: four elements, or as many as 16 bytes hold. Less than a word
    /// in the kernel that assembles words.
    pub(crate) fn access_widths(element: FoldElement) -> &'static [usize] {
        match element {
            FoldElement::F32 | FoldElement::I32 => &[16, 4],
            FoldElement::F16 | FoldElement::BF16 | FoldElement::I16 => &[8, 4, 2],
            FoldElement::I8 => &[4, 1],
            FoldElement::I64 => &[16, 8],
        }
    }

    /// The kernel of a pass.
    pub(crate) fn new(plan: &BagPlan, pass: &BagPass, max_workgroups: u32) -> Result<BagKernel> {
        let with = |positions| Self::with(plan, pass, max_workgroups, positions);
        if pass.params.len() > 1 {
            return with(Positions::Wide);
        }
        match with(Positions::Bound) {
            // An extent or a stride along which nothing is stepped, as it is broadcast.
            Err(Error::TooMany { .. }) => with(Positions::Wide),
            made => made,
        }
    }

    fn with(
        plan: &BagPlan,
        pass: &BagPass,
        max_workgroups: u32,
        positions: Positions,
    ) -> Result<BagKernel> {
        let element = FoldElement::of(OP, plan.dtype, &[])?;
        let row = &plan.lookups.over(plan.row.clone());
        let origins = Origins {
            params: pass.params.first().map_or(0, |s| s.origin),
            indices: pass.indices.map_or(0, |s| s.origin),
            output: -(pass.output_offset as i64),
        };
        let widest = widest_access(row, origins);
        let mut widths = BagKernel::access_widths(element).iter();
        let access_bytes = *widths
            .find(|&&w| w <= widest)
            .unwrap_or(&row.element_bytes());
        let scale = Scale {
            plan: row,
            access_bytes,
            origins,
            positions,
        };
        let mut nest = row.geometry().clone();
        nest.indices_offset = position(plan.indices(), &plan.ranges, pass.lookups.start);
        if pass.is_decoded {
            nest.coordinates.iter_mut().for_each(|c| c.stride = 0);
        }
        let mut geometry = scale.block(&nest, &accesses(plan, access_bytes))?;
        let row_length = (plan.row_bytes() / access_bytes) as u64;
        let total = pass.bags.len() as u64 * row_length;
        narrow(row, "the number of accesses", total)?;
        geometry.row_count = pass.bags.len() as u32;
        geometry.row_length = row_length as u32;
        geometry.row_divisor = divisor(geometry.row_length);
        geometry.output_offset = (pass.output_offset / access_bytes as u64) as u32;
        let is_subword = access_bytes < 4;
        let fill_unit = if is_subword { 1 } else { access_bytes };
        geometry.fill_length = fill(row, fill_unit, &mut geometry.fill);
        if positions == Positions::Wide {
            scale.segments(&mut geometry, &pass.params);
        }
        let per_invocation = if is_subword {
            4 / access_bytes as u64
        } else {
            1
        };
        let lead = if is_subword { per_invocation - 1 } else { 0 };
        let groups = (total + lead).div_ceil(per_invocation).div_ceil(WORKGROUP);
        let [x, y] = fold(row, groups, max_workgroups)?;
        geometry.grid_x = x;
        Ok(BagKernel {
            element,
            access_bytes,
            in_segments: positions == Positions::Wide,
            rows_step: if pass.is_decoded {
                row_length as u32
            } else {
                0
            },
            workgroups: [x, y, 1],
            geometry,
        })
    }
}

/// The loops over a row, in accesses: the run of neighbours as a loop, too.
fn accesses(plan: &BagPlan, access_bytes: usize) -> Vec<Loop> {
    let nest = &plan.row;
    let width = plan.dtype.bytes();
    let mut loops = nest.row_loops().to_vec();
    let run = nest.slice() * width / access_bytes;
    if run > 1 {
        loops.push(Loop {
            extent: run,
            params_stride: (access_bytes / width).max(1) as isize,
            indices_stride: 0,
        });
    }
    loops
}

/// The block of a pass.
pub(crate) fn bag_block(
    plan: &BagPlan,
    pass: &BagPass,
    kernel: &BagKernel,
    places: BagPlaces,
) -> BagBlock {
    let mut flags = match plan.mode {
        BagMode::Sum => 0,
        BagMode::Mean => MEAN,
        BagMode::Max => MAX,
    };
    let each = match plan.ranges {
        _ if pass.is_part() => pass.lookups.len() as u32,
        Ranges::Even { each, .. } => each as u32,
        Ranges::Offsets(_) => {
            flags |= OFFSETS;
            0
        }
    };
    let mut block = BagBlock {
        each,
        offsets_at: places.offsets,
        folds_at: places.folds,
        rows_step: kernel.rows_step,
        indices_step: steps(plan.indices(), &plan.ranges),
        sign: FoldElement::sign_bit(plan.dtype),
        ..BagBlock::zeroed()
    };
    if let Some(padding) = plan.padding {
        flags |= PADDED;
        block.padding = [padding as u32, (padding as u64 >> 32) as u32];
    }
    if let (Some(layout), Some(weights)) = (&plan.weights, &pass.weights) {
        flags |= WEIGHTED;
        let first = position(layout, &plan.ranges, pass.lookups.start) as i64;
        let width = plan.dtype.bytes() as i64;
        block.weights_at = ((first * width - weights.origin) / width) as u32;
        block.weights_step = steps(layout, &plan.ranges);
    }
    flags |= if pass.resumes { RESUMES } else { 0 };
    flags |= if pass.is_partial { PARTIAL } else { 0 };
    block.flags = flags;
    block
}

/// From bag to bag, and from lookup to lookup; two's complement. What is stepped along lies within
/// one binding.
fn steps(layout: &Layout, ranges: &Ranges) -> [u32; 2] {
    let step = |d: usize| match layout.shape()[d] {
        0 | 1 => 0,
        _ => layout.strides()[d] as u32,
    };
    match ranges {
        Ranges::Even { .. } => [step(0), step(1)],
        Ranges::Offsets(_) => [0, step(0)],
    }
}
