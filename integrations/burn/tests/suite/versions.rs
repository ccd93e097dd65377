//! What the compiler says where a tensor is of another burn: the table of versions.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that hands over tensors of another burn, as far as the compiler can see.
const PROGRAM: &str = "
use wgpu_gather_burn::{Gathers, Op, Rules, burn::tensor::{Float, Int, Tensor}};

mod other_burn {
    pub struct Tensor<const D: usize>;
}

pub fn rows(gathers: &Gathers, ids: Tensor<1, Int>) {
    let table = PARAMS;
    let _rows: Tensor<2, Float> = gathers.gather(Op::gather(0), &Rules::TORCH, table, ids).unwrap();
}
";

const WORDS: &str = "wgpu-gather-burn 0.1 goes with burn 0.22, wgpu 30 and wgpu-gather 0.1";

#[test]
fn another_burn_is_a_compile_error_that_says_which_one_fits() {
    let own = PROGRAM.replace("PARAMS", "Tensor::<2, Float>::empty([3, 2], &ids.device())");
    let said = compile(&own, "own");
    assert!(!said.contains("error"), "{said}");

    let other = PROGRAM.replace("PARAMS", "other_burn::Tensor::<2>");
    let said = compile(&other, "other");
    assert!(said.contains(WORDS), "{said}");
    assert!(include_str!("../../src/lib.rs").contains("| 0.1 | 0.22 (from 0.22.1) | 30 | 0.1 |"));
}

/// What the compiler says of a library.
fn compile(program: &str, name: &str) -> String {
    let deps = std::env::current_exe()
        .expect("this test")
        .with_file_name("");
    let scratch = deps.join(format!("versions-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("scratch");
    let source = scratch.join("program.rs");
    std::fs::write(&source, program).expect("a program");
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition=2024",
            "--crate-type=lib",
            "--emit=metadata",
            "--out-dir",
        ])
        .arg(&scratch)
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--extern")
        .arg(format!("wgpu_gather_burn={}", library(&deps).display()))
        .arg(&source)
        .output()
        .expect("rustc");
    std::fs::remove_dir_all(&scratch).expect("scratch");
    String::from_utf8(output.stderr).expect("text")
}

/// The library as this test was built with it: the newest, as each set of features has its own.
fn library(deps: &Path) -> PathBuf {
    let files = std::fs::read_dir(deps).expect("the folder of this test");
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let is_library = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with("libwgpu_gather_burn-") && name.ends_with(".rlib")
    };
    paths
        .filter(is_library)
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
        .expect("the library")
}
