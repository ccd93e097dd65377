//! The definitions, one element at a time: slow, and plain enough to be checked by eye.
//!
//! Nothing here follows a plan, a loop nest or a stride order, so that a mistake in the planner cannot hide in both.

mod bag;
mod definition;
mod gather;
mod scatter;

pub(crate) use bag::embedding_bag;
pub(crate) use gather::gather;
pub(crate) use scatter::scatter;
