//! The kernel that executes a plan on the device, with the numbers it is given: pure, no device.
//!
//! A kernel moves **accesses**: the widest unit of 16, 8, 4, 2 or 1 bytes that divides the row, every
//! stride and every start. `choice` says which kernel.

mod decode;
mod keys;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::plan::block::{GeometryBlock, Origins, Scale, fill, narrow};
use crate::plan::choice::Reason;
use crate::plan::choice::{Choice, Positions};
use crate::plan::divisor::divisor;
use crate::plan::kernels::{CHECKED_ALONE, CHECKED_BY_WORKGROUP, KernelKind};
use crate::plan::loop_steps::parts_of_row;
use crate::plan::nest_size::NestSize;
use crate::plan::{CheckPass, Loop, Pass, Plan};

pub(crate) use decode::{DecodeKernel, DecodeKind};

/// A kernel with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    /// The copy part.
    pub(crate) kind: KernelKind,
    /// Size of nest that it is specialised for.
    pub(crate) nest: NestSize,
    /// Bytes of an access: 1, 2, 4, 8 or 16.
    pub(crate) access_bytes: usize,
    /// Reason for this choice.
    pub(crate) reason: Reason,
    /// Addressing of params.
    pub(crate) positions: Positions,
    /// Workgroups in x, y and z.
    pub(crate) workgroups: [u32; 3],
    /// Work of the dispatch, from which an indirect dispatch derives its workgroups.
    pub(crate) work: Work,
    /// The uniform block.
    pub(crate) block: GeometryBlock,
}

/// Work of a dispatch, which takes `(rows * scale + lead) / span` workgroups, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// The rows of a dispatch.
    pub(crate) rows: u32,
    /// Units of work per row: 1, or the bytes of a row.
    pub(crate) scale: u32,
    /// Units before the first row.
    pub(crate) lead: u32,
    /// Units per workgroup.
    pub(crate) span: u32,
}

impl Work {
    fn workgroups(&self) -> u64 {
        (u64::from(self.rows) * u64::from(self.scale) + u64::from(self.lead))
            .div_ceil(u64::from(self.span))
    }
}

impl Kernel {
    /// The kernel for a pass over `plan`, which is the part of a plan that the pass makes, on a
    /// device of at most `max_workgroups` workgroups per dimension; if `indirect`, one that can
    /// make fewer rows.
    ///
    /// # Errors
    ///
    /// [`Error::TooComplex`] for what the uniform block cannot hold.
    pub(crate) fn of_pass(
        plan: &Plan,
        pass: &Pass,
        counted: bool,
        max_workgroups: u32,
    ) -> Result<Kernel> {
        if pass.is_alone() {
            let choice = Choice::new(plan, pass.origins(), Positions::Bound, !counted);
            match Kernel::new(&choice, &choice.scale(plan, pass.origins()), max_workgroups) {
                // An extent or a stride along which nothing is stepped, as it is broadcast.
                Err(Error::TooMany { .. }) => {}
                made => return Ok(made?.with_flag(pass)),
            }
        }
        let whole = pass.is_whole() && !counted;
        let choice = Choice::new(plan, pass.origins(), Positions::Segments, whole);
        let scale = choice.scale(plan, pass.origins());
        if choice.nest != NestSize::ANY && scale.reaches(pass) {
            match Kernel::in_segments(&choice, &scale, pass, max_workgroups) {
                Err(Error::TooMany { .. }) => {}
                made => return made,
            }
        }
        let choice = Choice::new(plan, pass.origins(), Positions::Wide, false);
        let scale = choice.scale(plan, pass.origins());
        Kernel::in_segments(&choice, &scale, pass, max_workgroups)
    }

    fn in_segments(
        choice: &Choice,
        scale: &Scale<'_>,
        pass: &Pass,
        max_workgroups: u32,
    ) -> Result<Kernel> {
        let mut kernel = Kernel::new(choice, scale, max_workgroups)?;
        scale.segments(&mut kernel.block, &pass.params);
        scale.shares(&mut kernel.block, pass);
        Ok(kernel.with_flag(pass))
    }

    fn with_flag(mut self, pass: &Pass) -> Kernel {
        if pass.flagged {
            let store_bytes = self.kind.store_bytes(self.access_bytes);
            self.block.set_flag(pass.output.size, store_bytes);
        }
        self
    }

    /// The kernel that copies: for a non-empty `plan`, bindings with these `origins`, one for each
    /// binding each, and a device of at most `max_workgroups` workgroups per dimension.
    ///
    /// # Errors
    ///
    /// [`Error::TooComplex`] or [`Error::TooMany`] for what the uniform block or 32-bit
    /// arithmetic cannot hold.
    pub(crate) fn copy(plan: &Plan, origins: Origins, max_workgroups: u32) -> Result<Kernel> {
        let choice = Choice::new(plan, origins, Positions::Bound, true);
        Kernel::new(&choice, &choice.scale(plan, origins), max_workgroups)
    }

    fn new(choice: &Choice, scale: &Scale<'_>, max_workgroups: u32) -> Result<Kernel> {
        let (plan, origins) = (scale.plan, scale.origins);
        let (kind, nest, access_bytes) = (choice.kind, choice.nest, choice.access_bytes);
        let geometry = plan.geometry();
        let row_length = (geometry.slice() * plan.element_bytes() / access_bytes) as u64;
        let row_count = (plan.output_bytes() / access_bytes) as u64 / row_length;

        let mut block = scale.block(geometry, &padded(geometry.row_loops(), nest))?;
        block.row_count = narrow(plan, "the number of lookups", row_count)?;
        block.row_length = narrow(plan, "the number of accesses in a row", row_length)?;
        block.output_offset = (origins.output_offset() / access_bytes as u64) as u32;
        block.row_divisor = divisor(block.row_length);
        let fill_unit = if kind.makes_words() { 1 } else { access_bytes };
        block.fill_length = fill(plan, fill_unit, &mut block.fill);
        if let Some(depth) = nest.depth {
            block.set_walk(kind.walk());
            block.pad_coordinates(depth);
        }
        let share = kind.share(row_length, access_bytes as u64, origins);
        if let Some(sharing) = share.sharing {
            block.sharers_log2 = sharing.sharers.ilog2();
            block.paired = u32::from(sharing.paired);
        }
        let work = Work {
            rows: block.row_count,
            scale: share.per_row as u32,
            lead: share.lead as u32,
            span: share.span as u32,
        };
        let [x, y] = fold(plan, work.workgroups(), max_workgroups)?;
        let z = parts_of_row(plan, share.chunks, max_workgroups)?;
        (block.grid_x, block.chunks) = (x, z);
        Ok(Kernel {
            kind,
            nest,
            access_bytes,
            reason: choice.reason,
            positions: choice.positions,
            workgroups: [x, y, z],
            work,
            block,
        })
    }

    /// The dispatch that counts bad lookups (`shaders/check.wgsl`): its grid, its work and its
    /// uniform block. If the copy has a flag, it counts nothing unless that
    /// is raised.
    ///
    /// # Errors
    ///
    /// Counts that exceed the device's limits: those of [`Kernel::copy`].
    pub(crate) fn check(
        plan: &Plan,
        pass: &CheckPass,
        max_workgroups: u32,
    ) -> Result<([u32; 3], Work, GeometryBlock)> {
        let scale = Scale {
            plan,
            access_bytes: plan.element_bytes(),
            origins: Origins {
                params: 0,
                indices: pass.indices.origin,
                output: 0,
            },
            // Extents may be those of params beyond a binding.
            positions: Positions::Wide,
        };
        let mut block = scale.block(&pass.geometry, &pass.geometry.loops)?;
        block.find_bad();
        let count = pass.lookups.len() as u64;
        let first = pass.lookups.start as u64;
        block.first_lookup = [first as u32, (first >> 32) as u32];
        block.row_count = narrow(plan, "the number of lookups", count)?;
        let work = Work {
            rows: block.row_count,
            scale: 1,
            lead: 0,
            span: CHECKED_BY_WORKGROUP as u32,
        };
        let [x, y] = fold(plan, work.workgroups(), max_workgroups)?;
        block.grid_x = x;
        if let Some(output) = pass.flagged {
            block.set_flag(output.size, 4);
        }
        Ok(([x, y, 1], work, block))
    }

    /// One workgroup counts and locates: for few lookups, or for more of them if a flag makes a count rare.
    pub(crate) fn checks_alone(pass: &CheckPass) -> bool {
        let most = match pass.flagged {
            Some(_) => CHECKED_ALONE,
            None => CHECKED_BY_WORKGROUP,
        };
        pass.lookups.len() as u64 <= most
    }
}

impl Choice {
    /// The scale from elements of `plan` to accesses of this kernel.
    fn scale<'a>(&self, plan: &'a Plan, origins: Origins) -> Scale<'a> {
        Scale {
            plan,
            access_bytes: self.access_bytes,
            origins,
            positions: self.positions,
        }
    }
}

/// The loops of a nest, with as many around them as a kernel for `nest` has, of one step each.
fn padded(loops: &[Loop], nest: NestSize) -> Cow<'_, [Loop]> {
    let once = Loop {
        extent: 1,
        params_stride: 0,
        indices_stride: 0,
    };
    match nest.loops {
        Some(count) if count > loops.len() => {
            let around = std::iter::repeat_n(once, count - loops.len());
            around.chain(loops.iter().copied()).collect()
        }
        _ => loops.into(),
    }
}

/// Folds workgroups beyond what one dimension holds into y.
pub(super) fn fold(plan: &Plan, groups: u64, max_workgroups: u32) -> Result<[u32; 2]> {
    let limit = u64::from(max_workgroups.max(1));
    let x = groups.clamp(1, limit);
    let y = groups.div_ceil(x).max(1);
    if y <= limit {
        return Ok([x as u32, y as u32]);
    }
    Err(Error::TooMany {
        op: plan.op(),
        what: "the number of workgroups",
        got: groups,
        limit: limit * limit,
    })
}

#[cfg(test)]
mod tests;
