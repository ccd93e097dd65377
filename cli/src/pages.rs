//! Completions for shells and pages of the manual, made from the command line itself.

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::answer::Answer;

/// The name of the program, for files of completions and pages.
const PROGRAM: &str = "wgpu-gather";

/// `completions`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  wgpu-gather completions bash > ~/.local/share/bash-completion/completions/wgpu-gather
  wgpu-gather completions zsh > \"${fpath[1]}/_wgpu-gather\"
  wgpu-gather completions fish > ~/.config/fish/completions/wgpu-gather.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// `man`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  wgpu-gather man | man -l -
  wgpu-gather man gather > ~/.local/share/man/man1/wgpu-gather-gather.1")]
pub(crate) struct ManArgs {
    /// The command that the page is of [default: all of it, with a list of the commands]
    command: Option<String>,
}

/// The script that completes `cli` in a shell.
pub(crate) fn completions(args: &CompletionsArgs, mut cli: Command) -> Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli, PROGRAM, &mut script);
    Ok(Answer::good(String::from_utf8(script)?))
}

/// A page of the manual of `cli`, as roff.
pub(crate) fn man(args: &ManArgs, mut cli: Command) -> Result<Answer> {
    cli.build();
    let page = match &args.command {
        None => cli,
        Some(name) => {
            let commands = cli.get_subcommands().map(Command::get_name);
            let allowed = commands.collect::<Vec<_>>().join(", ");
            let found = cli.find_subcommand(name).with_context(|| {
                format!("man: there is no command \"{name}\" (allowed: {allowed})")
            })?;
            found.clone().display_name(format!("{PROGRAM}-{name}"))
        }
    };
    let mut roff = Vec::new();
    Man::new(page).render(&mut roff)?;
    Ok(Answer::good(String::from_utf8(roff)?))
}
