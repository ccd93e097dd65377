//! Scatter: the transpose of a gather.
//!
//! `plan` is what follows from shapes, strides and
//! rules: pure data. `cpu::scatter` executes a plan, `executor` has the calls on host tensors.

#![cfg_attr(
    not(feature = "gpu"),
    allow(
        dead_code,
        reason = "only a device runs the kernels, which explanations count all the same"
    )
)]

mod explain;
mod fold_block;
mod fold_kernel;
mod plan;
mod sort;

pub use explain::ScatterExplanation;
#[cfg(feature = "gpu")]
pub(crate) use fold_block::{FoldBlock, Window};
#[cfg(feature = "gpu")]
pub(crate) use fold_kernel::FoldKernel;
pub(crate) use plan::DestinationDim;
pub use plan::{ScatterLayouts, ScatterPlan};
#[cfg(feature = "gpu")]
pub(crate) use sort::{MOST_LOOKUPS, MOST_PAIRS, SortPlan, SortStage};
