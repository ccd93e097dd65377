//! `show`: the tensors of a file, or one of them.

use serde_json::{Value, json};

use crate::kit::{Dir, f32s, gguf, i32s, npy, npy_fortran, safetensors};

const STORED: &[u8] = include_bytes!("../fixtures/stored.npz");

#[test]
fn a_file_of_named_tensors_is_listed() {
    let dir = Dir::new();
    let header = r#"{"b":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"BF16","shape":[3,1],"data_offsets":[2,8]}}"#;
    dir.put("m.safetensors", &safetensors(header, &[0; 8]))
        .put("q.gguf", &gguf("tok.weight", &[3, 32], 8, &[0; 102]));
    assert_eq!(
        dir.ok("show m.safetensors"),
        "name  type                shape\na     bf16                [3, 1]\nb     F8_E4M3 (not read)  [2]\n"
    );
    assert_eq!(
        dir.ok("show q.gguf"),
        "name        type  shape\ntok.weight  Q8_0  [3, 32]\n"
    );
    let said: Value = serde_json::from_str(&dir.ok("show m.safetensors --json")).unwrap();
    assert_eq!(
        said,
        json!([
            {"name": "a", "type": "bf16", "type_in_file": "BF16", "shape": [3, 1]},
            {"name": "b", "type": null, "type_in_file": "F8_E4M3", "shape": [2]},
        ])
    );
}

#[test]
fn a_tensor_is_printed_with_what_its_elements_are_like() {
    let dir = Dir::new();
    dir.put("a.npz", STORED)
        .put(
            "p.npy",
            &npy("<f4", "(2, 2)", &f32s(&[1., 2.5, -3., f32::NAN])),
        )
        .put("f.npy", &npy_fortran("<i4", "(2, 2)", &i32s(&[1, 2, 3, 4])))
        .put("one.npy", &npy("|b1", "()", &[1]))
        .put("none.npy", &npy("<f8", "(0, 3)", &[]))
        .put("raw.npy", &npy("|V2", "(2,)", &[0x80, 0x3f, 0x00, 0xc0]));
    for (line, shown) in [
        (
            "p.npy",
            "f32 [2, 2]; least -3.0, greatest 2.5, mean 0.1666667, 1 NaN\n[[ 1.   2.5]\n [-3.   nan]]\n",
        ),
        (
            "p.npy --precision 0",
            "f32 [2, 2]; least -3.0, greatest 2.5, mean 0.1666667, 1 NaN\n[[ 1.  2.]\n [-3. nan]]\n",
        ),
        (
            "f.npy",
            "i32 [2, 2]; least 1, greatest 4, mean 2.5\n[[1 3]\n [2 4]]\n",
        ),
        (
            "one.npy",
            "bool []; least True, greatest True, mean 1.0\nTrue\n",
        ),
        ("none.npy", "f64 [0, 3]; no elements\n[]\n"),
        (
            "raw.npy --dtype bf16",
            "V2 as bf16 [2]; least -2.0, greatest 1.0, mean -0.5, no NaN\n[ 1. -2.]\n",
        ),
    ] {
        assert_eq!(dir.ok(&format!("show {line}")), shown, "{line}");
    }
    // As numpy.load("stored.npz") has it.
    let shown = "i64 [3]; least 0, greatest 1, mean 0.6666667\n[1 0 1]\n";
    assert_eq!(dir.ok("show a.npz:ids"), shown);
    let (code, stdout, stderr) = dir.feed("show -", &npy("|u1", "(2,)", &[7, 9]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    let shown = "u8 [2]; least 7, greatest 9, mean 8.0\n[7 9]\n";
    assert_eq!(String::from_utf8(stdout).unwrap(), shown);
}

#[test]
fn blocks_are_shown_decoded() {
    let dir = Dir::new();
    // Two rows of a scale of 0.5 and 32 codes.
    let rows = [2u8, 4]
        .map(|code| [&[0x00, 0x38][..], &[code; 32]].concat())
        .concat();
    dir.put("q.gguf", &gguf("t", &[2, 32], 8, &rows));
    let shown = dir.ok("show q.gguf:t");
    let (facts, elements) = shown.split_once('\n').unwrap();
    assert_eq!(
        facts,
        "Q8_0 as f32 [2, 32]; least 1.0, greatest 2.0, mean 1.5, no NaN"
    );
    assert!(elements.starts_with("[[1. 1. 1."), "{elements}");
}

#[test]
fn a_large_tensor_is_shortened_and_json_has_its_facts() {
    let dir = Dir::new();
    let many: Vec<i32> = (0..3000).collect();
    dir.put("l.npy", &npy("<i4", "(3000,)", &i32s(&many)));
    assert_eq!(
        dir.ok("show l.npy"),
        "i32 [3000]; least 0, greatest 2999, mean 1499.5\n[   0    1    2 ... 2997 2998 2999]\n"
    );
    assert!(dir.ok("show l.npy --all").contains(" 1500 "));
    let said: Value = serde_json::from_str(&dir.ok("show l.npy --json")).unwrap();
    assert_eq!(
        said,
        json!({"type": "i32", "shape": [3000], "count": 3000, "least": 0, "greatest": 2999,
               "mean": 1499.5, "nans": 0})
    );
    let said: Value = serde_json::from_str(&dir.ok("show l.npy --json --all")).unwrap();
    assert_eq!(said["elements"].as_array().map(Vec::len), Some(3000));
    assert_eq!(said["elements"][2999], 2999);
}
