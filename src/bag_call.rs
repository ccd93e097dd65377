//! One pooled lookup as its caller gives it, passed whole to what plans and executes it.

use crate::bag::Bags;
use crate::element::DType;
use crate::error::{Error, OpKind, Result, Role};
use crate::plan::{BagPlan, BagShapes};
use crate::rules::Rules;
use crate::tensor::{Indices, Params};

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
        Ok(self.plan()?.output_shape)
    }

    /// Checks the call, and plans it.
    pub(crate) fn plan(&self) -> Result<BagPlan> {
        let op = OpKind::EmbeddingBag;
        let tensors = [
            (Role::Params, Some(self.params)),
            (Role::Weights, self.weights),
        ];
        for (role, tensor) in tensors {
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
            params: self.params.layout(),
            index_type: self.indices.index_type(),
            indices: self.indices.layout(),
            weights: self.weights.map(|weights| weights.layout()),
        };
        BagPlan::new(self.bags, self.rules, shapes)
    }
}
