//! The examples run, check their own results and end well: on every API of the machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::engines;

#[path = "../../examples/setup/mod.rs"]
mod setup;

/// What Vulkan's validation layer and wgpu print when something is wrong.
const COMPLAINTS: [&str; 3] = ["Validation Error", "Validation Warning", "panicked"];

/// The folder in which `cargo test` puts the examples, beside that of the tests.
fn folder() -> PathBuf {
    let own = std::env::current_exe().expect("the path of the tests");
    let profile = own.ancestors().nth(2).expect("target/debug/deps/suite");
    profile.join("examples")
}

/// The examples that there are: files and folders of `examples/`.
fn names() -> BTreeSet<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let is_example = |path: &PathBuf| path.extension().is_some() || path.join("main.rs").exists();
    let entries = std::fs::read_dir(sources).expect("the folder of examples");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let name = |path: PathBuf| path.file_stem()?.to_str().map(str::to_owned);
    paths.filter(is_example).filter_map(name).collect()
}

/// Runs an example on the API that `backend` names, in `scratch`.
fn run(name: &str, backend: &str, scratch: &Path) -> Output {
    let program = folder().join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{} is not built (cargo build --package wgpu-gather --examples --all-features)",
        program.display()
    );
    let mut command = Command::new(program);
    command.env("WGPU_BACKEND", backend).current_dir(scratch);
    // Older validation layers take debug information for an error: WGSL is not in their list.
    command.env("WGPU_DEBUG", "0");
    command.output().expect("the example starts")
}

fn all_text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|t| String::from_utf8_lossy(t));
    format!("{out}{err}")
}

#[test]
fn examples_find_their_results_right() {
    let names = names();
    assert!(names.len() >= 6, "{names:?}");
    let apis: BTreeSet<_> = engines()
        .iter()
        .map(|e| e.adapter().api.to_string())
        .collect();
    let scratch = std::env::temp_dir().join(format!("wgpu-gather-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a folder for what examples write");
    for api in &apis {
        for name in &names {
            let output = run(name, api, &scratch);
            let text = all_text(&output);
            assert!(output.status.success(), "{name} on {api}: {text}");
            let lines: Vec<&str> = text.lines().collect();
            let says = |what: &str| lines.iter().any(|line| line.starts_with(what));
            assert!(says("adapter: ") && says("ok: "), "{name} on {api}: {text}");
            for complaint in COMPLAINTS {
                assert!(!text.contains(complaint), "{name} on {api}: {text}");
            }
        }
    }
    let picture = scratch.join("target/image_remap.png");
    assert!(apis.is_empty() || picture.exists(), "{}", picture.display());
    std::fs::remove_dir_all(&scratch).expect("the folder was ours");
}

/// The README's program is an example, and so run.
#[test]
fn the_program_of_the_readme_is_the_example_lookup() {
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::read_to_string(path).expect("a text")
    };
    let example = read("examples/lookup.rs");
    let (_, program) = example.split_once("\n\n").expect("its documentation");
    assert!(program.contains("fn main"), "{program}");
    let readme = read("README.md");
    assert!(readme.contains(program), "{program}");
    // What it prints on every API.
    for api in engines().iter().map(|e| e.adapter().api.to_string()) {
        let text = all_text(&run("lookup", &api, &std::env::temp_dir()));
        let printed: Vec<&str> = text.lines().filter(|l| l.starts_with("ok: ")).collect();
        let shown = format!("```text\n{}\n```", printed.join("\n"));
        assert!(readme.contains(&shown), "{api}: {shown}");
    }
}

#[test]
fn without_an_adapter_an_example_says_so() {
    let output = run("top_k", "none", &std::env::temp_dir());
    let text = all_text(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("error: no GPU adapter"), "{text}");
}

#[test]
fn the_check_of_the_examples_reports_what_differs() {
    let refused = |got: &[f32], expected: &[f32]| {
        setup::check("rows", got, expected).unwrap_err().to_string()
    };
    assert!(setup::check("rows", &[1.0, 2.0], &[1.0, 2.0]).is_ok());
    let (odd, short) = ([1.0, 2.5], [1.0]);
    assert_eq!(
        refused(&odd, &[1.0, 2.0]),
        "rows: value 1 is not what the host has"
    );
    assert_eq!(refused(&short, &[1.0, 2.0]), "rows: 1 values, not 2");
    assert_eq!(refused(&[], &[1.0]), "rows: 0 values, not 1");
}
