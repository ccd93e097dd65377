//! The operators that can be explained, and which options each has.

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::bench::shape::GatherOp;

/// The values of `--op`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OpArg {
    Gather,
    GatherNd,
    GatherElements,
    Scatter,
    ScatterNd,
    ScatterElements,
    EmbeddingBag,
}

/// What is explained.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Explained {
    Gather(GatherOp),
    /// The transpose of a gather.
    Scatter(GatherOp),
    Bag,
}

impl OpArg {
    pub(super) fn explained(self) -> Explained {
        match self {
            OpArg::Gather => Explained::Gather(GatherOp::Gather),
            OpArg::GatherNd => Explained::Gather(GatherOp::GatherNd),
            OpArg::GatherElements => Explained::Gather(GatherOp::GatherElements),
            OpArg::Scatter => Explained::Scatter(GatherOp::Gather),
            OpArg::ScatterNd => Explained::Scatter(GatherOp::GatherNd),
            OpArg::ScatterElements => Explained::Scatter(GatherOp::GatherElements),
            OpArg::EmbeddingBag => Explained::Bag,
        }
    }
}

/// Fails for an option that is given (its name, and whether) though it means nothing to these operators.
pub(super) fn refuse(op: &str, options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => bail!("explain: {option} is not for {op}"),
        None => Ok(()),
    }
}
