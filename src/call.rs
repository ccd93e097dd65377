//! One gather as its caller gives it, passed whole to what plans, executes or checks it.

use crate::error::Result;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::plan::Plan;
use crate::rules::Rules;

/// An operator, the rules for its indices, and the host tensors that it is applied to.
#[derive(Debug, Clone, Copy)]
pub struct GatherCall<'a> {
    /// The operator.
    pub op: Op,
    /// How it treats its indices.
    pub rules: &'a Rules,
    /// What is gathered from.
    pub params: &'a Params<'a>,
    /// Where.
    pub indices: &'a Indices<'a>,
}

impl<'a> GatherCall<'a> {
    /// The call of `op` on these tensors.
    pub fn new(op: Op, rules: &'a Rules, params: &'a Params<'_>, indices: &'a Indices<'_>) -> Self {
        GatherCall {
            op,
            rules,
            params,
            indices,
        }
    }

    /// Checks the call, and plans it.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn plan(self) -> Result<Plan> {
        Plan::of(self.op, self.rules, self.params, self.indices)
    }

    /// The call with its plan.
    pub(crate) fn planned(self) -> Result<PlannedCall<'a>> {
        let plan = self.plan()?;
        Ok(PlannedCall { call: self, plan })
    }
}

/// A call that has been checked: the plan is for these tensors.
pub(crate) struct PlannedCall<'a> {
    pub(crate) call: GatherCall<'a>,
    pub(crate) plan: Plan,
}
