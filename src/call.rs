//! One call as its caller gives it, erased: operator, rules and operands on the host. It is passed whole to
//! what plans, executes or checks it. The typed calls of an executor make it.

use crate::bag::Bags;
use crate::element::DType;
use crate::error::{Error, OpKind, Result, Role};
use crate::fold::Reduce;
use crate::op::Op;
use crate::operand::{AnyTable, Indices, Params};
use crate::plan::{BagPlan, BagShapes, Plan};
use crate::quantized::FloatType;
use crate::rules::Rules;
use crate::scatter::{ScatterLayouts, ScatterPlan};
use crate::shape::{Dims, Layout, elements};

/// A gather.
#[derive(Debug, Clone)]
pub(crate) struct Gather<'a> {
    pub(crate) op: Op,
    pub(crate) rules: &'a Rules,
    pub(crate) table: AnyTable<'a>,
    pub(crate) indices: Indices<'a>,
}

#[cfg(test)]
impl<'a> Gather<'a> {
    /// A gather from a plain table.
    pub(crate) fn plain(
        op: Op,
        rules: &'a Rules,
        params: &Params<'a>,
        indices: &'a Indices<'_>,
    ) -> Self {
        Gather {
            op,
            rules,
            table: AnyTable::Plain(params.clone()),
            indices: indices.borrowed(),
        }
    }
}

impl Gather<'_> {
    /// Checks the call, and plans it: one from a quantized table as from the decoded one.
    pub(crate) fn plan(&self) -> Result<Plan> {
        Plan::new(
            self.op,
            self.rules,
            self.width(),
            &self.table.layout(),
            self.indices.index_type(),
            self.indices.layout(),
        )
    }

    /// The shape of the output, without a plan.
    pub(crate) fn output_shape(&self) -> Result<Vec<usize>> {
        let indices = self.indices.layout().shape();
        let shape = self
            .op
            .output_shape(self.table.shape(), indices, self.rules)?;
        elements(Role::Output, &shape, self.width())?;
        Ok(shape)
    }

    /// Bytes of an output of this shape.
    pub(crate) fn output_bytes(&self, shape: &[usize]) -> Result<usize> {
        let width = self.width();
        Ok(elements(Role::Output, shape, width)? * width)
    }

    /// Bytes of an element of the output.
    pub(crate) fn width(&self) -> usize {
        self.table.element_type().bytes()
    }
}

/// A scatter into a contiguous destination, whose bytes are given apart.
#[derive(Debug, Clone)]
pub(crate) struct Scatter<'a> {
    pub(crate) op: Op,
    pub(crate) reduce: Reduce,
    pub(crate) rules: &'a Rules,
    /// The shape of the destination: that of the gather's params.
    pub(crate) shape: Dims<usize>,
    pub(crate) indices: Indices<'a>,
    /// In the shape of the gather's output.
    pub(crate) updates: Params<'a>,
}

impl Scatter<'_> {
    /// The type of the updates and of the destination, which decides the arithmetic.
    pub(crate) fn dtype(&self) -> Result<DType> {
        let element = self.updates.element_type();
        dtype_of(self.op.transposed_kind(), Role::Updates, element)
    }

    /// The shape that the updates must have and have.
    pub(crate) fn updates_shape(&self) -> Result<Vec<usize>> {
        let op = self.op.transposed_kind();
        let indices = self.indices.layout().shape();
        let expected = self
            .op
            .output_shape_as(op, &self.shape, indices, self.rules)?;
        let got = self.updates.layout().shape();
        match got == expected {
            true => Ok(expected),
            false => Err(Error::UpdatesShape {
                op,
                expected,
                got: got.to_vec(),
            }),
        }
    }

    /// Checks the call, and plans it.
    pub(crate) fn plan(&self) -> Result<ScatterPlan> {
        // What is wrong with shapes is said first.
        let dtype = self.dtype();
        let dtype = dtype.or_else(|error| self.updates_shape().and(Err(error)))?;
        let tensors = ScatterLayouts {
            dtype,
            destination: &Layout::contiguous(&self.shape),
            index_type: self.indices.index_type(),
            indices: self.indices.layout(),
            updates: self.updates.layout(),
        };
        ScatterPlan::new(self.op, self.reduce, self.rules, tensors)
    }
}

/// A pooled lookup.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddingBag<'a> {
    pub(crate) bags: Bags<'a>,
    pub(crate) rules: &'a Rules,
    pub(crate) table: AnyTable<'a>,
    pub(crate) indices: Indices<'a>,
    pub(crate) weights: Option<Params<'a>>,
}

impl EmbeddingBag<'_> {
    /// The type of the rows that are folded, of the weights and of the output.
    pub(crate) fn dtype(&self) -> Result<DType> {
        bag_dtype(&self.table)
    }

    /// Checks the call, and plans it.
    pub(crate) fn plan(&self) -> Result<BagPlan> {
        let dtype = self.dtype()?;
        if let Some(weights) = &self.weights {
            check_weights(dtype, weights.element_type())?;
        }
        let shapes = BagShapes {
            dtype,
            params: &self.table.layout(),
            index_type: self.indices.index_type(),
            indices: self.indices.layout(),
            weights: self.weights.as_ref().map(|weights| weights.layout()),
        };
        BagPlan::new(self.bags, self.rules, shapes)
    }
}

/// The type of elements that arithmetic needs to know.
pub(crate) fn dtype_of(op: OpKind, role: Role, element: crate::ElementType) -> Result<DType> {
    element.dtype().ok_or_else(|| Error::ElementsWithout {
        op,
        role,
        got: element.to_string(),
        why: "no type of numbers",
        allowed: DType::ALL.map(DType::name).to_vec(),
    })
}

/// The type that the rows of a table are folded in.
fn bag_dtype(table: &AnyTable<'_>) -> Result<DType> {
    if let AnyTable::Quantized(_, to) = table {
        return decoded_bag_dtype(*to);
    }
    dtype_of(OpKind::EmbeddingBag, Role::Params, table.element_type())
}

/// The type that decoded rows are folded in.
pub(crate) fn decoded_bag_dtype(to: FloatType) -> Result<DType> {
    match to {
        FloatType::F32 => Ok(DType::F32),
        FloatType::F16 | FloatType::BF16 => Err(Error::OtherElements {
            op: OpKind::EmbeddingBag,
            role: Role::Params,
            expected: "decoded to f32".to_owned(),
            got: format!("decoded to {}", to.name()),
        }),
    }
}

/// Refuses weights of another type than the rows.
pub(crate) fn check_weights(dtype: DType, weights: crate::ElementType) -> Result<()> {
    check_same(OpKind::EmbeddingBag, Role::Weights, dtype, weights)
}

/// Refuses elements of another type than those that they are combined with.
pub(crate) fn check_same(
    op: OpKind,
    role: Role,
    dtype: DType,
    got: crate::ElementType,
) -> Result<()> {
    match got.dtype() == Some(dtype) {
        true => Ok(()),
        false => Err(Error::OtherElements {
            op,
            role,
            expected: dtype.name().to_owned(),
            got: got.to_string(),
        }),
    }
}
