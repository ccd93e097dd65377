//! The executors that need no GPU.
//!
//! [`mod@reference`] is written from the operators' definitions and knows no plan; [`parallel`]
//! executes a [`Plan`](crate::Plan). Comparing the two finds wrong lowering, merging and splitting.

mod copy;
mod elements;
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
mod helpers;
mod line;
mod output;
pub mod parallel;
mod pieces;
pub mod reference;
mod report;
mod rows;
mod sources;
mod stream;
mod strips;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use output::gather;
pub(crate) use pieces::pieces;
