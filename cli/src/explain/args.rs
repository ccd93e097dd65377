//! The command line of `explain`.

use clap::{Args, ValueEnum};

use crate::bench::args::{seconds, within};
use crate::bench::shape::ShapeArgs;
use crate::rules::RulesArgs;
use crate::size::Size;

const HELP: &str = "\
Nothing is gathered unless --measure is given: the shapes are enough. Each tensor is taken to lie at
the start of one buffer. `bytes` is the least that the gather has to move between memory and
processor; divided by the bandwidth of the memory, it is the least time.

Examples:
  wgpu-gather explain --op gather --params-shape 30522,384 --indices-shape 16,512 --dtype f16
  wgpu-gather explain --op gather-nd --params-shape 512,512,512 --indices-shape 4096,3 \\
      --bandwidth 3350 --json
  wgpu-gather explain --op gather --params-shape 10000000,64 --indices-shape 2097152 \\
      --limits default --max-gpu-memory 1GiB
  wgpu-gather explain --op gather --params-shape 50000,768 --indices-shape 4096 --measure";

/// `explain`.
#[derive(Args)]
#[command(after_help = HELP, mut_arg("op", |op| op.required(true)))]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
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
