//! The attributes of the three operators, for gathers and their transposes.

use clap::Args;
use wgpu_gather::Op;

/// Attributes on the command line.
pub(crate) trait Operator: Args {
    /// The gather that has them.
    fn op(&self) -> Op;
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
