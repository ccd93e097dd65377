//! A plan's dispatches: kernels, uniform blocks and bind groups.
//!
//! Used by whatever executes a plan; `recording` takes the dispatches. Knows where tensors lie, and
//! holds no context, so that an engine can keep it.

use std::sync::Arc;

use crate::error::{Error, Result, Role};
use crate::gpu::checks::Checks;
use crate::gpu::commands::{Dispatch, Grid};
use crate::gpu::context::Context;
use crate::gpu::flag::give_flag;
use crate::gpu::indirect;
use crate::gpu::launch::{Launch, uniform};
use crate::gpu::pipeline::{INDICES, OUTPUT, PARAMS};
use crate::gpu::placed::Placed;
use crate::gpu::recent::Recent;
use crate::gpu::shader::{PipelineKey, segment_binding};
use crate::gpu::status::Status;
use crate::plan::{
    CheckPass, IndirectDispatch, Kernel, Origins, Parts, Pass, Plan, check_passes, passes,
};
use crate::shape::Layout;

/// How many sets of launches a recorder keeps: slices of a tensor start at that many different
/// places within an alignment of 256 bytes.
const KEPT: usize = 64;

/// Makes dispatches of one plan.
#[derive(Debug)]
pub(super) struct Recorder {
    plan: Plan,
    output: Layout,
    /// Launches of the whole plan in one pass.
    copies: Recent<((Origins, bool), Launch)>,
    checks: Checks,
}

/// The plans that an engine met last.
pub(super) type Recorders = Recent<Arc<Recorder>>;

impl Recorder {
    /// Compiles what the plan needs.
    pub(super) fn new(context: &Context, plan: Plan) -> Result<Self> {
        if !plan.is_empty() {
            let mut stages = Vec::new();
            match Kernel::copy(&plan, Origins::default(), context.binding_limits.workgroups) {
                Ok(kernel) => {
                    stages.push(PipelineKey::of(&plan, &kernel, &context.binding_limits));
                }
                // It takes several passes, which depend on where the tensors lie.
                Err(Error::TooMany { .. }) => {}
                Err(error) => return Err(error),
            }
            stages.extend(Checks::pipelines(&plan));
            for stage in stages {
                context.pipelines.get(&context.device, stage)?;
            }
        }
        Ok(Recorder {
            output: Layout::contiguous(plan.output_shape()),
            plan,
            copies: Recent::new(KEPT),
            checks: Checks::new(KEPT),
        })
    }

    /// The recorder of a plan, new or from among those kept.
    pub(super) fn kept(kept: &Recorders, context: &Context, plan: Plan) -> Result<Arc<Self>> {
        let make = || Ok(Arc::new(Recorder::new(context, plan.clone())?));
        kept.get(|r| *r.plan() == plan, make)
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The dispatches of one recording: none for an empty output.
    pub(super) fn dispatches(
        &self,
        context: &Context,
        placed: &Placed<'_>,
    ) -> Result<Vec<Dispatch>> {
        let plan = &self.plan;
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        self.check(placed)?;
        let parts = Parts {
            params: &placed.params.parts,
            indices: &placed.indices.parts,
            output: &placed.output.parts,
        };
        let mut copies = passes(plan, parts, &context.binding_limits)?;
        let mut checks = match placed.status {
            Some(_) if plan.looks_up() => {
                check_passes(plan, parts.indices, &context.binding_limits)?
            }
            _ => Vec::new(),
        };
        if placed.flag && plan.rules().out_of_bounds.moves().is_none() {
            let bytes = plan.output_bytes() as u64;
            give_flag(bytes, &mut copies, &mut checks, &context.binding_limits);
        }
        let mut dispatches = Vec::new();
        for pass in &copies {
            dispatches.extend(self.copy(context, placed, pass)?);
        }
        for (pass, status) in checks.iter().zip(placed.status.into_iter().cycle()) {
            dispatches.extend(self.count(context, placed, status, pass)?);
        }
        Ok(dispatches)
    }

    /// Checks that the buffers hold what the plan reaches.
    fn check(&self, placed: &Placed<'_>) -> Result<()> {
        let (plan, op) = (&self.plan, self.plan.op());
        let width = plan.element_bytes();
        let index_bytes = plan.index_type().bytes();
        let (params, indices) = (plan.params_layout(), plan.indices_layout());
        placed.params.check(op, Role::Params, params, width)?;
        placed
            .indices
            .check(op, Role::Indices, indices, index_bytes)?;
        placed.output.check(op, Role::Output, &self.output, width)
    }

    /// The dispatch of a pass, after one that fits it to a count if there is one.
    pub(super) fn copy(
        &self,
        context: &Context,
        placed: &Placed<'_>,
        pass: &Pass,
    ) -> Result<Vec<Dispatch>> {
        let Some(count) = placed.count else {
            let launch = self.launch(context, pass)?;
            return Ok(vec![self.bind(context, placed, pass, &launch)?]);
        };
        let plan = self.plan.part(pass);
        let kernel = Kernel::of_pass(&plan, pass, true, context.binding_limits.workgroups)?;
        let indirect = self.indirect(pass, &kernel)?;
        let stage = PipelineKey::of(&plan, &kernel, &context.binding_limits);
        let (limit, launch) = indirect::launch(context, stage, &kernel.block, &indirect, count)?;
        Ok(vec![limit, self.bind(context, placed, pass, &launch)?])
    }

    /// Where a pass lies among the entries of indices.
    fn indirect<'k>(&self, pass: &Pass, kernel: &'k Kernel) -> Result<IndirectDispatch<'k>> {
        let per_entry = self.plan.elements_per_entry()?;
        let entry = pass.elements.start / per_entry;
        let (first_row, rows_per_entry) = if (pass.elements.end - 1) / per_entry == entry {
            // Within one entry, and maybe a part of a row: all of it is made, or nothing.
            let rows = u64::from(kernel.work.rows);
            (entry as u64 * rows, rows)
        } else {
            let slice = pass.geometry.slice();
            (
                (pass.elements.start / slice) as u64,
                (per_entry / slice) as u64,
            )
        };
        Ok(IndirectDispatch {
            work: &kernel.work,
            workgroups: kernel.workgroups,
            first_row,
            rows_per_entry,
        })
    }

    /// Binds what a pass reads and writes.
    fn bind(
        &self,
        context: &Context,
        placed: &Placed<'_>,
        pass: &Pass,
        launch: &Launch,
    ) -> Result<Dispatch> {
        let nothing = || context.nothing.as_entire_binding();
        let indices = pass.indices.as_ref();
        let indices = indices.map_or_else(nothing, |s| placed.indices.binding(s));
        let output = placed.output.binding(&pass.output);
        let mut bindings = vec![(INDICES, indices), (OUTPUT, output)];
        let segments = launch.pipeline.segments.max(1);
        bindings.extend((0..segments).map(|n| {
            let segment = pass.params.get(n as usize);
            let params = segment.map_or_else(nothing, |s| placed.params.binding(s));
            let binding = if n == 0 { PARAMS } else { segment_binding(n) };
            (binding, params)
        }));
        let bound = launch.bind(context, &bindings)?;
        Ok(bound.making((pass.elements.len() * self.plan.element_bytes()) as u64))
    }

    /// What a pass launches: kept, if the pass is the whole plan.
    fn launch(&self, context: &Context, pass: &Pass) -> Result<Launch> {
        let make = || {
            let plan = self.plan.part(pass);
            let kernel = Kernel::of_pass(&plan, pass, false, context.binding_limits.workgroups)?;
            let stage = PipelineKey::of(&plan, &kernel, &context.binding_limits);
            let block = uniform(context, &kernel.block, wgpu::BufferUsages::empty())?;
            Launch::new(context, stage, block, Grid::Fixed(kernel.workgroups))
        };
        let is_whole = pass.is_alone() && pass.geometry == *self.plan.geometry();
        if !is_whole {
            return make();
        }
        let origins = (pass.origins(), pass.flagged);
        let made = self
            .copies
            .get(|(at, _)| *at == origins, || Ok((origins, make()?)));
        made.map(|(_, launch)| launch)
    }

    /// The dispatches that count the bad indices of a pass and locate the first.
    pub(super) fn count(
        &self,
        context: &Context,
        placed: &Placed<'_>,
        status: &Status,
        pass: &CheckPass,
    ) -> Result<Vec<Dispatch>> {
        self.checks.count(context, &self.plan, placed, status, pass)
    }
}
