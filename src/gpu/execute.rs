//! One gather from host to host: upload, dispatch, download.

use crate::error::{Error, Result};
use crate::gpu::engine::Engine;
use crate::gpu::recorder::Placed;
use crate::gpu::status::Status;
use crate::gpu::transfer::reached;
use crate::gpu::wait::Drive;
use crate::plan::{HostCall, Plan};
use crate::shape::Layout;
use crate::tensor::{Indices, Params};

impl Engine {
    /// Executes `plan` for host tensors, writing the output's bytes, row-major. Of params and
    /// indices, only what their views reach is uploaded.
    ///
    /// # Errors
    ///
    /// [`Error::OtherPlan`](crate::Error::OtherPlan),
    /// [`Error::OutputLength`](crate::Error::OutputLength);
    /// [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds) under the rule
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error); as [`Engine::gather`].
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
        let (params_at, params) =
            reached_bytes(params.bytes(), params.layout(), plan.element_bytes());
        let index_bytes = plan.index_type().bytes();
        let (indices_at, indices) = reached_bytes(indices.bytes(), indices.layout(), index_bytes);
        let mut host = Host {
            params,
            params_at,
            indices,
            indices_at,
            output,
        };
        match plan.host_call(self.max_memory()) {
            HostCall::Whole => self.execute_whole(plan, &mut host, drive).await,
            HostCall::Streamed(sizes) => self.stream(plan, &mut host, sizes, drive).await,
            HostCall::Collected => Err(Error::GpuOutOfMemory {
                what: format!("more than {} bytes of tensors", self.max_memory()),
            }),
        }
    }

    async fn execute_whole(&self, plan: &Plan, host: &mut Host<'_>, drive: Drive) -> Result<()> {
        let recorder = self.recorders().get(self, plan.clone())?;
        let row_bytes = plan.geometry().slice() * plan.element_bytes();
        // Index tuples lie within one buffer.
        let index_bytes = plan.index_type().bytes() * plan.geometry().coordinates.len();
        let params = self.allocate("params", host.params.len() as u64, row_bytes)?;
        let indices = self.allocate("indices", host.indices.len() as u64, index_bytes)?;
        let output = self.allocate("output", host.output.len() as u64, row_bytes)?;
        let silent = &mut |_, _| ();
        self.write(&params, host.params, drive, silent).await?;
        self.write(&indices, host.indices, drive, silent).await?;

        let status = match plan.reports_bad_indices() {
            true => Some(Status::new(self, plan)?),
            false => None,
        };
        let placed = Placed {
            params: params.located(0).moved(host.params_at as i64),
            indices: indices.located(0).moved(host.indices_at as i64),
            output: output.located(0),
            status: status.as_ref(),
            count: None,
        };
        self.submit(|encoder| recorder.record(self, encoder, &placed))?;
        if let Some(status) = &status {
            status.read_driven(drive).await?;
        }
        self.read(placed.output, host.output, drive, silent).await
    }
}

/// The host tensors of a call: of params and indices what their views reach, and at which byte of
/// the data that starts.
pub(super) struct Host<'a> {
    pub(super) params: &'a [u8],
    pub(super) params_at: usize,
    pub(super) indices: &'a [u8],
    pub(super) indices_at: usize,
    pub(super) output: &'a mut [u8],
}

/// The bytes from the first element that a view reaches to the last, and where they start.
fn reached_bytes<'b>(bytes: &'b [u8], layout: &Layout, element_bytes: usize) -> (usize, &'b [u8]) {
    let (_, range) = reached(layout, element_bytes);
    (range.start, &bytes[range])
}
