//! A gather in burn's queue.

#[cfg(feature = "fusion")]
use burn::tensor::Shape;
#[cfg(feature = "autodiff")]
use wgpu_gather::OutOfBounds;
use wgpu_gather::{IndexType, Layout, Op, Plan, Rules};

use crate::elements::{Described, element_bytes, index_type};
use crate::error::Result;
use crate::handle::Gathers;

#[derive(Debug, Clone)]
pub(crate) struct QueuedGather {
    pub(crate) gathers: Gathers,
    pub(crate) op: Op,
    pub(crate) rules: Rules,
    pub(crate) index_type: IndexType,
    pub(crate) params_shape: Vec<usize>,
    pub(crate) output_shape: Vec<usize>,
}

impl QueuedGather {
    /// Checks all that can be checked without strides.
    pub(crate) fn new(
        gathers: &Gathers,
        op: Op,
        rules: &Rules,
        params: &Described,
        indices: &Described,
    ) -> Result<QueuedGather> {
        let element_bytes = element_bytes(op.kind(), params.dtype)?;
        let index_type = index_type(op.kind(), indices.dtype)?;
        let [p, i] = [params, indices].map(|tensor| Layout::contiguous(&tensor.shape));
        let plan = Plan::new(op, rules, element_bytes, &p, index_type, &i)?;
        Ok(QueuedGather {
            gathers: gathers.clone(),
            op,
            rules: rules.clone(),
            index_type,
            params_shape: params.shape.clone(),
            output_shape: plan.output_shape().to_vec(),
        })
    }

    /// The same, with zeros for what is out of bounds, unless that is clipped or wrapped: as gradients
    /// go, which nothing is added to there. The call that they are the gradient of reports bad indices.
    #[cfg(feature = "autodiff")]
    pub(crate) fn with_zeros(self) -> QueuedGather {
        let rules = match self.rules.out_of_bounds {
            OutOfBounds::Fill(_) | OutOfBounds::Error => {
                self.rules.with_out_of_bounds(OutOfBounds::Zero)
            }
            _ => self.rules,
        };
        QueuedGather { rules, ..self }
    }

    /// The output's shape, as burn has it.
    #[cfg(feature = "fusion")]
    pub(crate) fn output(&self) -> Shape {
        Shape::from(self.output_shape.clone())
    }

    /// The params' shape, which is that of their gradient.
    #[cfg(all(feature = "fusion", feature = "autodiff"))]
    pub(crate) fn params(&self) -> Shape {
        Shape::from(self.params_shape.clone())
    }
}
