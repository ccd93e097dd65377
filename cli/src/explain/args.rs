//! The command line of `explain`.

use clap::{Args, ValueEnum};
use wgpu_gather::{BagMode, OpKind, Reduce};

use crate::bench::args::{seconds, within};
use crate::bench::shape::{ShapeArgs, kinds};
use crate::rules::RulesArgs;
use crate::size::Size;

const HELP: &str = "\
Nothing is executed unless --measure is given: the shapes are enough. Of scatters it says what is sorted
and folded, of embedding-bag which rows are read: for every device and in the same words, so that
--adapter, --limits, --bandwidth, --max-gpu-memory and --measure are for gathers.

Of gathers, each tensor is taken to lie at the start of one buffer. `bytes` is the least that the gather has to move between memory and
processor; divided by the bandwidth of the memory, it is the least time.

Examples:
  wgpu-gather explain --op gather --params-shape 30522,384 --indices-shape 16,512 --dtype f16
  wgpu-gather explain --op gather-nd --params-shape 512,512,512 --indices-shape 4096,3 \\
      --bandwidth 3350 --json
  wgpu-gather explain --op gather --params-shape 10000000,64 --indices-shape 2097152 \\
      --limits default --max-gpu-memory 1GiB
  wgpu-gather explain --op scatter --reduce add --params-shape 30522,768 --indices-shape 32768
  wgpu-gather explain --op embedding-bag --params-shape 1000000,64 --indices-shape 5 --offsets 0,2
  wgpu-gather explain --op gather --params-shape 50000,768 --indices-shape 4096 --measure";

/// `explain`.
#[derive(Args)]
#[command(after_help = HELP, mut_arg("op", |op| op.required(true).value_parser(kinds(OpKind::ALL))))]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    /// How the values of a scatter that meet are combined: none, add, mul, min or max [default: add]
    #[arg(long, value_name = "HOW")]
    pub(crate) reduce: Option<Reduce>,
    /// What becomes of the rows of a bag: sum, mean or max [default: sum]
    #[arg(long)]
    pub(crate) mode: Option<BagMode>,
    /// Where bags start in indices of one dim, as in embedding-bag [default: each row of two-dimensional
    /// indices is a bag]
    #[arg(long, value_name = "F")]
    pub(crate) offsets: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// The bandwidth of the device's memory, in 10^9 bytes per second, for the least time [default
    /// with --measure: that of a copy of as many bytes]
    #[arg(long, value_name = "GB/s", value_parser = bandwidth)]
    pub(crate) bandwidth: Option<f64>,
    /// The most memory of the GPU that a call from host to host may take for tensors: bytes, or a
    /// number with KiB, MiB, GiB or TiB [default: no limit]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_gpu_memory: Option<Size>,
    /// Explain for this adapter: part of its name, or its API (vulkan, metal, dx12, gl) [default:
    /// the first GPU, or the default limits of WebGPU where there is none]
    #[arg(long, value_name = "TEXT")]
    pub(crate) adapter: Option<String>,
    /// Explain for a device with these limits, instead of an adapter
    #[arg(long, value_enum, value_name = "NAME", conflicts_with = "adapter")]
    pub(crate) limits: Option<LimitsArg>,
    /// Gather random elements on the adapter (the first, software ones included), check them, and
    /// say how long it took
    #[arg(long, conflicts_with = "limits")]
    pub(crate) measure: bool,
    /// How long to measure
    #[arg(
        long,
        value_name = "S",
        default_value_t = 1.0,
        value_parser = seconds,
        requires = "measure"
    )]
    pub(crate) seconds: f64,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The values of `--limits`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LimitsArg {
    /// What every device with WebGPU has
    Default,
    /// wgpu's downlevel defaults, which are enough for the GPU path
    Downlevel,
}

fn bandwidth(text: &str) -> Result<f64, String> {
    within(text, 1e-3..=1e9)
}
