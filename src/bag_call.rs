//! One pooled lookup as its caller gives it, passed whole to what plans and executes it.

use std::borrow::Cow;

use crate::bag::Bags;
use crate::element::DType;
use crate::error::{Error, OpKind, Result, Role};
use crate::operand::{Indices, Params};
use crate::plan::{BagExplanation, BagPlan, BagShapes};
use crate::quantized::QuantizedTable;
use crate::rules::Rules;
use crate::shape::Layout;

/// Bags, the rules for their indices, and the host tensors that they are pooled from.
#[derive(Debug, Clone, Copy)]
pub struct BagCall<'a> {
    /// Which indices form a bag, and what becomes of the rows of one.
    pub bags: Bags<'a>,
    /// How indices are treated.
    pub rules: &'a Rules,
    /// The type of the elements.
    pub dtype: DType,
    /// The table: its rows are the entries of the first dim.
    pub params: &'a Params<'a>,
    /// Where.
    pub indices: &'a Indices<'a>,
    /// A weight for each index, of the type of the elements; with [`BagMode::Sum`](crate::BagMode::Sum).
    pub weights: Option<&'a Params<'a>>,
}

impl BagCall<'_> {
    /// The shape of the output: the number of bags, and the dims of params but the first.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag`](crate::Executor::embedding_bag), but for those of executing it.
    pub fn output_shape(&self) -> Result<Vec<usize>> {
        Ok(self.any().plan()?.output_shape)
    }

    /// What the call does, in numbers.
    ///
    /// ```
    /// use wgpu_gather::{BagCall, BagMode, Bags, DType, Indices, Params, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[1000, 64], vec![1.0f32; 64_000])?;
    /// let ids = Tensor::new(&[5], vec![7u32, 9, 9, 3, 7])?;
    /// let call = BagCall {
    ///     bags: Bags::offsets(BagMode::Mean, &[0, 1, 1]),
    ///     rules: &Rules::TORCH,
    ///     dtype: DType::F32,
    ///     params: &Params::try_from(&table.view())?,
    ///     indices: &Indices::try_from(&ids.view())?,
    ///     weights: None,
    /// };
    /// let explanation = call.explain()?;
    /// assert_eq!((explanation.bags, explanation.lookups, explanation.longest), (3, 5, 4));
    /// assert_eq!((explanation.rows_bytes, explanation.output_bytes), (5 * 256, 3 * 256));
    /// println!("{explanation}");
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`BagCall::output_shape`].
    pub fn explain(&self) -> Result<BagExplanation> {
        let plan = self.any().plan()?;
        let row = Layout::checked_elements(&plan.output_shape[1..]).unwrap_or(usize::MAX);
        let row_bytes = row.saturating_mul(self.dtype.bytes());
        Ok(BagExplanation::new(&plan, row_bytes))
    }

    /// The call, of a plain table.
    pub(crate) fn any(&self) -> AnyBagCall<'_> {
        AnyBagCall {
            bags: self.bags,
            rules: self.rules,
            dtype: self.dtype,
            table: BagTable::Plain(self.params),
            indices: self.indices,
            weights: self.weights,
        }
    }
}

/// Bags, the rules for their indices, and the quantized table that they are pooled from: its rows are
/// decoded to f32, and folded as those of a table of f32 are.
#[derive(Debug, Clone, Copy)]
pub struct QuantizedBagCall<'a> {
    /// Which indices form a bag, and what becomes of the rows of one.
    pub bags: Bags<'a>,
    /// How indices are treated. A fill value is an f32: it is not decoded.
    pub rules: &'a Rules,
    /// The table: its rows are the entries of the first dim.
    pub table: &'a QuantizedTable<'a>,
    /// Where.
    pub indices: &'a Indices<'a>,
    /// A weight for each index, of f32; with [`BagMode::Sum`](crate::BagMode::Sum).
    pub weights: Option<&'a Params<'a>>,
}

impl QuantizedBagCall<'_> {
    /// The shape of the output: the number of bags, and the dims of the table but the first.
    ///
    /// # Errors
    ///
    /// As [`Executor::embedding_bag_quantized`](crate::Executor::embedding_bag_quantized), but for those
    /// of executing it.
    pub fn output_shape(&self) -> Result<Vec<usize>> {
        Ok(self.any().plan()?.output_shape)
    }

    /// What the call does, in numbers: see [`BagCall::explain`].
    ///
    /// # Errors
    ///
    /// As [`QuantizedBagCall::output_shape`].
    pub fn explain(&self) -> Result<BagExplanation> {
        let plan = self.any().plan()?;
        let rows = self.table.shape().first().copied().unwrap_or(1).max(1);
        Ok(BagExplanation::new(
            &plan,
            self.table.bytes().div_ceil(rows),
        ))
    }

    /// The call, of a quantized table.
    pub(crate) fn any(&self) -> AnyBagCall<'_> {
        AnyBagCall {
            bags: self.bags,
            rules: self.rules,
            dtype: DType::F32,
            table: BagTable::Quantized(self.table),
            indices: self.indices,
            weights: self.weights,
        }
    }
}

/// The table of a pooled lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BagTable<'a> {
    /// Of elements as they are.
    Plain(&'a Params<'a>),
    /// Of codes, which are decoded to f32.
    Quantized(&'a QuantizedTable<'a>),
}

impl BagTable<'_> {
    /// The extent of each dim, in elements.
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            BagTable::Plain(params) => params.layout().shape(),
            BagTable::Quantized(table) => table.shape(),
        }
    }

    /// How the elements lie; those of a quantized table, as if they were decoded.
    fn layout(&self) -> Cow<'_, Layout> {
        match self {
            BagTable::Plain(params) => Cow::Borrowed(params.layout()),
            BagTable::Quantized(table) => Cow::Owned(Layout::contiguous(table.shape())),
        }
    }
}

/// A pooled lookup from a table of either kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnyBagCall<'a> {
    pub(crate) bags: Bags<'a>,
    pub(crate) rules: &'a Rules,
    /// Of the rows that are folded, the weights and the output.
    pub(crate) dtype: DType,
    pub(crate) table: BagTable<'a>,
    pub(crate) indices: &'a Indices<'a>,
    pub(crate) weights: Option<&'a Params<'a>>,
}

impl AnyBagCall<'_> {
    /// Checks the call, and plans it.
    pub(crate) fn plan(&self) -> Result<BagPlan> {
        let op = OpKind::EmbeddingBag;
        let params = match self.table {
            BagTable::Plain(params) => Some(params),
            BagTable::Quantized(_) => None,
        };
        for (role, tensor) in [(Role::Params, params), (Role::Weights, self.weights)] {
            let got = tensor.map(|tensor| tensor.element_bytes());
            if let Some(got) = got.filter(|&got| got != self.dtype.bytes()) {
                return Err(Error::ElementWidth {
                    op,
                    role,
                    expected: self.dtype.bytes(),
                    got,
                });
            }
        }
        let shapes = BagShapes {
            dtype: self.dtype,
            params: &self.table.layout(),
            index_type: self.indices.index_type(),
            indices: self.indices.layout(),
            weights: self.weights.map(|weights| weights.layout()),
        };
        BagPlan::new(self.bags, self.rules, shapes)
    }
}
