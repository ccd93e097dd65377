//! Outputs against those of the single command, and a table larger than memory.

use std::process::Command;

use serde_json::Value;

use crate::kit::*;

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
    for (ids, preset) in [
        ("random", 4),
        ("sorted", 0),
        ("same", 4),
        ("none", 4),
        ("bad", 0),
        ("bad", 1),
        ("bad", 2),
        ("bad", 3),
    ] {
        let rules = presets[preset];
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
                    // On a software adapter each run takes seconds: there, two calls in one chunk.
                    let is_cpu = backend[1] == "cpu";
                    let call = (ids, preset, partition);
                    if !is_cpu && !matches!(call, ("random", _, "cyclic") | ("bad", 0, "block")) {
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
