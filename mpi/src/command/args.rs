//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use gather_mpi::Options;
use wgpu_gather::DType;
use wgpu_gather::shard::Partition;
use wgpu_gather_cli::backend::BackendArgs;
use wgpu_gather_cli::rules::RulesArgs;
use wgpu_gather_cli::size::Size;

const EXAMPLES: &str = "\
Examples:
  # rows of a table that four ranks share, at the ids of a NumPy array
  mpirun -n 4 wgpu-gather-mpi gather --params table.npy --indices ids.npy --out rows.npy

  # does it give the right bits here? 2,000 random calls on random shards
  mpirun -n 4 wgpu-gather-mpi verify --random 2000

  # what would go over the wire on more ranks, and how long it would take
  mpirun -n 4 wgpu-gather-mpi gather … --json > run.jsonl
  wgpu-gather-mpi model --ranks 16,256,4096 --rows 1000000000000 --row-bytes 512 \\
      --ids 1000000000 --zipf 1.05 --fit run.jsonl --plot model.svg";

/// Gathers along the first axis of a table whose rows lie on the ranks of an MPI program
#[derive(Parser)]
#[command(name = "wgpu-gather-mpi", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Gather from a file of which each rank reads its part, to a file of which each writes its part
    Gather(GatherArgs),
    /// Compare random calls on random shards with the reference, bit for bit
    Verify(VerifyArgs),
    /// Predict messages, bytes and time for other numbers of ranks (needs no mpirun)
    Model(ModelArgs),
}

impl Command {
    /// With its article, for "it has …, but rank 0 has …".
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Gather(_) => "the command gather",
            Command::Verify(_) => "the command verify",
            Command::Model(_) => "the command model",
        }
    }
}

/// `gather`.
#[derive(Args)]
pub(crate) struct GatherArgs {
    /// The table, which every rank can read: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME or
    /// FILE.gguf:NAME
    #[arg(long, value_name = "P")]
    pub(crate) params: String,
    /// The indices, of which each rank takes a contiguous part: as P
    #[arg(long, value_name = "I")]
    pub(crate) indices: String,
    /// The file to write, in a folder that every rank can write to: FILE.npy or FILE.safetensors; it
    /// appears whole or not at all
    #[arg(long, value_name = "O")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// The element type of params where a .npy or .npz file holds raw bytes
    #[arg(long)]
    pub(crate) dtype: Option<DType>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) exchange: ExchangeArgs,
    /// Print one JSON object instead of a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// How rows are spread and exchanged.
#[derive(Args)]
pub(crate) struct ExchangeArgs {
    /// Which rows a rank has
    #[arg(long, value_enum, default_value_t = PartitionArg::Block)]
    pub(crate) partition: PartitionArg,
    /// Whether a row that several indices of a rank select travels once
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub(crate) dedupe: Switch,
    /// Bytes of output that a rank makes at a time: duplicates are found within that
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    pub(crate) chunk: Size,
    /// Bytes of rows that a rank sends, and receives, in one round of the exchange
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    pub(crate) round: Size,
    /// Bytes of a message; longer ones are split (at most 2147483647)
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub(crate) message: Size,
}

impl ExchangeArgs {
    /// As the library has them.
    pub(crate) fn options(&self) -> Options {
        let bytes = |size: Size| usize::try_from(size.0).unwrap_or(usize::MAX);
        Options {
            dedupe: self.dedupe == Switch::On,
            round_bytes: bytes(self.round),
            message_bytes: bytes(self.message),
        }
    }
}

/// The values of `--partition`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartitionArg {
    /// Neighbouring rows
    Block,
    /// Every Nth row, of N ranks
    Cyclic,
}

impl PartitionArg {
    /// The partition of so many rows.
    pub(crate) fn of(self, rows: usize, ranks: usize) -> wgpu_gather::Result<Partition> {
        match self {
            PartitionArg::Block => Partition::even_blocks(rows, ranks),
            PartitionArg::Cyclic => Partition::cyclic(rows, ranks),
        }
    }

    /// As `--partition` takes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            PartitionArg::Block => "block",
            PartitionArg::Cyclic => "cyclic",
        }
    }
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// On
    On,
    /// Off
    Off,
}

/// `verify`.
#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// How many random calls
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = value_parser!(u32).range(1..))]
    pub(crate) random: u32,
    /// Which random calls: the same S gives the same calls on as many ranks
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u32,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    /// Spoil one byte that rank 0 receives in each call, which must be reported
    #[arg(long, hide = true)]
    pub(crate) plant: bool,
}

/// `model`.
#[derive(Args)]
pub(crate) struct ModelArgs {
    /// Numbers of ranks
    #[arg(long, value_name = "N", value_delimiter = ',', required = true,
          value_parser = value_parser!(u32).range(1..=65536))]
    pub(crate) ranks: Vec<u32>,
    /// Rows of the table
    #[arg(long, value_name = "R", value_parser = value_parser!(u64).range(1..=1 << 53))]
    pub(crate) rows: u64,
    /// Bytes of a row
    #[arg(long, value_name = "B", value_parser = value_parser!(u64).range(1..=1 << 40))]
    pub(crate) row_bytes: u64,
    /// How many ids there are, of which each rank has a part; they are random
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1 << 53),
          required_unless_present = "indices")]
    pub(crate) ids: Option<u64>,
    /// The ids themselves, as gather takes them: messages and bytes are then exact
    #[arg(long, value_name = "I", conflicts_with_all = ["ids", "zipf"])]
    pub(crate) indices: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Row r is drawn with a probability in proportion to 1 / (r + 1)^S; without it, all are alike
    #[arg(long, value_name = "S", value_parser = exponent)]
    pub(crate) zipf: Option<f64>,
    #[command(flatten)]
    pub(crate) exchange: ExchangeArgs,
    /// What gather --json printed, in one or more lines, of 2 or more ranks: gives times, too
    #[arg(long, value_name = "FILE")]
    pub(crate) fit: Option<PathBuf>,
    /// Draw it, for 2 ranks up to the largest number
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Print a JSON object for each number of ranks instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

fn exponent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.0..=10.0).contains(&s) => Ok(s),
        _ => Err("allowed: a number from 0 to 10".to_owned()),
    }
}
