//! The command line: what may be said and how `--help` explains it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};

use crate::backend::BackendArgs;
use crate::bench::args::BenchArgs;
use crate::call_args::EXAMPLES;
use crate::explain::args::ExplainArgs;
use crate::operators::Operators;
use crate::pages::{CompletionsArgs, ManArgs};
use crate::random::Kind;
use crate::show::ShowArgs;

/// Gathers, scatters and pooled lookups of tensors in files, on the GPU or the CPU
#[derive(Parser)]
#[command(name = "wgpu-gather", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Operators(Operators),
    /// List the tensors of a file, or print one with its type, shape, range, mean and NaNs
    Show(ShowArgs),
    /// List the GPU adapters of this machine
    Adapters(AdaptersArgs),
    /// Check an executor bit for bit, against the reference or against recorded answers
    Verify(VerifyArgs),
    /// Time gathers of real sizes against a copy of as many bytes, and draw the results
    Bench(BenchArgs),
    /// Say how a gather, a scatter or a pooled lookup of given shapes is executed, and why
    Explain(ExplainArgs),
    /// Show the operators on small tensors, then time and check a lookup, a scatter and a bag
    Demo(DemoArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print a page of the manual, as roff
    Man(ManArgs),
}

/// `adapters`.
#[derive(Args)]
pub(crate) struct AdaptersArgs {
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// `verify`.
#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// Case files with recorded answers (schemas gather-conformance/1, gather-quantized/1 and
    /// gather-scatter/1) [default: built-in calls, compared with the reference]. A file that cannot be
    /// read is an error; the others are run
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) cases: Vec<PathBuf>,
    /// Check N random calls instead, against the reference; what goes wrong is made as small as
    /// can be and printed (in builds with the cargo feature `random`)
    #[arg(
        long,
        value_name = "N",
        value_parser = value_parser!(u32).range(1..),
        conflicts_with = "cases"
    )]
    pub(crate) random: Option<u32>,
    /// Make the random calls scatters, gradients and pooled lookups with up to 100,000 lookups, most of
    /// which meet in few rows, instead of gathers. A call takes up to some hundred megabytes
    #[arg(long, requires = "random")]
    pub(crate) large: bool,
    /// Which random calls: the same S gives the same calls on every machine
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        requires = "random",
        allow_negative_numbers = true
    )]
    pub(crate) seed: u64,
    /// Compile every pipeline there is before the first call; one that the driver refuses is an
    /// error. Needs a GPU
    #[arg(long)]
    pub(crate) pipelines: bool,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    /// Print one JSON object instead of a report
    #[arg(long)]
    pub(crate) json: bool,
}

impl VerifyArgs {
    /// Which random calls.
    pub(crate) fn kind(&self) -> Kind {
        match self.large {
            true => Kind::Large,
            false => Kind::Gathers,
        }
    }
}

/// `demo`.
#[derive(Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
}
