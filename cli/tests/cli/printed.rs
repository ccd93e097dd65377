//! Results that are printed, go to stdout, or into files for people.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::{Dir, Ran, f32s, i32s, npy, split_npy};

/// `p.npy`: 3 rows of 2 floats; `long.npy`: 2000 integers, from 0 on.
fn dir() -> Dir {
    let dir = Dir::new();
    let long: Vec<i32> = (0..2000).collect();
    dir.put(
        "p.npy",
        &npy("<f4", "(3, 2)", &f32s(&[1., 2.5, -3., 10.25, 0.1, 6.])),
    )
    .put("long.npy", &npy("<i4", "(1000, 2)", &i32s(&long)));
    dir
}

fn gather(dir: &Dir, line: &str) -> Ran {
    dir.run(&format!("gather {line} --backend cpu"))
}

#[test]
fn without_a_file_the_result_is_printed() {
    let dir = dir();
    let ran = gather(&dir, "--params p.npy --indices 0,1,2");
    // As print(numpy.load("p.npy")).
    let shown = "[[ 1.    2.5 ]\n [-3.   10.25]\n [ 0.1   6.  ]]\n";
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, shown, "")
    );
    let ran = gather(&dir, "--params p.npy --indices 1 --precision 1");
    assert_eq!(ran.stdout, "[[-3.  10.2]]\n");
}

#[test]
fn many_elements_are_shortened_unless_all_are_asked_for() {
    let dir = dir();
    let ids: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    dir.put("ids.txt", ids.join("\n").as_bytes());
    let ran = gather(&dir, "--params long.npy --indices @ids.txt");
    // As print(numpy.arange(2000).reshape(1000, 2)).
    let shown = "[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [1994 1995]\n [1996 1997]\n [1998 1999]]\n";
    assert_eq!(ran.stdout, shown);
    let ran = gather(&dir, "--params long.npy --indices @ids.txt --all");
    assert_eq!(ran.stdout.lines().count(), 1000);
    assert!(ran.stdout.contains("\n [ 998  999]\n"), "{}", ran.stdout);
}

#[test]
fn bad_indices_are_noted_beside_the_result() {
    let dir = dir();
    let ran = gather(&dir, "--params p.npy --indices 0,7,-1");
    assert_eq!(ran.stdout, "[[1.  2.5]\n [0.  0. ]\n [0.  0. ]]\n");
    assert_eq!(
        ran.stderr,
        "note: 2 out of bounds: zeros (first: indices[1] = 7, params axis 0 has extent 3)\n"
    );
    let quiet = gather(&dir, "--params p.npy --indices 0,7,-1 --quiet");
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (ran.stdout, ""));
}

#[test]
fn json_has_the_result_in_nested_arrays() {
    let dir = dir();
    let ran = gather(
        &dir,
        "--params p.npy --indices 2,9 --out-of-bounds fill=nan --json",
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["output"], json!([[0.1, 6.0], [null, null]]));
    assert_eq!(
        (&said["out"], &said["bad_indices"]["count"]),
        (&Value::Null, &json!(1))
    );
    let ran = gather(&dir, "--params p.npy --indices 2 --json --out o.npy");
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&said["out"], said.get("output")), (&json!("o.npy"), None));
}

#[test]
fn stdout_has_the_array_and_nothing_else() {
    let dir = dir();
    let (code, stdout, stderr) = dir.feed(
        "gather --params p.npy --indices 1,9 --out - --backend cpu",
        b"",
    );
    assert_eq!(code, 0);
    let (dict, data) = split_npy(&stdout);
    assert_eq!(
        dict,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
    );
    assert_eq!(data, f32s(&[-3., 10.25, 0., 0.]));
    assert!(
        stderr.starts_with("gather: params [3, 2] f32, indices [2] i64 -> output"),
        "{stderr}"
    );
    assert!(
        stderr.contains("; 1 out of bounds: zeros (first: indices[1] = 9"),
        "{stderr}"
    );
    let json = "gather --params p.npy --indices 1 --out - --backend cpu --json";
    let (_, stdout, stderr) = dir.feed(json, b"");
    assert_eq!(split_npy(&stdout).1, f32s(&[-3., 10.25]));
    let said: Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(said["out"], "-");
    assert_eq!(dir.files().len(), 2, "a file was written");
}

#[test]
fn texts_have_a_line_for_each_row() {
    let dir = dir();
    let line = "--params p.npy --indices 0,1;2,7 --quiet";
    for (out, text) in [
        ("o.csv", "1.0,2.5\n-3.0,10.25\n0.1,6.0\n0.0,0.0\n"),
        ("o.txt", "1.0 2.5\n-3.0 10.25\n0.1 6.0\n0.0 0.0\n"),
        (
            "o.csv --precision 1",
            "1.0,2.5\n-3.0,10.2\n0.1,6.0\n0.0,0.0\n",
        ),
        ("o.txt --precision 0", "1 2\n-3 10\n0 6\n0 0\n"),
    ] {
        let ran = gather(&dir, &format!("{line} --out {out}"));
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", "")
        );
        let name = out.split(' ').next().unwrap();
        assert_eq!(String::from_utf8(dir.get(name)).unwrap(), text, "{out}");
    }
    // What was written as text can be read as indices.
    gather(&dir, "--params long.npy --indices 0,499 --out ids.txt");
    assert_eq!(dir.get("ids.txt"), b"0 1\n998 999\n");
    let ran = gather(&dir, "--params long.npy --indices @ids.txt");
    assert_eq!(
        ran.stdout,
        "[[[   0    1]\n  [   2    3]]\n\n [[1996 1997]\n  [1998 1999]]]\n"
    );
}

#[test]
fn a_text_that_exists_is_replaced_whole_or_not_at_all() {
    let dir = dir();
    dir.put("o.csv", b"as it was");
    let ran = gather(&dir, "--params p.npy --indices 9 --rules torch --out o.csv");
    assert_eq!(ran.code, 1);
    assert_eq!(dir.get("o.csv"), b"as it was");
    assert_eq!(dir.files().len(), 3, "something is left behind");
}

#[test]
fn a_reader_that_has_enough_ends_the_call_in_peace() {
    let dir = dir();
    let ids = "0\n".repeat(200_000);
    dir.put("ids.txt", ids.as_bytes());
    for out in [&["--out", "-"][..], &["--all"], &["--json"]] {
        let args = [
            "gather",
            "--params",
            "long.npy",
            "--indices",
            "@ids.txt",
            "--backend",
            "cpu",
        ];
        let mut child = dir
            .command(&args)
            .args(out)
            .arg("--quiet")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 6];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{out:?}");
        assert!(output.status.success(), "{out:?}");
    }
}

/// `script` gives the command a terminal.
#[cfg(target_os = "linux")]
#[test]
fn an_array_is_not_written_to_a_terminal() {
    let dir = dir();
    let exe = env!("CARGO_BIN_EXE_wgpu-gather");
    let line = format!("{exe} gather --params p.npy --indices 1 --out - --backend cpu");
    let mut script = std::process::Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(dir.path());
    let output = match script.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => {
            println!("SKIPPED: script: {error}");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert_eq!(
        text,
        "error: output -: stdout is a terminal, and .npy is not text (leave out --out to print the \
         result)\n"
    );
}
