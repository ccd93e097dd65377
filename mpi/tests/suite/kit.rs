//! Running the commands, and the files that they gather from.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

pub(crate) const LIMIT_SECONDS: &str = "240";

pub(crate) fn list(name: &str, default: &str) -> Vec<String> {
    let given = std::env::var(name).unwrap_or_else(|_| default.to_owned());
    given.split(',').map(str::to_owned).collect()
}

pub(crate) fn ranks() -> Vec<usize> {
    let ranks = list("WGPU_GATHER_MPI_RANKS", "1,2,3,4,7");
    ranks
        .iter()
        .map(|n| n.parse().expect("a number of ranks"))
        .collect()
}

/// The arguments that choose each backend.
pub(crate) fn backends() -> Vec<Vec<String>> {
    let backends = list("WGPU_GATHER_MPI_BACKENDS", "cpu,vulkan,gl");
    let arguments = |backend: String| match backend.as_str() {
        "cpu" => vec!["--backend".to_owned(), backend],
        _ => vec!["--adapter".to_owned(), backend],
    };
    backends.into_iter().map(arguments).collect()
}

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_wgpu-gather-mpi");

/// The command without MPI.
pub(crate) fn single() -> PathBuf {
    let default = Path::new(BINARY).with_file_name("wgpu-gather");
    let path = std::env::var_os("WGPU_GATHER_COMMAND").map_or(default, PathBuf::from);
    assert!(
        path.exists(),
        "{}: build the command first (cargo build --package wgpu-gather-cli in the root)",
        path.display()
    );
    path
}

/// `mpirun` with a time limit. Each of `programs` runs on so many ranks.
pub(crate) fn mpirun(programs: &[(usize, Vec<String>)]) -> Output {
    let mut command = Command::new("timeout");
    command.args([LIMIT_SECONDS, "mpirun", "--oversubscribe"]);
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        // There are fewer processors than ranks.
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ] {
        command.env(name, value);
    }
    for (n, (ranks, program)) in programs.iter().enumerate() {
        if n > 0 {
            command.arg(":");
        }
        command.args(["-n", &ranks.to_string()]).args(program);
    }
    let output = command.output().expect("timeout and mpirun run");
    assert_ne!(output.status.code(), Some(124), "it hangs: {programs:?}");
    output
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a run prints, which must succeed.
pub(crate) fn succeeds(output: &Output) -> String {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out
}

/// A `.npy` file of version 1.0.
pub(crate) fn npy(path: &Path, descr: &str, shape: &[usize], data: &[u8]) {
    let dims: String = shape.iter().map(|dim| format!("{dim}, ")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}");
    let padding = 64 - (10 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    let file = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat();
    std::fs::write(path, file).expect("a file");
}

/// Numbers below `n`, the same on every machine.
pub(crate) fn random(seed: u64, n: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    }
}

pub(crate) const ROWS: usize = 1003;
pub(crate) const ROW_BYTES: usize = 14;
pub(crate) const IDS: usize = 5000;

pub(crate) struct Files(pub(crate) TempDir);

impl Files {
    /// A table, and ids that fall into it or around it: patterns by name.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let files = Files(folder);
        let mut byte = random(1, 256);
        let table: Vec<u8> = (0..ROWS * ROW_BYTES).map(|_| byte() as u8).collect();
        npy(
            &files.path("table.npy"),
            "<u2",
            &[ROWS, ROW_BYTES / 2],
            &table,
        );
        for pattern in ["random", "sorted", "same", "bad"] {
            npy(
                &files.path(&format!("{pattern}.npy")),
                "<i8",
                &[IDS / 10, 10],
                bytemuck::cast_slice(&ids(pattern)),
            );
        }
        npy(&files.path("none.npy"), "<i4", &[0], &[]);
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `gather` of the ids of a pattern, with more arguments.
    pub(crate) fn gather(&self, ids: &str, out: &str, more: &[&str]) -> Vec<String> {
        let mut arguments = vec![BINARY.to_owned()];
        arguments.extend(self.arguments(ids, out));
        arguments.extend(more.iter().map(|&argument| argument.to_owned()));
        arguments
    }

    pub(crate) fn arguments(&self, ids: &str, out: &str) -> Vec<String> {
        let path = |name: &str| self.path(name).display().to_string();
        let ids = format!("{ids}.npy");
        [
            "gather",
            "--params",
            &path("table.npy"),
            "--indices",
            &path(&ids),
            "--out",
            &path(out),
        ]
        .map(str::to_owned)
        .to_vec()
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("an output")
    }
}

pub(crate) fn ids(pattern: &str) -> Vec<i64> {
    let mut next = random(2, ROWS as u64);
    // The square makes low rows frequent.
    let mut ids: Vec<i64> = (0..IDS)
        .map(|_| (next() * next() / ROWS as u64) as i64)
        .collect();
    match pattern {
        "sorted" => ids.sort_unstable(),
        "same" => ids.fill(777),
        "bad" => ids
            .iter_mut()
            .step_by(7)
            .for_each(|id| *id -= ROWS as i64 + 5),
        _ => {}
    }
    ids
}
