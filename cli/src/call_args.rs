//! What the calls on files have in common on the command line.

use std::path::PathBuf;

use clap::Args;
use wgpu_gather::DType;

use crate::backend::BackendArgs;
use crate::rules::RulesArgs;

/// What all calls on files have in common.
#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tensor gathered from, or scattered to: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME or
    /// FILE.gguf:NAME
    #[arg(long, value_name = "P")]
    pub(crate) params: String,
    /// The indices (i8 to i64, u8 to u64): FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME or
    /// FILE.gguf:NAME
    #[arg(long, value_name = "I")]
    pub(crate) indices: String,
    /// The file to write: FILE.npy, or FILE.safetensors (as tensor "output"); it appears whole or
    /// not at all. bf16 has no name in .npy: it is written as raw 2-byte elements (<V2), which
    /// --dtype bf16 reads back
    #[arg(long, value_name = "O")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// The element type of params (of the scales, if there are any) where a .npy or .npz file holds raw
    /// bytes (V2, V4, …): bool, u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64, c64 or c128
    #[arg(long)]
    pub(crate) dtype: Option<DType>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    /// Print one JSON object instead of one line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print neither progress (on stderr: a bar on a terminal, else a line every 5 seconds) nor
    /// the line at the end
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl CallArgs {
    /// Whether the call says anything when it has succeeded.
    pub(crate) fn says_something(&self) -> bool {
        self.json || !self.quiet
    }
}
