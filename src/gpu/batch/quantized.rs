//! Gathers from quantized tables in a batch.

use crate::error::{Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::batch::{Batch, check_indices, check_output};
use crate::gpu::placed::Placed;
use crate::gpu::quantized::{DecodeRecorder, DeviceQuantizedTable};
use crate::gpu::tensor::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::op::Op;
use crate::plan::Plan;
use crate::quantized::{Float, FloatType};
use crate::rules::Rules;
use crate::shape::Layout;

impl Batch<'_> {
    /// As [`Engine::gather_quantized`](crate::gpu::Engine::gather_quantized); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_quantized`](crate::gpu::Engine::gather_quantized).
    pub fn gather_quantized<T: Float, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
    ) -> Result<DeviceTensor<T>> {
        let indices = indices.as_ref();
        let made = self.gather_quantized_any(op, rules, table, indices, I::TYPE, T::TYPE);
        made.map(DeviceTensor::of)
    }

    /// As [`Engine::gather_quantized_any`](crate::gpu::Engine::gather_quantized_any); submitted with the
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_quantized_any`](crate::gpu::Engine::gather_quantized_any).
    pub fn gather_quantized_any(
        &mut self,
        op: Op,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &AnyDeviceTensor,
        index_type: IndexType,
        to: FloatType,
    ) -> Result<AnyDeviceTensor> {
        let plan = plan(op, rules, table, indices, index_type, to)?;
        let layout = Layout::contiguous(plan.output_shape());
        let (storage, flag) = self.context.allocate_output(&plan)?;
        let output = AnyDeviceTensor::new(storage, layout, to.bytes());
        self.call(|batch| batch.record_quantized(plan, (table, to), indices, &output, flag))?;
        Ok(output)
    }

    /// As [`Engine::gather_quantized_into`](crate::gpu::Engine::gather_quantized_into); submitted with the
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_quantized_into`](crate::gpu::Engine::gather_quantized_into).
    pub fn gather_quantized_into<T: Float, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        let (indices, to) = (indices.as_ref(), T::TYPE);
        let plan = plan(op, rules, table, indices, I::TYPE, to)?;
        check_output(&plan, output.as_ref())?;
        let output = output.as_ref();
        self.call(|batch| batch.record_quantized(plan, (table, to), indices, output, false))
    }

    fn record_quantized(
        &mut self,
        plan: Plan,
        (table, to): (&DeviceQuantizedTable, FloatType),
        indices: &AnyDeviceTensor,
        output: &AnyDeviceTensor,
        flag: bool,
    ) -> Result<()> {
        let context = self.context;
        table.check_owner(context)?;
        indices.storage().check_readable(context, Role::Indices)?;
        output.storage().check_owner(context, Role::Output)?;
        let recorder = DecodeRecorder::kept(self.decoders, context, plan, table, to)?;
        let plan = recorder.plan();
        let replaces = output.is_whole();
        let lookups = self.lookups(Some(plan), output, replaces)?;
        let placed = Placed {
            params: table.codes().placement(),
            indices: indices.reached().1,
            output: output.reached().1,
            status: lookups.status(),
            flag,
            count: None,
        };
        recorder.check_apart(table, &placed)?;
        let dispatches = recorder.dispatches(context, table, &placed)?;
        self.recording
            .call(context, dispatches, lookups.counting.as_ref());
        let tensors = [indices.storage(), output.storage()];
        let owned = tensors.into_iter().flat_map(|s| s.owned());
        owned
            .chain(table.owned())
            .for_each(|owned| self.recording.keep(owned));
        self.wrote(output, &[indices], &lookups, replaces);
        Ok(())
    }
}

fn plan(
    op: Op,
    rules: &Rules,
    table: &DeviceQuantizedTable,
    indices: &AnyDeviceTensor,
    index_type: IndexType,
    to: FloatType,
) -> Result<Plan> {
    check_indices(op.kind(), indices, index_type)?;
    let params = Layout::contiguous(table.shape());
    let (indices, _) = indices.reached();
    Plan::new(op, rules, to.bytes(), &params, index_type, &indices)
}
