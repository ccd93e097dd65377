//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::bench::pattern::Pattern;

/// The cases of `wgpu-gather bench`, against other libraries.
#[derive(Parser)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// The CPU path against burn-flex, candle and ndarray
    Cpu(RunArgs),
    /// The GPU path against burn-wgpu, on one device
    Gpu(RunArgs),
    /// Ours for the Python side: requests on stdin, answers on stdout, each a line of JSON
    Serve(ServeArgs),
    /// Scatters and pooled lookups: the CPU path against burn-flex, or the GPU path against burn-wgpu
    Folds(FoldsArgs),
    /// One table of what the other commands wrote, but for `folds`
    Table(TableArgs),
    /// The best peer of each case of `folds`, for each processor
    FoldsTable(TableArgs),
}

/// Which cases, how large and how long.
#[derive(clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) cases: CasesArgs,
    /// How long each library repeats each case
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    pub(crate) seconds: f64,
    /// The adapter: part of its name, or its API (vulkan, metal, dx12, gl)
    #[arg(long, value_name = "TEXT")]
    pub(crate) adapter: Option<String>,
    /// Only these libraries
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) peer: Vec<String>,
    /// Where the results go, besides the table: one line of JSON each
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct CasesArgs {
    /// The cases to run: names or groups of `wgpu-gather bench --list`
    #[arg(long, value_name = "NAME", num_args = 1.., default_value = "shapes")]
    pub(crate) case: Vec<String>,
    /// Run them with indices of each of these patterns instead of their own; cases that differ from
    /// another one in their pattern only are then left out
    #[arg(long, value_enum, num_args = 1..)]
    pub(crate) pattern: Vec<Pattern>,
    /// Divide the rows of the cases by this number [default: 8 on the CPU, 1 on a GPU, 16 on a
    /// software adapter]. A case that does not fit the memory is divided further, and says so
    #[arg(long, value_name = "N")]
    pub(crate) scale: Option<usize>,
    /// How much memory the tensors of one case may take together, in GiB
    #[arg(long, value_name = "GIB", default_value_t = 4.0)]
    pub(crate) memory: f64,
}

#[derive(clap::Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) cases: CasesArgs,
    /// Serve the GPU path on this adapter instead of the CPU path
    #[arg(long, value_name = "TEXT")]
    pub(crate) adapter: Option<String>,
    /// Where the tensors go that the other side reads
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct FoldsArgs {
    /// Only cases whose names have one of these words
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    pub(crate) case: Vec<String>,
    /// Race on this adapter instead of the CPU path
    #[arg(long, value_name = "TEXT")]
    pub(crate) adapter: Option<String>,
    /// How long each library repeats each case
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    pub(crate) seconds: f64,
    /// Where the results go, besides the table: one line of JSON each
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Serve the CPU path to the Python side, with the tensors in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["adapter", "out"])]
    pub(crate) serve: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct TableArgs {
    /// What the other commands wrote
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
}
