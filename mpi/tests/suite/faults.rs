//! Faults on one rank, which every rank must report and none wait for.

use std::path::Path;
use std::process::Command;

use crate::kit::*;

/// A rank that fails alone: every rank ends, and the error names it. The faults lie on rank 2 of 4.
#[test]
fn a_fault_on_one_rank_is_an_error_on_all() {
    let files = Files::new();
    let good = |more: &[&str]| files.gather("random", "out.npy", more);
    let cpu = &["--backend", "cpu"][..];
    let mut other = files.gather("random", "out.npy", cpu);
    other[3] = files.path("missing.npy").display().to_string();
    let mut faults = vec![
        (other, "params", "No such file or directory"),
        (
            good(&["--adapter", "no such adapter"]),
            "no adapter matches",
            "no such adapter",
        ),
        (
            files.gather("none", "out.npy", cpu),
            "it has params",
            "but rank 0 has params",
        ),
        (
            good(&["--backend", "cpu", "--round", "1000"]),
            "it has Options",
            "round_bytes: 1000",
        ),
        (
            good(&["--backend", "cpu", "--partition", "cyclic"]),
            "it has params",
            "partition block",
        ),
        (
            good(&["--backend", "cpu", "--dtype", "f32"]),
            "params",
            "--dtype f32 is for raw bytes",
        ),
        (
            good(&["--backend", "cpu", "--max-gpu-memory", "1"]),
            "--max-gpu-memory needs",
            "",
        ),
    ];
    for backend in backends() {
        if backend[0] == "--adapter" {
            let full = good(&["--adapter", &backend[1], "--max-gpu-memory", "1KiB"]);
            faults.push((full, "the GPU is out of memory: a shard of", "1024"));
        }
    }
    for (fault, start, within) in &faults {
        let run = mpirun(&[(2, good(cpu)), (1, fault.clone()), (1, good(cpu))]);
        let said = text(&run.stderr);
        assert!(!run.status.success(), "{fault:?}");
        let error = said
            .lines()
            .find(|line| line.starts_with("error: "))
            .unwrap_or_default();
        assert!(
            error.starts_with(&format!("error: rank 2: {start}")),
            "{fault:?}\n{said}"
        );
        assert!(error.contains(within), "{fault:?}\n{said}");
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
        let left = std::fs::read_dir(files.0.path()).expect("the folder");
        let left = left
            .map(|entry| entry.expect("a file").file_name())
            .collect::<Vec<_>>();
        assert!(!left.iter().any(|name| name == "out.npy"), "{left:?}");
        assert!(
            !left
                .iter()
                .any(|name| name.to_string_lossy().contains(".tmp")),
            "{left:?}"
        );
    }
    println!("{} faults on one of 4 ranks", faults.len());
}

/// As the single command has it: the position in the file, and how many are bad in all of it.
#[test]
fn a_bad_index_is_named_by_its_position_in_the_file() {
    let files = Files::new();
    let rules = ["--rules", "torch", "--backend", "cpu"];
    let one = Command::new(single())
        .args(files.arguments("bad", "one.npy"))
        .args(rules)
        .output()
        .expect("the command runs");
    let expected = text(&one.stderr);
    let expected = expected.strip_prefix("error: ").expect("an error").trim();
    for ranks in ranks() {
        let run = mpirun(&[(ranks, files.gather("bad", "out.npy", &rules))]);
        let said = text(&run.stderr);
        let wanted = format!("error: rank 0: {expected}");
        assert!(said.lines().any(|line| line == wanted), "{wanted}\n{said}");
        assert!(!files.path("out.npy").exists());
    }
}

#[test]
fn faults_planted_in_the_library_are_errors_on_all_ranks() {
    let example = Path::new(BINARY).with_file_name("examples").join("faults");
    for ranks in ranks().into_iter().filter(|&ranks| ranks > 1) {
        let run = mpirun(&[(ranks, vec![example.display().to_string()])]);
        print!("{}", succeeds(&run));
    }
}
