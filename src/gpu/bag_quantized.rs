//! Pooled lookups from quantized tables on the device, as a batch's methods.

use crate::bag::Bags;
use crate::element::DType;
use crate::error::{OpKind, Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::bag_batch::check_words;
use crate::gpu::bag_decode::DecodedRows;
use crate::gpu::bag_recorder::BagRows;
use crate::gpu::batch::{Batch, check_indices};
use crate::gpu::quantized::DeviceQuantizedTable;
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

    /// Pools by indices of a type, with weights of f32.
    pub(super) fn pool_quantized(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        (indices, index_type, weights): (&AnyDeviceTensor, IndexType, Option<&AnyDeviceTensor>),
    ) -> Result<AnyDeviceTensor> {
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
        let plan = BagPlan::new(bags, rules, shapes)?;
        table.check_owner(self.context)?;
        let mut output = self.pooled_output(&plan)?;
        let room = DecodedRows::room(self.context, &plan)?;
        let bytes = (room * plan.row_bytes()) as u64;
        let memory = self.context.allocate("decoded rows", bytes, &[])?;
        let rows = BagRows::Decoded(DecodedRows {
            table,
            memory: memory.placement(),
            room,
        });
        self.record_pooling(&plan, rows, (indices, weights), &mut output)?;
        let owned = table.owned().chain(memory.owned());
        owned.for_each(|owned| self.recording.keep(owned));
        Ok(output)
    }
}
