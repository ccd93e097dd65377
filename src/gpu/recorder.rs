//! A plan's dispatches: kernels, uniform blocks and bind groups.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::pipeline::{GEOMETRY, INDICES, OUTPUT, PARAMS, Pipeline, STATUS};
use crate::gpu::range::{Located, Window};
use crate::gpu::shader::{Specialisation, Stage};
use crate::gpu::status::Status;
use crate::plan::{GeometryBlock, Kernel, Plan, Starts};
use crate::shape::Layout;

/// How many sets of launches a recorder keeps: slices of a tensor start at that many different
/// places within an alignment of 256 bytes.
const KEPT: usize = 64;

/// Where the tensors of one recording lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) params: Located<'a>,
    pub(super) indices: Located<'a>,
    pub(super) output: Located<'a>,
    pub(super) status: Option<&'a Status>,
}

impl Placed<'_> {
    /// Refuses an output in a buffer that is read: wgpu cannot bind it for both.
    pub(super) fn check_apart(&self, plan: &Plan) -> Result<()> {
        let params = (Role::Params, self.params, plan.params_layout());
        let indices = (Role::Indices, self.indices, plan.indices_layout());
        for (role, read, layout) in [params, indices] {
            if read.buffer == self.output.buffer && !layout.is_empty() && !plan.is_empty() {
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
    launches: Mutex<Vec<(Starts, Arc<Launches>)>>,
}

/// What the dispatches of a plan need besides buffers: it depends on where tensors start in their
/// bindings only.
#[derive(Debug)]
struct Launches {
    copy: Launch,
    /// The passes that count bad indices, if the rules ask for an error.
    check: Vec<Launch>,
}

/// A pipeline with its uniform block, which is never rewritten.
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
        let recorder = Recorder {
            output: Layout::contiguous(plan.output_shape()),
            plan,
            launches: Mutex::default(),
        };
        if !recorder.plan.is_empty() {
            recorder.launches(engine, Starts::default())?;
        }
        Ok(recorder)
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The dispatches of one recording: none for an empty output.
    pub(super) fn dispatches<'a>(
        &self,
        engine: &'a Engine,
        placed: &Placed<'a>,
    ) -> Result<Vec<Dispatch>> {
        let plan = &self.plan;
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        let (limits, nothing) = (engine.limits(), engine.nothing());
        let window = |role, located: Located<'a>, layout, width| {
            located.window(plan.op(), role, layout, width, limits, nothing)
        };
        let width = plan.element_bytes();
        let index_bytes = plan.index_type().bytes();
        let params = window(Role::Params, placed.params, plan.params_layout(), width)?;
        let indices = window(
            Role::Indices,
            placed.indices,
            plan.indices_layout(),
            index_bytes,
        )?;
        let output = window(Role::Output, placed.output, &self.output, width)?;
        let launches = self.launches(
            engine,
            Starts {
                params: params.start,
                indices: indices.start,
                output: output.start as u64,
            },
        )?;

        let tensors = [(INDICES, indices), (PARAMS, params), (OUTPUT, output)];
        let mut all = vec![launches.copy.bind(engine, &tensors)?];
        if let Some(status) = placed.status {
            let tensors = [(INDICES, indices), (STATUS, Window::whole(status.buffer()))];
            for launch in &launches.check {
                all.push(launch.bind(engine, &tensors)?);
            }
        }
        Ok(all)
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

    /// The launches for tensors that start at `starts`, made if they are not kept.
    fn launches(&self, engine: &Engine, starts: Starts) -> Result<Arc<Launches>> {
        let kept = || self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept().iter().find(|(at, _)| *at == starts) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(Launches::new(engine, &self.plan, starts)?);
        let mut kept = kept();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((starts, Arc::clone(&made)));
        Ok(made)
    }
}

impl Launches {
    fn new(engine: &Engine, plan: &Plan, starts: Starts) -> Result<Self> {
        let kernel = Kernel::copy(plan, starts, engine.max_workgroups())?;
        let stage = Specialisation::of(plan, &kernel);
        let copy = Launch::new(engine, stage, &kernel.block, kernel.workgroups)?;
        let mut check = Vec::new();
        if plan.reports_bad_indices() && !plan.lookups().coordinates.is_empty() {
            let (workgroups, block) = Kernel::check(plan, starts, engine.max_workgroups())?;
            for (stage, workgroups) in [(Stage::Count, workgroups), (Stage::Locate, [1, 1, 1])] {
                let stage = Specialisation::new(stage, plan);
                check.push(Launch::new(engine, stage, &block, workgroups)?);
            }
        }
        Ok(Launches { copy, check })
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

    fn bind(&self, engine: &Engine, tensors: &[(u32, Window<'_>)]) -> Result<Dispatch> {
        let mut entries = vec![Window::whole(&self.geometry).entry(GEOMETRY)];
        entries.extend(
            tensors
                .iter()
                .map(|(binding, window)| window.entry(*binding)),
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
