//! Pooled lookups from quantized tables, between host tensors.

use super::Executor;
use crate::bag::Bags;
use crate::bag_call::QuantizedBagCall;
use crate::element::elements_from_bits;
use crate::error::{Result, Role};
use crate::index::Index;
use crate::memory::zeroed_bits;
use crate::operand::{Indices, Params};
use crate::quantized::QuantizedTable;
use crate::rules::Rules;
use crate::tensor::{Tensor, TensorView};

impl Executor {
    /// Pools the rows of a quantized table: the rows that are selected are decoded to f32, and folded as
    /// [`Executor::embedding_bag`] folds those of a table of f32. The shape of the table is in elements;
    /// the output has the shape `[bags] + table.shape()[1..]`. A fill value is an f32: it is not decoded.
    ///
    /// No tensor of all rows is made. The CPU path decodes one row at a time; a device, at most 16 MiB of
    /// rows (at least one), which it folds before it decodes more. So bags may be as long, and tables as
    /// large, as they are for [`Executor::gather_quantized`].
    ///
    /// The bits are those of a gather from the table that is pooled afterwards.
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
    /// let sums = Executor::Cpu.embedding_bag_quantized_blocking(
    ///     bags, &Rules::TORCH, &table, &ids.view(), None,
    /// )?;
    /// assert_eq!(sums, Tensor::new(&[2, 2], vec![11.0, 13.0, 1.0, 2.0])?);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag`] of f32, but a table on a GPU may exceed what a dispatch binds.
    /// [`Error::TensorTooLarge`](crate::Error::TensorTooLarge) there if a row of f32 exceeds a binding, or
    /// a row with scale and bias; or an eighth of it, if the rows of a bag take more than 16 MiB.
    pub async fn embedding_bag_quantized<I: Index>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &QuantizedTable<'_>,
        indices: &TensorView<'_, I>,
        weights: Option<&TensorView<'_, f32>>,
    ) -> Result<Tensor<f32>> {
        let indices = Indices::try_from(indices)?;
        let weights = weights.map(Params::try_from).transpose()?;
        let call = call_of(bags, rules, table, &indices, weights.as_ref());
        let (shape, mut output) = zeros(&call)?;
        let bytes = bytemuck::cast_slice_mut(&mut output);
        self.embedding_bag_quantized_bytes(&call, bytes).await?;
        Tensor::new(&shape, output)
    }

    /// [`Executor::embedding_bag_quantized`] of bytes: `output` receives the f32, row-major, in this
    /// machine's byte order.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag_quantized`]; [`Error::OutputLength`](crate::Error::OutputLength), and
    /// [`Error::ElementWidth`](crate::Error::ElementWidth) for weights that are not of f32.
    pub async fn embedding_bag_quantized_bytes(
        &self,
        call: &QuantizedBagCall<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        self.pool(&call.any(), output).await
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Executor {
    /// [`Executor::embedding_bag_quantized`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag_quantized`].
    pub fn embedding_bag_quantized_blocking<I: Index>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &QuantizedTable<'_>,
        indices: &TensorView<'_, I>,
        weights: Option<&TensorView<'_, f32>>,
    ) -> Result<Tensor<f32>> {
        let indices = Indices::try_from(indices)?;
        let weights = weights.map(Params::try_from).transpose()?;
        let call = call_of(bags, rules, table, &indices, weights.as_ref());
        let (shape, mut output) = zeros(&call)?;
        let bytes = bytemuck::cast_slice_mut(&mut output);
        self.embedding_bag_quantized_bytes_blocking(&call, bytes)?;
        Tensor::new(&shape, output)
    }

    /// [`Executor::embedding_bag_quantized_bytes`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag_quantized_bytes`].
    pub fn embedding_bag_quantized_bytes_blocking(
        &self,
        call: &QuantizedBagCall<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        self.pool_blocking(&call.any(), output)
    }
}

fn call_of<'a>(
    bags: Bags<'a>,
    rules: &'a Rules,
    table: &'a QuantizedTable<'_>,
    indices: &'a Indices<'_>,
    weights: Option<&'a Params<'_>>,
) -> QuantizedBagCall<'a> {
    QuantizedBagCall {
        bags,
        rules,
        table,
        indices,
        weights,
    }
}

/// The shape of the output, and memory for it.
fn zeros(call: &QuantizedBagCall<'_>) -> Result<(Vec<usize>, Vec<f32>)> {
    let shape = call.output_shape()?;
    let zeros = zeroed_bits::<f32>(Role::Output, shape.iter().product())?;
    Ok((shape, elements_from_bits::<f32>(Role::Output, zeros)?))
}
