//! A pooled lookup in burn's queue.

#[cfg(feature = "fusion")]
use burn::tensor::Shape;
use wgpu_gather::{Bags, DType, Executor, IndexType, Indices, Layout, OpKind, Params, Role, Rules};

use crate::elements::{Described, index_type, number};
use crate::error::{Error, Result};
use crate::handle::Gathers;

const OP: OpKind = OpKind::EmbeddingBag;

#[derive(Debug, Clone)]
pub(crate) struct QueuedBags {
    pub(crate) gathers: Gathers,
    /// Without their offsets, which are beside them.
    bags: Bags<'static>,
    offsets: Vec<usize>,
    pub(crate) rules: Rules,
    pub(crate) dtype: DType,
    pub(crate) index_type: IndexType,
    pub(crate) output_shape: Vec<usize>,
}

impl QueuedBags {
    /// Checks all that can be checked without strides.
    pub(crate) fn new(
        gathers: &Gathers,
        bags: Bags<'_>,
        rules: &Rules,
        [params, indices]: [&Described; 2],
        weights: Option<&Described>,
    ) -> Result<QueuedBags> {
        let dtype = number(OP, Role::Params, params.dtype)?;
        if let Some(weights) = weights.filter(|weights| weights.dtype != params.dtype) {
            return Err(Error::MixedTypes {
                op: OP,
                role: Role::Weights,
                got: weights.dtype,
                expected: params.dtype,
            });
        }
        let index_type = index_type(OP, indices.dtype)?;
        let element = &[0; 8][..dtype.bytes()];
        let index = &[0; 8][..index_type.bytes()];
        let numbers = |tensor: &Described| -> Result<Params<'_>> {
            Ok(Params::new(element, dtype, repeated(&tensor.shape)?)?)
        };
        let weights = weights.map(numbers).transpose()?;
        let params = numbers(params)?;
        let indices = Indices::new(index, index_type, repeated(&indices.shape)?)?;
        let call = Executor::Cpu.embedding_bag(bags, rules, &params, &indices);
        let call = match &weights {
            Some(weights) => call.weights(weights),
            None => call,
        };
        Ok(QueuedBags {
            gathers: gathers.clone(),
            bags: bags.with_offsets(&[]),
            offsets: bags.given_offsets().to_vec(),
            rules: rules.clone(),
            dtype,
            index_type,
            output_shape: call.output_shape()?,
        })
    }

    pub(crate) fn bags(&self) -> Bags<'_> {
        self.bags.with_offsets(&self.offsets)
    }

    /// The output's shape, as burn has it.
    #[cfg(feature = "fusion")]
    pub(crate) fn output(&self) -> Shape {
        Shape::from(self.output_shape.clone())
    }
}

/// A tensor that repeats one element: it stands for one that is not made yet, as plans read none.
fn repeated(shape: &[usize]) -> Result<Layout> {
    Ok(Layout::strided(shape, &vec![0; shape.len()], 0)?)
}
