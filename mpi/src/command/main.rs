//! The `wgpu-gather-mpi` command: gathers from a table whose rows lie on the ranks of an MPI program.
//!
//! Every rank runs all of it; what is said is said by rank 0. Whatever fails fails on all ranks, so that
//! none waits for another: see the library's `agree`.

mod args;
mod flat;
mod gather;
mod model;
mod out_file;
mod parts;
mod report;
mod verify;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use gather_mpi::{agree, agree_on_same};
use mpi::Threading;
use mpi::traits::*;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    wgpu_gather_cli::quiet_wayland();
    // A rank that panics would leave the others waiting: MPI ends them all when one aborts.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
    // The executors have threads; only this one speaks to MPI.
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        complain("MPI cannot be initialised");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let speaks = world.rank() == 0;
    let parsed = Cli::try_parse();
    let understood = parsed.as_ref().map(|_| ()).map_err(without_prefix);
    let understood = agree(&world, understood);
    let cli = match (parsed, understood) {
        (Ok(cli), Ok(())) => cli,
        (Ok(_), Err(error)) => {
            if speaks {
                complain(&error.to_string());
            }
            return ExitCode::FAILURE;
        }
        (Err(error), _) => {
            if speaks {
                let _ = error.print();
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    match run(cli.command, &world) {
        Ok(text) => {
            if speaks {
                // A reader that closes the pipe early harms nobody.
                let _ = std::io::stdout().write_all(text.as_bytes());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            if speaks {
                complain(&format!("{error:#}"));
            }
            ExitCode::FAILURE
        }
    }
}

/// What clap says, less what [`complain`] begins with.
fn without_prefix(error: &clap::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("error: ")
        .unwrap_or(&text)
        .trim()
        .to_owned()
}

/// Does what the command says, and returns what there is to print. Errors are the same on every rank.
fn run(command: Command, world: &impl Communicator) -> Result<String> {
    agree_on_same(world, command.name())?;
    match command {
        Command::Gather(args) => gather::run(world, &args),
        Command::Verify(args) => verify::run(world, &args),
        Command::Model(args) => model::run(world, &args),
    }
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "error: {text}");
}
