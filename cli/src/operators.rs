//! The operators' commands, with the attributes of each: all that this crate knows of single operators.

use anyhow::Result;
use clap::{Args, Subcommand};
use wgpu_gather::Op;

use crate::answer::Answer;
use crate::bag::{self, EmbeddingBagArgs};
use crate::call_args::Operator;
use crate::run::{self, GatherArgs};
use crate::scatter::{self, ScatterArgs};

/// A command for each operator.
#[derive(Subcommand)]
pub(crate) enum Operators {
    /// Select slices of params along one axis (tf.gather, ONNX Gather, numpy.take)
    Gather(GatherArgs<Slices>),
    /// Select slices of params at tuples of coordinates (tf.gather_nd, ONNX GatherND)
    GatherNd(GatherArgs<Tuples>),
    /// Select one element per index (torch.gather, ONNX GatherElements, numpy.take_along_axis)
    GatherElements(GatherArgs<Elements>),
    /// Pool the rows of params that each bag of indices selects (torch embedding_bag)
    EmbeddingBag(EmbeddingBagArgs),
    /// Scatter slices into params along one axis (torch index_add_, jax .at[].add, numpy.add.at)
    Scatter(ScatterArgs<Slices>),
    /// Scatter slices into params at tuples of coordinates (tf.tensor_scatter_nd_*, ONNX ScatterND)
    ScatterNd(ScatterArgs<Tuples>),
    /// Scatter one element per index into params (torch.scatter_reduce, ONNX ScatterElements)
    ScatterElements(ScatterArgs<Elements>),
}

impl Operators {
    pub(crate) fn run(&self) -> Result<Answer> {
        match self {
            Operators::Gather(args) => run::run(args),
            Operators::GatherNd(args) => run::run(args),
            Operators::GatherElements(args) => run::run(args),
            Operators::EmbeddingBag(args) => bag::run(args),
            Operators::Scatter(args) => scatter::run(args),
            Operators::ScatterNd(args) => scatter::run(args),
            Operators::ScatterElements(args) => scatter::run(args),
        }
    }
}

/// Of `gather` and `scatter`.
#[derive(Args)]
#[command(next_help_heading = "Operator")]
pub(crate) struct Slices {
    /// The dim of params that indices point along; negative counts from the back [default: the first
    /// dim after the batch dims]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    axis: Option<isize>,
    /// How many leading dims params and indices share; negative counts from the rank of indices
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    batch_dims: isize,
}

impl Operator for Slices {
    fn op(&self) -> Op {
        Op::Gather {
            axis: self.axis,
            batch_dims: self.batch_dims,
        }
    }
}

/// Of `gather-nd` and `scatter-nd`.
#[derive(Args)]
#[command(next_help_heading = "Operator")]
pub(crate) struct Tuples {
    /// How many leading dims params and indices share
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    batch_dims: isize,
}

impl Operator for Tuples {
    fn op(&self) -> Op {
        Op::GatherNd {
            batch_dims: self.batch_dims,
        }
    }
}

/// Of `gather-elements` and `scatter-elements`.
#[derive(Args)]
#[command(next_help_heading = "Operator")]
pub(crate) struct Elements {
    /// The dim of params that indices point along; negative counts from the back
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    axis: isize,
}

impl Operator for Elements {
    fn op(&self) -> Op {
        Op::GatherElements { axis: self.axis }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu_gather::OpKind;

    #[test]
    fn every_operator_has_a_command() {
        for kind in OpKind::ALL {
            let name = kind.name().replace('_', "-");
            assert!(Operators::has_subcommand(&name), "{name}");
        }
    }
}
