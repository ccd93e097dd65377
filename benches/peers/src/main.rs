//! The cases of `wgpu-gather bench`, against other libraries on the same machine. README.md says
//! how to run it and what is compared.

mod args;
mod folds;
mod gather;
mod line;
mod ours;
mod peers;
mod race;
mod run;
mod serve;
mod table;
mod task;

/// What the command measures: the same cases, the same indices, the same bytes.
#[allow(
    dead_code,
    reason = "these are modules of the command, which needs more of them"
)]
#[path = "../../../cli/src/bench"]
mod bench {
    pub(crate) mod case;
    pub(crate) mod cases;
    pub(crate) mod inputs;
    pub(crate) mod moved;
    pub(crate) mod pattern;
    pub(crate) mod traffic;
    pub(crate) mod values;
    pub(crate) mod verb;
}

use anyhow::Result;
use clap::Parser;

use args::{Args, Command};

fn main() -> Result<()> {
    match Args::parse().command {
        Command::Cpu(args) => run::cpu(&args),
        Command::Gpu(args) => run::gpu(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Folds(args) => match &args.serve {
            Some(folder) => folds::serve(folder, &args.case),
            None => folds::run(&args),
        },
        Command::Table(args) => table::print(&args.files),
        Command::FoldsTable(args) => folds::print_table(&args.files),
    }
}
