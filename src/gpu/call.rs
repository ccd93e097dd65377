//! One gather from host to host: upload, dispatch, download.

use crate::error::{Error, Result, Role};
use crate::gpu::engine::{Drive, Engine};
use crate::gpu::pipeline::{GEOMETRY, INDICES, OUTPUT, PARAMS, Pipeline, STATUS};
use crate::gpu::scope::scoped;
use crate::gpu::shader::{Specialisation, Stage};
use crate::gpu::status;
use crate::plan::{GeometryBlock, Kernel, Plan, Starts};
use crate::shape::Layout;
use crate::tensor::{Indices, Params};

impl Engine {
    /// Executes `plan` for host tensors, writing the output's bytes, row-major.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`]; [`Error::IndexOutOfBounds`] under the rule
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error); [`Error::TensorTooLarge`],
    /// [`Error::TooComplex`] and [`Error::TooMany`] for what the device cannot hold; the errors
    /// of the device.
    pub async fn execute(
        &self,
        plan: &Plan,
        params: &Params<'_>,
        indices: &Indices<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        self.execute_driven(plan, params, indices, output, Drive::Aside)
            .await
    }

    /// [`Engine::execute`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::execute`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn execute_blocking(
        &self,
        plan: &Plan,
        params: &Params<'_>,
        indices: &Indices<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        pollster::block_on(self.execute_driven(plan, params, indices, output, Drive::Here))
    }

    async fn execute_driven(
        &self,
        plan: &Plan,
        params: &Params<'_>,
        indices: &Indices<'_>,
        output: &mut [u8],
        drive: Drive,
    ) -> Result<()> {
        if output.len() != plan.output_bytes() {
            return Err(Error::OutputLength {
                op: plan.op(),
                expected: plan.output_bytes(),
                got: output.len(),
            });
        }
        if plan.is_empty() {
            return Ok(());
        }
        self.check_alive()?;
        let call = Call::new(self, plan, params, indices)?;
        let buffers = call.upload(params, indices).await?;
        call.dispatch(&buffers).await?;
        if let Some(status) = &buffers.status {
            let mut bytes = vec![0; status::bytes(plan)];
            self.download(status, &mut bytes, drive).await?;
            if let Some(error) = status::error(plan, &bytes) {
                return Err(error);
            }
        }
        self.download(&buffers.output, output, drive).await
    }
}

/// What is needed of a host tensor: from the first byte that its view reaches to the last.
#[derive(Debug, Clone, Copy)]
struct Extract {
    start: usize,
    end: usize,
}

impl Extract {
    /// Starts at a multiple of 16 bytes, so that lanes stay as wide as they are.
    fn of(layout: &Layout, element_bytes: usize) -> Extract {
        match layout.reached() {
            Some((first, last)) => Extract {
                start: (first * element_bytes) & !15,
                end: (last + 1) * element_bytes,
            },
            None => Extract { start: 0, end: 0 },
        }
    }

    fn bytes(&self) -> usize {
        self.end - self.start
    }
}

/// One planned call.
struct Call<'a> {
    engine: &'a Engine,
    plan: &'a Plan,
    params: Extract,
    indices: Extract,
    kernel: Kernel,
    check: Option<([u32; 3], GeometryBlock)>,
}

/// The buffers of one call.
struct Buffers {
    params: wgpu::Buffer,
    indices: wgpu::Buffer,
    output: wgpu::Buffer,
    status: Option<wgpu::Buffer>,
}

impl<'a> Call<'a> {
    fn new(
        engine: &'a Engine,
        plan: &'a Plan,
        params: &Params<'_>,
        indices: &Indices<'_>,
    ) -> Result<Self> {
        let params = Extract::of(params.layout(), plan.element_bytes());
        let indices = Extract::of(indices.layout(), plan.index_type().bytes());
        let limit = binding_limit(engine.limits());
        for (role, bytes) in [
            (Role::Params, params.bytes()),
            (Role::Indices, indices.bytes()),
            (Role::Output, plan.output_bytes()),
        ] {
            if bytes as u64 > limit {
                return Err(Error::TensorTooLarge {
                    op: plan.op(),
                    role,
                    bytes: bytes as u64,
                    limit,
                });
            }
        }
        let starts = Starts {
            params: -(params.start as i64),
            indices: -(indices.start as i64),
            output: 0,
        };
        let max_workgroups = engine.limits().max_compute_workgroups_per_dimension;
        let check = if plan.reports_bad_indices() && !plan.lookups().coordinates.is_empty() {
            Some(Kernel::check(plan, starts, max_workgroups)?)
        } else {
            None
        };
        Ok(Call {
            engine,
            plan,
            params,
            indices,
            kernel: Kernel::copy(plan, starts, max_workgroups)?,
            check,
        })
    }

    async fn upload(&self, params: &Params<'_>, indices: &Indices<'_>) -> Result<Buffers> {
        let engine = self.engine;
        let params = &params.bytes()[self.params.start..self.params.end];
        let indices = &indices.bytes()[self.indices.start..self.indices.end];
        let readable = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        Ok(Buffers {
            params: engine.upload("params", params).await?,
            indices: engine.upload("indices", indices).await?,
            output: engine
                .create_buffer("output", self.plan.output_bytes(), readable)
                .await?,
            status: match self.check {
                Some(_) => Some(
                    engine
                        .create_buffer("status", status::bytes(self.plan), readable)
                        .await?,
                ),
                None => None,
            },
        })
    }

    async fn dispatch(&self, buffers: &Buffers) -> Result<()> {
        let engine = self.engine;
        let pipelines = engine.pipelines();
        let specialisation = Specialisation::of(self.plan, &self.kernel);
        let copy = pipelines.get(engine.device(), specialisation).await?;
        let copy_block = self.uniform(&self.kernel.block).await?;
        let mut check = None;
        if let (Some((workgroups, block)), Some(status)) = (&self.check, &buffers.status) {
            let stage = |stage| Specialisation::new(stage, self.plan);
            let count = pipelines.get(engine.device(), stage(Stage::Count)).await?;
            let locate = pipelines.get(engine.device(), stage(Stage::Locate)).await?;
            check = Some((workgroups, self.uniform(block).await?, status, count, locate));
        }
        scoped(engine.device(), "a dispatch", || {
            let mut encoder = engine.device().create_command_encoder(&Default::default());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            let bindings = [
                (GEOMETRY, &copy_block),
                (INDICES, &buffers.indices),
                (PARAMS, &buffers.params),
                (OUTPUT, &buffers.output),
            ];
            self.record(&mut pass, &copy, &bindings, self.kernel.workgroups);
            if let Some((workgroups, block, status, count, locate)) = &check {
                let bindings = [
                    (GEOMETRY, block),
                    (INDICES, &buffers.indices),
                    (STATUS, *status),
                ];
                self.record(&mut pass, count, &bindings, **workgroups);
                self.record(&mut pass, locate, &bindings, [1, 1, 1]);
            }
            drop(pass);
            engine.queue().submit([encoder.finish()]);
        })
        .await
    }

    /// A uniform buffer of its own for each dispatch: none is ever rewritten.
    async fn uniform(&self, block: &GeometryBlock) -> Result<wgpu::Buffer> {
        let bytes = bytemuck::bytes_of(block);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = self
            .engine
            .create_buffer("geometry", bytes.len(), usage)
            .await?;
        scoped(self.engine.device(), "an upload", || {
            self.engine.queue().write_buffer(&buffer, 0, bytes);
        })
        .await?;
        Ok(buffer)
    }

    fn record(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        pipeline: &Pipeline,
        bindings: &[(u32, &wgpu::Buffer)],
        [x, y, z]: [u32; 3],
    ) {
        let entries: Vec<_> = bindings
            .iter()
            .map(|&(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor {
            label: Some("wgpu-gather"),
            layout: &pipeline.bindings,
            entries: &entries,
        };
        let group = self.engine.device().create_bind_group(&descriptor);
        pass.set_pipeline(&pipeline.compute);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}

/// The most bytes of a tensor: one binding of one buffer, in whole 16-byte lanes, and below 2^31
/// so that byte positions in shaders never wrap.
fn binding_limit(limits: &wgpu::Limits) -> u64 {
    limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size)
        .min(i32::MAX as u64)
        & !15
}
