//! Gathers from quantized tables, on each executor.

use crate::cpu;
use crate::element::elements_from_bits;
#[cfg(feature = "gpu")]
use crate::error::Error;
use crate::error::{Result, Role};
use crate::executor::Executor;
#[cfg(feature = "gpu")]
use crate::gpu::{Engine, PollMode, WhenFull};
use crate::index::Index;
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::operand::Indices;
use crate::quantized::{Float, PlannedQuantized, QuantizedCall, QuantizedTable};
use crate::rules::Rules;
use crate::tensor::{Tensor, TensorView};

impl Executor {
    /// Gathers from a quantized table: the elements that are selected are decoded to `T`, which is
    /// `f32`, `half::f16` or `half::bf16`. The shape of the table is in elements. A fill value is one of
    /// `T`: it is not decoded.
    ///
    /// As [`Executor::run`] in everything else; there is an example in [`quantized`](crate::quantized).
    ///
    /// # Errors
    ///
    /// As [`Executor::run`]; on a GPU also [`Error::TensorTooLarge`](crate::Error::TensorTooLarge) if a
    /// row with scale and bias is larger than a binding.
    pub async fn gather_quantized<T: Float, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        table: &QuantizedTable<'_>,
        indices: &TensorView<'_, I>,
    ) -> Result<Tensor<T>> {
        let indices = Indices::try_from(indices)?;
        let call = QuantizedCall::new(op, rules, table, &indices, T::TYPE).planned()?;
        let mut bits = memory_for::<T>(&call)?;
        self.execute_quantized(&call, bytemuck::cast_slice_mut(&mut bits))
            .await?;
        tensor_of(&call, bits)
    }

    /// [`Executor::gather_quantized`] into memory of the caller.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_into`] and [`Executor::gather_quantized`].
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
    /// As [`Executor::run_bytes`] and [`Executor::gather_quantized`].
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
            Executor::Gpu(engine) => {
                let made = engine.execute_quantized(planned, output, PollMode::Aside);
                or_on_the_cpu(made.await, engine, planned, output)
            }
        }
    }
}

/// The blocking twins. In a browser nothing may block, so there they do not exist.
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
        let indices = Indices::try_from(indices)?;
        let call = QuantizedCall::new(op, rules, table, &indices, T::TYPE).planned()?;
        let mut bits = memory_for::<T>(&call)?;
        self.execute_quantized_blocking(&call, bytemuck::cast_slice_mut(&mut bits))?;
        tensor_of(&call, bits)
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
        let indices = Indices::try_from(indices)?;
        let call = QuantizedCall::new(op, rules, table, &indices, T::TYPE);
        self.gather_quantized_bytes_blocking(call, bytemuck::cast_slice_mut(output))
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
        if let Executor::Reference = self {
            return cpu::reference::gather_quantized(call, output);
        }
        self.execute_quantized_blocking(&call.planned()?, output)
    }

    fn execute_quantized_blocking(
        &self,
        planned: &PlannedQuantized<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        match self {
            // This thread drives the device, instead of waiting for one that does.
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => {
                let made = engine.execute_quantized(planned, output, PollMode::Here);
                or_on_the_cpu(pollster::block_on(made), engine, planned, output)
            }
            _ => pollster::block_on(self.execute_quantized(planned, output)),
        }
    }
}

/// Memory for the output.
fn memory_for<T: Float>(call: &PlannedQuantized<'_>) -> Result<Vec<T::Bits>> {
    zeroed_bits::<T>(Role::Output, call.plan.output_bytes() / T::TYPE.bytes())
}

/// The output, of these bits.
fn tensor_of<T: Float>(call: &PlannedQuantized<'_>, bits: Vec<T::Bits>) -> Result<Tensor<T>> {
    let data = elements_from_bits(Role::Output, bits)?;
    Tensor::new(call.plan.output_shape(), data)
}

/// What the device made of a call; if it had no memory for it, what the CPU path makes, as the options of
/// the engine say.
#[cfg(feature = "gpu")]
fn or_on_the_cpu(
    made: Result<()>,
    engine: &Engine,
    planned: &PlannedQuantized<'_>,
    output: &mut [u8],
) -> Result<()> {
    match made {
        Err(Error::GpuOutOfMemory { .. }) if engine.when_full() == WhenFull::UseCpu => {
            cpu::decode::execute(planned, output)
        }
        made => made,
    }
}
