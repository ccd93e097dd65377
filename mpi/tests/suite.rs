//! The command and the library under `mpirun`. Each run has a time limit: what hangs fails.
//!
//! `WGPU_GATHER_MPI_RANKS` (default `1,2,3,4,7`) and `WGPU_GATHER_MPI_BACKENDS` (default `cpu,vulkan,gl`)
//! say where; the command without MPI, which makes the files to compare with, is
//! `WGPU_GATHER_COMMAND`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const LIMIT_SECONDS: &str = "240";

fn list(name: &str, default: &str) -> Vec<String> {
    let given = std::env::var(name).unwrap_or_else(|_| default.to_owned());
    given.split(',').map(str::to_owned).collect()
}

fn ranks() -> Vec<usize> {
    let ranks = list("WGPU_GATHER_MPI_RANKS", "1,2,3,4,7");
    ranks
        .iter()
        .map(|n| n.parse().expect("a number of ranks"))
        .collect()
}

/// The arguments that choose each backend.
fn backends() -> Vec<Vec<String>> {
    let backends = list("WGPU_GATHER_MPI_BACKENDS", "cpu,vulkan,gl");
    let arguments = |backend: String| match backend.as_str() {
        "cpu" => vec!["--backend".to_owned(), backend],
        _ => vec!["--adapter".to_owned(), backend],
    };
    backends.into_iter().map(arguments).collect()
}

const BINARY: &str = env!("CARGO_BIN_EXE_wgpu-gather-mpi");

/// The command without MPI.
fn single() -> PathBuf {
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
fn mpirun(programs: &[(usize, Vec<String>)]) -> Output {
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a run prints, which must succeed.
fn succeeds(output: &Output) -> String {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out
}

/// A `.npy` file of version 1.0.
fn npy(path: &Path, descr: &str, shape: &[usize], data: &[u8]) {
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
fn random(seed: u64, n: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    }
}

const ROWS: usize = 1003;
const ROW_BYTES: usize = 14;
const IDS: usize = 5000;

struct Files(TempDir);

impl Files {
    /// A table, and ids that fall into it or around it: patterns by name.
    fn new() -> Self {
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

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `gather` of the ids of a pattern, with more arguments.
    fn gather(&self, ids: &str, out: &str, more: &[&str]) -> Vec<String> {
        let mut arguments = vec![BINARY.to_owned()];
        arguments.extend(self.arguments(ids, out));
        arguments.extend(more.iter().map(|&argument| argument.to_owned()));
        arguments
    }

    fn arguments(&self, ids: &str, out: &str) -> Vec<String> {
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

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("an output")
    }
}

fn ids(pattern: &str) -> Vec<i64> {
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

#[test]
fn files_are_those_of_the_single_command_byte_for_byte() {
    let files = Files::new();
    let presets: [&[&str]; 5] = [
        &["--rules", "tensorflow-gpu"],
        &["--out-of-bounds", "fill=7", "--negative", "from-end"],
        &["--rules", "jax-clip"],
        &["--rules", "numpy-wrap"],
        &["--rules", "onnx"],
    ];
    let small = ["--chunk", "9KiB", "--round", "1000", "--message", "61"];
    let mut runs = 0;
    for (ids, rules) in [
        ("random", 4),
        ("sorted", 0),
        ("same", 4),
        ("none", 4),
        ("bad", 0),
        ("bad", 1),
        ("bad", 2),
        ("bad", 3),
    ] {
        let rules = presets[rules];
        let made = Command::new(single())
            .args(files.arguments(ids, "one.npy"))
            .args(["--backend", "cpu"])
            .args(rules)
            .output()
            .expect("the command runs");
        succeeds(&made);
        let expected = files.read("one.npy");
        for ranks in ranks() {
            for backend in backends() {
                for partition in ["block", "cyclic"] {
                    let backend: Vec<&str> = backend.iter().map(String::as_str).collect();
                    // On a software adapter each run takes a second: there, two calls in one chunk.
                    let is_cpu = backend[1] == "cpu";
                    if !is_cpu
                        && !matches!((ids, partition), ("random", "cyclic") | ("bad", "block"))
                    {
                        continue;
                    }
                    let sizes: &[&str] = if is_cpu { &small } else { &[] };
                    let more = [rules, &backend, &["--partition", partition], sizes].concat();
                    succeeds(&mpirun(&[(ranks, files.gather(ids, "out.npy", &more))]));
                    assert_eq!(
                        files.read("out.npy"),
                        expected,
                        "{ranks} ranks {ids} {more:?}"
                    );
                    std::fs::remove_file(files.path("out.npy")).expect("the output");
                    runs += 1;
                }
            }
        }
    }
    println!("{runs} files, each as the single command's");
}

/// Counted from the definitions: who owns a row, and which rows a rank asks others for.
#[test]
fn bytes_on_the_wire_are_those_of_the_model_and_deduplication_saves_the_duplicates() {
    let files = Files::new();
    for ranks in ranks().into_iter().filter(|&ranks| ranks > 1) {
        for (partition, dedupe, sizes) in [
            ("block", "on", &["--chunk", "1GiB"][..]),
            ("block", "off", &["--chunk", "1GiB"]),
            ("cyclic", "on", &["--chunk", "1GiB"]),
            ("cyclic", "off", &["--chunk", "1GiB"]),
            (
                "cyclic",
                "on",
                &["--chunk", "9KiB", "--round", "1000", "--message", "61"],
            ),
        ] {
            let how = [
                &["--partition", partition, "--dedupe", dedupe, "--json"],
                sizes,
            ]
            .concat();
            let more = [&how[..], &["--backend", "cpu"]].concat();
            let printed = succeeds(&mpirun(&[(
                ranks,
                files.gather("random", "out.npy", &more),
            )]));
            let run: Value = serde_json::from_str(&printed).expect("JSON");
            let modelled = Command::new(BINARY)
                .args([
                    "model",
                    "--ranks",
                    &ranks.to_string(),
                    "--rows",
                    &ROWS.to_string(),
                ])
                .args(["--row-bytes", &ROW_BYTES.to_string(), "--indices"])
                .arg(files.path("random.npy"))
                .args(&how)
                .output()
                .expect("the model runs");
            let modelled: Value = serde_json::from_str(&succeeds(&modelled)).expect("JSON");
            for key in ["wire", "duplicates", "chunks", "rounds"] {
                assert_eq!(run[key], modelled[key], "{key} on {ranks} ranks, {how:?}");
            }
            assert_eq!(
                run["received_bytes"].as_u64(),
                Some(sum(&run, "id_bytes") + sum(&run, "row_bytes"))
            );
            if sizes.len() == 2 {
                let asked = asked_of_others(ranks, partition, dedupe == "on");
                assert_eq!(sum(&run, "row_bytes"), asked * ROW_BYTES as u64, "{how:?}");
                assert_eq!(sum(&run, "id_bytes"), asked * 8, "{how:?}");
            }
        }
    }
}

fn sum(run: &Value, key: &str) -> u64 {
    run["wire"][key].as_u64().expect("a number")
}

/// How many rows all ranks ask others for.
fn asked_of_others(ranks: usize, partition: &str, once: bool) -> u64 {
    let owner = |row: usize| match partition {
        "cyclic" => row % ranks,
        _ => {
            let (each, more) = (ROWS / ranks, ROWS % ranks);
            let ends = (0..ranks).scan(0, |end, rank| {
                *end += each + usize::from(rank < more);
                Some(*end)
            });
            ends.take_while(|&end| end <= row).count()
        }
    };
    let ids = ids("random");
    let (each, more) = (IDS / ranks, IDS % ranks);
    let (mut asked, mut start) = (0, 0);
    for rank in 0..ranks {
        let end = start + each + usize::from(rank < more);
        let rows = ids[start..end].iter().map(|&id| id as usize);
        let others: Vec<usize> = rows.filter(|&row| owner(row) != rank).collect();
        asked += match once {
            true => others.iter().collect::<HashSet<_>>().len(),
            false => others.len(),
        };
        start = end;
    }
    asked as u64
}

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

#[test]
fn random_calls_agree_with_the_reference() {
    let cases = std::env::var("WGPU_GATHER_MPI_CASES").unwrap_or_else(|_| "2000".to_owned());
    for ranks in ranks() {
        for backend in backends() {
            // Each call makes a table, which takes a software adapter long.
            let cases = if backend[1] == "cpu" {
                cases.as_str()
            } else {
                "40"
            };
            let verify = [BINARY, "verify", "--random", cases].map(str::to_owned);
            let run = mpirun(&[(ranks, [&verify[..], &backend].concat())]);
            print!("{}", succeeds(&run));
        }
    }
}

#[test]
fn a_wrong_byte_on_one_rank_is_reported() {
    let verify = [
        BINARY,
        "verify",
        "--random",
        "20",
        "--backend",
        "cpu",
        "--plant",
    ];
    let run = mpirun(&[(3, verify.map(str::to_owned).to_vec())]);
    assert!(!run.status.success());
    assert!(text(&run.stderr).contains("rank 0: other bits than the reference"));
}

/// A sparse file of 20 GiB: no rank holds more than it asked for and what it may have of a file.
#[test]
fn a_table_larger_than_memory_is_gathered_within_bounds() {
    const BYTES: u64 = 20 << 30;
    const ROW: u64 = 512;
    let files = Files::new();
    let rows = BYTES / ROW;
    let table = files.path("table.npy");
    npy(&table, "<f4", &[rows as usize, 128], &[]);
    let data = std::fs::metadata(&table).expect("the table").len();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&table)
        .expect("the table");
    file.set_len(data + BYTES).expect("a sparse file");
    // A few rows that are not zeros, and random ones that are.
    let marked = [0, rows / 3, rows - 1];
    for (n, &row) in marked.iter().enumerate() {
        use std::os::unix::fs::FileExt;
        let bytes = vec![n as u8 + 1; ROW as usize];
        file.write_all_at(&bytes, data + row * ROW).expect("a row");
    }
    let mut next = random(3, 1 << 31);
    let mut ids: Vec<i64> = (0..60_000).map(|_| (next() * 31 % rows) as i64).collect();
    let last = ids.len() - 1;
    for (at, row) in [(1, marked[0]), (last / 2, marked[1]), (last, marked[2])] {
        ids[at] = row as i64;
    }
    npy(
        &files.path("many.npy"),
        "<i8",
        &[ids.len()],
        bytemuck::cast_slice(&ids),
    );
    let more = ["--backend", "cpu", "--chunk", "4MiB", "--json"];
    for partition in ["block", "cyclic"] {
        let more = [&more[..], &["--partition", partition]].concat();
        let printed = succeeds(&mpirun(&[(4, files.gather("many", "out.npy", &more))]));
        let run: Value = serde_json::from_str(&printed).expect("JSON");
        let peak = run["peak_bytes_of_a_rank"].as_u64().expect("a number");
        println!("20 GiB over 4 ranks, {partition}: at most {peak} bytes resident on one");
        assert!(peak < 400 << 20, "{peak}");
        let output = files.read("out.npy");
        let rows_at =
            |at: usize| &output[output.len() - (ids.len() - at) * ROW as usize..][..ROW as usize];
        assert!(rows_at(1).iter().all(|&byte| byte == 1));
        assert!(rows_at(last / 2).iter().all(|&byte| byte == 2));
        assert!(rows_at(last).iter().all(|&byte| byte == 3));
        let zeros = output[output.len() - ids.len() * ROW as usize..]
            .iter()
            .filter(|&&b| b == 0);
        assert!(zeros.count() > (ids.len() - 10) * ROW as usize);
    }
}

#[test]
fn a_model_of_many_ranks_is_drawn() {
    let files = Files::new();
    let svg = files.path("model.svg");
    let model = |more: &[&str]| {
        let base = [
            "model",
            "--ranks",
            "16,4096",
            "--rows",
            "1000000000000",
            "--row-bytes",
            "512",
        ];
        let made = Command::new(BINARY)
            .args(base)
            .args(["--ids", "100000000", "--json"])
            .args(more)
            .output()
            .expect("the model runs");
        let lines = succeeds(&made);
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect::<Vec<Value>>()
    };
    let plot = svg.display().to_string();
    let uniform = model(&["--plot", &plot]);
    assert!(
        std::fs::read_to_string(&svg)
            .expect("an SVG")
            .contains("<svg")
    );
    let zipf = model(&["--zipf", "1.05"]);
    let off = model(&["--zipf", "1.05", "--dedupe", "off"]);
    // So many rows that hardly one is drawn twice; and by Zipf's law, many.
    let ids = 100_000_000.0;
    let share = |p: &Value| p["duplicates"].as_f64().expect("a number") / ids;
    assert!(share(&uniform[1]) < 0.001 && share(&zipf[0]) > 0.3);
    // All but the 16th or 4096th part of the rows is another rank's.
    for (p, ranks) in off.iter().zip([16.0, 4096.0]) {
        let sent = p["wire"]["id_bytes"].as_f64().expect("a number");
        let expected = 8.0 * ids * (ranks - 1.0) / ranks;
        assert!((sent / expected - 1.0).abs() < 1e-6, "{sent} {expected}");
    }
}
