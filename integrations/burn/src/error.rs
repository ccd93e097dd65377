//! Every error of the crate, and the only place where their messages are worded.

use burn::tensor::DType;
use wgpu_gather::{OpKind, Role};

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, with the facts in fields.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What `wgpu-gather` says of the call: shapes, axes, rules, an index out of bounds, the device.
    #[error(transparent)]
    Gather(#[from] wgpu_gather::Error),

    /// The output was asked for with another rank than the call gives it.
    #[error(
        "{op}: the output has rank {rank} (shape {shape:?}), but a Tensor<{got}> was asked for"
    )]
    OutputRank {
        /// The operator.
        op: OpKind,
        /// The rank that was asked for.
        got: usize,
        /// The rank of the output.
        rank: usize,
        /// The shape of the output.
        shape: Vec<usize>,
    },

    /// A tensor lies on another device than that of the [`Gathers`](crate::Gathers).
    #[error("{op}: {role} lies on {got}, but these gathers were made for {allowed}")]
    OtherDevice {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// burn's name of its device.
        got: String,
        /// burn's name of the device that is allowed.
        allowed: String,
    },

    /// The elements of a tensor are of a type that the operator does not take.
    #[error("{op}: {role} has elements of type {got:?}, but needs {allowed}")]
    ElementType {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// The type of its elements.
        got: DType,
        /// What is allowed.
        allowed: &'static str,
    },

    /// The elements of a tensor are of another type than those of params, or of the base of a scatter.
    #[error(
        "{op}: {role} has elements of type {got:?}, but params of {expected:?}; they must be equal"
    )]
    MixedTypes {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// The type of its elements.
        got: DType,
        /// The type of the elements of params.
        expected: DType,
    },

    /// burn's autodiff tracks a tensor, for a call that has no gradient. `Tensor::detach` gives a tensor
    /// that is not tracked.
    #[error(
        "{op}: {role} is tracked by autodiff, but {what} has no gradient; it needs a tensor that is not tracked (detach)"
    )]
    NoGradient {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// What has none.
        what: String,
    },

    /// A gather was made while burn records a graph, which holds burn's own kernels only.
    #[error(
        "{op}: burn records a graph on this stream, which can hold none but burn's own kernels"
    )]
    Capturing {
        /// The operator.
        op: OpKind,
    },

    /// burn has no buffer for a tensor, in its own words.
    #[error("{op}: burn has no buffer for {role}: {message}")]
    Buffer {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// What burn says.
        message: String,
    },

    /// burn could not make its device, or wait for it, in its own words.
    #[error("burn's device: {message}")]
    Device {
        /// What burn says.
        message: String,
    },
}
