//! One scatter as it is handed to burn: checked against shapes and types, before burn queues it.

use wgpu_gather::{DType, Layout, Op, Reduce, Role, Rules, ScatterLayouts, ScatterPlan};

use crate::call::Call;
use crate::elements::{Described, bits, index_type, number};
use crate::error::{Error, Result};
use crate::handle::Gathers;

/// What burn keeps with a scatter that it has queued.
#[derive(Debug, Clone)]
pub(crate) struct ScatterCall {
    /// The gather that this is the transpose of: from params of the shape of base to an output of the
    /// shape of updates.
    pub(crate) gather: Call,
    pub(crate) reduce: Reduce,
    /// What the elements are folded as.
    pub(crate) dtype: DType,
}

/// The tensors of a scatter.
pub(crate) struct Scattered {
    pub(crate) base: Described,
    pub(crate) indices: Described,
    pub(crate) updates: Described,
}

impl ScatterCall {
    /// Checks all that can be checked without strides.
    pub(crate) fn new(
        gathers: &Gathers,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        tensors: Scattered,
    ) -> Result<ScatterCall> {
        let kind = op.transposed_kind();
        let Scattered {
            base,
            indices,
            updates,
        } = tensors;
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
        let call = ScatterCall {
            gather: Call {
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
