//! What the calls on files have in common on the command line.

use clap::Args;
use wgpu_gather::{DType, Op};

use crate::backend::BackendArgs;
use crate::rules::RulesArgs;

/// Below the help of the command and of each gather.
pub(crate) const EXAMPLES: &str = "\
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

/// Attributes of an operator on the command line.
pub(crate) trait Operator: Args {
    /// The gather that has them.
    fn op(&self) -> Op;
}

/// The two tensors that every call reads. They come first in the help.
#[derive(Args)]
pub(crate) struct InputArgs {
    /// The tensor gathered from, or scattered to: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME,
    /// FILE.gguf:NAME, or - for a .npy file on stdin
    #[arg(long, value_name = "P")]
    pub(crate) params: String,
    /// The indices: numbers such as 0,2,-1; @FILE, a text of numbers, one or many on a line; a file as for
    /// params, of integers (i8 to i64, u8 to u64); - for a .npy file on stdin, @- for a text. Lines of
    /// several numbers, or '0,1;2,3', are rows
    #[arg(long, value_name = "I", allow_hyphen_values = true)]
    pub(crate) indices: String,
}

/// Where the result goes.
#[derive(Args)]
pub(crate) struct OutArgs {
    /// What to write: FILE.npy, FILE.safetensors (as tensor "output"), FILE.csv or FILE.txt (numbers for
    /// people, a line for each row), or - for .npy on stdout [default: print the result]. A file appears
    /// whole or not at all. bf16 has no name in .npy: it is written as raw 2-byte elements (<V2), which
    /// --dtype bf16 reads back
    #[arg(long, value_name = "O")]
    pub(crate) out: Option<String>,
}

/// How numbers are written.
#[derive(Args)]
#[command(next_help_heading = "What is printed")]
pub(crate) struct PrintArgs {
    /// Print every element, not only the ends of the dims of a tensor of more than 1,000
    #[arg(long)]
    pub(crate) all: bool,
    /// Digits after the point: at most N where a tensor is printed [default: 8], just N in .csv and .txt
    /// files [default: as many as the element type needs]
    #[arg(long, value_name = "N", value_parser = precision)]
    pub(crate) precision: Option<usize>,
}

/// Digits of an f64 whose exponent is the least, at most.
const MOST_DIGITS: usize = 1074;

fn precision(text: &str) -> Result<usize, String> {
    let digits = text.parse().ok().filter(|&digits| digits <= MOST_DIGITS);
    digits.ok_or_else(|| format!("allowed: 0..={MOST_DIGITS}"))
}

/// What all calls on files have in common besides their tensors.
#[derive(Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) types: TypeArgs,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// What files do not say of their elements.
#[derive(Args)]
#[command(next_help_heading = "Element types")]
pub(crate) struct TypeArgs {
    /// The element type of params (of the scales, if there are any) where a .npy or .npz file holds raw
    /// bytes (V2, V4, …): bool, u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64, c64 or c128
    #[arg(long)]
    pub(crate) dtype: Option<DType>,
}

/// What is said of a call.
#[derive(Args)]
#[command(next_help_heading = "What is printed")]
pub(crate) struct ReportArgs {
    /// Print one JSON object: what was done, and the output as nested arrays if it is not written to a file
    #[arg(long)]
    pub(crate) json: bool,
    /// Print neither progress (on stderr: a bar on a terminal, else a line every 5 seconds), nor the line
    /// at the end, nor that indices were out of bounds
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl ReportArgs {
    /// Whether the call says anything when it has succeeded.
    pub(crate) fn says_something(&self) -> bool {
        self.json || !self.quiet
    }
}
