//! A scatter in burn's queue.

use wgpu_gather::{DType, Layout, Op, Reduce, Role, Rules, ScatterLayouts, ScatterPlan};

use crate::elements::{Described, bits, index_type, number};
use crate::error::{Error, Result};
use crate::handle::Gathers;
use crate::queued::QueuedGather;

#[derive(Debug, Clone)]
pub(crate) struct QueuedScatter {
    /// The gather that this is the transpose of: from params of the shape of base to an output of the
    /// shape of updates.
    pub(crate) gather: QueuedGather,
    pub(crate) reduce: Reduce,
    /// What the elements are folded as.
    pub(crate) dtype: DType,
}

impl QueuedScatter {
    /// Checks all that can be checked without strides.
    pub(crate) fn new(
        gathers: &Gathers,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        [base, indices, updates]: [Described; 3],
    ) -> Result<QueuedScatter> {
        let kind = op.transposed_kind();
        let dtype = match reduce {
            Reduce::None => bits(kind, base.dtype)?,
            _ => number(kind, Role::Params, base.dtype)?,
        };
        if updates.dtype != base.dtype {
            return Err(Error::MixedTypes {
                op: kind,
                role: Role::Updates,
                got: updates.dtype,
                expected: base.dtype,
            });
        }
        let call = QueuedScatter {
            gather: QueuedGather {
                gathers: gathers.clone(),
                op,
                rules: rules.clone(),
                index_type: index_type(kind, indices.dtype)?,
                params_shape: base.shape,
                output_shape: updates.shape,
            },
            reduce,
            dtype,
        };
        let updates = Layout::contiguous(&call.gather.output_shape);
        call.plan(&Layout::contiguous(&indices.shape), &updates)?;
        Ok(call)
    }

    /// The plan for indices and updates that lie so.
    pub(crate) fn plan(&self, indices: &Layout, updates: &Layout) -> Result<ScatterPlan> {
        let gather = &self.gather;
        let layouts = ScatterLayouts {
            dtype: self.dtype,
            destination: &Layout::contiguous(&gather.params_shape),
            index_type: gather.index_type,
            indices,
            updates,
        };
        Ok(ScatterPlan::new(
            gather.op,
            self.reduce,
            &gather.rules,
            layouts,
        )?)
    }
}
