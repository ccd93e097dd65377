//! One gather from host to host: upload, dispatch, download.

use crate::error::Result;
use crate::gpu::engine::Engine;
use crate::gpu::recorder::Placed;
use crate::gpu::status::Status;
use crate::gpu::transfer::reached;
use crate::gpu::wait::Drive;
use crate::plan::Plan;
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
        let index_bytes = plan.index_type().bytes();
        let (params_at, params) =
            reached_bytes(params.bytes(), params.layout(), plan.element_bytes());
        let (indices_at, indices) = reached_bytes(indices.bytes(), indices.layout(), index_bytes);
        let recorder = self.recorders().get(self, plan.clone())?;
        let width = plan.element_bytes();
        let row_bytes = plan.geometry().slice() * width;
        let params_data = self.allocate("params", params.len() as u64, row_bytes)?;
        let indices_data = self.allocate("indices", indices.len() as u64, index_bytes)?;
        let output_data = self.allocate("output", output.len() as u64, row_bytes)?;
        let silent = &mut |_, _| ();
        self.write(&params_data, params, drive, silent).await?;
        self.write(&indices_data, indices, drive, silent).await?;

        let status = match plan.reports_bad_indices() {
            true => Some(Status::new(self, plan)?),
            false => None,
        };
        let placed = Placed {
            params: params_data.located(0).moved(params_at),
            indices: indices_data.located(0).moved(indices_at),
            output: output_data.located(0),
            status: status.as_ref(),
        };
        self.submit(|encoder| recorder.record(self, encoder, &placed))?;
        if let Some(status) = &status {
            status.read_driven(drive).await?;
        }
        self.read(placed.output, output, drive, silent).await
    }
}

/// The bytes from the first element that a view reaches to the last, and where they start.
fn reached_bytes<'b>(bytes: &'b [u8], layout: &Layout, element_bytes: usize) -> (i64, &'b [u8]) {
    let (_, range) = reached(layout, element_bytes);
    (range.start as i64, &bytes[range])
}
