//! What texts show of sessions at a prompt is what the command prints, and the commands that they name exist.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(file: &str) -> String {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    text.replace("\r\n", "\n")
}

fn run(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wgpu-gather"))
        .args(arguments.split_whitespace())
        .current_dir(root())
        .stdin(Stdio::null())
        .env("XDG_RUNTIME_DIR", std::env::temp_dir())
        .output()
        .unwrap()
}

/// The first block of code of a section holds `least` calls or more, with what each prints.
fn check_session(file: &str, section: &str, least: usize) {
    let text = read(file);
    let (_, section) = text.split_once(section).expect("the section");
    let session = section.split("```").nth(1).expect("a session");
    let calls: Vec<&str> = session.split("$ wgpu-gather ").skip(1).collect();
    assert!(calls.len() >= least, "{session}");
    for call in calls {
        let (line, shown) = call.split_once('\n').expect("a line");
        let output = run(line);
        let printed = [output.stdout, output.stderr].concat();
        assert_eq!(String::from_utf8(printed).unwrap(), shown, "{line}");
    }
}

#[test]
fn the_documented_session_is_as_shown() {
    check_session("docs/command.md", "\n## At a prompt\n", 3);
}

#[test]
fn the_session_of_the_readme_is_as_shown() {
    check_session("README.md", "\n## The command\n", 1);
}

/// `demo` itself has a test of its own, and `tests/run.sh` runs this one.
#[test]
fn the_commands_of_the_readme_exist() {
    let text = read("README.md");
    let block = text.split("```sh\n").nth(1).expect("a block");
    let block = block.split("```").next().expect("its end");
    let commands: Vec<&str> = block
        .lines()
        .filter_map(|line| line.split('#').next())
        .collect();
    assert_eq!(commands.len(), 2, "{block}");
    for command in commands {
        match command.trim().strip_prefix("cargo run --release -- ") {
            Some(arguments) => {
                let output = run(&format!("{arguments} --help"));
                assert!(output.status.success(), "{command}");
            }
            None => assert!(root().join(command.trim()).is_file(), "{command}"),
        }
    }
}
