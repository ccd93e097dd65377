//! The `wgpu-gather` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    wgpu_gather_cli::main()
}
