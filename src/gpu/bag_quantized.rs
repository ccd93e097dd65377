//! Pooled lookups from quantized tables on the device, as a batch's methods.

use crate::bag::Bags;
use crate::element::DType;
use crate::error::{OpKind, Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::bag_batch::{check_output, check_words};
use crate::gpu::bag_decode::DecodedRows;
use crate::gpu::bag_recorder::BagRows;
use crate::gpu::batch::{Batch, check_indices};
use crate::gpu::context::Context;
use crate::gpu::quantized::DeviceQuantizedTable;
use crate::gpu::storage::Storage;
use crate::gpu::tensor::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::plan::{BagPlan, BagShapes};
use crate::rules::Rules;
use crate::shape::Layout;

const OP: OpKind = OpKind::EmbeddingBag;

impl Batch<'_> {
    /// As [`Engine::embedding_bag_quantized`](crate::gpu::Engine::embedding_bag_quantized); submitted
    /// with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_quantized`](crate::gpu::Engine::embedding_bag_quantized).
    pub fn embedding_bag_quantized<I: Index<Wide = I>>(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<f32>>,
    ) -> Result<DeviceTensor<f32>> {
        let weights = weights.map(AsRef::as_ref);
        let read = (indices.as_ref(), I::TYPE, weights);
        let made = self.pool_quantized(bags, rules, table, read);
        made.map(DeviceTensor::of)
    }

    /// As [`Engine::embedding_bag_quantized_into`](crate::gpu::Engine::embedding_bag_quantized_into);
    /// submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_quantized_into`](crate::gpu::Engine::embedding_bag_quantized_into).
    pub fn embedding_bag_quantized_into<I: Index<Wide = I>>(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<f32>>,
        output: &mut DeviceTensor<f32>,
    ) -> Result<()> {
        let read = (indices.as_ref(), I::TYPE, weights.map(AsRef::as_ref));
        let plan = plan_of(bags, rules, table, read)?;
        let output = output.as_ref();
        check_output(&plan, output)?;
        self.call(|batch| batch.record_quantized_bags(&plan, table, read, output))
    }

    /// Pools by indices of a type, with weights of f32.
    pub(super) fn pool_quantized(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        read: Read<'_>,
    ) -> Result<AnyDeviceTensor> {
        let plan = plan_of(bags, rules, table, read)?;
        let output = self.pooled_output(&plan)?;
        self.call(|batch| batch.record_quantized_bags(&plan, table, read, &output))?;
        Ok(output)
    }

    fn record_quantized_bags(
        &mut self,
        plan: &BagPlan,
        table: &DeviceQuantizedTable,
        (indices, _, weights): Read<'_>,
        output: &AnyDeviceTensor,
    ) -> Result<()> {
        table.check_owner(self.context)?;
        let memory = memory_for(self.context, plan)?;
        let rows = decoded_rows(self.context, plan, table, &memory)?;
        let read: Vec<&AnyDeviceTensor> = [indices].into_iter().chain(weights).collect();
        let owned = table.owned().chain(memory.owned());
        owned.for_each(|owned| self.recording.keep(owned));
        self.record_pooling(plan, rows, (indices, weights), &read, output)
    }
}

/// Indices, their type, and weights of f32.
pub(super) type Read<'a> = (&'a AnyDeviceTensor, IndexType, Option<&'a AnyDeviceTensor>);

pub(super) fn plan_of(
    bags: Bags<'_>,
    rules: &Rules,
    table: &DeviceQuantizedTable,
    (indices, index_type, weights): Read<'_>,
) -> Result<BagPlan> {
    check_indices(OP, indices, index_type)?;
    if let Some(weights) = weights {
        check_words(Role::Weights, weights, DType::F32.bytes())?;
    }
    let weights_layout = weights.map(|w| w.reached().0);
    let shapes = BagShapes {
        dtype: DType::F32,
        params: &Layout::contiguous(table.shape()),
        index_type,
        indices: &indices.reached().0,
        weights: weights_layout.as_ref(),
    };
    BagPlan::new(bags, rules, shapes)
}

/// Memory for the rows that are decoded at once.
pub(super) fn memory_for(context: &Context, plan: &BagPlan) -> Result<Storage> {
    let bytes = DecodedRows::room(context, plan)? * plan.row_bytes();
    context.allocate("decoded rows", bytes as u64, &[])
}

/// The rows of a table that are decoded to this memory.
pub(super) fn decoded_rows<'a>(
    context: &Context,
    plan: &BagPlan,
    table: &'a DeviceQuantizedTable,
    memory: &'a Storage,
) -> Result<BagRows<'a>> {
    Ok(BagRows::Decoded(DecodedRows {
        table,
        memory: memory.placement(),
        room: DecodedRows::room(context, plan)?,
    }))
}
