//! Scatter: the transpose of a gather.
//!
//! `call` is one scatter as its caller gives it. `plan` is what follows from shapes, strides and
//! rules: pure data. `cpu::scatter` executes a plan, `executor` has the calls on host tensors.

mod call;
mod explain;
mod fold_kernel;
mod plan;
mod sort;

pub use call::ScatterCall;
pub use explain::ScatterExplanation;
#[cfg(feature = "gpu")]
pub(crate) use fold_kernel::{FoldBlock, FoldKernel, Window};
pub(crate) use plan::DestinationDim;
pub use plan::{ScatterLayouts, ScatterPlan};
#[cfg(feature = "gpu")]
pub(crate) use sort::{SortPlan, SortStage};
