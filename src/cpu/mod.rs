//! The executors that need no GPU.
//!
//! [`mod@reference`] is written from the operators' definitions and knows no plan; [`gather`], [`scatter`] and [`bag`]
//! execute plans on all cores. Comparing the two finds wrong lowering, merging and splitting.

pub(crate) mod bag;
mod coordinate;
mod destination;
mod fetch;
mod fold;
pub(crate) mod gather;
mod lookups;
pub(crate) mod reference;
mod report;
mod rows;
pub(crate) mod scatter;
pub(crate) mod threads;
mod vectors;

pub use report::bad_indices;
