//! Calls between host tensors: upload, compute, download. Called by `Executor`.

use crate::call::{EmbeddingBag, Gather, Scatter};
use crate::error::{Error, Result};
use crate::gpu::engine::{Engine, WhenFull};
use crate::gpu::record::bag::most_decoded_bytes;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::quantized::DeviceQuantizedTable;
use crate::gpu::tensor::table::TableRef;
use crate::operand::{AnyTable, Indices, Params};
use crate::plan::{BagPlan, Plan};
use crate::quantized::FloatType;
use crate::scatter::{FoldKernel, ScatterPlan};
use crate::shape::Layout;
use crate::waiting::PollMode;

/// A table that was uploaded for one call.
enum Uploaded {
    Plain(AnyDeviceTensor),
    Quantized(DeviceQuantizedTable, FloatType),
}

impl Uploaded {
    fn table(&self) -> TableRef<'_> {
        match self {
            Uploaded::Plain(tensor) => TableRef::Plain(tensor),
            Uploaded::Quantized(table, to) => TableRef::Quantized(table, *to),
        }
    }
}

impl Engine {
    /// True if the CPU path takes over a call that failed with `error`. Counts it in [`Engine::fallbacks`].
    pub(crate) fn falls_back(&self, error: &Error) -> bool {
        let full = matches!(error, Error::GpuOutOfMemory { .. });
        let falls_back = full && self.when_full() == WhenFull::UseCpu;
        if falls_back {
            self.note_fallback(error);
        }
        falls_back
    }

    /// Executes a gather into a tensor on the device, and reports its bad indices; `None`, if the output is
    /// empty. Nothing of the host is written, so a call that fails may be made otherwise.
    pub(crate) async fn gather_from_host(
        &self,
        call: &Gather<'_>,
        plan: &Plan,
        poll_mode: PollMode,
    ) -> Result<Option<AnyDeviceTensor>> {
        if plan.is_empty() {
            return Ok(None);
        }
        self.check_memory(match &call.table {
            AnyTable::Plain(_) => plan.host_bytes(),
            AnyTable::Quantized(table, _) => plan.host_bytes_from(table.bytes() as u64),
        })?;
        let table = self.upload_table(&call.table, poll_mode).await?;
        let indices = self.upload_erased(&call.indices, poll_mode).await?;
        let made =
            self.batch(|batch| batch.gather_from(call.op, call.rules, table.table(), &indices))?;
        self.report(&made, poll_mode).await?;
        Ok(Some(made))
    }

    /// Executes a gather, writing the output's bytes, row-major.
    pub(crate) async fn gather_to_host(
        &self,
        call: &Gather<'_>,
        plan: &Plan,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        match self.gather_from_host(call, plan, poll_mode).await? {
            Some(made) => self.read_from(&made, 0, output, poll_mode).await,
            None => Ok(()),
        }
    }

    /// Reads the bytes of a tensor that a call has made, from byte `start` on.
    pub(crate) async fn read_from(
        &self,
        made: &AnyDeviceTensor,
        start: usize,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        let placement = made.storage().placement().with_origin(start as i64);
        self.context().read(placement, output, poll_mode).await
    }

    /// Executes a pooled lookup, writing the output's bytes, row-major.
    pub(crate) async fn embedding_bag_to_host(
        &self,
        call: &EmbeddingBag<'_>,
        plan: &BagPlan,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        plan.check_output(output.len())?;
        if output.is_empty() {
            return Ok(());
        }
        self.check_memory(plan.host_bytes(match &call.table {
            AnyTable::Plain(_) => plan.lookups.host_params_bytes(),
            AnyTable::Quantized(table, _) => {
                (table.bytes() as u64).saturating_add(most_decoded_bytes(self.context(), plan))
            }
        }))?;
        let table = self.upload_table(&call.table, poll_mode).await?;
        let indices = self.upload_erased(&call.indices, poll_mode).await?;
        let weights = match &call.weights {
            Some(weights) => Some(self.upload_params(weights, poll_mode).await?),
            None => None,
        };
        let (bags, rules, weights) = (call.bags, call.rules, weights.as_ref());
        let made =
            self.batch(|batch| batch.pooled(bags, rules, table.table(), &indices, weights))?;
        self.report(&made, poll_mode).await?;
        self.read_from(&made, 0, output, poll_mode).await
    }

    /// Scatters into a new tensor on the device, over a copy of `destination`; `None`, if there is nothing to
    /// scatter. Nothing of the host is written, so a call that fails may be made otherwise.
    pub(crate) async fn scatter_from_host(
        &self,
        call: &Scatter<'_>,
        plan: &ScatterPlan,
        destination: &[u8],
        poll_mode: PollMode,
    ) -> Result<Option<AnyDeviceTensor>> {
        FoldKernel::of(plan.op, plan.reduce, plan.dtype)?;
        if plan.keys.is_none() {
            return Ok(None);
        }
        let layout = Layout::contiguous(&call.shape);
        let destination = Params::new(destination, plan.dtype, layout)?;
        let (updates, indices) = (&call.updates, &call.indices);
        let bytes = [destination.bytes(), updates.bytes(), indices.bytes()];
        self.check_memory(bytes.iter().map(|bytes| bytes.len() as u64).sum())?;
        let destination = self.upload_params(&destination, poll_mode).await?;
        let updates = self.upload_params(updates, poll_mode).await?;
        let indices = self.upload_erased(indices, poll_mode).await?;
        let (op, reduce, rules) = (call.op, call.reduce, call.rules);
        self.batch(|batch| batch.scatter_to(op, reduce, rules, &destination, &indices, &updates))?;
        self.context().settle().await?;
        Ok(Some(destination))
    }

    /// Downloads what was scattered, and reports a bad index.
    pub(crate) async fn scatter_to_host(
        &self,
        made: &AnyDeviceTensor,
        destination: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        self.read_from(made, 0, destination, poll_mode).await?;
        self.report(made, poll_mode).await
    }

    /// Refuses a call that takes more memory than the options allow.
    fn check_memory(&self, bytes: u64) -> Result<()> {
        match bytes <= self.max_memory() {
            true => Ok(()),
            false => Err(Error::GpuOutOfMemory {
                what: format!("more than {} bytes of tensors", self.max_memory()),
            }),
        }
    }

    async fn upload_table(&self, table: &AnyTable<'_>, poll_mode: PollMode) -> Result<Uploaded> {
        match table {
            AnyTable::Plain(params) => {
                let made = self.upload_params(params, poll_mode).await;
                made.map(Uploaded::Plain)
            }
            AnyTable::Quantized(table, to) => {
                let made = self.upload_quantized(table, poll_mode).await?;
                Ok(Uploaded::Quantized(made, *to))
            }
        }
    }

    pub(super) async fn upload_erased(
        &self,
        indices: &Indices<'_>,
        poll_mode: PollMode,
    ) -> Result<AnyDeviceTensor> {
        let (dtype, layout) = (indices.index_type().dtype(), indices.layout().clone());
        let indices = Params::new(indices.bytes(), dtype, layout)?;
        self.upload_params(&indices, poll_mode).await
    }
}
