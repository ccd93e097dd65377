//! Counts of bad indices on the device, as an engine's methods.

use crate::error::{BadIndices, Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::batch::check_indices;
use crate::gpu::checks::Checks;
use crate::gpu::engine::Engine;
use crate::gpu::placed::Placed;
use crate::gpu::status::Status;
use crate::gpu::tensor::DeviceTensor;
use crate::gpu::wait::PollMode;
use crate::index::{Index, IndexType};
use crate::op::Op;
use crate::plan::Plan;
use crate::rules::Rules;

impl Engine {
    /// How many of the indices of a call are bad, and the first of them: see
    /// [`bad_indices`](crate::bad_indices()), which does the same on the host. Under any rules; nothing is
    /// gathered or scattered.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// /// JAX clips what is out of bounds, and says nothing.
    /// async fn look(engine: &Engine, ids: &DeviceTensor<i64>) -> Result<()> {
    ///     let (op, rules) = (Op::gather(0), Rules::JAX_CLIP);
    ///     if let Some(bad) = engine.bad_indices(op, &rules, &[50_000, 768], ids).await? {
    ///         println!("{} are clipped, the first at {:?}", bad.count, bad.position);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What [`Plan::new`](crate::Plan::new) reports of shapes, attributes and rules; the errors of the
    /// device.
    pub async fn bad_indices<I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &DeviceTensor<I>,
    ) -> Result<Option<BadIndices>> {
        let indices = (indices.as_ref(), I::TYPE);
        self.count(op, rules, params_shape, indices, PollMode::Aside)
            .await
    }

    /// [`Engine::bad_indices`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::bad_indices`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn bad_indices_blocking<I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &DeviceTensor<I>,
    ) -> Result<Option<BadIndices>> {
        let indices = (indices.as_ref(), I::TYPE);
        pollster::block_on(self.count(op, rules, params_shape, indices, PollMode::Here))
    }

    async fn count(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        (indices, index_type): (&AnyDeviceTensor, IndexType),
        poll_mode: PollMode,
    ) -> Result<Option<BadIndices>> {
        let context = self.context();
        check_indices(op.kind(), indices, index_type)?;
        indices.storage().check_readable(context, Role::Indices)?;
        let (layout, placement) = indices.reached();
        let plan = Plan::of_lookups(op, rules, params_shape, index_type, &layout)?;
        if !plan.looks_up() {
            return Ok(None);
        }
        placement.check(plan.op(), Role::Indices, &layout, index_type.bytes())?;
        let counting = Status::new(context, &plan)?.afresh();
        let status = &counting.status;
        let placed = Placed::indices_only(&placement);
        context.submit(|recording| {
            let checks = Checks::new(1).dispatches(context, &plan, &placed, status)?;
            recording.call(context, checks, Some(&counting));
            indices.storage().owned().for_each(|o| recording.keep(o));
            Ok(())
        })?;
        status.read_driven(poll_mode).await
    }
}
