//! Gathers from quantized tables, on each executor.

use crate::cpu;
use crate::element::{elements_from_bits, zeroed_bits};
use crate::error::{Result, Role};
use crate::executor::Executor;
use crate::index::Index;
use crate::op::Op;
use crate::quantized::{Float, PlannedQuantized, QuantizedCall, QuantizedTable};
use crate::rules::Rules;
use crate::tensor::{Indices, Tensor, TensorView};

impl Executor {
    /// Gathers from a quantized table: the elements that are selected are decoded to `T`, which is
    /// `f32`, `half::f16` or `half::bf16`. The shape of the table is in elements. A fill value is one of
    /// `T`: it is not decoded.
    ///
    /// As [`Executor::run`] in everything else; there is an example in [`quantized`](crate::quantized).
    ///
    /// # Errors
    ///
    /// As [`Executor::run`].
    pub async fn gather_quantized<T: Float, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        table: &QuantizedTable<'_>,
        indices: &TensorView<'_, I>,
    ) -> Result<Tensor<T>> {
        let indices = Indices::try_from(indices)?;
        let call = QuantizedCall::new(op, rules, table, &indices, T::TYPE).planned()?;
        let len = call.plan.output_bytes() / T::TYPE.bytes();
        let mut bits = zeroed_bits::<T>(Role::Output, len)?;
        self.execute_quantized(&call, bytemuck::cast_slice_mut(&mut bits))
            .await?;
        let data = elements_from_bits(Role::Output, bits)?;
        Tensor::new(call.plan.output_shape(), data)
    }

    /// [`Executor::gather_quantized`] into memory of the caller.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_into`].
    pub async fn gather_quantized_into<T: Float, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        table: &QuantizedTable<'_>,
        indices: &TensorView<'_, I>,
        output: &mut [T],
    ) -> Result<()> {
        let indices = Indices::try_from(indices)?;
        let call = QuantizedCall::new(op, rules, table, &indices, T::TYPE);
        self.gather_quantized_bytes(call, bytemuck::cast_slice_mut(output))
            .await
    }

    /// Executes a call whose types are known at run time: `output` receives the elements, row-major, in
    /// this machine's byte order.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_bytes`].
    pub async fn gather_quantized_bytes(
        &self,
        call: QuantizedCall<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        if let Executor::Reference = self {
            return cpu::reference::gather_quantized(call, output); // without a plan, which may be wrong
        }
        self.execute_quantized(&call.planned()?, output).await
    }

    async fn execute_quantized(
        &self,
        planned: &PlannedQuantized<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        match self {
            Executor::Reference => cpu::reference::gather_quantized(planned.call, output),
            Executor::Cpu => cpu::decode::execute(planned, output),
            #[cfg(feature = "gpu")]
            Executor::Gpu(_) => cpu::decode::execute(planned, output),
        }
    }
}

/// The blocking twins.
#[cfg(not(target_arch = "wasm32"))]
impl Executor {
    /// [`Executor::gather_quantized`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::gather_quantized`].
    pub fn gather_quantized_blocking<T: Float, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        table: &QuantizedTable<'_>,
        indices: &TensorView<'_, I>,
    ) -> Result<Tensor<T>> {
        pollster::block_on(self.gather_quantized(op, rules, table, indices))
    }

    /// [`Executor::gather_quantized_into`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::gather_quantized_into`].
    pub fn gather_quantized_into_blocking<T: Float, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        table: &QuantizedTable<'_>,
        indices: &TensorView<'_, I>,
        output: &mut [T],
    ) -> Result<()> {
        pollster::block_on(self.gather_quantized_into(op, rules, table, indices, output))
    }

    /// [`Executor::gather_quantized_bytes`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::gather_quantized_bytes`].
    pub fn gather_quantized_bytes_blocking(
        &self,
        call: QuantizedCall<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        pollster::block_on(self.gather_quantized_bytes(call, output))
    }
}
