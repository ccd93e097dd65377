//! The command line: what may be said and how `--help` explains it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};

use crate::backend::BackendArgs;
use crate::bag::EmbeddingBagArgs;
use crate::bench::args::BenchArgs;
use crate::call_args::{CallArgs, InputArgs, OutArgs};
use crate::explain::args::ExplainArgs;
use crate::operator::{Elements, Operator, Slices, Tuples};
use crate::pages::{CompletionsArgs, ManArgs};
use crate::quantized::QuantizedArgs;
use crate::random::Kind;
use crate::scatter::ScatterArgs;
use crate::show::ShowArgs;

const EXAMPLES: &str = "\
Examples:
  # what a file holds, and rows of a tensor of it: the first, the third and the last, printed
  wgpu-gather show model.safetensors
  wgpu-gather gather --params model.safetensors:embeddings.word_embeddings.weight \\
      --indices 0,2,-1 --rules numpy

  # ids out of a pipe, rows into one
  seq 0 9 | wgpu-gather gather --params table.npy --indices @- --out - | wgpu-gather show -

  # rows of an embedding table in a checkpoint, at the ids of a NumPy array
  wgpu-gather gather --params model.safetensors:embeddings.word_embeddings.weight \\
      --indices ids.npy --out rows.npy

  # rows of a quantized table in a file of llama.cpp, as f16
  wgpu-gather gather --params model.gguf:token_embd.weight --to f16 \\
      --indices ids.npy --out rows.npy

  # torch.gather along the last axis, errors for bad indices as torch gives them
  wgpu-gather gather-elements --axis -1 --rules torch \\
      --params scores.npz:scores --indices order.npz:order --out sorted.npy

  # ONNX GatherND on a given adapter, with a report for scripts
  wgpu-gather gather-nd --rules onnx --backend gpu --adapter vulkan --json \\
      --params volume.npy --indices points.npy --out values.safetensors

  # the sum of the rows of each bag, and updates added to rows in the order of the ids
  wgpu-gather embedding-bag --params table.npy --indices ids.npy --offsets starts.npy --out sums.npy
  wgpu-gather scatter --reduce add --rules torch \\
      --params table.npy --indices ids.npy --updates updates.npy --out table2.npy

  # does this GPU give the right bits? 2,400 built-in calls, then a million random ones, in builds
  # with the cargo feature `random`
  wgpu-gather verify --backend gpu
  wgpu-gather verify --backend gpu --random 1000000
  wgpu-gather verify --backend gpu --random 5000 --large

Memory:
  .npy, .safetensors and .gguf files are mapped and the output is written as it is made, so that
  both may be larger than memory: on Linux, --backend cpu has at most 400 MiB resident. In addition, .npz
  arrays are held whole, 8- and 16-bit indices are widened to 32 bits, and a GPU's driver takes memory;
  --backend reference holds the whole output";

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

/// `gather`, `gather-nd` and `gather-elements`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GatherArgs<O: Operator> {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) to: OutArgs,
    #[command(flatten)]
    pub(crate) attributes: O,
    #[command(flatten)]
    pub(crate) call: CallArgs,
    #[command(flatten)]
    pub(crate) quantized: QuantizedArgs,
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
