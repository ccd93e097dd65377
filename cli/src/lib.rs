//! The `wgpu-gather` command: gathers from files, on the GPU or the CPU.
//!
//! A command computes an [`Answer`] and prints nothing itself, so that what goes to stdout and
//! which status the process ends with are decided in one place, and a reader that closes the pipe
//! early harms nobody.
//!
//! A library, because the command for shards (`mpi/`) reads the same files and takes the same
//! arguments: those modules are public. Nothing else is to depend on it.

mod adapters;
mod answer;
mod args;
pub mod backend;
mod bad;
mod bag;
mod bench;
mod call_args;
mod demo;
mod destination;
mod done;
#[cfg(feature = "plots")]
pub mod drawing;
mod explain;
mod features;
mod fill;
pub mod interrupt;
mod named;
mod numbers;
mod operators;
pub mod output;
mod pages;
mod printed;
mod progress;
mod quantized;
mod random;
mod recorded;
pub mod resident;
pub mod rules;
mod run;
mod scatter;
mod show;
pub mod size;
mod stream;
mod tally;
pub mod tensors;
pub mod text;
mod tips;
mod verify;
mod whole;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};

use crate::answer::Answer;
use crate::args::{Cli, Command};
use crate::output::Closed;

/// The command: reads the arguments of the process, prints, and says how to exit.
pub fn main() -> ExitCode {
    quiet_wayland();
    let answer = match answer(Cli::parse().command) {
        Ok(answer) => answer,
        Err(error) => return fail(&error),
    };
    answer.errors().iter().for_each(complain);
    match answer.print() {
        Ok(()) => answer.status(),
        Err(error) => fail(&error),
    }
}

/// Where no display is, wgpu's GL backend still looks for a Wayland one, and libwayland then writes
/// `error: XDG_RUNTIME_DIR is invalid or not set` to stderr, in words that look like ours.
///
/// To be called first: no other thread may exist yet.
pub fn quiet_wayland() {
    const NAME: &str = "XDG_RUNTIME_DIR";
    if cfg!(target_os = "linux") && std::env::var_os(NAME).is_none() {
        #[expect(
            unsafe_code,
            reason = "there is no safe way to set a variable for a library"
        )]
        // SAFETY: this is the first thing that the process does, so no other thread reads or
        // writes the environment.
        unsafe {
            std::env::set_var(NAME, std::env::temp_dir());
        }
    }
}

fn answer(command: Command) -> Result<Answer> {
    match command {
        Command::Operators(operator) => operator.run(),
        Command::Adapters(args) => adapters::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Completions(args) => pages::completions(&args, Cli::command()),
        Command::Man(args) => pages::man(&args, Cli::command()),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    if error.is::<Closed>() {
        return ExitCode::SUCCESS;
    }
    complain(error);
    ExitCode::FAILURE
}

fn complain(error: &anyhow::Error) {
    let mut text = format!("error: {error:#}\n");
    if let Some(tip) = tips::of(error) {
        text += &format!("  tip: {tip}\n");
    }
    // Where stderr is closed too, there is nobody left to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
