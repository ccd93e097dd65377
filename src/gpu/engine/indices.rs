//! Counts of bad indices on the device, as an engine's methods.

use crate::error::{BadIndices, Result, Role};
use crate::gpu::device::commands::Command;
use crate::gpu::engine::Engine;
use crate::gpu::record::checks;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::table::{IndexTensor, index_type};
use crate::op::Op;
use crate::plan::Plan;
use crate::rules::Rules;
use crate::waiting::{PollMode, Waiting};

impl Engine {
    /// Counts the bad indices of a call, and returns the first in row-major order with the count; `None` if all
    /// are good. An index is bad if it lies outside its axis, whatever the rules make of it. Nothing is gathered or
    /// scattered: `params_shape` is the shape of the params or the destination of the call.
    /// [`bad_indices`](crate::bad_indices()) does the same on the host.
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
    /// Shapes, attributes and rules that do not fit: those of [`Plan::new`](crate::Plan::new); the errors of the
    /// device.
    pub fn bad_indices<'a, I: IndexTensor>(
        &'a self,
        op: Op,
        rules: &'a Rules,
        params_shape: &'a [usize],
        indices: &'a I,
    ) -> Waiting<'a, Result<Option<BadIndices>>> {
        let indices = indices.indices();
        Waiting::new(move |poll_mode| self.count(op, rules, params_shape, indices, poll_mode))
    }

    async fn count(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &AnyDeviceTensor,
        poll_mode: PollMode,
    ) -> Result<Option<BadIndices>> {
        let context = self.context();
        let index_type = index_type(op.kind(), indices)?;
        indices.storage().check_readable(context, Role::Indices)?;
        let (layout, placement) = (indices.reached(), indices.placement());
        let plan = Plan::of_lookups(op, rules, params_shape, index_type, &layout)?;
        if !plan.looks_up() {
            return Ok(None);
        }
        placement.check(plan.op(), Role::Indices, &layout, index_type.bytes())?;
        let counting = Status::new(context, &plan)?.afresh();
        let status = &counting.status;
        context.submit(|recording| {
            let checks = checks::dispatches(context, &plan, &placement, status)?;
            let commands = checks.into_iter().map(Command::Dispatch).collect();
            recording.run(context, commands, Some(&counting));
            indices.storage().owned().for_each(|o| recording.keep(o));
            Ok(())
        })?;
        status.read_driven(poll_mode).await
    }
}
