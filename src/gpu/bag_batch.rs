//! Pooled lookups from device tensors to device tensors, as a batch's methods.

use crate::bag::Bags;
use crate::element::{DType, HasDType};
use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::bag_recorder::{BagPlaced, BagRows, commands};
use crate::gpu::batch::{Batch, check_indices, check_width};
use crate::gpu::tensor::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::plan::{BagPlan, BagShapes};
use crate::rules::Rules;
use crate::shape::Layout;

const OP: OpKind = OpKind::EmbeddingBag;

/// The tensors of a pooled lookup on the device, and the types of their elements.
#[derive(Debug, Clone, Copy)]
pub struct BagTensors<'a> {
    /// The type of the table, the weights and the output.
    pub dtype: DType,
    /// The table.
    pub params: &'a AnyDeviceTensor,
    /// The indices.
    pub indices: &'a AnyDeviceTensor,
    /// The type of the indices.
    pub index_type: IndexType,
    /// A weight for each index.
    pub weights: Option<&'a AnyDeviceTensor>,
}

impl<'a> BagTensors<'a> {
    /// Those tensors.
    pub fn of<T: HasDType, I: Index<Wide = I>>(
        params: &'a DeviceTensor<T>,
        indices: &'a DeviceTensor<I>,
        weights: Option<&'a DeviceTensor<T>>,
    ) -> Self {
        BagTensors {
            dtype: T::DTYPE,
            params: params.as_ref(),
            indices: indices.as_ref(),
            index_type: I::TYPE,
            weights: weights.map(AsRef::as_ref),
        }
    }

    /// The plan; layouts start at the first element that they reach.
    pub(super) fn plan(&self, bags: Bags<'_>, rules: &Rules) -> Result<BagPlan> {
        let width = self.dtype.bytes();
        check_words(Role::Params, self.params, width)?;
        if let Some(weights) = self.weights {
            check_words(Role::Weights, weights, width)?;
        }
        check_indices(OP, self.indices, self.index_type)?;
        let (params, indices) = (self.params.reached().0, self.indices.reached().0);
        let weights = self.weights.map(|w| w.reached().0);
        let shapes = BagShapes {
            dtype: self.dtype,
            params: &params,
            index_type: self.index_type,
            indices: &indices,
            weights: weights.as_ref(),
        };
        BagPlan::new(bags, rules, shapes)
    }
}

impl Batch<'_> {
    /// As [`Engine::embedding_bag`](crate::gpu::Engine::embedding_bag); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag`](crate::gpu::Engine::embedding_bag).
    pub fn embedding_bag<T: HasDType, I: Index<Wide = I>>(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<T>>,
    ) -> Result<DeviceTensor<T>> {
        let tensors = BagTensors::of(params, indices, weights);
        self.embedding_bag_any(bags, rules, &tensors)
            .map(DeviceTensor::of)
    }

    /// As [`Engine::embedding_bag_any`](crate::gpu::Engine::embedding_bag_any); submitted with the
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag`](crate::gpu::Engine::embedding_bag).
    pub fn embedding_bag_any(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        tensors: &BagTensors<'_>,
    ) -> Result<AnyDeviceTensor> {
        let plan = tensors.plan(bags, rules)?;
        let output = self.pooled_output(&plan)?;
        self.call(|batch| batch.record_bags(&plan, tensors, &output))?;
        Ok(output)
    }

    /// As [`Engine::embedding_bag_into`](crate::gpu::Engine::embedding_bag_into); submitted with the
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_into`](crate::gpu::Engine::embedding_bag_into).
    pub fn embedding_bag_into<T: HasDType, I: Index<Wide = I>>(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<T>>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        let tensors = BagTensors::of(params, indices, weights);
        self.embedding_bag_any_into(bags, rules, &tensors, output.any_mut())
    }

    /// As [`Engine::embedding_bag_any_into`](crate::gpu::Engine::embedding_bag_any_into); submitted
    /// with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_any_into`](crate::gpu::Engine::embedding_bag_any_into).
    pub fn embedding_bag_any_into(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        tensors: &BagTensors<'_>,
        output: &mut AnyDeviceTensor,
    ) -> Result<()> {
        let plan = tensors.plan(bags, rules)?;
        check_output(&plan, output)?;
        self.call(|batch| batch.record_bags(&plan, tensors, output))
    }

    fn record_bags(
        &mut self,
        plan: &BagPlan,
        tensors: &BagTensors<'_>,
        output: &AnyDeviceTensor,
    ) -> Result<()> {
        let params = tensors.params;
        params
            .storage()
            .check_readable(self.context, Role::Params)?;
        let rows = BagRows::Plain(params.reached().1);
        let read: Vec<&AnyDeviceTensor> = [params, tensors.indices]
            .into_iter()
            .chain(tensors.weights)
            .collect();
        let owned = params.storage().owned();
        owned.for_each(|owned| self.recording.keep(owned));
        self.record_pooling(
            plan,
            rows,
            (tensors.indices, tensors.weights),
            &read,
            output,
        )
    }

    /// Memory for the output.
    pub(super) fn pooled_output(&self, plan: &BagPlan) -> Result<AnyDeviceTensor> {
        let (units, bytes) = ([plan.row_bytes(), plan.dtype.bytes()], plan.output_bytes);
        let storage = self.context.allocate("output", bytes as u64, &units)?;
        let layout = Layout::contiguous(&plan.output_shape);
        Ok(AnyDeviceTensor::new(storage, layout, plan.dtype.bytes()))
    }

    /// Records a pooled lookup of these rows by these indices with these weights; `read` has all tensors
    /// that it reads.
    pub(super) fn record_pooling(
        &mut self,
        plan: &BagPlan,
        rows: BagRows<'_>,
        (indices, weights): (&AnyDeviceTensor, Option<&AnyDeviceTensor>),
        read: &[&AnyDeviceTensor],
        output: &AnyDeviceTensor,
    ) -> Result<()> {
        let context = self.context;
        let weights_too = weights.map(|w| (Role::Weights, w));
        let by_index = || [(Role::Indices, indices)].into_iter().chain(weights_too);
        for (role, tensor) in by_index() {
            tensor.storage().check_readable(context, role)?;
        }
        output.storage().check_owner(context, Role::Output)?;
        let replaces = output.is_whole();
        let lookups = self.lookups(Some(&plan.lookups), output, replaces)?;
        let placed = BagPlaced {
            rows,
            indices: indices.reached().1,
            weights: weights.map(|w| w.reached().1),
            output: output.reached().1,
            status: lookups.status(),
        };
        let commands = commands(context, plan, &placed)?;
        let counting = lookups.counting.as_ref();
        self.recording.run(context, commands, counting);

        let owned = by_index().flat_map(|(_, tensor)| tensor.storage().owned());
        owned
            .chain(output.storage().owned())
            .for_each(|owned| self.recording.keep(owned));
        self.wrote(output, read, &lookups, replaces);
        Ok(())
    }
}

/// Refuses elements of another width, and those that are no whole words of the shaders.
pub(super) fn check_words(role: Role, tensor: &AnyDeviceTensor, alignment: usize) -> Result<()> {
    check_width(OP, role, tensor, alignment)?;
    match tensor.storage().misaligned(alignment as u64) {
        None => Ok(()),
        Some(offset) => Err(Error::Misaligned {
            op: Some(OP),
            role,
            offset,
            alignment,
        }),
    }
}

/// Refuses an output of another shape, width or order.
pub(super) fn check_output(plan: &BagPlan, output: &AnyDeviceTensor) -> Result<()> {
    check_words(Role::Output, output, plan.dtype.bytes())?;
    let layout = output.layout();
    if layout.shape() != plan.output_shape {
        return Err(Error::OutputShape {
            op: OP,
            expected: plan.output_shape.clone(),
            got: layout.shape().to_vec(),
        });
    }
    if !layout.is_contiguous() {
        return Err(Error::OutputStrided {
            op: OP,
            shape: layout.shape().to_vec(),
            strides: layout.strides().to_vec(),
        });
    }
    Ok(())
}
