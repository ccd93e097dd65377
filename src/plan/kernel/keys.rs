//! The dispatch that writes the keys of a scatter (`shaders/keys.wgsl`).

use std::ops::Range;

use super::{Kernel, fold};
use crate::error::Result;
use crate::plan::block::{Origins, Scale, narrow};
use crate::plan::kernels::WORKGROUP;
use crate::plan::{GeometryBlock, LookupPass, Plan, Positions};

impl Kernel {
    /// The grid and the uniform block for the rows `rows` of a box, whose pairs start at pair `first_pair`. `plan`
    /// is the gather from a tensor of keys.
    ///
    /// # Errors
    ///
    /// Counts that exceed the device's limits: those of [`Kernel::copy`].
    pub(crate) fn keys(
        plan: &Plan,
        pass: &LookupPass,
        rows: Range<usize>,
        first_pair: u32,
        key_count: u32,
        max_workgroups: u32,
    ) -> Result<([u32; 3], GeometryBlock)> {
        let scale = Scale {
            plan,
            access_bytes: plan.element_bytes(),
            origins: Origins {
                params: 0,
                indices: pass.indices.map_or(0, |s| s.origin),
                output: 0,
            },
            // Extents may be of any size; the keys that are there fit one word.
            positions: Positions::Wide,
        };
        let mut block = scale.block(&pass.geometry, &pass.geometry.loops)?;
        let lookup = pass.lookups.start + rows.start;
        block.first_lookup = [lookup as u32, 0];
        block.first_row = narrow(plan, "the number of lookups", rows.start as u64)?;
        block.row_count = narrow(plan, "the number of lookups", rows.len() as u64)?;
        block.output_offset = first_pair;
        block.key_count = key_count;
        let groups = (rows.len() as u64).div_ceil(WORKGROUP);
        let [x, y] = fold(plan, groups, max_workgroups)?;
        block.grid_x = x;
        Ok(([x, y, 1], block))
    }
}
