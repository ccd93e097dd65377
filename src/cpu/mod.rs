//! The executors that need no GPU.
//!
//! [`mod@reference`] is written from the operators' definitions and knows no plan; [`parallel`]
//! executes a [`Plan`](crate::Plan). Comparing the two finds wrong lowering, merging and splitting.
//!
//! Large outputs of [`Executor::Cpu`](crate::Executor::Cpu) leave their memory to later ones when
//! they are dropped: [`unused_bytes`], [`free_unused`], [`keep_unused`].

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
mod unused;
mod walk;

pub(crate) use output::gather;
pub(crate) use pieces::pieces;
pub(crate) use unused::give;
pub use unused::{free_unused, keep_unused, unused_bytes};
