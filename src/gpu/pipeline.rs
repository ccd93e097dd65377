//! Pipelines, compiled once per key and shared.

mod bag_shader;
mod decode_shader;
mod name;
mod scatter_shader;
pub(crate) mod shader;
#[cfg_attr(
    not(feature = "internals"),
    expect(
        dead_code,
        unreachable_pub,
        reason = "tests reach it through `internals`"
    )
)]
pub(in crate::gpu) mod watch;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::gpu::device::deferred::DeferredErrors;
use crate::gpu::pipeline::shader::{PipelineKey, Stage, segment_binding};
use crate::gpu::pipeline::watch::Watch;
use crate::plan::BindingLimits;

/// The bindings, as the shaders number them.
pub(super) const GEOMETRY: u32 = 0;
pub(super) const INDICES: u32 = 1;
pub(super) const PARAMS: u32 = 2;
pub(super) const OUTPUT: u32 = 3;
pub(super) const STATUS: u32 = 4;
/// Bindings of `shaders/decode/table.wgsl`.
pub(super) const SCALES: u32 = 4;
pub(super) const TABLE: u32 = 5;
/// Bindings of `shaders/bag.wgsl`, in addition to those of a copy.
pub(super) const BAGS: u32 = 4;
pub(super) const POOLING: u32 = 13;
/// Binding of `shaders/fold_carry.wgsl`.
pub(super) const CARRY: u32 = 4;
/// Bindings of `shaders/indirect_args.wgsl`.
pub(super) const COUNT: u32 = 1;
pub(super) const BLOCK: u32 = 2;
pub(super) const ARGUMENTS: u32 = 3;

/// A compiled pipeline with the layout of its bind group.
#[derive(Debug, Clone)]
pub(super) struct Pipeline {
    pub(super) compute: wgpu::ComputePipeline,
    pub(super) bindings: wgpu::BindGroupLayout,
}

/// All pipelines of an engine.
#[derive(Debug)]
pub(super) struct Pipelines {
    copy: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    /// For params in several segments.
    segments: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    decode: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    bags: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    /// For tables in several segments.
    bags_in_segments: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    check: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    indirect_args: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    fold: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    compiled: Mutex<HashMap<PipelineKey, Pipeline, RandomState>>,
    /// By their text, which pipelines have in common that differ in constants.
    modules: Mutex<HashMap<String, wgpu::ShaderModule>>,
    deferred: DeferredErrors,
    cache: Option<wgpu::PipelineCache>,
    /// The test that watches, and may change shaders.
    watch: Option<Arc<dyn Watch>>,
}

impl Pipelines {
    pub(super) fn new(
        device: &wgpu::Device,
        segments: u32,
        deferred: DeferredErrors,
        cache: Option<wgpu::PipelineCache>,
        watch: Option<Arc<dyn Watch>>,
    ) -> Self {
        let watching = watch.as_ref().and_then(|watch| watch.layout());
        let layouts = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            let bindings = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries,
            });
            let groups: Vec<_> = [&bindings].into_iter().chain(watching).map(Some).collect();
            let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &groups,
                immediate_size: 0,
            });
            (bindings, pipeline)
        };
        let uniform = wgpu::BufferBindingType::Uniform;
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let copy = [
            entry(GEOMETRY, uniform),
            entry(INDICES, storage(true)),
            entry(PARAMS, storage(true)),
            entry(OUTPUT, storage(false)),
        ];
        let further = (1..segments).map(|n| entry(segment_binding(n), storage(true)));
        let in_segments: Vec<_> = copy.into_iter().chain(further).collect();
        let table = [entry(SCALES, storage(true)), entry(TABLE, uniform)];
        let decode: Vec<_> = copy.into_iter().chain(table).collect();
        let bags = copy
            .into_iter()
            .chain([entry(BAGS, storage(true)), entry(POOLING, uniform)]);
        let bags: Vec<_> = bags.collect();
        let further = 1..BindingLimits::bag_segments_of(segments as usize) as u32;
        let further = further.map(|n| entry(segment_binding(n), storage(true)));
        let bags_in_segments: Vec<_> = bags.iter().copied().chain(further).collect();
        Pipelines {
            bags: layouts("wgpu-gather bags", &bags),
            bags_in_segments: layouts("wgpu-gather bags in segments", &bags_in_segments),
            copy: layouts("wgpu-gather copy", &copy),
            segments: layouts("wgpu-gather segments", &in_segments),
            decode: layouts("wgpu-gather decode", &decode),
            check: layouts(
                "wgpu-gather check",
                &[
                    entry(GEOMETRY, uniform),
                    entry(INDICES, storage(true)),
                    entry(OUTPUT, storage(false)),
                    entry(STATUS, storage(false)),
                ],
            ),
            indirect_args: layouts(
                "wgpu-gather indirect args",
                &[
                    entry(GEOMETRY, uniform),
                    entry(COUNT, storage(true)),
                    entry(BLOCK, storage(false)),
                    entry(ARGUMENTS, storage(false)),
                ],
            ),
            fold: layouts(
                "wgpu-gather fold",
                &[
                    entry(GEOMETRY, uniform),
                    entry(INDICES, storage(true)),
                    entry(PARAMS, storage(true)),
                    entry(OUTPUT, storage(false)),
                    entry(CARRY, storage(false)),
                ],
            ),
            compiled: Mutex::default(),
            modules: Mutex::default(),
            deferred,
            cache,
            watch,
        }
    }

    /// The pipeline for `key`, compiled if it is not yet.
    pub(super) fn get(&self, device: &wgpu::Device, key: PipelineKey) -> Result<Pipeline> {
        let compiled = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = compiled().get(&key) {
            return Ok(pipeline.clone());
        }
        // Compiled outside the lock: two threads may do so at once, and one result stays.
        let pipeline = self
            .deferred
            .scoped(device, "a shader", || self.compile(device, key))
            .inspect_err(|_| self.modules().clear())?; // one of them is invalid
        Ok(compiled().entry(key).or_insert(pipeline).clone())
    }

    /// The name of a pipeline that [`Pipelines::get`] has given.
    #[cfg(feature = "internals")]
    pub(super) fn name_of(&self, pipeline: &wgpu::ComputePipeline) -> String {
        let compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let found = compiled
            .iter()
            .find(|(_, known)| known.compute == *pipeline);
        found.map(|(key, _)| key.to_string()).unwrap_or_default()
    }

    fn module(&self, device: &wgpu::Device, key: PipelineKey, label: &str) -> wgpu::ShaderModule {
        let source = key.source();
        let source = match &self.watch {
            Some(watch) => watch.shader(source),
            None => source,
        };
        if let Some(module) = self.modules().get(&source) {
            return module.clone();
        }
        let module = trusted_module(device, label, &source);
        self.modules().insert(source, module.clone());
        module
    }

    fn modules(&self) -> MutexGuard<'_, HashMap<String, wgpu::ShaderModule>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compile(&self, device: &wgpu::Device, key: PipelineKey) -> Pipeline {
        let label = format!("wgpu-gather {:?}", key.stage);
        let module = self.module(device, key, &label);
        let (bindings, layout) = match key.stage {
            Stage::Copy(..) if key.segments > 0 => &self.segments,
            Stage::Copy(..) | Stage::Keys { .. } | Stage::Sort(_) => &self.copy,
            Stage::Decode(..) => &self.decode,
            Stage::Bag(..) if key.segments > 0 => &self.bags_in_segments,
            Stage::Bag(..) => &self.bags,
            Stage::Fold(_) | Stage::FoldRuns(_) => &self.fold,
            Stage::Count | Stage::Locate | Stage::CountAndLocate => &self.check,
            Stage::IndirectArgs => &self.indirect_args,
        };
        let compute = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&label),
            layout: Some(layout),
            module: &module,
            entry_point: Some(key.entry_point()),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &key.constants(),
                zero_initialize_workgroup_memory: false,
            },
            cache: self.cache.as_ref(),
        });
        Pipeline {
            compute,
            bindings: bindings.clone(),
        }
    }
}

/// A module whose loops are not bounded: the counter that wgpu adds to each loop keeps drivers from unrolling it, so
/// that arrays of an invocation end up in memory. Without, a sort takes a third of its time on an NVIDIA H200
/// (`benches/results/gpu`). Accesses are checked as ever.
#[allow(unsafe_code, reason = "loops that drivers unroll")]
fn trusted_module(device: &wgpu::Device, label: &str, source: &str) -> wgpu::ShaderModule {
    let checks = wgpu::ShaderRuntimeChecks {
        force_loop_bounding: false,
        ..wgpu::ShaderRuntimeChecks::checked()
    };
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    };
    // SAFETY: this check may be left out where no loop is infinite. The text is this library's own. Each loop counts
    // towards a bound that does not change within it (a constant, a field of a uniform block or, in a bag, an offset),
    // or halves an interval. The planner keeps them below `MAX_LOOP_STEPS` or `GPU_LOOP_STEPS`, and the
    // sanitizer counts the steps of every pipeline (tests/sanitizer).
    unsafe { device.create_shader_module_trusted(descriptor, checks) }
}

fn entry(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}
