//! The windows of destination and updates that the passes of a scatter bind.

use crate::error::{Error, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::tensor::storage::Placement;
use crate::plan::{Segment, windows};
use crate::scatter::{FoldKernel, ScatterPlan, Window};
use crate::shape::Layout;

/// A bound segment, and the positions in it.
#[derive(Debug, Clone, Copy)]
pub(in crate::gpu) struct Bound {
    pub(in crate::gpu) segment: Segment,
    pub(in crate::gpu) window: Window,
}

/// The parts of both tensors that are bound one after the other.
#[derive(Debug)]
pub(in crate::gpu) struct Windows {
    destination: Vec<Bound>,
    updates: Vec<Bound>,
}

impl Windows {
    pub(in crate::gpu) fn new(
        context: &Context,
        plan: &ScatterPlan,
        kernel: FoldKernel,
        destination: &Placement<'_>,
        updates: &Placement<'_>,
    ) -> Result<Self> {
        let bound = |role, placement: &Placement<'_>, layout: &Layout| {
            bound(context, plan, kernel, role, placement, layout)
        };
        let all = Windows {
            destination: bound(Role::Params, destination, &plan.destination)?,
            updates: bound(Role::Updates, updates, &plan.updates)?,
        };
        // A fold goes on from window to window of the updates, in their order in memory.
        let goes_on = kernel.resumes() && plan.updates_are_in_order();
        if all.updates.len() > 1 && !goes_on {
            let (first, last) = plan.updates.reached().unwrap_or_default();
            return Err(Error::TensorTooLarge {
                op: plan.op,
                role: Role::Updates,
                bytes: (last - first + 1) as u64 * plan.dtype.bytes() as u64,
                limit: context.binding_limits.params_bytes,
            });
        }
        Ok(all)
    }

    /// One pass reaches all updates.
    pub(in crate::gpu) fn bind_all_updates(&self) -> bool {
        self.updates.len() == 1
    }

    /// The windows of destination and updates of each pass, in order.
    pub(in crate::gpu) fn pairs(&self) -> impl Iterator<Item = (&Bound, &Bound)> {
        let with_all = |destination| {
            self.updates
                .iter()
                .map(move |updates| (destination, updates))
        };
        self.destination.iter().flat_map(with_all)
    }
}

fn bound(
    context: &Context,
    plan: &ScatterPlan,
    kernel: FoldKernel,
    role: Role,
    placement: &Placement<'_>,
    layout: &Layout,
) -> Result<Vec<Bound>> {
    let (first, last) = layout.reached().unwrap_or_default();
    let width = plan.dtype.bytes() as i64;
    let unit = kernel.unit_bytes as i64;
    let bytes = first as i64 * width..(last as i64 + 1) * width;
    let units = bytes.end / unit;
    // Positions are numbers of 32 bits, and one more.
    if units >= i64::from(u32::MAX) {
        return Err(Error::TooMany {
            op: plan.op,
            what: match role {
                Role::Updates => "the elements of updates",
                _ => "the elements of params",
            },
            got: units as u64,
            limit: u64::from(u32::MAX),
        });
    }
    let segments = windows(
        &placement.parts,
        bytes.clone(),
        kernel.unit_bytes,
        &context.binding_limits,
    );
    let starts = segments.iter().map(|s| s.owned_from);
    let ends = starts.clone().skip(1).chain([bytes.end]);
    let bound = segments.iter().zip(starts.zip(ends));
    Ok(bound
        .map(|(&segment, (start, end))| {
            let (from, end) = ((start + unit - 1) / unit, (end + unit - 1) / unit);
            Bound {
                segment,
                window: Window {
                    from: from as u32,
                    count: (end - from) as u32,
                    shift: (-segment.origin / unit) as u32,
                },
            }
        })
        .collect())
}
