//! Pooled lookups between host tensors.

use super::Executor;
use crate::bag::Bags;
use crate::bag_call::{AnyBagCall, BagCall};
use crate::cpu;
use crate::element::{HasDType, elements_from_bits};
#[cfg(feature = "gpu")]
use crate::error::Error;
use crate::error::{Result, Role};
#[cfg(feature = "gpu")]
use crate::gpu::{PollMode, WhenFull};
use crate::index::Index;
use crate::memory::zeroed_bits;
use crate::operand::{Indices, Params};
use crate::rules::Rules;
use crate::tensor::{Tensor, TensorView};

impl Executor {
    /// Pools the rows of a table: each bag of indices becomes one row of the output, which has the
    /// shape `[bags] + params.shape[1..]` (`torch.nn.functional.embedding_bag`).
    ///
    /// The rows of a bag are folded in the order of its indices, in f32 if the elements are f16 or bf16,
    /// and no tensor of all rows is made. An empty bag gives zeros. A bad index counts with the row that
    /// a gather would have made for it: the result is that of a gather that is pooled afterwards.
    ///
    /// Sums and maxima have the same bits on all executors, unless a device flushes subnormals to zero.
    /// Weighted sums of f32 may round a product and its addition once or twice, which depends on the
    /// device: each differs from the exact sum by at most `2 n` units of 2^-24 of the sum of the
    /// `|weight * value|`, for `n` rows. Means are divided with an error of up to 2.5 ulps of f32.
    ///
    /// See [`Bags`] for an example.
    ///
    /// # Errors
    ///
    /// [`Error::RankExpected`](crate::Error::RankExpected),
    /// [`Error::OffsetOutOfRange`](crate::Error::OffsetOutOfRange),
    /// [`Error::NoOffsets`](crate::Error::NoOffsets),
    /// [`Error::BagModeType`](crate::Error::BagModeType),
    /// [`Error::WeightsWithout`](crate::Error::WeightsWithout),
    /// [`Error::WeightsShape`](crate::Error::WeightsShape) and
    /// [`Error::PaddingOutOfRange`](crate::Error::PaddingOutOfRange) for bags that do not fit; else
    /// as [`Executor::run`]. On a GPU also
    /// [`Error::CpuOnly`](crate::Error::CpuOnly) for f64 and complex numbers, and
    /// [`Error::TensorTooLarge`](crate::Error::TensorTooLarge) for a table, or the indices of one bag,
    /// beyond what a dispatch binds.
    pub async fn embedding_bag<T: HasDType, I: Index>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        params: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
        weights: Option<&TensorView<'_, T>>,
    ) -> Result<Tensor<T>> {
        let (params, indices) = (Params::try_from(params)?, Indices::try_from(indices)?);
        let weights = weights.map(Params::try_from).transpose()?;
        let call = call_of::<T>(bags, rules, &params, &indices, weights.as_ref());
        let shape = call.output_shape()?;
        let mut bits = memory_for::<T>(&shape)?;
        let output = bytemuck::cast_slice_mut(&mut bits);
        self.embedding_bag_bytes(&call, output).await?;
        Tensor::new(&shape, elements_from_bits(Role::Output, bits)?)
    }

    /// [`Executor::embedding_bag`] of bytes: `output` receives the elements, row-major.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag`]; [`Error::OutputLength`](crate::Error::OutputLength), and
    /// [`Error::ElementWidth`](crate::Error::ElementWidth) for tensors that are not of the type.
    pub async fn embedding_bag_bytes(&self, call: &BagCall<'_>, output: &mut [u8]) -> Result<()> {
        self.pool(&call.any(), output).await
    }

    /// Pools from a table of either kind.
    pub(super) async fn pool(&self, call: &AnyBagCall<'_>, output: &mut [u8]) -> Result<()> {
        match self {
            Executor::Reference => cpu::bag_reference::embedding_bag(call, output),
            Executor::Cpu => cpu::bag::embedding_bag(call, output),
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => {
                let made = engine.execute_bags(call, output, PollMode::Aside).await;
                or_on_the_cpu(made, engine.when_full(), call, output)
            }
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Executor {
    /// [`Executor::embedding_bag`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag`].
    pub fn embedding_bag_blocking<T: HasDType, I: Index>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        params: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
        weights: Option<&TensorView<'_, T>>,
    ) -> Result<Tensor<T>> {
        let (params, indices) = (Params::try_from(params)?, Indices::try_from(indices)?);
        let weights = weights.map(Params::try_from).transpose()?;
        let call = call_of::<T>(bags, rules, &params, &indices, weights.as_ref());
        let shape = call.output_shape()?;
        let mut bits = memory_for::<T>(&shape)?;
        self.embedding_bag_bytes_blocking(&call, bytemuck::cast_slice_mut(&mut bits))?;
        Tensor::new(&shape, elements_from_bits(Role::Output, bits)?)
    }

    /// [`Executor::embedding_bag_bytes`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag_bytes`].
    pub fn embedding_bag_bytes_blocking(
        &self,
        call: &BagCall<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        self.pool_blocking(&call.any(), output)
    }

    /// [`Executor::pool`], blocking this thread.
    pub(super) fn pool_blocking(&self, call: &AnyBagCall<'_>, output: &mut [u8]) -> Result<()> {
        #[cfg(feature = "gpu")]
        if let Executor::Gpu(engine) = self {
            // This thread drives the device, instead of waiting for one that does.
            let made = pollster::block_on(engine.execute_bags(call, output, PollMode::Here));
            return or_on_the_cpu(made, engine.when_full(), call, output);
        }
        pollster::block_on(self.pool(call, output))
    }
}

fn call_of<'a, T: HasDType>(
    bags: Bags<'a>,
    rules: &'a Rules,
    params: &'a Params<'_>,
    indices: &'a Indices<'_>,
    weights: Option<&'a Params<'_>>,
) -> BagCall<'a> {
    BagCall {
        bags,
        rules,
        dtype: T::DTYPE,
        params,
        indices,
        weights,
    }
}

fn memory_for<T: HasDType>(shape: &[usize]) -> Result<Vec<T::Bits>> {
    zeroed_bits::<T>(Role::Output, shape.iter().product())
}

/// What the device made of a call; if it had no memory for it, what the CPU path makes, as the
/// options of the engine say.
#[cfg(feature = "gpu")]
fn or_on_the_cpu(
    made: Result<()>,
    when_full: WhenFull,
    call: &AnyBagCall<'_>,
    output: &mut [u8],
) -> Result<()> {
    match made {
        Err(Error::GpuOutOfMemory { .. }) if when_full == WhenFull::UseCpu => {
            cpu::bag::embedding_bag(call, output)
        }
        made => made,
    }
}
