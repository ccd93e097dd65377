//! Dispatches that look for the bad indices of a plan, whatever it gathers from. `status` reads what they
//! count.

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::device::commands::Dispatch;
use crate::gpu::pipeline::shader::{PipelineKey, Stage};
use crate::gpu::pipeline::{INDICES, OUTPUT, STATUS};
use crate::gpu::record::indirect;
use crate::gpu::record::launch::{bind, dispatch};
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::Placement;
use crate::plan::{CheckPass, IndirectDispatch, Kernel, Plan, check_passes};

/// The pipelines that the checks of a plan need; none, if there is nothing to count.
pub(in crate::gpu) fn pipelines(plan: &Plan) -> Vec<PipelineKey> {
    match plan.counts_bad_indices() {
        true => [Stage::Count, Stage::Locate, Stage::CountAndLocate]
            .map(PipelineKey::new)
            .to_vec(),
        false => Vec::new(),
    }
}

/// Operands of a check.
#[derive(Debug, Clone, Copy)]
pub(in crate::gpu) struct Looked<'a> {
    pub(in crate::gpu) indices: &'a Placement<'a>,
    /// The output, if a flag may lie behind it.
    pub(in crate::gpu) output: Option<&'a Placement<'a>>,
    /// Number of entries of indices, if only the device knows it.
    pub(in crate::gpu) count: Option<wgpu::BufferSlice<'a>>,
}

/// Dispatches that count all bad indices of a plan.
pub(in crate::gpu) fn dispatches(
    context: &Context,
    plan: &Plan,
    indices: &Placement<'_>,
    status: &Status,
) -> Result<Vec<Dispatch>> {
    let looked = Looked {
        indices,
        output: None,
        count: None,
    };
    let mut dispatches = Vec::new();
    if plan.looks_up() {
        for pass in check_passes(plan, &indices.parts, &context.binding_limits)? {
            dispatches.extend(count(context, plan, looked, status, &pass)?);
        }
    }
    Ok(dispatches)
}

/// Dispatches that count the bad indices of a pass, and find the first.
pub(in crate::gpu) fn count(
    context: &Context,
    plan: &Plan,
    looked: Looked<'_>,
    status: &Status,
    pass: &CheckPass,
) -> Result<Vec<Dispatch>> {
    let flagged = pass.flagged.as_ref().zip(looked.output);
    let output = match flagged {
        Some((segment, output)) => output.binding(segment),
        None => context.nothing.as_entire_binding(),
    };
    let bindings = [
        (INDICES, looked.indices.binding(&pass.indices)),
        (OUTPUT, output),
        (STATUS, status.buffer().as_entire_binding()),
    ];
    let (grid, work, block) = Kernel::check(plan, pass, context.binding_limits.workgroups)?;
    let launch = |stage, grid| dispatch(context, PipelineKey::new(stage), &block, grid, &bindings);
    if looked.count.is_none() && Kernel::checks_alone(pass) {
        return Ok(vec![launch(Stage::CountAndLocate, [1, 1, 1])?]);
    }
    let mut dispatches = Vec::new();
    match looked.count {
        None => dispatches.push(launch(Stage::Count, grid)?),
        Some(count) => {
            let indirect = IndirectDispatch {
                work: &work,
                workgroups: grid,
                first_row: pass.lookups.start as u64,
                rows_per_entry: plan.lookups_per_entry()? as u64,
            };
            let (limit, block, grid) = indirect::limit(context, &block, &indirect, count)?;
            let key = PipelineKey::new(Stage::Count);
            dispatches.extend([limit, bind(context, key, &block, grid, &bindings)?]);
        }
    }
    dispatches.push(launch(Stage::Locate, [1, 1, 1])?);
    Ok(dispatches)
}
