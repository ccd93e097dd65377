//! The kernel that pools: which words it folds, and the numbers that it is given.

use bytemuck::{Pod, Zeroable};

use crate::bag::BagMode;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::plan::bag::pass::position;
use crate::plan::bag::{BagPass, BagPlan, OP, Ranges};
use crate::plan::block::{GeometryBlock, Origins, Scale, divisor, fill, narrow};
use crate::plan::choice::{Positions, widest_access};
use crate::plan::kernel::fold;
use crate::plan::kernels::WORKGROUP;
use crate::plan::Loop;
use crate::shape::Layout;

/// What the elements are that a kernel folds. Signs only matter to a maximum, which is given them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum BagElement {
    F32,
    F16,
    BF16,
    I8,
    I16,
    I32,
    I64,
}

impl BagElement {
    pub(crate) const ALL: [BagElement; 7] = [
        BagElement::F32,
        BagElement::F16,
        BagElement::BF16,
        BagElement::I8,
        BagElement::I16,
        BagElement::I32,
        BagElement::I64,
    ];

    fn of(dtype: DType) -> Result<BagElement> {
        BagElement::find(dtype).ok_or_else(|| {
            let types = DType::ALL.into_iter();
            let pooled = types.filter(|&dtype| BagElement::find(dtype).is_some());
            Error::CpuOnly {
                op: OP,
                dtype: dtype.name(),
                allowed: pooled.map(DType::name).collect(),
            }
        })
    }

    /// What elements of the type are to the shaders, if they have arithmetic for them.
    fn find(dtype: DType) -> Option<BagElement> {
        match dtype {
            DType::F32 => Some(BagElement::F32),
            DType::F16 => Some(BagElement::F16),
            DType::BF16 => Some(BagElement::BF16),
            DType::U8 | DType::I8 => Some(BagElement::I8),
            DType::U16 | DType::I16 => Some(BagElement::I16),
            DType::U32 | DType::I32 => Some(BagElement::I32),
            DType::U64 | DType::I64 => Some(BagElement::I64),
            DType::Bool | DType::F64 | DType::C64 | DType::C128 => None,
        }
    }

    /// How many bytes of a row an invocation folds at once, the most first: four elements, or as many
    /// as a vector of 16 bytes has. Less than a word, where it puts words together.
    pub(crate) fn access_widths(self) -> &'static [usize] {
        match self {
            BagElement::F32 | BagElement::I32 => &[16, 4],
            BagElement::F16 | BagElement::BF16 | BagElement::I16 => &[8, 4, 2],
            BagElement::I8 => &[4, 1],
            BagElement::I64 => &[16, 8],
        }
    }

    /// Its name, and its number in `shaders/bag.wgsl`.
    pub(crate) fn name_and_number(self) -> (&'static str, u32) {
        match self {
            BagElement::F32 => ("f32", 0),
            BagElement::F16 => ("f16", 1),
            BagElement::BF16 => ("bf16", 2),
            BagElement::I8 => ("i8", 3),
            BagElement::I16 => ("i16", 4),
            BagElement::I32 => ("i32", 5),
            BagElement::I64 => ("i64", 6),
        }
    }
}

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

/// Where a kernel finds what it binds besides the tensors of a gather, in words: the offsets, and the
/// folds of a part of a bag, where it reads them and where it leaves them.
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
    pub(crate) element: BagElement,
    pub(crate) access_bytes: usize,
    /// Whether positions in params are searched for among segments.
    pub(crate) in_segments: bool,
    /// From the row of a lookup to that of the next, in accesses; 0, if indices say where rows are.
    pub(crate) rows_step: u32,
    pub(crate) workgroups: [u32; 3],
    pub(crate) geometry: GeometryBlock,
}

impl BagKernel {
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
        let element = BagElement::of(plan.dtype)?;
        let row = &plan.row;
        let origins = Origins {
            params: pass.params.first().map_or(0, |s| s.origin),
            indices: pass.indices.map_or(0, |s| s.origin),
            output: -(pass.output_offset as i64),
        };
        let widest = widest_access(row, origins);
        let mut widths = element.access_widths().iter();
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
    let nest = plan.row.geometry();
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
        sign: match plan.dtype {
            DType::I8 => 1 << 7,
            DType::I16 => 1 << 15,
            DType::I32 | DType::I64 => 1 << 31,
            _ => 0,
        },
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
