//! One gather from host to host: upload, dispatch, download.

use crate::error::{Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::prepared::{Placed, Prepared};
use crate::gpu::range::{Located, binding_limit};
use crate::gpu::status::Status;
use crate::gpu::wait::Drive;
use crate::plan::Plan;
use crate::shape::Layout;
use crate::tensor::{Indices, Params};

impl Engine {
    /// Executes `plan` for host tensors, writing the output's bytes, row-major.
    ///
    /// # Errors
    ///
    /// [`Error::OtherPlan`], [`Error::OutputLength`]; [`Error::IndexOutOfBounds`] under the rule
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
        plan.check_tensors(params, indices, output)?;
        if plan.is_empty() {
            return Ok(());
        }
        let prepared = self.prepare(plan).await?;
        let call = Call::upload(self, plan, params, indices, drive).await?;
        let status = call.run(&prepared)?;
        if let Some(status) = status {
            status.read_driven(drive).await?;
        }
        self.download(&call.output, 0, output, drive).await
    }
}

/// The buffers of one call. Of params and indices, only what their views reach is uploaded.
struct Call<'a> {
    engine: &'a Engine,
    params: (wgpu::Buffer, i64),
    indices: (wgpu::Buffer, i64),
    output: wgpu::Buffer,
}

impl<'a> Call<'a> {
    async fn upload(
        engine: &'a Engine,
        plan: &Plan,
        params: &Params<'_>,
        indices: &Indices<'_>,
        drive: Drive,
    ) -> Result<Self> {
        let (params_start, params) = reached(params.bytes(), params.layout(), plan.element_bytes());
        let (indices_start, indices) =
            reached(indices.bytes(), indices.layout(), plan.index_type().bytes());
        let limit = binding_limit(engine.limits());
        for (role, bytes) in [
            (Role::Params, params.len() as u64),
            (Role::Indices, indices.len() as u64),
            (Role::Output, plan.output_bytes() as u64),
        ] {
            if bytes > limit {
                return Err(Error::TensorTooLarge {
                    op: plan.op(),
                    role,
                    bytes,
                    limit,
                });
            }
        }
        let written = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        Ok(Call {
            engine,
            params: (
                engine.upload("params", params, drive).await?,
                -(params_start as i64),
            ),
            indices: (
                engine.upload("indices", indices, drive).await?,
                -(indices_start as i64),
            ),
            output: engine.create_buffer("output", plan.output_bytes(), written)?,
        })
    }

    /// Submits the gather; gives the status to read if the rules ask for one.
    fn run(&self, prepared: &Prepared) -> Result<Option<Status>> {
        let status = match prepared.plan().reports_bad_indices() {
            true => Some(prepared.status()?),
            false => None,
        };
        let at = |buffer, origin| Located { buffer, origin };
        let placed = Placed {
            params: at(&self.params.0, self.params.1),
            indices: at(&self.indices.0, self.indices.1),
            output: at(&self.output, 0),
            status: status.as_ref(),
        };
        let device = self.engine.device();
        let mut encoder = self.engine.scoped("an encoder", || {
            device.create_command_encoder(&Default::default())
        })?;
        prepared.record(&mut encoder, &placed)?;
        self.engine.scoped("a dispatch", || {
            self.engine.queue().submit([encoder.finish()]);
        })?;
        Ok(status)
    }
}

/// The bytes from the first element that a view reaches to the last, and where they start. The
/// start is a multiple of 16 bytes, so that lanes stay as wide as they are.
fn reached<'b>(bytes: &'b [u8], layout: &Layout, element_bytes: usize) -> (usize, &'b [u8]) {
    match layout.reached() {
        None => (0, &[]),
        Some((first, last)) => {
            let start = (first * element_bytes) & !15;
            (start, &bytes[start..(last + 1) * element_bytes])
        }
    }
}
