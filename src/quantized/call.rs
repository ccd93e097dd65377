//! One gather from a quantized table, passed whole to what plans or executes it.

use crate::error::Result;
use crate::op::Op;
use crate::operand::Indices;
use crate::plan::Plan;
use crate::quantized::float::FloatType;
use crate::quantized::table::QuantizedTable;
use crate::rules::Rules;
use crate::shape::Layout;

/// An operator, the rules for its indices, what it is applied to, and the type of its output.
#[derive(Debug, Clone, Copy)]
pub struct QuantizedCall<'a> {
    /// The operator.
    pub op: Op,
    /// How it treats its indices. A fill value is one of the type of the output.
    pub rules: &'a Rules,
    /// What is gathered from.
    pub table: &'a QuantizedTable<'a>,
    /// Where.
    pub indices: &'a Indices<'a>,
    /// The type that elements are decoded to.
    pub to: FloatType,
}

impl<'a> QuantizedCall<'a> {
    /// The call of `op` on these tensors.
    pub fn new(
        op: Op,
        rules: &'a Rules,
        table: &'a QuantizedTable<'_>,
        indices: &'a Indices<'_>,
        to: FloatType,
    ) -> Self {
        QuantizedCall {
            op,
            rules,
            table,
            indices,
            to,
        }
    }

    /// Checks the call, and plans it: as a gather from the decoded table, in the type of the output.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn plan(self) -> Result<Plan> {
        Plan::new(
            self.op,
            self.rules,
            self.to.bytes(),
            &Layout::contiguous(self.table.shape()),
            self.indices.index_type(),
            self.indices.layout(),
        )
    }

    /// The call with its plan.
    pub(crate) fn planned(self) -> Result<PlannedQuantized<'a>> {
        let plan = self.plan()?;
        Ok(PlannedQuantized { call: self, plan })
    }
}

/// A call that has been checked: the plan is for these tensors.
pub(crate) struct PlannedQuantized<'a> {
    pub(crate) call: QuantizedCall<'a>,
    pub(crate) plan: Plan,
}
