//! A plan's dispatches: kernels, uniform blocks and bind groups.

use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::pipeline::{GEOMETRY, INDICES, OUTPUT, PARAMS, Pipeline, STATUS};
use crate::gpu::shader::{Specialisation, Stage, segment_binding};
use crate::gpu::status::Status;
use crate::gpu::storage::Located;
use crate::plan::{
    CheckPass, GeometryBlock, Kernel, Parts, Pass, Plan, Starts, check_passes, passes,
};
use crate::shape::Layout;

/// How many sets of launches a recorder keeps: slices of a tensor start at that many different
/// places within an alignment of 256 bytes.
const KEPT: usize = 64;

/// Where the tensors of one recording lie.
#[derive(Debug, Clone)]
pub(super) struct Placed<'a> {
    pub(super) params: Located<'a>,
    pub(super) indices: Located<'a>,
    pub(super) output: Located<'a>,
    pub(super) status: Option<&'a Status>,
}

impl Placed<'_> {
    /// Refuses an output in a buffer that is read: wgpu cannot bind it for both.
    pub(super) fn check_apart(&self, plan: &Plan) -> Result<()> {
        let params = (Role::Params, &self.params, plan.params_layout());
        let indices = (Role::Indices, &self.indices, plan.indices_layout());
        for (role, read, layout) in [params, indices] {
            if read.shares(&self.output) && !layout.is_empty() && !plan.is_empty() {
                let op = plan.op();
                return Err(Error::SameBuffer { op, role });
            }
        }
        Ok(())
    }
}

/// Makes dispatches of one plan. Knows no engine, so that an engine can keep it.
#[derive(Debug)]
pub(super) struct Recorder {
    plan: Plan,
    output: Layout,
    /// Launches of the whole plan in one pass.
    launches: Mutex<Vec<(Starts, Launch)>>,
}

/// A pipeline with its uniform block, which is never rewritten. It depends on where tensors start
/// in their bindings, not on their buffers.
#[derive(Debug, Clone)]
struct Launch {
    pipeline: Pipeline,
    geometry: wgpu::Buffer,
    workgroups: [u32; 3],
}

/// One dispatch, ready to be recorded.
#[derive(Debug, Clone)]
pub(super) struct Dispatch {
    launch: Launch,
    group: wgpu::BindGroup,
}

impl Recorder {
    /// Compiles what the plan needs.
    pub(super) fn new(engine: &Engine, plan: Plan) -> Result<Self> {
        if !plan.is_empty() {
            let mut stages = Vec::new();
            match Kernel::copy(&plan, Starts::default(), engine.bounds().workgroups) {
                Ok(kernel) => stages.push(Specialisation::of(&plan, &kernel, engine.bounds())),
                // It takes several passes, which depend on where the tensors lie.
                Err(Error::TooMany { .. }) => {}
                Err(error) => return Err(error),
            }
            if plan.counts_bad_indices() {
                stages.push(Specialisation::new(Stage::Count, &plan));
                stages.push(Specialisation::new(Stage::Locate, &plan));
            }
            for stage in stages {
                engine.pipelines().get(engine.device(), stage)?;
            }
        }
        Ok(Recorder {
            output: Layout::contiguous(plan.output_shape()),
            plan,
            launches: Mutex::default(),
        })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The dispatches of one recording: none for an empty output.
    pub(super) fn dispatches(&self, engine: &Engine, placed: &Placed<'_>) -> Result<Vec<Dispatch>> {
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
        let mut dispatches = Vec::new();
        for pass in passes(plan, parts, engine.bounds())? {
            dispatches.push(self.copy(engine, placed, &pass)?);
        }
        if let Some(status) = placed.status
            && plan.counts_bad_indices()
        {
            for pass in check_passes(plan, parts.indices, engine.bounds())? {
                dispatches.extend(self.count(engine, &placed.indices, status, &pass)?);
            }
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

    /// The dispatch of a pass.
    pub(super) fn copy(
        &self,
        engine: &Engine,
        placed: &Placed<'_>,
        pass: &Pass,
    ) -> Result<Dispatch> {
        let launch = self.launch(engine, pass)?;
        let nothing = || engine.nothing().as_entire_binding();
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
        launch.bind(engine, &bindings)
    }

    /// What a pass launches: kept, if the pass is the whole plan.
    fn launch(&self, engine: &Engine, pass: &Pass) -> Result<Launch> {
        let starts = pass.starts();
        let whole = pass.geometry == *self.plan.geometry() && pass.params.len() <= 1;
        let kept = || self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept().iter().find(|(at, _)| *at == starts && whole) {
            return Ok(found.clone());
        }
        let plan = self.plan.part(pass);
        let kernel = Kernel::of_pass(&plan, pass, engine.bounds().workgroups)?;
        let stage = Specialisation::of(&plan, &kernel, engine.bounds());
        let made = Launch::new(engine, stage, &kernel.block, kernel.workgroups)?;
        if whole {
            let mut kept = kept();
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((starts, made.clone()));
        }
        Ok(made)
    }

    /// The dispatches that count the bad indices of a pass and locate the first.
    pub(super) fn count(
        &self,
        engine: &Engine,
        indices: &Located<'_>,
        status: &Status,
        pass: &CheckPass,
    ) -> Result<Vec<Dispatch>> {
        let (workgroups, block) = Kernel::check(&self.plan, pass, engine.bounds().workgroups)?;
        let indices = indices.binding(&pass.indices);
        let bindings = [
            (INDICES, indices),
            (STATUS, status.buffer().as_entire_binding()),
        ];
        let dispatch = |(stage, workgroups)| {
            let stage = Specialisation::new(stage, &self.plan);
            Launch::new(engine, stage, &block, workgroups)?.bind(engine, &bindings)
        };
        let stages = [(Stage::Count, workgroups), (Stage::Locate, [1, 1, 1])];
        stages.into_iter().map(dispatch).collect()
    }

    /// Records the gather into `encoder`, in a compute pass of its own.
    pub(super) fn record(
        &self,
        engine: &Engine,
        encoder: &mut wgpu::CommandEncoder,
        placed: &Placed<'_>,
    ) -> Result<()> {
        let dispatches = self.dispatches(engine, placed)?;
        engine.scoped("a dispatch", || {
            if let Some(status) = placed.status {
                encoder.clear_buffer(status.buffer(), 0, None);
            }
            let mut pass = encoder.begin_compute_pass(&Default::default());
            dispatches.iter().for_each(|d| d.record(&mut pass));
        })
    }
}

impl Launch {
    fn new(
        engine: &Engine,
        specialisation: Specialisation,
        block: &GeometryBlock,
        workgroups: [u32; 3],
    ) -> Result<Self> {
        let bytes = bytemuck::bytes_of(block);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let geometry = engine.create_buffer("geometry", bytes.len() as u64, usage)?;
        engine.scoped("an upload", || {
            engine.queue().write_buffer(&geometry, 0, bytes);
        })?;
        Ok(Launch {
            pipeline: engine.pipelines().get(engine.device(), specialisation)?,
            geometry,
            workgroups,
        })
    }

    fn bind(
        &self,
        engine: &Engine,
        tensors: &[(u32, wgpu::BindingResource<'_>)],
    ) -> Result<Dispatch> {
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let mut entries = vec![entry(GEOMETRY, self.geometry.as_entire_binding())];
        entries.extend(
            tensors
                .iter()
                .map(|(n, resource)| entry(*n, resource.clone())),
        );
        let group = engine.scoped("a bind group", || {
            engine
                .device()
                .create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("wgpu-gather"),
                    layout: &self.pipeline.bindings,
                    entries: &entries,
                })
        })?;
        Ok(Dispatch {
            launch: self.clone(),
            group,
        })
    }
}

impl Dispatch {
    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y, z] = self.launch.workgroups;
        pass.set_pipeline(&self.launch.pipeline.compute);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}
