//! Scatter: the transpose of a gather.
//!
//! `call` is one scatter as its caller gives it. `plan` is what follows from shapes, strides and
//! rules: pure data. `cpu::scatter` executes a plan, `executor` has the calls on host tensors.

mod call;
mod plan;

pub use call::ScatterCall;
pub(crate) use plan::{DestinationDim, ScatterPlan, Tensors};
