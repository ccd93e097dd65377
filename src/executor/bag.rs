//! Pooled lookups of host tensors.

use std::marker::PhantomData;

use bytemuck::AnyBitPattern;

use crate::bag::Bags;
use crate::call::EmbeddingBag;
use crate::cpu;
use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::executor::Executor;
#[cfg(feature = "gpu")]
use crate::executor::waits::or_on_the_cpu;
use crate::executor::waits::waits;
use crate::memory::zeroed_bits;
use crate::operand::AnyTable;
use crate::plan::{BagExplanation, BagPlan};
use crate::rules::Rules;
use crate::shape::Layout;
use crate::table::sealed::Made;
use crate::table::{IndexTensor, Table, Values};
use crate::waiting::{BoxFuture, PollMode, Waiting};

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
    /// Weights are added to the call: [`EmbeddingBagCall::weights`]. See [`Bags`] for an example.
    ///
    /// **Quantized tables** are decoded to f32 ([`QuantizedTable::to`](crate::quantized::QuantizedTable::to)):
    /// the CPU path decodes 16 KiB of rows at a time, a device at most 16 MiB (at least one row), which it folds
    /// before it decodes more. A fill value is an f32: it is not decoded.
    ///
    /// ```
    /// use wgpu_gather::quantized::QuantizedTable;
    /// use wgpu_gather::{BagMode, Bags, Executor, Rules, Tensor};
    ///
    /// // Rows as FBGEMM has them: bytes, then a scale and a bias as f32.
    /// let mut bytes = Vec::new();
    /// for (codes, scale, bias) in [([0u8, 1], 1.0f32, 10.0f32), ([2, 4], 0.5, 0.0)] {
    ///     bytes.extend(codes);
    ///     bytes.extend([scale.to_le_bytes(), bias.to_le_bytes()].concat());
    /// }
    /// let table = QuantizedTable::rows(&[2, 2], &bytes)?;
    /// let ids = Tensor::new(&[3], vec![0i64, 1, 1])?;
    /// // the bags 0, 1 and 1
    /// let bags = Bags::offsets(BagMode::Sum, &[0, 2]);
    /// let sums = Executor::Cpu.embedding_bag(bags, &Rules::TORCH, &table.to::<f32>(), &ids).wait()?;
    /// assert_eq!(sums, Tensor::new(&[2, 2], vec![11.0, 13.0, 1.0, 2.0])?);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the call is made: [`Error::RankExpected`], [`Error::OffsetOutOfRange`], [`Error::NoOffsets`],
    /// [`Error::BagModeType`], [`Error::WeightsWithout`], [`Error::WeightsShape`] and
    /// [`Error::PaddingOutOfRange`] for bags that do not fit; [`Error::ElementsWithout`] for elements that are
    /// no numbers, [`Error::OtherElements`] for a quantized table that is not decoded to f32;
    /// [`Error::NothingToRead`] and [`Error::FillWidth`] for rules that cannot be followed;
    /// [`Error::SizeOverflow`]; [`Error::IndexOutOfBounds`] under the rule
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error); [`Error::HostOutOfMemory`]. On a GPU also the errors
    /// of the device, but for lack of memory; [`Error::CpuOnly`] for f64 and complex numbers, and
    /// [`Error::TensorTooLarge`] for a table, or the indices of one bag, beyond what a dispatch binds: of a
    /// quantized table, for a row of f32, or an eighth of it if the rows of a bag take more than 16 MiB.
    pub fn embedding_bag<'a, T: Table, I: IndexTensor>(
        &self,
        bags: Bags<'a>,
        rules: &'a Rules,
        table: &'a T,
        indices: &'a I,
    ) -> EmbeddingBagCall<'a, T> {
        let call = || {
            Ok(EmbeddingBag {
                bags,
                rules,
                table: table.operand()?,
                indices: indices.indices()?,
                weights: None,
            })
        };
        EmbeddingBagCall {
            executor: self.clone(),
            call: call(),
            table: PhantomData,
        }
    }
}

/// A pooled lookup of host tensors, to be made: see [`Executor::embedding_bag`].
#[derive(Debug)]
#[must_use = "nothing is done until it is awaited, or `wait` is called"]
pub struct EmbeddingBagCall<'a, T> {
    executor: Executor,
    call: Result<EmbeddingBag<'a>>,
    table: PhantomData<fn() -> T>,
}

impl<'a, T: Table> EmbeddingBagCall<'a, T> {
    /// With a weight for each index, in the shape of the indices: each row is multiplied by its own before it
    /// is added. For [`BagMode::Sum`](crate::BagMode::Sum) of floats and complex numbers.
    ///
    /// ```
    /// use wgpu_gather::{BagMode, Bags, Executor, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[2, 2], vec![1.0f32, 2.0, 10.0, 20.0])?;
    /// let ids = Tensor::new(&[1, 3], vec![0u32, 1, 1])?;
    /// let weights = Tensor::new(&[1, 3], vec![1.0, 0.5, 0.25])?;
    /// let sums = Executor::Cpu
    ///     .embedding_bag(Bags::rows(BagMode::Sum), &Rules::TORCH, &table, &ids)
    ///     .weights(&weights)
    ///     .wait()?;
    /// assert_eq!(sums.data(), [8.5, 17.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the call is made: [`Error::WeightsWithout`] for another mode or type,
    /// [`Error::WeightsShape`].
    pub fn weights<W: Values<Element = T::Element>>(self, weights: &'a W) -> Self {
        let call = self.call.and_then(|call| {
            Ok(EmbeddingBag {
                weights: Some(weights.values()?),
                ..call
            })
        });
        EmbeddingBagCall { call, ..self }
    }

    /// Writes the output to `output`, memory of the caller, which receives the elements, row-major: their
    /// bytes, where the type is known at run time only.
    ///
    /// ```
    /// use wgpu_gather::{BagMode, Bags, Executor, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[3, 1], vec![1.0f32, 5.0, 3.0])?;
    /// let mut greatest = [0.0f32; 2];
    /// for ids in [[0i64, 1, 2, 0], [2, 1, 1, 2]] {
    ///     let ids = Tensor::new(&[2, 2], ids.to_vec())?;
    ///     let bags = Bags::rows(BagMode::Max);
    ///     Executor::Cpu.embedding_bag(bags, &Rules::TORCH, &table, &ids).into(&mut greatest).wait()?;
    /// }
    /// assert_eq!(greatest, [5.0, 5.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if `output` has not as many elements as the output; else as
    /// [`Executor::embedding_bag`]. Under [`Error::IndexOutOfBounds`] and the errors of a device, what
    /// `output` holds is not specified.
    pub fn into(self, output: &'a mut [T::Element]) -> Waiting<'a, Result<()>>
    where
        T::Element: AnyBitPattern,
    {
        let (executor, call) = (self.executor, self.call);
        Waiting::new(move |poll_mode| async move {
            let call = call?;
            let output = bytemuck::cast_slice_mut(output);
            execute(&executor, &call, &call.plan()?, output, poll_mode).await
        })
    }

    /// The shape of the output: the number of bags, and the dims of the table but the first.
    ///
    /// # Errors
    ///
    /// Bags, shapes, types and rules that do not fit: those of [`Executor::embedding_bag`], except for bad indices and
    /// the errors of a device.
    pub fn output_shape(&self) -> Result<Vec<usize>> {
        Ok(self
            .call
            .as_ref()
            .map_err(Error::clone)?
            .plan()?
            .output_shape)
    }

    /// Explains the work of the call, in numbers.
    ///
    /// ```
    /// use wgpu_gather::{BagMode, Bags, Executor, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[1000, 64], vec![1.0f32; 64_000])?;
    /// let ids = Tensor::new(&[5], vec![7u32, 9, 9, 3, 7])?;
    /// let bags = Bags::offsets(BagMode::Mean, &[0, 1, 1]);
    /// let explanation = Executor::Cpu.embedding_bag(bags, &Rules::TORCH, &table, &ids).explain()?;
    /// assert_eq!((explanation.bags, explanation.lookups, explanation.longest), (3, 5, 4));
    /// assert_eq!((explanation.rows_bytes, explanation.output_bytes), (5 * 256, 3 * 256));
    /// println!("{explanation}");
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Bags, shapes, types and rules that do not fit: those of [`Executor::embedding_bag`], except for bad indices and
    /// the errors of a device.
    pub fn explain(&self) -> Result<BagExplanation> {
        let call = self.call.as_ref().map_err(Error::clone)?;
        let plan = call.plan()?;
        let row_bytes = match &call.table {
            AnyTable::Plain(params) => {
                let row = Layout::checked_elements(&plan.output_shape[1..]).unwrap_or(usize::MAX);
                row.saturating_mul(params.element_bytes())
            }
            AnyTable::Quantized(table, _) => {
                let rows = table.shape().first().copied().unwrap_or(1).max(1);
                table.bytes().div_ceil(rows)
            }
        };
        Ok(BagExplanation::new(&plan, row_bytes))
    }
}

waits!(EmbeddingBagCall<T: Table>, "[`Executor::embedding_bag`]");

/// Makes the call.
async fn make<E: Element, O: Made<E>>(
    executor: Executor,
    call: Result<EmbeddingBag<'_>>,
    poll_mode: PollMode,
) -> Result<O> {
    let call = call?;
    let plan = call.plan()?;
    let bits = match executor {
        Executor::Cpu => cpu::bag::pooled::<E>(&call, &plan)?,
        _ => {
            let len = plan.output_bytes / size_of::<E>();
            let mut bits = zeroed_bits::<E>(Role::Output, len)?;
            let output = bytemuck::cast_slice_mut(&mut bits);
            execute(&executor, &call, &plan, output, poll_mode).await?;
            bits
        }
    };
    O::made(&plan.output_shape, plan.dtype.into(), bits)
}

/// Writes the output's bytes, row-major.
#[cfg_attr(
    not(feature = "gpu"),
    expect(clippy::unused_async, reason = "a device is waited for")
)]
async fn execute(
    executor: &Executor,
    call: &EmbeddingBag<'_>,
    plan: &BagPlan,
    output: &mut [u8],
    _poll_mode: PollMode,
) -> Result<()> {
    match executor {
        Executor::Reference => cpu::reference::embedding_bag(call, output),
        Executor::Cpu => cpu::bag::embedding_bag(call, plan, output),
        #[cfg(feature = "gpu")]
        Executor::Gpu(engine) => {
            let made = engine.embedding_bag_to_host(call, plan, output, _poll_mode);
            // What waits for a device has kilobytes, which calls on the CPU path would move too.
            let made = Box::pin(made).await;
            or_on_the_cpu(engine, made, || cpu::bag::embedding_bag(call, plan, output))
        }
    }
}
