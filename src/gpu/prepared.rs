//! A plan with its pipelines, recorded into the caller's encoder or pass.

use crate::error::{Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::pipeline::{GEOMETRY, INDICES, OUTPUT, PARAMS, Pipeline, STATUS};
use crate::gpu::range::{Bound, Located};
use crate::gpu::shader::{Specialisation, Stage};
use crate::gpu::status::Status;
use crate::plan::{GeometryBlock, Kernel, Plan, Starts};
use crate::shape::Layout;

/// A gather that can be recorded any number of times, with any buffers.
///
/// Recording submits nothing and rewrites nothing that an earlier recording uses, so several
/// gathers in one encoder do not disturb each other, and one may read what another wrote.
#[derive(Debug, Clone)]
pub struct Prepared {
    engine: Engine,
    plan: Plan,
    output: Layout,
}

/// The buffers of one recording: each tensor starts at a byte offset of its buffer, which must be
/// a multiple of its element's (or index's) width, and of 4 for indices.
#[derive(Debug, Clone, Copy)]
pub struct Buffers<'a> {
    /// The data of params; usage `STORAGE`.
    pub params: (&'a wgpu::Buffer, u64),
    /// The data of indices; usage `STORAGE`.
    pub indices: (&'a wgpu::Buffer, u64),
    /// Where the output goes, contiguous; usage `STORAGE`. Another buffer than the other two.
    pub output: (&'a wgpu::Buffer, u64),
    /// Where bad indices are counted, if they are to be.
    pub status: Option<&'a Status>,
}

/// [`Buffers`] as the engine's own calls have them: a host view's data may start before its
/// buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) params: Located<'a>,
    pub(super) indices: Located<'a>,
    pub(super) output: Located<'a>,
    pub(super) status: Option<&'a Status>,
}

/// One dispatch, ready to be recorded.
struct Dispatch {
    pipeline: Pipeline,
    group: wgpu::BindGroup,
    workgroups: [u32; 3],
}

impl Engine {
    /// Compiles the pipelines of `plan`, as far as they are not yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooComplex`] and [`Error::TooMany`] for what the shaders cannot hold, and the
    /// errors of the device.
    pub async fn prepare(&self, plan: &Plan) -> Result<Prepared> {
        self.check_alive()?;
        let prepared = Prepared {
            engine: self.clone(),
            plan: plan.clone(),
            output: Layout::contiguous(plan.output_shape()),
        };
        if !plan.is_empty() {
            let kernel = Kernel::copy(plan, Starts::default(), self.max_workgroups())?;
            let mut stages = vec![Specialisation::of(plan, &kernel)];
            if prepared.counts_bad_indices() {
                stages.push(Specialisation::new(Stage::Count, plan));
                stages.push(Specialisation::new(Stage::Locate, plan));
            }
            for specialisation in stages {
                self.pipelines().get(self.device(), specialisation)?;
            }
        }
        Ok(prepared)
    }
}

impl Prepared {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A status to be recorded into, if the rules ask for an error where an index is bad.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`].
    pub fn status(&self) -> Result<Status> {
        Status::new(&self.engine, &self.plan)
    }

    /// Records the gather into `encoder`.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooSmall`], [`Error::Misaligned`], [`Error::MissingUsage`] and
    /// [`Error::SameBuffer`] name the tensor whose buffer does not fit; [`Error::TensorTooLarge`],
    /// [`Error::TooComplex`] and [`Error::TooMany`] say what the device cannot hold;
    /// [`Error::Gpu`] has wgpu's own words, for example for a buffer of another device.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, buffers: &Buffers<'_>) -> Result<()> {
        self.record(encoder, &self.place(buffers)?)
    }

    pub(super) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        placed: &Placed<'_>,
    ) -> Result<()> {
        let dispatches = self.dispatches(placed)?;
        self.engine.scoped("a dispatch", || {
            if let Some(status) = placed.status {
                encoder.clear_buffer(status.buffer(), 0, None);
            }
            let mut pass = encoder.begin_compute_pass(&Default::default());
            dispatches.iter().for_each(|d| d.record(&mut pass));
        })
    }

    /// Records the gather into `pass`. A status is not cleared: it goes on counting.
    ///
    /// # Errors
    ///
    /// As [`Prepared::encode`].
    pub fn encode_in_pass(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        buffers: &Buffers<'_>,
    ) -> Result<()> {
        let dispatches = self.dispatches(&self.place(buffers)?)?;
        self.engine.scoped("a dispatch", || {
            dispatches.iter().for_each(|d| d.record(pass));
        })
    }

    /// Checks what wgpu would refuse later and less clearly.
    fn place<'a>(&self, buffers: &Buffers<'a>) -> Result<Placed<'a>> {
        let op = self.plan.op();
        let tensors = [
            (Role::Params, buffers.params, self.plan.element_bytes()),
            (
                Role::Indices,
                buffers.indices,
                self.plan.index_type().bytes(),
            ),
            (Role::Output, buffers.output, self.plan.element_bytes()),
        ];
        for (role, (buffer, offset), width) in tensors {
            if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
                let usage = "STORAGE";
                return Err(Error::MissingUsage { op, role, usage });
            }
            if !offset.is_multiple_of(width as u64) {
                return Err(Error::Misaligned {
                    op,
                    role,
                    offset,
                    alignment: width,
                });
            }
            if role != Role::Output && buffer == buffers.output.0 {
                return Err(Error::SameBuffer { op, role });
            }
        }
        let [params, indices, output] = tensors.map(|(_, (buffer, offset), _)| Located {
            buffer,
            origin: offset as i64,
        });
        Ok(Placed {
            params,
            indices,
            output,
            status: buffers.status,
        })
    }

    fn counts_bad_indices(&self) -> bool {
        self.plan.reports_bad_indices() && !self.plan.lookups().coordinates.is_empty()
    }

    /// The dispatches of one recording: none for an empty output.
    fn dispatches<'a>(&'a self, placed: &Placed<'a>) -> Result<Vec<Dispatch>> {
        let (plan, limits) = (&self.plan, self.engine.limits());
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        let bind = |role, layout, width| {
            let located = match role {
                Role::Params => placed.params,
                Role::Indices => placed.indices,
                Role::Output => placed.output,
            };
            located.bind(
                plan.op(),
                role,
                layout,
                width,
                limits,
                self.engine.nothing(),
            )
        };
        let width = plan.element_bytes();
        let params = bind(Role::Params, plan.params_layout(), width)?;
        let index_bytes = plan.index_type().bytes();
        let indices = bind(Role::Indices, plan.indices_layout(), index_bytes)?;
        let output = bind(Role::Output, &self.output, width)?;
        let starts = Starts {
            params: params.start,
            indices: indices.start,
            output: output.start as u64,
        };

        let kernel = Kernel::copy(plan, starts, self.engine.max_workgroups())?;
        let copy = Specialisation::of(plan, &kernel);
        let tensors = [(INDICES, indices), (PARAMS, params), (OUTPUT, output)];
        let mut all = vec![self.dispatch(copy, &kernel.block, kernel.workgroups, &tensors)?];
        if let Some(status) = placed.status
            && self.counts_bad_indices()
        {
            let (workgroups, block) = Kernel::check(plan, starts, self.engine.max_workgroups())?;
            let bindings = [(INDICES, indices), (STATUS, Bound::whole(status.buffer()))];
            for (stage, workgroups) in [(Stage::Count, workgroups), (Stage::Locate, [1, 1, 1])] {
                let specialisation = Specialisation::new(stage, plan);
                all.push(self.dispatch(specialisation, &block, workgroups, &bindings)?);
            }
        }
        Ok(all)
    }

    fn dispatch(
        &self,
        specialisation: Specialisation,
        block: &GeometryBlock,
        workgroups: [u32; 3],
        tensors: &[(u32, Bound<'_>)],
    ) -> Result<Dispatch> {
        let engine = &self.engine;
        let pipeline = engine.pipelines().get(engine.device(), specialisation)?;
        let geometry = engine.uniform(block)?;
        let mut entries = vec![Bound::whole(&geometry).entry(GEOMETRY)];
        entries.extend(tensors.iter().map(|(binding, bound)| bound.entry(*binding)));
        let group = engine.scoped("a bind group", || {
            engine
                .device()
                .create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("wgpu-gather"),
                    layout: &pipeline.bindings,
                    entries: &entries,
                })
        })?;
        Ok(Dispatch {
            pipeline,
            group,
            workgroups,
        })
    }
}

impl Dispatch {
    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y, z] = self.workgroups;
        pass.set_pipeline(&self.pipeline.compute);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}
