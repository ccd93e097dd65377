//! One gather from host to host: upload, dispatch, download. What exceeds the memory that a call may
//! take, `stream` executes.
//!
//! Called by users and by `Executor`.

use crate::error::{Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::engine::stream::Host;
use crate::gpu::placed::Placed;
use crate::gpu::recorder::Recorder;
use crate::gpu::status::Counting;
use crate::gpu::wait::PollMode;
use crate::gpu::writer::{Chunks, Whole, Writer};
use crate::memory::zeroed_bits;
use crate::operand::{Indices, Params};
use crate::plan::{HostCall, Plan};
use crate::shape::Layout;

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
        plan.check_tensors(params, indices, output.len())?;
        let output = &mut Whole(output);
        self.execute_driven(plan, params, indices, output, PollMode::Aside)
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
        plan.check_tensors(params, indices, output.len())?;
        let output = &mut Whole(output);
        pollster::block_on(self.execute_driven(plan, params, indices, output, PollMode::Here))
    }

    /// Executes a plan made for these tensors, calling `chunk` with at most `most_bytes` (which is
    /// not 0) of the output at a time, in order.
    pub(crate) async fn execute_chunks<E: From<Error>>(
        &self,
        plan: &Plan,
        params: &Params<'_>,
        indices: &Indices<'_>,
        most_bytes: usize,
        chunk: impl FnMut(&[u8]) -> Result<(), E>,
        poll_mode: PollMode,
    ) -> Result<(), E> {
        let len = most_bytes.min(plan.output_bytes());
        let buffer = zeroed_bits::<u8>(Role::Output, len)?;
        let output = &mut Chunks { buffer, chunk };
        self.execute_driven(plan, params, indices, output, poll_mode)
            .await
    }

    /// Executes a plan made for these tensors.
    async fn execute_driven<S: Writer>(
        &self,
        plan: &Plan,
        params: &Params<'_>,
        indices: &Indices<'_>,
        output: &mut S,
        poll_mode: PollMode,
    ) -> Result<(), S::Error> {
        if plan.is_empty() {
            return Ok(());
        }
        let (params_at, params) =
            reached_bytes(params.bytes(), params.layout(), plan.element_bytes());
        let index_bytes = plan.index_type().bytes();
        let (indices_at, indices) = reached_bytes(indices.bytes(), indices.layout(), index_bytes);
        let host = Host {
            params,
            params_at,
            indices,
            indices_at,
        };
        match plan.host_call(self.max_memory()) {
            HostCall::Whole => self.execute_whole(plan, &host, output, poll_mode).await,
            HostCall::Streamed {
                params_bytes,
                indices_bytes,
                output_bytes,
            } => {
                let sizes = [params_bytes, indices_bytes, output_bytes];
                self.stream(plan, &host, output, sizes, poll_mode).await
            }
            HostCall::Collected => Err(S::Error::from(Error::GpuOutOfMemory {
                what: format!("more than {} bytes of tensors", self.max_memory()),
            })),
        }
    }

    async fn execute_whole<S: Writer>(
        &self,
        plan: &Plan,
        host: &Host<'_>,
        writer: &mut S,
        poll_mode: PollMode,
    ) -> Result<(), S::Error> {
        let context = self.context();
        let recorder = Recorder::kept(self.recorders(), context, plan.clone())?;
        let width = plan.element_bytes();
        let units = [plan.geometry().slice() * width, width];
        // Index tuples lie within one buffer.
        let index_bytes = plan.index_type().bytes() * plan.geometry().coordinates.len();
        let params = context.allocate("params", host.params.len() as u64, &units)?;
        let indices = context.allocate("indices", host.indices.len() as u64, &[index_bytes])?;
        let (output, flag) = context.allocate_output(plan)?;
        let silent = &mut |_, _| ();
        context
            .write(&params, host.params, poll_mode, silent)
            .await?;
        context
            .write(&indices, host.indices, poll_mode, silent)
            .await?;

        let counting = Counting::of_call(context, plan)?;
        let placed = Placed {
            params: params.placement().with_origin(-(host.params_at as i64)),
            indices: indices.placement().with_origin(-(host.indices_at as i64)),
            output: output.placement(),
            status: counting.as_ref().map(|counting| &counting.status),
            flag,
            count: None,
        };
        let counting = counting.as_ref();
        context.submit(|recording| recording.gather(context, &recorder, &placed, counting))?;
        if let Some(counting) = counting {
            counting.status.read_once(poll_mode).await?;
        }
        let all = 0..plan.output_bytes();
        writer.take(context, placed.output, all, poll_mode).await
    }
}

/// The bytes from the first element that a view reaches to the last, and where they start.
pub(super) fn reached_bytes<'b>(
    bytes: &'b [u8],
    layout: &Layout,
    element_bytes: usize,
) -> (usize, &'b [u8]) {
    let (_, range) = layout.trimmed(element_bytes);
    (range.start, &bytes[range])
}
