//! Tensors that lie in no file: numbers on the command line and in texts, stdin, pipes.

use serde_json::{Value, json};

use crate::kit::{Dir, f32s, i32s, npy, one_tensor, split_npy};

/// `p.npy`: the rows 10 11, 20 21 and 30 31.
fn dir() -> Dir {
    let dir = Dir::new();
    dir.put("p.npy", &table());
    dir
}

fn table() -> Vec<u8> {
    npy("<i4", "(3, 2)", &i32s(&[10, 11, 20, 21, 30, 31]))
}

#[test]
fn numbers_on_the_command_line_are_indices() {
    let dir = dir();
    for (indices, shown) in [
        ("--indices 2,0,2", "[[30 31]\n [10 11]\n [30 31]]\n"),
        ("--indices=2,0,2", "[[30 31]\n [10 11]\n [30 31]]\n"),
        ("--indices -1,0", "[[30 31]\n [10 11]]\n"),
        ("--indices=-1,0", "[[30 31]\n [10 11]]\n"),
        ("--indices 1", "[[20 21]]\n"),
        (
            "--indices 0,1;2,0",
            "[[[10 11]\n  [20 21]]\n\n [[30 31]\n  [10 11]]]\n",
        ),
    ] {
        let line = format!("gather --params p.npy {indices} --rules numpy --backend cpu");
        assert_eq!(dir.ok(&line), shown, "{line}");
    }
    let spaced = [
        "gather",
        "--params",
        "p.npy",
        "--indices",
        "2, 0",
        "--backend",
        "cpu",
    ];
    let ran = crate::kit::finish(&mut dir.command(&spaced));
    assert_eq!(ran.stdout, "[[30 31]\n [10 11]]\n", "{ran:?}");
}

#[test]
fn every_operator_takes_numbers() {
    let dir = dir();
    dir.put("u.npy", &npy("<i4", "(2, 2)", &i32s(&[1, 2, 3, 4])));
    for (line, shown) in [
        ("gather-nd --indices 2,1;0,0", "[31 10]\n"),
        ("gather-nd --indices 2,1", "31\n"),
        ("gather-elements --axis 1 --indices 0;1;1", "[10]\n"),
        (
            "embedding-bag --indices 0,1,2 --offsets 0,1",
            "[[10 11]\n [50 52]]\n",
        ),
        (
            "embedding-bag --indices 0,1;2,2 --mode max",
            "[[20 21]\n [30 31]]\n",
        ),
        (
            "scatter --indices -1,0 --updates u.npy --reduce add --rules numpy",
            "[[13 15]\n [20 21]\n [31 33]]\n",
        ),
    ] {
        let ran = dir.run(&format!("{line} --params p.npy --backend cpu"));
        match line.starts_with("gather-elements") {
            // Three numbers on lines of one have one dim; params have two.
            true => assert!(ran.stderr.contains("rank"), "{ran:?}"),
            false => assert_eq!(
                (ran.stdout.as_str(), ran.stderr.as_str()),
                (shown, ""),
                "{line}"
            ),
        }
    }
}

#[test]
fn numbers_are_read_from_texts() {
    let dir = dir();
    dir.put("lines.txt", b"# ids of today\r\n2\r\n0 # the first row\r\n")
        .put("row.txt", b"2 0")
        .put("ids.csv", b"2,0,\n")
        .put("pairs.txt", b"2 0\n1,1\n")
        .put("none.txt", b"");
    for name in ["lines.txt", "row.txt", "ids.csv"] {
        let line = format!("gather --params p.npy --indices @{name} --backend cpu");
        assert_eq!(dir.ok(&line), "[[30 31]\n [10 11]]\n", "{name}");
    }
    let pairs = "gather-nd --params p.npy --indices @pairs.txt --backend cpu";
    assert_eq!(dir.ok(pairs), "[30 21]\n");
    let none = "gather --params p.npy --indices @none.txt --backend cpu";
    assert_eq!(dir.ok(none), "[]\n");
    let said: Value = serde_json::from_str(&dir.ok(&format!("{none} --json"))).unwrap();
    assert_eq!(
        (
            &said["indices_shape"],
            &said["index_type"],
            &said["output_shape"]
        ),
        (&json!([0]), &json!("i64"), &json!([0, 2]))
    );
}

#[test]
fn stdin_holds_one_tensor_or_one_text() {
    let dir = dir();
    let ids = npy("|u1", "(2,)", &[2, 0]);
    let shown = "[[30 31]\n [10 11]]\n";
    for (line, stdin) in [
        ("--params p.npy --indices -", &ids[..]),
        ("--params p.npy --indices @-", b"2\n0\n"),
        ("--params - --indices 2,0", &table()),
    ] {
        let (code, stdout, stderr) = dir.feed(&format!("gather {line} --backend cpu"), stdin);
        assert_eq!((code, stderr.as_str()), (0, ""), "{line}");
        assert_eq!(String::from_utf8(stdout).unwrap(), shown, "{line}");
    }
    let refused = |line: &str, stdin: &[u8], complaint: &str| {
        let (code, stdout, stderr) = dir.feed(&format!("{line} --backend cpu"), stdin);
        assert_eq!((code, stderr.as_str()), (1, complaint), "{line}");
        assert_eq!(stdout, b"", "{line}");
    };
    refused(
        "gather --params - --indices -",
        &ids,
        "error: indices -: stdin holds params - already\n",
    );
    refused(
        "embedding-bag --params p.npy --indices - --offsets @-",
        &ids,
        "error: offsets @-: stdin holds indices - already\n",
    );
    refused(
        "gather --params p.npy --indices -",
        b"2\n0\n",
        "error: indices -: not a .npy file: it does not start with \\x93NUMPY\n  \
         tip: @- reads numbers in text from stdin\n",
    );
    refused(
        "gather --params p.npy --indices @-",
        b"id\n2\n",
        "error: indices @-: line 1: \"id\" is not a whole number (allowed: such as 7, -1)\n",
    );
    refused(
        "gather --params p.npy --indices @-",
        &ids,
        "error: indices @-: not a text of numbers: invalid utf-8 sequence of 1 bytes from index 0\n",
    );
    refused(
        "gather --params p.npy --indices -",
        &ids[..ids.len() - 1],
        "error: indices -: truncated: shape [2] of u8 needs 2 bytes of data, the file has 1\n",
    );
}

#[cfg(unix)]
#[test]
fn pipes_with_a_name_are_read() {
    let dir = dir();
    for (name, indices, content) in [
        ("ids.npy", "ids.npy", npy("|u1", "(2,)", &[2, 0])),
        ("ids", "ids", npy("|u1", "(2,)", &[2, 0])),
        ("text", "@text", b"2 0".to_vec()),
    ] {
        let path = dir.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let writer = std::thread::spawn({
            let path = path.clone();
            move || std::fs::write(path, content)
        });
        let line = format!("gather --params p.npy --indices {indices} --backend cpu");
        assert_eq!(dir.ok(&line), "[[30 31]\n [10 11]]\n", "{name}");
        writer.join().unwrap().unwrap();
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn arrays_go_from_command_to_command() {
    let dir = dir();
    dir.put(
        "m.safetensors",
        &one_tensor("F32", "[2,2]", &f32s(&[1., 2., 3., 4.])),
    );
    let line = "gather --params m.safetensors:t --indices 1 --out - --quiet --backend cpu";
    let (code, row, stderr) = dir.feed(line, b"");
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(split_npy(&row).1, f32s(&[3., 4.]));
    let again = "gather --params - --indices 0,0 --out twice.npy --quiet --backend cpu";
    let (code, stdout, stderr) = dir.feed(again, &row);
    assert_eq!((code, stdout.len(), stderr.as_str()), (0, 0, ""));
    assert_eq!(split_npy(&dir.get("twice.npy")).1, f32s(&[3., 4., 3., 4.]));
}
