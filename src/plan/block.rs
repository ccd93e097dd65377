//! The uniform block that a kernel is given: a geometry restated in accesses, in 32 bits.

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, Result};
use crate::plan::divisor::divisor;
use crate::plan::{Coordinate, FLAG_BYTES, Geometry, Loop, Pass, Plan, Positions, Segment};
use crate::rules::{Negative, OutOfBounds};

const MAX_LOOPS: usize = Plan::MAX_LOOPS;
const MAX_COORDINATES: usize = Plan::MAX_COORDINATES;
const MAX_FILL_BYTES: usize = Plan::MAX_FILL_BYTES;
/// The most segments of params that one dispatch binds.
pub(crate) const MAX_SEGMENTS: usize = 8;

/// The **origin** of each binding: the byte of the tensor's data that lies at its start. Negative,
/// if the data starts within the binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Origins {
    pub(crate) params: i64,
    pub(crate) indices: i64,
    /// Never positive: the output's data starts at the start of its binding or later.
    pub(crate) output: i64,
}

impl Origins {
    /// From the start of the binding of the output to the output, in bytes.
    pub(super) fn output_offset(&self) -> u64 {
        self.output.wrapping_neg() as u64
    }
}

/// The uniform block: `Geometry` in `shaders/geometry.wgsl`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct GeometryBlock {
    loops: [[u32; 4]; MAX_LOOPS],
    coordinates: [[u32; 4]; MAX_COORDINATES],
    divisors: [[u32; 4]; MAX_LOOPS],
    pub(super) fill: [u8; MAX_FILL_BYTES],
    segments: [[u32; 4]; MAX_SEGMENTS],
    loop_count: u32,
    depth: u32,
    index_step: u32,
    pub(super) params_offset: u32,
    pub(super) indices_offset: u32,
    pub(super) output_offset: u32,
    pub(super) row_count: u32,
    pub(super) row_length: u32,
    pub(super) fill_length: u32,
    pub(super) grid_x: u32,
    pub(super) chunks: u32,
    pub(super) sharers_log2: u32,
    pub(super) paired: u32,
    index_rules: u32,
    pub(super) row_divisor: [u32; 2],
    pub(super) first_lookup: [u32; 2],
    params_offset_high: u32,
    owned_to: [u32; 2],
    fills: u32,
    walk_params: u32,
    walk_indices: u32,
    flag_at: u32,
    pub(super) first_row: u32,
    pub(super) key_count: u32,
}

/// After how many bytes what a bad index leaves in the output repeats, for a kernel of such accesses:
/// after one of them, or a word where they are put together to words, if that is possible.
pub(super) fn fill_period(plan: &Plan, access_bytes: usize) -> usize {
    let least = access_bytes.max(4);
    match &plan.rules().out_of_bounds {
        OutOfBounds::Fill(value) => match value.bytes().len() {
            length if least.is_multiple_of(length) => least,
            length if length > least => length,
            length => length * least, // 3 bytes
        },
        _ => least,
    }
}

/// Writes what a bad index leaves in the output; returns after how many accesses it repeats.
pub(super) fn fill(plan: &Plan, access_bytes: usize, block: &mut [u8; MAX_FILL_BYTES]) -> u32 {
    let period = fill_period(plan, access_bytes);
    if let OutOfBounds::Fill(value) = &plan.rules().out_of_bounds {
        let repeated = value.bytes().iter().cycle();
        for (to, &byte) in block.iter_mut().zip(repeated).take(period) {
            *to = byte;
        }
    }
    (period / access_bytes) as u32
}

/// Restates a geometry in accesses.
pub(super) struct Scale<'a> {
    pub(super) plan: &'a Plan,
    pub(super) access_bytes: usize,
    pub(super) origins: Origins,
    pub(super) positions: Positions,
}

impl Scale<'_> {
    /// The fields that every kernel reads.
    pub(super) fn block(&self, geometry: &Geometry, loops: &[Loop]) -> Result<GeometryBlock> {
        let mut block = GeometryBlock::zeroed();
        let fill = match &self.plan.rules().out_of_bounds {
            OutOfBounds::Fill(value) => value.bytes().len(),
            _ => 0,
        };
        self.fits("loops", loops.len(), MAX_LOOPS)?;
        self.fits("coordinates", geometry.coordinates.len(), MAX_COORDINATES)?;
        self.fits("bytes of fill value", fill, MAX_FILL_BYTES)?;
        for (to, l) in block.loops.iter_mut().zip(loops) {
            let extent = narrow(self.plan, "the extent of a loop", l.extent as u64)?;
            let indices = self.stride(l.indices_stride)?;
            let [low, high] = self.params_stride(l.params_stride)?;
            *to = [extent, low, indices, high];
        }
        for (to, l) in block.divisors.iter_mut().zip(&block.loops) {
            let [multiplier, shift] = divisor(l[0]);
            *to = [multiplier, shift, 0, 0];
        }
        for (to, c) in block.coordinates.iter_mut().zip(&geometry.coordinates) {
            *to = self.coordinate(c)?;
        }
        block.loop_count = loops.len() as u32;
        block.depth = geometry.coordinates.len() as u32;
        block.index_step = self.stride(geometry.index_step)?;
        let element_bytes = self.plan.element_bytes();
        let params = (self.origins.params, geometry.params_offset);
        let offset = self.offset(params, element_bytes, self.access_bytes);
        [block.params_offset, block.params_offset_high] = words(offset);
        let index_bytes = self.plan.index_type().bytes();
        let indices = (self.origins.indices, geometry.indices_offset);
        block.indices_offset = self.offset(indices, index_bytes, index_bytes) as u32;
        block.row_length = 1;
        block.index_rules = index_rules(self.plan);
        Ok(block)
    }

    /// All accesses that passes over this box may read have 32-bit positions.
    pub(super) fn reaches(&self, pass: &Pass) -> bool {
        let bytes = pass.params_end.wrapping_sub(pass.origin);
        (0..i64::from(u32::MAX)).contains(&(bytes / self.access_bytes as i64))
    }

    /// The segments of params that are bound, all of which are read; accesses count from the origin of the
    /// params.
    pub(super) fn segments(&self, block: &mut GeometryBlock, bound: &[Segment]) {
        // No position reaches a segment that is not there.
        block.segments = [[u32::MAX; 4]; MAX_SEGMENTS];
        for (to, segment) in block.segments.iter_mut().zip(bound) {
            let [low, high] = self.accesses_from_origin(segment.owned_from);
            let [binding, _] = self.accesses_from_origin(segment.origin);
            *to = [low, high, binding.wrapping_neg(), 0];
        }
        block.owned_to = [u32::MAX; 2];
        block.fills = 1;
    }

    /// Leaves to later passes over the box what they own.
    pub(super) fn shares(&self, block: &mut GeometryBlock, pass: &Pass) {
        if pass.owned_to != i64::MAX {
            block.owned_to = self.accesses_from_origin(pass.owned_to);
        }
        block.fills = u32::from(pass.first);
    }

    /// A byte of params as an access from their origin on.
    fn accesses_from_origin(&self, byte: i64) -> [u32; 2] {
        words((byte - self.origins.params).wrapping_div(self.access_bytes as i64))
    }

    fn coordinate(&self, c: &Coordinate) -> Result<[u32; 4]> {
        let [stride, stride_high] = self.params_stride(c.stride)?;
        if self.positions == Positions::Wide {
            let [extent, extent_high] = words(c.extent as i64);
            return Ok([extent, stride, stride_high, extent_high]);
        }
        let extent = narrow(self.plan, "the extent of an axis", c.extent as u64)?;
        let [multiplier, shift] = divisor(extent);
        Ok([extent, stride, multiplier, shift])
    }

    fn params_stride(&self, elements: isize) -> Result<[u32; 2]> {
        let bytes = elements as i128 * self.plan.element_bytes() as i128;
        let accesses = bytes / self.access_bytes as i128;
        if self.positions == Positions::Wide {
            // Beyond 64 bits there is no element.
            return Ok(words(accesses as i64));
        }
        Ok([self.stride_in_range(accesses)?, 0])
    }

    fn stride(&self, indices: isize) -> Result<u32> {
        self.stride_in_range(indices as i128)
    }

    /// Two's complement. A loop or coordinate that is used has a stride below 2^31, as its
    /// elements lie within one binding.
    fn stride_in_range(&self, stride: i128) -> Result<u32> {
        i32::try_from(stride)
            .map(|s| s as u32)
            .map_err(|_| Error::TooMany {
                op: self.plan.op(),
                what: "a stride",
                got: stride.unsigned_abs() as u64,
                limit: i32::MAX as u64,
            })
    }

    /// From the start of a binding to the first element, in accesses; two's complement. Wraps around
    /// if no buffer can hold the element.
    fn offset(&self, (origin, at): (i64, usize), element_bytes: usize, access_bytes: usize) -> i64 {
        let first = (at as i64)
            .wrapping_mul(element_bytes as i64)
            .wrapping_sub(origin);
        first.wrapping_div(access_bytes as i64)
    }

    fn fits(&self, what: &'static str, got: usize, limit: usize) -> Result<()> {
        if got <= limit {
            return Ok(());
        }
        Err(Error::TooComplex {
            op: self.plan.op(),
            what,
            got,
            limit,
        })
    }
}

/// Low word, high word; two's complement.
fn words(value: i64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

impl GeometryBlock {
    /// Sets up `walk` in `shaders/geometry.wgsl` for walks of `rows` rows: the walk as steps of each loop, like
    /// the digits of a number, and the strides of a carry: from the end of a loop to its start, and one step of
    /// the enclosing loop. Not for 64-bit positions.
    pub(super) fn set_walk(&mut self, rows: u32) {
        let mut rest = rows;
        for d in (0..self.loop_count as usize).rev() {
            let [extent, params, indices, _] = self.loops[d];
            let steps = match d {
                0 => rest,
                _ => rest % extent,
            };
            self.walk_params = self.walk_params.wrapping_add(steps.wrapping_mul(params));
            self.walk_indices = self.walk_indices.wrapping_add(steps.wrapping_mul(indices));
            if d > 0 {
                let [_, outer_params, outer_indices, _] = self.loops[d - 1];
                let back =
                    |outer: u32, stride: u32| outer.wrapping_sub(extent.wrapping_mul(stride));
                let (params, indices) = (back(outer_params, params), back(outer_indices, indices));
                self.loops[d][3] = steps;
                self.divisors[d][2..].copy_from_slice(&[params, indices]);
            }
            rest /= extent.max(1);
        }
    }

    /// Repeats the last coordinate up to so many, without a step.
    pub(super) fn pad_coordinates(&mut self, depth: usize) {
        let used = self.depth as usize;
        let [extent, _, multiplier, shift] = self.coordinates[used - 1];
        let padding = self.coordinates.iter_mut().take(depth).skip(used);
        padding.for_each(|c| *c = [extent, 0, multiplier, shift]);
    }

    /// Moves no bad index to a valid one, so that each is found.
    pub(super) fn find_bad(&mut self) {
        self.index_rules &= !(CLIP | WRAP);
    }

    /// Has the flag raised or looked at that ends the output's binding of so many bytes, which is made
    /// of such accesses.
    pub(super) fn set_flag(&mut self, output_bytes: u64, access_bytes: usize) {
        self.index_rules |= FLAG;
        self.flag_at = ((output_bytes - FLAG_BYTES) / access_bytes as u64) as u32;
    }
}

/// Bits of the rules: bad indices are clipped, wrapped, and raise the flag.
const CLIP: u32 = 1 << 2;
const WRAP: u32 = 1 << 3;
const FLAG: u32 = 1 << 5;

/// The rules as bits, as in `shaders/index.wgsl`.
fn index_rules(plan: &Plan) -> u32 {
    let rules = plan.rules();
    u32::from(plan.index_type().is_signed())
        | (u32::from(rules.negative == Negative::FromEnd) << 1)
        | (u32::from(rules.out_of_bounds == OutOfBounds::Clip) * CLIP)
        | (u32::from(rules.out_of_bounds == OutOfBounds::Wrap) * WRAP)
        | (u32::from(plan.index_type().bytes() == 8) << 4)
}

/// A count that stays below 2^31, so that rounding it up to whole workgroups stays below 2^32.
pub(super) fn narrow(plan: &Plan, what: &'static str, got: u64) -> Result<u32> {
    let limit = i32::MAX as u64;
    if got <= limit {
        return Ok(got as u32);
    }
    Err(Error::TooMany {
        op: plan.op(),
        what,
        got,
        limit,
    })
}
