//! Checking an executor: against recorded answers of frameworks, and against the reference.
//!
//! [`read_cases`] reads files of the schema `gather-conformance/1`; [`run_case`] runs one on an
//! executor and compares bits. [`builtin`] makes cases whose expected answers come from
//! [`Executor::Reference`](wgpu_gather::Executor::Reference), which tells a user whether their GPU and
//! driver are right; [`search`] does so for any number of random ones, and [`search_large`] for scatters,
//! gradients and pooled lookups in which much accumulates. [`random_scatter`], [`random_bag`] and
//! [`QuantizedGather::random`] make calls of the other verbs from numbers. [`read_quantized_cases`] reads
//! gathers from quantised tables (`gather-quantized/1`), and
//! [`run_quantized_case`] runs one; [`read_fold_cases`] and [`run_fold_case`] do so for scatters and pooled
//! lookups (`gather-scatter/1`).

mod bag_call;
mod builtin;
mod call;
mod case;
mod case_file;
mod choices;
mod close;
mod data;
mod fold_run;
#[cfg(not(target_arch = "wasm32"))]
mod large;
mod operators;
mod output;
mod quantized;
mod quantized_gather;
mod random;
mod report;
mod run;
mod run_quantized;
mod scatter_call;
mod scatter_case;
#[cfg(all(feature = "search", not(target_arch = "wasm32")))]
mod search;
mod values;

pub use bag_call::{Bag, Laid};
pub use builtin::{SplitMix, builtin};
pub use call::{Call, check_call, compare};
pub use case::{Case, Expected, read_cases};
pub use case_file::CaseError;
pub use close::within_ulps;
pub use data::{Data, Values};
pub use fold_run::run_fold_case;
#[cfg(not(target_arch = "wasm32"))]
pub use large::LargeCall;
pub use output::difference;
pub use quantized::{
    QUANTIZED_SCHEMA, QuantizedCase, QuantizedData, QuantizedExpected, Scales, read_quantized_cases,
};
pub use quantized_gather::QuantizedGather;
pub use random::{call_from, random_bag, random_bag_of, random_scatter, rows_call_from};
pub use report::{Outcome, Report};
pub use run::run_case;
pub use run_quantized::run_quantized_case;
pub use scatter_call::Scatter;
pub use scatter_case::{BagCase, FOLD_SCHEMA, FoldCall, FoldCase, Updates, read_fold_cases};
#[cfg(all(feature = "search", not(target_arch = "wasm32")))]
pub use search::{Counterexample, Work, search, search_large};
pub use values::{FOLDED, tame_values, values};
/// The library, in the version that is checked.
pub use wgpu_gather;
