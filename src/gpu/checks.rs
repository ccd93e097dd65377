//! Dispatches that look for the bad indices of a plan, whatever it gathers from.
//!
//! Used by the recorders; `status` reads what they count.

use crate::error::Result;
use crate::gpu::commands::{Dispatch, Grid};
use crate::gpu::context::Context;
use crate::gpu::indirect;
use crate::gpu::launch::{Launch, uniform};
use crate::gpu::pipeline::{INDICES, OUTPUT, STATUS};
use crate::gpu::placed::Placed;
use crate::gpu::recent::Recent;
use crate::gpu::shader::{PipelineKey, Stage};
use crate::gpu::status::Status;
use crate::plan::{CheckPass, IndirectDispatch, Kernel, Plan, Segment, check_passes};

/// Launches that check all of the indices of a plan in one pass, by where they start, in bytes, and the
/// flag that they look at.
#[derive(Debug)]
pub(super) struct Checks(Recent<((i64, Option<Segment>), Check)>);

/// What looks for the bad indices of a pass; both read the same uniform block.
#[derive(Debug, Clone)]
struct Check {
    count: Launch,
    locate: Launch,
}

impl Checks {
    /// Keeps so many sets of launches.
    pub(super) fn new(kept: usize) -> Self {
        Checks(Recent::new(kept))
    }

    /// The pipelines that the checks of a plan need; none, if there is nothing to count.
    pub(super) fn pipelines(plan: &Plan) -> Vec<PipelineKey> {
        match plan.counts_bad_indices() {
            true => [Stage::Count, Stage::Locate]
                .map(|stage| PipelineKey::new(stage, plan))
                .to_vec(),
            false => Vec::new(),
        }
    }

    /// What looks for the bad indices of a pass: kept, if the pass is over all of them.
    fn launches(&self, context: &Context, plan: &Plan, pass: &CheckPass) -> Result<Check> {
        let make = || {
            let workgroups = context.binding_limits.workgroups;
            let (grid, _, block) = Kernel::check(plan, pass, workgroups)?;
            let block = uniform(context, &block, wgpu::BufferUsages::empty())?;
            let launch = |stage, grid| {
                let stage = PipelineKey::new(stage, plan);
                Launch::new(context, stage, block.clone(), Grid::Fixed(grid))
            };
            Ok(Check {
                count: launch(Stage::Count, grid)?,
                locate: launch(Stage::Locate, [1, 1, 1])?,
            })
        };
        if pass.geometry != *plan.lookups() {
            return make();
        }
        let origin = (pass.indices.origin, pass.flagged);
        let made = self
            .0
            .get(|(of, _)| *of == origin, || Ok((origin, make()?)));
        made.map(|(_, check)| check)
    }

    /// The dispatches that look for the bad indices of a plan, if there are any to look at.
    pub(super) fn dispatches(
        &self,
        context: &Context,
        plan: &Plan,
        placed: &Placed<'_>,
        status: &Status,
    ) -> Result<Vec<Dispatch>> {
        let mut dispatches = Vec::new();
        if plan.looks_up() {
            for pass in check_passes(plan, &placed.indices.parts, &context.binding_limits)? {
                dispatches.extend(self.count(context, plan, placed, status, &pass)?);
            }
        }
        Ok(dispatches)
    }

    /// The dispatches that count the bad indices of a pass and locate the first.
    pub(super) fn count(
        &self,
        context: &Context,
        plan: &Plan,
        placed: &Placed<'_>,
        status: &Status,
        pass: &CheckPass,
    ) -> Result<Vec<Dispatch>> {
        let nothing = || context.nothing.as_entire_binding();
        let output = pass.flagged.as_ref();
        let output = output.map_or_else(nothing, |s| placed.output.binding(s));
        let bindings = [
            (INDICES, placed.indices.binding(&pass.indices)),
            (OUTPUT, output),
            (STATUS, status.buffer().as_entire_binding()),
        ];
        let check = self.launches(context, plan, pass)?;
        let mut dispatches = Vec::new();
        let launch = match placed.count {
            None => check.count,
            Some(count) => {
                let (limit, launch) = indirect_check(context, plan, pass, count)?;
                dispatches.push(limit);
                launch
            }
        };
        dispatches.push(launch.bind(context, &bindings)?);
        dispatches.push(check.locate.bind(context, &bindings)?);
        Ok(dispatches)
    }
}

/// The launch that counts the bad indices of a pass as far as a count on the device goes, and
/// the dispatch that fits it to that.
fn indirect_check(
    context: &Context,
    plan: &Plan,
    pass: &CheckPass,
    count: wgpu::BufferSlice<'_>,
) -> Result<(Dispatch, Launch)> {
    let (workgroups, work, block) = Kernel::check(plan, pass, context.binding_limits.workgroups)?;
    let indirect = IndirectDispatch {
        work: &work,
        workgroups,
        first_row: pass.lookups.start as u64,
        rows_per_entry: plan.lookups_per_entry()? as u64,
    };
    let stage = PipelineKey::new(Stage::Count, plan);
    indirect::launch(context, stage, &block, &indirect, count)
}
