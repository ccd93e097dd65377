//! The executors that need no GPU.
//!
//! [`mod@reference`] is written from the operators' definitions and knows no plan; [`parallel`]
//! executes a [`Plan`](crate::Plan). Comparing the two finds wrong lowering, merging and splitting.

pub(crate) mod bag;
pub(crate) mod bag_reference;
mod chunks;
mod copy;
pub(crate) mod decode;
mod lookups;
pub(crate) mod parallel;
mod pooling;
pub(crate) mod reference;
mod report;
mod rows;
pub(crate) mod scatter;
pub(crate) mod scatter_reference;
#[cfg(test)]
mod tests;
pub(crate) mod threads;

pub(crate) use chunks::{chunks, decoded_chunks};
pub(crate) use parallel::gather;
pub use report::bad_indices;
