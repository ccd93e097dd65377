//! The command line of `bench`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, value_parser};

use crate::bench::case::Case;
use crate::bench::pattern::Pattern;
use crate::bench::shape::ShapeArgs;
use crate::rules::RulesArgs;

const HELP: &str = "\
What is compared: `bytes` is the least that a call has to move between memory and processor: its
output, its indices, and the sectors of 32 bytes of params in which the elements lie that it reads,
each once; of a scatter also its updates. `copy` moves as many bytes in the same run, half of them
read and half written: on a GPU by a kernel or a copy command, whichever is faster, on the CPU with
memcpy on the same threads. `of copy` is the one speed in parts of the other; it can exceed 1 where a
cache serves the call better than the copy. A short call is repeated on the same data, which then lies
in the caches.

`asked`, on a GPU: bytes of the sectors that waves of 32 ask for, in parts of `bytes`, where the traffic
table of the tests has a call of that shape. `M pairs/s`: rows that a scatter or a pooled lookup
combines. `sort of copy`: as if a sort that moves 24 bytes of a pair for each 8 bits of its key took all
of the time.

Each case is checked against the reference, on a part of its output, before it is timed.

Examples:
  wgpu-gather bench --list
  wgpu-gather bench --case shapes --json > results.jsonl
  wgpu-gather bench --from results.jsonl --plot results.svg
  wgpu-gather bench --case elements --backend gpu,cpu --transfers --plot crossover.svg
  wgpu-gather bench --op gather --params-shape 50000,768 --indices-shape 4096 --dtype f16";

/// `bench`.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct BenchArgs {
    /// The cases to run: names or groups, as --list prints them [default: shapes]
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with_all = ["op", "from"])]
    pub(crate) case: Vec<String>,
    /// Print the cases instead of running them
    #[arg(
        long,
        conflicts_with_all = [
            "op", "from", "plot", "adapter", "backend", "seconds", "transfers", "dispatches", "rules", "negative",
            "out_of_bounds",
        ]
    )]
    pub(crate) list: bool,
    /// What computes, one after the other; auto is the GPU, or the CPU where there is no GPU or
    /// only a software adapter
    #[arg(
        long,
        value_enum,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "auto"
    )]
    pub(crate) backend: Vec<crate::backend::Backend>,
    /// The adapter to use: part of its name, or its API (vulkan, metal, dx12, gl); implies
    /// --backend gpu
    #[arg(long, value_name = "TEXT")]
    pub(crate) adapter: Option<String>,
    /// How long to repeat each case
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Divide the rows of the listed cases by this number [default: 1 on a GPU, 16 on a software
    /// adapter and on the CPU]. A case that does not fit the memory is divided further, and says so
    #[arg(
        long,
        value_name = "N",
        value_parser = value_parser!(u32).range(1..=1 << 20)
    )]
    pub(crate) scale: Option<u32>,
    /// Which indices, instead of those of each case
    #[arg(long, value_enum, value_name = "PATTERN")]
    pub(crate) pattern: Option<Pattern>,
    /// On a GPU, also time the call from host to host, with its uploads and its download
    #[arg(long)]
    pub(crate) transfers: bool,
    /// On a GPU, also time each dispatch of scatters and pooled lookups, by timestamps between them
    #[arg(long)]
    pub(crate) dispatches: bool,
    /// Print one JSON object for each case instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw the results, as SVG (in builds with the cargo feature `plots`)
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Report results of earlier runs, as --json printed them, instead of running anything
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = [
            "op", "adapter", "backend", "seconds", "transfers", "dispatches", "scale", "pattern", "rules",
            "negative", "out_of_bounds",
        ]
    )]
    pub(crate) from: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    own: OwnArgs,
}

/// A shape of one's own.
#[derive(Args)]
#[command(next_help_heading = "A shape of your own")]
struct OwnArgs {
    #[command(flatten)]
    shape: ShapeArgs,
    /// The part of the lookups that is out of bounds
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, value_parser = fraction, requires = "op")]
    bad: f64,
}

impl BenchArgs {
    /// The shape of one's own, if one is given.
    pub(crate) fn own(&self) -> Result<Option<Case>> {
        let own = &self.own;
        let case = self.own.shape.case()?;
        Ok(case.map(|case| Case {
            pattern: self.pattern.unwrap_or(Pattern::Random),
            bad: own.bad,
            ..case
        }))
    }
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    within(text, 0.001..=3600.0)
}

fn fraction(text: &str) -> Result<f64, String> {
    within(text, 0.0..=1.0)
}

pub(crate) fn within(text: &str, allowed: std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => Err(format!("allowed: {} to {}", allowed.start(), allowed.end())),
    }
}
