//! What a call means: operators, index types, rules.

use serde_json::{Value, json};

use crate::kit::{Dir, f32s, hex, i32s, i64s, npy, split_npy};

/// A directory with `p.npy`, which holds 10 to 13 and 20 to 23 as i32.
fn two_rows() -> Dir {
    let dir = Dir::new();
    dir.put(
        "p.npy",
        &npy("<i4", "(2, 4)", &i32s(&[10, 11, 12, 13, 20, 21, 22, 23])),
    );
    dir
}

/// The output of a call on both CPU executors, which must be the same.
fn gathered(dir: &Dir, line: &str) -> Vec<u8> {
    let run = |backend: &str| {
        dir.ok(&format!(
            "{line} --params p.npy --out o.npy --backend {backend}"
        ));
        dir.get("o.npy")
    };
    let (cpu, reference) = (run("cpu"), run("reference"));
    assert_eq!(cpu, reference, "{line}");
    split_npy(&cpu).1
}

#[test]
fn axes_and_batch_dims() {
    let dir = two_rows();
    dir.put("i.npy", &npy("<i4", "(2, 1)", &i32s(&[3, 1])));
    let outputs: [(&str, &[i32]); 5] = [
        ("gather", &[0, 0, 0, 0, 20, 21, 22, 23]),
        ("gather --axis 1", &[13, 11, 23, 21]),
        ("gather --axis -1", &[13, 11, 23, 21]),
        ("gather --batch-dims 1", &[13, 21]),
        ("gather --batch-dims -1 --axis=-1", &[13, 21]),
    ];
    for (line, expected) in outputs {
        let line = format!("{line} --indices i.npy");
        assert_eq!(gathered(&dir, &line), i32s(expected), "{line}");
    }
}

#[test]
fn gather_nd_and_gather_elements() {
    let dir = two_rows();
    dir.put("pairs.npy", &npy("<i4", "(2, 2)", &i32s(&[1, 2, 0, 3])))
        .put("columns.npy", &npy("<i4", "(2, 1)", &i32s(&[1, 0])))
        .put(
            "rows.npy",
            &npy("<i4", "(3, 2)", &i32s(&[1, 0, 0, 1, 2, 1])),
        );
    let outputs: [(&str, &[i32]); 5] = [
        ("gather-nd --indices pairs.npy", &[22, 13]),
        ("gather-nd --batch-dims 1 --indices columns.npy", &[11, 20]),
        ("gather-elements --axis 1 --indices columns.npy", &[11, 20]),
        ("gather-elements --axis -1 --indices columns.npy", &[11, 20]),
        (
            "gather-elements --indices rows.npy",
            &[20, 11, 10, 21, 0, 21],
        ),
    ];
    for (line, expected) in outputs {
        assert_eq!(gathered(&dir, line), i32s(expected), "{line}");
    }
}

#[test]
fn every_index_type() {
    let dir = two_rows();
    let types: [(&str, &str); 8] = [
        ("|i1", "01 00 ff"),
        ("|u1", "01 00 ff"),
        ("<i2", "0100 0000 ffff"),
        ("<u2", "0100 0000 ffff"),
        ("<i4", "01000000 00000000 ffffffff"),
        ("<u4", "01000000 00000000 ffffffff"),
        ("<i8", "0100000000000000 0000000000000000 ffffffffffffffff"),
        ("<u8", "0100000000000000 0000000000000000 ffffffffffffffff"),
    ];
    for (descr, indices) in types {
        dir.put("i.npy", &npy(descr, "(3,)", &hex(indices)));
        let signed = descr.contains('i');
        let line = "gather --indices i.npy --negative from-end";
        let last = if signed { [20, 21, 22, 23] } else { [0; 4] };
        let expected = [[20, 21, 22, 23], [10, 11, 12, 13], last].concat();
        assert_eq!(gathered(&dir, line), i32s(&expected), "{descr}");
    }
}

#[test]
fn a_64_bit_index_is_never_truncated() {
    let dir = two_rows();
    let aliases = [
        1i64 << 32,
        (1 << 32) + 1,
        1,
        -(1i64 << 32),
        i64::MIN,
        i64::MAX,
    ];
    let expected = [[0; 4], [0; 4], [20, 21, 22, 23], [0; 4], [0; 4], [0; 4]].concat();
    for descr in ["<i8", "<u8"] {
        dir.put("i.npy", &npy(descr, "(6,)", &i64s(&aliases)));
        for rules in ["tensorflow-gpu", "onnx-cuda"] {
            let line = format!("gather --indices i.npy --rules {rules}");
            assert_eq!(gathered(&dir, &line), i32s(&expected), "{descr} {rules}");
        }
    }
}

#[test]
fn rules_by_name_and_in_parts() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("<i4", "(3,)", &i32s(&[10, 11, 12])))
        .put("i.npy", &npy("<i8", "(4,)", &i64s(&[1, -1, 3, -4])));
    let outputs: [(&str, [i32; 4]); 14] = [
        ("", [11, 0, 0, 0]),
        ("--rules tensorflow-gpu", [11, 0, 0, 0]),
        ("--rules onnx-cuda", [11, 12, 0, 0]),
        ("--rules xla", [11, 10, 12, 10]),
        ("--rules numpy-wrap", [11, 12, 10, 12]),
        ("--rules webnn", [11, 12, 12, 10]),
        ("--rules jax-fill", [11, 12, i32::MIN, i32::MIN]),
        ("--negative from-end", [11, 12, 0, 0]),
        ("--out-of-bounds clip", [11, 10, 12, 10]),
        ("--out-of-bounds wrap", [11, 12, 10, 12]),
        ("--out-of-bounds fill=-7", [11, -7, -7, -7]),
        ("--out-of-bounds fill=0x00000010", [11, 16, 16, 16]),
        ("--rules onnx --out-of-bounds zero", [11, 12, 0, 0]),
        (
            "--rules jax-fill --negative out-of-bounds --out-of-bounds fill=5",
            [11, 5, 5, 5],
        ),
    ];
    for (line, expected) in outputs {
        let line = format!("gather --indices i.npy {line}");
        assert_eq!(gathered(&dir, &line), i32s(&expected), "{line}");
    }
}

#[test]
fn every_preset_is_known() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("<i4", "(3,)", &i32s(&[10, 11, 12])))
        .put("i.npy", &npy("<i8", "(1,)", &i64s(&[2])));
    let presets = wgpu_gather::Rules::PRESETS.iter().map(|&(name, _)| name);
    for name in presets.chain(["jax-fill"]) {
        let line = format!("gather --indices i.npy --rules {name}");
        assert_eq!(gathered(&dir, &line), i32s(&[12]), "{name}");
    }
}

#[test]
fn fill_values_of_every_kind() {
    let dir = Dir::new();
    dir.put("i.npy", &npy("<i8", "(1,)", &i64s(&[9])));
    let fills: [(&str, &str, &str); 12] = [
        ("|b1", "true", "01"),
        ("|u1", "255", "ff"),
        ("|i1", "-1", "ff"),
        ("<f2", "nan", "007e"),
        ("<f4", "0x7fc00001", "0100c07f"),
        ("<f4", "-inf", "000080ff"),
        ("<f4", "1.5", "0000c03f"),
        ("<f8", "-0", "0000000000000080"),
        ("<u8", "18446744073709551615", "ffffffffffffffff"),
        ("<c8", "1,nan", "0000803f0000c07f"),
        ("<c16", "-1,0", "000000000000f0bf0000000000000000"),
        (
            "<c16",
            "0x000000000000000100000000000000ff",
            "ff000000000000000100000000000000",
        ),
    ];
    for (descr, fill, expected) in fills {
        let width = expected.len() / 2;
        dir.put("p.npy", &npy(descr, "(1,)", &vec![0; width]));
        let line = format!("gather --indices i.npy --out-of-bounds fill={fill}");
        assert_eq!(gathered(&dir, &line), hex(expected), "{descr} {fill}");
    }
    dir.put("p.npy", &npy("<V2", "(1,)", &[0, 0]));
    let line = "gather --indices i.npy --dtype bf16 --out-of-bounds fill=-2";
    assert_eq!(gathered(&dir, line), hex("00c0"));
}

#[test]
fn one_line_says_what_was_done() {
    let dir = two_rows();
    dir.put("i.npy", &npy("<i2", "(1, 1)", &[1, 0]));
    let line = dir.ok("gather --params p.npy --indices i.npy --out o.npy --backend reference");
    let (line, bad) = line.split_once("; ").unwrap();
    assert_eq!(bad, "none out of bounds\n");
    let (before, time) = line.rsplit_once(", ").unwrap();
    assert_eq!(
        before,
        "gather: params [2, 4] i32, indices [1, 1] i16 -> output [1, 1, 4], 16 bytes, reference"
    );
    let (number, unit) = time.split_once(' ').unwrap();
    assert!(number.parse::<f64>().is_ok(), "{line}");
    assert!(["µs", "ms", "s"].contains(&unit), "{line}");
    let line = dir.ok("gather --params p.npy --indices i.npy --out o.npy --backend cpu");
    assert!(line.contains("16 bytes, cpu ("), "{line}");
}

#[test]
fn json_says_the_same() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("<f4", "(2,)", &f32s(&[1., 2.])))
        .put("i.npy", &npy("|u1", "(3,)", &[1, 0, 9]));
    let text = dir.ok(
        "gather-elements --params p.npy --indices i.npy --out o.npy --backend cpu --rules numpy \
         --out-of-bounds fill=nan --json",
    );
    let mut said: Value = serde_json::from_str(&text).unwrap();
    let seconds = said["seconds"].take();
    assert!(seconds.as_f64().is_some_and(|s| s >= 0.0), "{seconds}");
    let expected = json!({
        "op": "gather_elements",
        "params_shape": [2],
        "format": null,
        "dtype": "f32",
        "indices_shape": [3],
        "index_type": "u8",
        "output_shape": [3],
        "rules": {"name": "numpy", "negative": "from-end", "out_of_bounds": "fill=0x7fc00000"},
        "bad_indices": {
            "count": 1,
            "gave": "fill value 0x7fc00000",
            "first": {"position": [2], "value": 9, "axis": 0, "extent": 2},
        },
        "executor": "cpu",
        "reason": null,
        "adapter": null,
        "api": null,
        "bytes": 12,
        "seconds": null,
        "out": "o.npy",
    });
    assert_eq!(said, expected);
}
