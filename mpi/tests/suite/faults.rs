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
            good(&["--backend", "cpu", "--rules", "torch"]),
            "it has params",
            "out_of_bounds error",
        ),
        (
            good(&["--backend", "cpu", "--out-of-bounds", "fill=7"]),
            "it has params",
            "but rank 0 has params [1003, 7] u16, indices [500, 10] i64, rules with negative \
             out-of-bounds and out_of_bounds zero",
        ),
        (
            [BINARY, "verify", "--random", "3"]
                .map(str::to_owned)
                .to_vec(),
            "it has the command verify",
            "but rank 0 has the command gather",
        ),
        (
            good(&["--backend", "no"]),
            "invalid value 'no' for '--backend <BACKEND>'",
            "",
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

/// Rank 1 of 2 may map little more memory than it starts with: for its part of the output, and to turn
/// indices that lie in Fortran's order.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_one_rank_lacks_is_an_error_on_all() {
    let files = Files::new();
    npy(&files.path("wide.npy"), "|u1", &[2, 1 << 16], &[7; 2 << 16]);
    npy(
        &files.path("many.npy"),
        "|u1",
        &[2 << 14],
        &vec![1; 2 << 14],
    );
    sparse_fortran(&files.path("turned.npy"), 1 << 13);
    let all = ["--backend", "cpu", "--chunk", "1TiB"];
    let mut wide = files.gather("many", "out.npy", &all);
    wide[3] = files.path("wide.npy").display().to_string();
    let turned = files.gather("turned", "out.npy", &all);
    for (program, bytes, role) in [(wide, 1u64 << 30, "output"), (turned, 1 << 29, "indices")] {
        let limit = format!("ulimit -v {}; exec \"$@\"", LITTLE_KIB);
        let mut little = ["sh", "-c", &limit, "sh"].map(str::to_owned).to_vec();
        little.extend(program.clone());
        let run = mpirun(&[(1, program), (1, little)]);
        let said = text(&run.stderr);
        let expected = format!("error: rank 1: {role}: the host could not allocate {bytes} bytes");
        assert!(!run.status.success(), "{role}");
        assert!(said.contains(&expected), "{expected}\n{said}");
        assert!(!files.path("out.npy").exists());
    }
}

/// Enough to start with, and to map the files.
const LITTLE_KIB: u64 = 1 << 20;

/// So many columns of as many `i64` 0, of which the file has no bytes.
fn sparse_fortran(path: &Path, side: u64) {
    let mut header =
        format!("{{'descr': '<i8', 'fortran_order': True, 'shape': ({side}, {side}), }}");
    header.extend(std::iter::repeat_n(' ', 117 - header.len()));
    header.push('\n');
    let start = [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes()].concat();
    std::fs::write(path, &start).expect("a file");
    let file = std::fs::OpenOptions::new().write(true).open(path);
    let bytes = start.len() as u64 + 8 * side * side;
    file.and_then(|file| file.set_len(bytes))
        .expect("a sparse file");
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
    // Without the tip, which is a line of its own: options are the command's.
    let expected = expected.lines().next().unwrap_or_default();
    let expected = expected.strip_prefix("error: ").expect("an error");
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
