//! Each operator as an `Operation`: turns a plan and the placement of tensors into commands. The levels (a batch,
//! the caller's encoder, a binding) run operations and know no operator.

pub(in crate::gpu) mod bag;
pub(in crate::gpu) mod checks;
pub(in crate::gpu) mod flag;
mod folds;
pub(in crate::gpu) mod gather;
pub(in crate::gpu) mod indirect;
mod launch;
pub(in crate::gpu) mod lookups;
pub(in crate::gpu) mod operation;
pub(in crate::gpu) mod recording;
pub(in crate::gpu) mod scatter;
mod sort;
mod table_block;
mod windows;
