//! Pooled lookups on the device, as an engine's methods.

use crate::bag::Bags;
use crate::bag_call::{AnyBagCall, BagTable};
use crate::element::HasDType;
use crate::error::{Error, Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::bag_batch::{BagTensors, check_output};
use crate::gpu::bag_binding::BagBinding;
use crate::gpu::bag_decode::DecodedRows;
use crate::gpu::bag_quantized;
use crate::gpu::bag_recorder::{BagPlaced, BagRows, commands};
use crate::gpu::engine::Engine;
use crate::gpu::quantized::DeviceQuantizedTable;
use crate::gpu::status::Status;
use crate::gpu::tensor::DeviceTensor;
use crate::gpu::wait::PollMode;
use crate::index::Index;
use crate::operand::Params;
use crate::plan::BagPlan;
use crate::rules::Rules;

impl Engine {
    /// Pools the rows of a table into a new tensor, without waiting for the device: see
    /// [`Executor::embedding_bag`](crate::Executor::embedding_bag).
    ///
    /// Offsets come from the host, which checks them, and go along with the call. It may be held back
    /// as [`Engine::gather`] is, and reports bad indices as that does. One invocation folds up to 16
    /// bytes of the columns of a bag, from its first index to its last: a bag with very many indices
    /// takes as long as those do one after the other.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag`](crate::Executor::embedding_bag), with
    /// [`Error::CpuOnly`] and [`Error::TensorTooLarge`];
    /// [`Error::MissingUsage`] if a buffer of the caller with weights lacks `COPY_SRC` and there are
    /// offsets; the errors of the device.
    pub fn embedding_bag<T: HasDType, I: Index<Wide = I>>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<T>>,
    ) -> Result<DeviceTensor<T>> {
        self.gather_one(|batch| batch.embedding_bag(bags, rules, params, indices, weights))
    }

    /// [`Engine::embedding_bag`] for tensors whose elements are known at run time.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag`]; [`Error::ElementWidth`] and [`Error::Misaligned`] for tensors that
    /// are not of their type.
    pub fn embedding_bag_any(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        tensors: &BagTensors<'_>,
    ) -> Result<AnyDeviceTensor> {
        self.gather_one(|batch| batch.embedding_bag_any(bags, rules, tensors))
    }

    /// Pools into a tensor of the caller, which must be contiguous. Makes no tensor.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag`]; [`Error::OutputShape`], [`Error::OutputStrided`], and
    /// [`Error::SameBuffer`] if `output` lies in a buffer that is read.
    pub fn embedding_bag_into<T: HasDType, I: Index<Wide = I>>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<T>>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        self.gather_one(|batch| {
            batch.embedding_bag_into(bags, rules, params, indices, weights, output)
        })
    }

    /// [`Engine::embedding_bag_into`] for tensors whose elements are known at run time.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_into`]; [`Error::ElementWidth`] and [`Error::Misaligned`] for tensors
    /// that are not of their type.
    pub fn embedding_bag_any_into(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        tensors: &BagTensors<'_>,
        output: &mut AnyDeviceTensor,
    ) -> Result<()> {
        self.gather_one(|batch| batch.embedding_bag_any_into(bags, rules, tensors, output))
    }

    /// Pools the rows of a quantized table into a new tensor, without waiting for the device: see
    /// [`Executor::embedding_bag_quantized`](crate::Executor::embedding_bag_quantized). As
    /// [`Engine::embedding_bag`] in everything else, but that the table may exceed a binding.
    ///
    /// Besides the output, a call takes memory for at most 16 MiB of decoded rows, at least one.
    ///
    /// ```no_run
    /// # use wgpu_gather::{BagMode, Bags, Result, Rules, Tensor, gpu::Engine};
    /// # use wgpu_gather::quantized::QuantizedTable;
    /// # fn sums(engine: &Engine, bytes: &[u8]) -> Result<Tensor<f32>> {
    /// let table = engine.upload_quantized_blocking(&QuantizedTable::rows(&[1 << 20, 128], bytes)?)?;
    /// let ids = engine.upload_indices_blocking(&Tensor::new(&[3], vec![7u32, 9, 9])?.view())?;
    /// let bags = Bags::offsets(BagMode::Sum, &[0, 1]);
    /// let sums = engine.embedding_bag_quantized(bags, &Rules::TORCH, &table, &ids, None)?;
    /// engine.download_blocking(&sums)
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag_quantized`](crate::Executor::embedding_bag_quantized) and
    /// [`Engine::embedding_bag`].
    pub fn embedding_bag_quantized<I: Index<Wide = I>>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<f32>>,
    ) -> Result<DeviceTensor<f32>> {
        self.gather_one(|batch| batch.embedding_bag_quantized(bags, rules, table, indices, weights))
    }

    /// Pools the rows of a quantized table into a tensor of the caller, which must be contiguous. Makes
    /// no tensor, but memory for decoded rows.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_quantized`]; [`Error::OutputShape`], [`Error::OutputStrided`], and
    /// [`Error::SameBuffer`] if `output` lies in a buffer that is read.
    pub fn embedding_bag_quantized_into<I: Index<Wide = I>>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<f32>>,
        output: &mut DeviceTensor<f32>,
    ) -> Result<()> {
        self.gather_one(|batch| {
            batch.embedding_bag_quantized_into(bags, rules, table, indices, weights, output)
        })
    }

    /// A pooled lookup to be recorded into the caller's encoder, any number of times.
    ///
    /// Offsets are taken now; the tensors are read when a recording is executed. Those may be in
    /// buffers of the caller ([`DeviceTensor::wrap`]).
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_into`].
    pub fn bind_bags<T: HasDType, I: Index<Wide = I>>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<T>>,
        output: &DeviceTensor<T>,
    ) -> Result<BagBinding> {
        let tensors = BagTensors::of(params, indices, weights);
        let plan = tensors.plan(bags, rules)?;
        self.check_bindable(&plan, output.as_ref())?;
        let params = params.as_ref();
        params
            .storage()
            .check_readable(self.context(), Role::Params)?;
        let rows = BagRows::Plain(params.reached().1);
        let read = (tensors.indices, tensors.weights);
        let bound = self.bind_pooling(&plan, rows, read, output.as_ref())?;
        params.shared();
        Ok(bound)
    }

    /// [`Engine::bind_bags`] of the rows of a quantized table. The binding keeps the memory for decoded
    /// rows.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag_quantized_into`].
    pub fn bind_bags_quantized<I: Index<Wide = I>>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
        weights: Option<&DeviceTensor<f32>>,
        output: &DeviceTensor<f32>,
    ) -> Result<BagBinding> {
        let context = self.context();
        let read = (indices.as_ref(), I::TYPE, weights.map(AsRef::as_ref));
        let plan = bag_quantized::plan_of(bags, rules, table, read)?;
        self.check_bindable(&plan, output.as_ref())?;
        table.check_owner(context)?;
        let memory = bag_quantized::memory_for(context, &plan)?;
        let rows = bag_quantized::decoded_rows(context, &plan, table, &memory)?;
        let bound = self.bind_pooling(&plan, rows, (read.0, read.2), output.as_ref())?;
        // What is recorded with it may be submitted when the binding is gone.
        table.owned().chain(memory.owned()).for_each(|owned| {
            owned.share();
        });
        Ok(bound)
    }

    fn check_bindable(&self, plan: &BagPlan, output: &AnyDeviceTensor) -> Result<()> {
        self.context().check_alive()?;
        check_output(plan, output)
    }

    fn bind_pooling(
        &self,
        plan: &BagPlan,
        rows: BagRows<'_>,
        (indices, weights): (&AnyDeviceTensor, Option<&AnyDeviceTensor>),
        output: &AnyDeviceTensor,
    ) -> Result<BagBinding> {
        let context = self.context();
        let weights_too = weights.map(|w| (Role::Weights, w));
        for (role, tensor) in [(Role::Indices, indices)].into_iter().chain(weights_too) {
            tensor.storage().check_readable(context, role)?;
        }
        output.storage().check_owner(context, Role::Output)?;
        let reports = plan.lookups.reports_bad_indices() && plan.lookups.looks_up();
        let status = match reports {
            true => Some(Status::shared(context, &plan.lookups)?),
            false => None,
        };
        let placed = BagPlaced {
            rows,
            indices: indices.reached().1,
            weights: weights.map(|w| w.reached().1),
            output: output.reached().1,
            status: status.as_ref(),
        };
        let commands = commands(context, plan, &placed)?;
        // What is recorded with it may be submitted when the tensors are gone.
        let tensors = [indices, output].into_iter().chain(weights);
        tensors.for_each(|tensor| drop(tensor.shared()));
        Ok(BagBinding { commands, status })
    }

    /// Executes a pooled lookup of host tensors, writing the output's bytes, row-major.
    pub(crate) async fn execute_bags(
        &self,
        call: &AnyBagCall<'_>,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        let plan = call.plan()?;
        plan.check_output(output.len())?;
        if output.is_empty() {
            return Ok(());
        }
        let most = self.max_memory();
        if host_bytes(call, &plan) > most {
            return Err(Error::GpuOutOfMemory {
                what: format!("more than {most} bytes of tensors"),
            });
        }
        let silent = &mut |_, _| ();
        let index_type = call.indices.index_type();
        let (bytes, layout) = (call.indices.bytes(), call.indices.layout().clone());
        let indices = Params::new(bytes, index_type.bytes(), layout)?;
        let indices = self.upload_any_driven(&indices, poll_mode, silent).await?;
        let weights = match call.weights {
            Some(weights) => Some(self.upload_any_driven(weights, poll_mode, silent).await?),
            None => None,
        };
        let (bags, rules) = (call.bags, call.rules);
        let made = match call.table {
            BagTable::Plain(params) => {
                let params = self.upload_any_driven(params, poll_mode, silent).await?;
                let tensors = BagTensors {
                    dtype: call.dtype,
                    params: &params,
                    indices: &indices,
                    index_type,
                    weights: weights.as_ref(),
                };
                self.batch(|batch| batch.embedding_bag_any(bags, rules, &tensors))?
            }
            BagTable::Quantized(table) => {
                let table = self.upload_quantized_driven(table, poll_mode).await?;
                let read = (&indices, index_type, weights.as_ref());
                self.batch(|batch| batch.pool_quantized(bags, rules, &table, read))?
            }
        };
        self.report(&made, poll_mode).await?;
        let placement = made.storage().placement();
        self.context()
            .read(placement, output, poll_mode, silent)
            .await
    }
}

/// The bytes of the device's memory that a call takes: for whole tensors, and decoded rows.
fn host_bytes(call: &AnyBagCall<'_>, plan: &BagPlan) -> u64 {
    match call.table {
        BagTable::Plain(_) => plan.host_bytes(plan.row.host_bytes()),
        BagTable::Quantized(table) => {
            let decoded = DecodedRows::most_bytes(plan);
            plan.host_bytes((table.bytes() as u64).saturating_add(decoded))
        }
    }
}
