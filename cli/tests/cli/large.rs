//! Files beyond memory: sparse tables, of which only what is written takes space on a disk.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::io::Read;
use std::io::{Seek, SeekFrom, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::kit::{Dir, i32s, npy, safetensors, split_npy};
#[cfg(target_os = "linux")]
use crate::kit::{Ran, f32s, gguf, hex};

/// Bytes of a row of the tables.
const ROW: usize = 4096;

/// What the process may hold at most. A table has far more, and an output as much.
#[cfg(target_os = "linux")]
const MOST_RESIDENT: u64 = 400 << 20;

/// Writes a sparse table of `rows` rows of 1,024 numbers that are 0, but for the rows of `marked`,
/// whose numbers are all the row's.
fn table(dir: &Dir, name: &str, rows: usize, marked: &[usize]) {
    let header = match name.ends_with(".npy") {
        true => npy("<i4", &format!("({rows}, 1024)"), &[]),
        false => {
            let end = rows * ROW;
            let tensor = format!(
                r#"{{"t":{{"dtype":"I32","shape":[{rows},1024],"data_offsets":[0,{end}]}}}}"#
            );
            safetensors(&tensor, &[])
        }
    };
    let mut file = File::create(dir.path().join(name)).unwrap();
    file.write_all(&header).unwrap();
    file.set_len((header.len() + rows * ROW) as u64).unwrap();
    for &row in marked {
        let at = header.len() + row * ROW;
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&i32s(&[row as i32; 1024])).unwrap();
    }
}

/// Checks that the file holds the rows at `ids`, if all rows but those of `marked` are 0.
#[cfg(target_os = "linux")]
fn check_rows(dir: &Dir, name: &str, ids: &[i32], marked: &[usize]) {
    let mut file = File::open(dir.path().join(name)).unwrap();
    let all = file.metadata().unwrap().len() as usize;
    let header = all - ids.len() * ROW;
    assert!(header < 1024, "{all} bytes");
    file.seek(SeekFrom::Start(header as u64)).unwrap();
    let mut row = vec![0; ROW];
    for &id in ids {
        file.read_exact(&mut row).unwrap();
        let value = if marked.contains(&(id as usize)) {
            id
        } else {
            0
        };
        assert!(row == i32s(&[value; 1024]), "row {id}");
    }
}

/// The most memory that the process had, as the system tells while it runs.
#[cfg(target_os = "linux")]
fn finish_watched(mut child: Child) -> (Ran, u64) {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let kib = line.and_then(|l| l.trim().strip_suffix(" kB")?.parse().ok());
        peak = kib.unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let ran = Ran {
        code: output.status.code().expect("the command was killed"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    (ran, peak << 10)
}

fn spawn(dir: &Dir, line: &str) -> Child {
    let args: Vec<&str> = line.split_whitespace().collect();
    let mut command = dir.command(&args);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn large_tables_and_outputs_take_little_memory() {
    const ROWS: usize = 1 << 20;
    let marked = [0, 1, 77_777, ROWS / 2, ROWS - 1];
    // Half of the ids lie all over the table of 4 GiB, half in a run of 256 MiB.
    let all_over = (0..1 << 16).map(|n: usize| n * 7_919_317 % ROWS);
    let in_order = 70_000..70_000 + (1 << 16);
    let ids: Vec<i32> = marked
        .into_iter()
        .chain(all_over)
        .chain(in_order)
        .map(|id| id as i32)
        .collect();
    let dir = Dir::new();
    let shape = format!("({},)", ids.len());
    dir.put("i.npy", &npy("<i4", &shape, &i32s(&ids)));
    for name in ["p.npy", "p.safetensors"] {
        table(&dir, name, ROWS, &marked);
        let source = name.replace(".safetensors", ".safetensors:t");
        let rules = "--rules onnx --backend cpu";
        let line = format!("gather --params {source} --indices i.npy --out o.npy {rules} --quiet");
        let (ran, peak) = finish_watched(spawn(&dir, &line));
        let said = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
        assert_eq!(said, (0, "", ""), "{line}");
        println!("{name}: {} MiB at most", peak >> 20);
        assert!(peak > 1 << 20, "not measured");
        assert!(peak < MOST_RESIDENT, "{} MiB resident", peak >> 20);
        check_rows(&dir, "o.npy", &ids, &marked);
    }
}

/// Rows of 1,024 elements in Q8_0, each 32 blocks of a scale and 32 codes, in a file of 4.25 GiB.
#[cfg(target_os = "linux")]
#[test]
fn large_quantised_tables_take_little_memory() {
    const ROWS: usize = 1 << 22;
    let marked = [0, 77_777, ROWS - 1];
    let dir = Dir::new();
    let header = gguf("t", &[ROWS, 1024], 8, &[]);
    let mut file = File::create(dir.path().join("p.gguf")).unwrap();
    file.write_all(&header).unwrap();
    let row_bytes = 32 * 34;
    file.set_len((header.len() + ROWS * row_bytes) as u64)
        .unwrap();
    for (n, row) in marked.into_iter().enumerate() {
        // Scale 1, codes n + 1.
        let block = [&hex("003c")[..], &[n as u8 + 1; 32]].concat();
        file.seek(SeekFrom::Start((header.len() + row * row_bytes) as u64))
            .unwrap();
        file.write_all(&block.repeat(32)).unwrap();
    }
    let all_over = (0..1 << 16).map(|n: usize| n * 7_919_317 % ROWS);
    let ids: Vec<i32> = marked
        .into_iter()
        .chain(all_over)
        .map(|id| id as i32)
        .collect();
    dir.put(
        "i.npy",
        &npy("<i4", &format!("({},)", ids.len()), &i32s(&ids)),
    );
    let line = "gather --params p.gguf:t --indices i.npy --out o.npy --backend cpu --quiet";
    let (ran, peak) = finish_watched(spawn(&dir, line));
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (0, "", ""),
        "{line}"
    );
    println!("p.gguf: {} MiB at most", peak >> 20);
    assert!(peak > 1 << 20, "not measured");
    assert!(peak < MOST_RESIDENT, "{} MiB resident", peak >> 20);
    let output = split_npy(&dir.get("o.npy")).1;
    for (row, id) in output.chunks(ROW).zip(&ids) {
        let mark = marked.iter().position(|&row| row == *id as usize);
        let value = mark.map_or(0.0, |n| n as f32 + 1.0);
        assert!(row == f32s(&[value; 1024]), "row {id}");
    }
}

#[test]
fn an_output_without_space_is_refused_at_once() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("<f4", "(2, 3)", &[0; 24]))
        .put("i.npy", &npy("|u1", "(288230376151711744, 0)", &[]));
    let ran = dir.run("gather-nd --params p.npy --indices i.npy --out o.npy --backend cpu");
    let complaint = "error: output o.npy: no space: 6 EiB are needed, ";
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with(complaint), "{}", ran.stderr);
    assert!(ran.stderr.ends_with(" are free\n"), "{}", ran.stderr);
    assert_eq!(dir.files().len(), 2);
}

#[test]
fn quiet_says_nothing_but_what_is_asked_for() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("|u1", "(3,)", &[1, 2, 3]))
        .put("i.npy", &npy("|i1", "(2,)", &[2, 0]));
    let line = "gather --params p.npy --indices i.npy --out o.npy --backend cpu --quiet";
    assert_eq!(dir.ok(line), "");
    assert_eq!(split_npy(&dir.get("o.npy")).1, [3, 1]);
    assert!(dir.ok(&format!("{line} --json")).starts_with('{'));
    let ran = dir.run(&format!("{line} --axis 1"));
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("error: gather: axis 1"), "{ran:?}");
}

/// Starts a gather that takes a while; returns it once it has written something.
fn long_gather(dir: &Dir) -> Child {
    table(dir, "p.npy", 1 << 22, &[]);
    let ids: Vec<i32> = (0..1 << 20).map(|n| n * 3).collect();
    dir.put("i.npy", &npy("<i4", "(1048576,)", &i32s(&ids)))
        .put("o.npy", b"what was there");
    let child = spawn(
        dir,
        "gather --params p.npy --indices i.npy --out o.npy --backend cpu",
    );
    let started = Instant::now();
    while unfinished(dir) < 1 << 20 {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

/// Bytes of the files that were not there before.
fn unfinished(dir: &Dir) -> u64 {
    let entries = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap);
    let others = entries.filter(|e| {
        let name = e.file_name();
        !["p.npy", "i.npy", "o.npy"].contains(&name.to_str().unwrap())
    });
    // A file may be gone by now.
    others.filter_map(|e| Some(e.metadata().ok()?.len())).sum()
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let dir = Dir::new();
        let child = long_gather(&dir);
        let id = child.id();
        // The shell's own: a small system has no program of that name.
        let sent = std::process::Command::new("sh")
            .args(["-c", &format!("kill -s {signal} {id}")])
            .status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert_eq!((output.stdout, output.stderr), (vec![], vec![]));
        let mut names: Vec<_> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["i.npy", "o.npy", "p.npy"]);
        assert_eq!(dir.get("o.npy"), b"what was there");
    }
}
