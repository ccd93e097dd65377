//! For the project's own tests: faults planted in shaders, the list of pipelines. No part of the
//! public API.

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::binding::Binding;
use crate::gpu::engine::Options;
use crate::gpu::pipeline::shader::{PipelineKey, Stage};
pub use crate::gpu::pipeline::watch::{Watch, Watched};
use crate::plan::{DecodeKind, MAX_LOOP_STEPS};
use crate::scatter::{FoldBlock, FoldKernel, ScatterPlan};

/// Options for an engine with a fault in every shader, which a check against the reference must then
/// report. Its dispatches are as short as those on software adapters, so that calls reach what goes on after one.
pub fn with_fault(fault: fn(String) -> String) -> Options {
    watched(Arc::new(Fault(fault)))
}

#[derive(Debug)]
struct Fault(fn(String) -> String);

impl Watch for Fault {
    fn shader(&self, source: String) -> String {
        (self.0)(source)
    }

    fn loop_steps(&self, _: u32) -> u32 {
        MAX_LOOP_STEPS
    }
}

/// Records a binding of `engine` into a pass, and calls `before` with the pass and the pipeline's name before each
/// dispatch.
///
/// # Errors
///
/// As [`Binding::encode_in_pass`].
pub fn encode_each(
    engine: &crate::gpu::Engine,
    binding: &Binding,
    pass: &mut wgpu::ComputePass<'_>,
    mut before: impl FnMut(&mut wgpu::ComputePass<'_>, String),
) -> Result<()> {
    let pipelines = &engine.context().pipelines;
    binding.encode_each(pass, |pass, pipeline| {
        before(pass, pipelines.name_of(pipeline));
    })
}

/// Options for an engine that is watched.
pub fn watched(watch: Arc<dyn Watch>) -> Options {
    Options {
        watch: Some(watch),
        ..Options::default()
    }
}

/// The most loop steps that an invocation takes in one dispatch, the steps that leave a loop included.
pub const fn max_loop_steps() -> u32 {
    MAX_LOOP_STEPS
}

/// How many threads `engine` has started to poll its device for futures.
#[cfg(not(target_arch = "wasm32"))]
pub fn polling_threads_started(engine: &crate::gpu::Engine) -> u64 {
    engine.context().poller.threads_started()
}

/// The first buffer of a tensor, which stays the engine's own.
pub fn buffer_of(tensor: &impl AsRef<crate::gpu::AnyDeviceTensor>) -> &wgpu::Buffer {
    let mut owned = tensor.as_ref().storage().owned();
    owned.next().expect("a tensor has a buffer").buffer()
}

/// How many gathers `engine` holds back.
pub fn waiting_gathers(engine: &crate::gpu::Engine) -> usize {
    engine.context().queue.waiting()
}

/// The most updates of one key that a dispatch of a scatter folds, where its tensors start at multiples of
/// 16 bytes: the next dispatch goes on with a key that has more.
pub fn most_pairs(plan: &ScatterPlan) -> Result<u32> {
    let kernel = FoldKernel::of(plan.op, plan.reduce, plan.dtype)?;
    let kernel = kernel.in_lanes(plan).unwrap_or(kernel);
    Ok(FoldBlock::new(plan, kernel)?.most_pairs(kernel, false, MAX_LOOP_STEPS))
}

/// How many statuses a tensor has that may have bad indices to report.
pub fn pending_statuses(tensor: &impl AsRef<crate::gpu::AnyDeviceTensor>) -> usize {
    tensor.as_ref().storage().reports().pending().len()
}

/// What a pipeline is compiled from.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineSource {
    /// What the pipeline does and is compiled for: such as
    /// `rows 16, up to 2 loops, 1 coordinate i64`,
    /// `bytes 1, any nest in 6` or `count`.
    pub name: String,
    /// The text of the module.
    pub wgsl: String,
    /// The entry point in that module.
    pub entry_point: &'static str,
    /// The override constants.
    pub constants: Vec<(&'static str, f64)>,
    /// The name of the kernel; of what copies nothing, such as `count`.
    pub kernel: &'static str,
    /// Bytes of an access; 0, if it copies nothing.
    pub access_bytes: usize,
    /// Loops over rows; `None`, if any number.
    pub loops: Option<usize>,
    /// Coordinates; `None`, if any number.
    pub depth: Option<usize>,
    /// Bytes of an index; 0, if any.
    pub index_bytes: u32,
    /// Segments of params that are bound; 0, if the positions in the one need no search.
    pub segments: u32,
}

/// Every pipeline there is on a device that binds so many segments of params.
pub fn pipelines(segments: u32) -> Vec<PipelineSource> {
    PipelineKey::all(segments).into_iter().map(source).collect()
}

fn source(pipeline: PipelineKey) -> PipelineSource {
    let (kernel, access_bytes, loops, depth) = match pipeline.stage {
        Stage::Copy(kind, bytes, nest) => (kind.name(), bytes, nest.loops, nest.depth),
        Stage::Decode(_, kind, nest) => {
            let kernel = match kind {
                DecodeKind::Rows => "decode rows",
                DecodeKind::Elements => "decode elements",
            };
            (kernel, 4, nest.loops, nest.depth)
        }
        Stage::Count => ("count", 0, None, None),
        Stage::Locate => ("locate", 0, None, None),
        Stage::CountAndLocate => ("count and locate", 0, None, None),
        Stage::IndirectArgs => ("indirect_args", 0, None, None),
        // It folds: `access_bytes` is of those that copy.
        Stage::Bag(..) => ("bag", 0, None, None),
        Stage::Keys { .. } => ("keys", 0, None, None),
        Stage::Sort(_) => ("sort", 0, None, None),
        Stage::Fold(_) | Stage::FoldRuns(_) => ("fold", 0, None, None),
    };
    PipelineSource {
        name: pipeline.to_string(),
        wgsl: pipeline.source(),
        entry_point: pipeline.entry_point(),
        constants: pipeline.constants(),
        kernel,
        access_bytes,
        loops,
        depth,
        index_bytes: pipeline.index_bytes,
        segments: pipeline.segments,
    }
}
