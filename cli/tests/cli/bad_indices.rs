//! What the command says of indices that are out of bounds, under every rule.

use serde_json::{Value, json};

use crate::gpu::{adapters, on};
use crate::kit::{Dir, f32s, gguf, i32s, i64s, npy};

/// `p.npy`: 3 rows of 2 numbers; `i.npy`: 6 ids, of which 3 are out of bounds, and 2 where -1 is the last
/// row; `good.npy`: ids without a bad one; `pairs.npy`: 3 pairs, 2 bad ones; `places.npy`: places in rows,
/// 2 bad ones; each with updates, `u…`.
fn dir() -> Dir {
    let dir = Dir::new();
    let places = [0, 1, 2, 0, 1, -5];
    dir.put("p.npy", &npy("<f4", "(3, 2)", &f32s(&[1.0; 6])))
        .put("i.npy", &npy("<i8", "(2, 3)", &i64s(&[0, 7, -1, 2, 3, 1])))
        .put(
            "good.npy",
            &npy("<i8", "(2, 3)", &i64s(&[0, 1, 2, 2, 1, 0])),
        )
        .put(
            "pairs.npy",
            &npy("<i4", "(3, 2)", &i32s(&[2, 1, 3, 0, 0, -1])),
        )
        .put("places.npy", &npy("<i4", "(3, 2)", &i32s(&places)))
        .put("ui.npy", &npy("<f4", "(2, 3, 2)", &f32s(&[0.0; 12])))
        .put("upairs.npy", &npy("<f4", "(3,)", &f32s(&[0.0; 3])))
        .put("uplaces.npy", &npy("<f4", "(3, 2)", &f32s(&[0.0; 6])));
    dir
}

/// What the command says after the time.
fn said(dir: &Dir, line: &str) -> String {
    let text = dir.ok(&format!("{line} --out o.npy --backend cpu"));
    let (_, said) = text.rsplit_once("s; ").expect("a time and a count");
    said.trim_end().to_owned()
}

#[test]
fn every_rule_says_what_bad_indices_gave() {
    let dir = dir();
    let of = |count: u64, gave: &str| {
        format!(
            "{count} out of bounds: {gave} (first: indices[0, 1] = 7, params axis 0 has extent 3)"
        )
    };
    for (rules, count, read, written) in [
        ("tensorflow-gpu", 3, "zeros", "not written"),
        ("onnx-cuda", 2, "zeros", "not written"),
        ("jax-fill", 2, "fill value 0x7fc00000", "not written"),
        ("jax-clip", 3, "clipped", "clipped"),
        ("webnn", 2, "clipped", "clipped"),
        ("numpy-wrap", 3, "wrapped", "wrapped"),
    ] {
        let files = format!("--params p.npy --indices i.npy --rules {rules}");
        let gathered = said(&dir, &format!("gather {files}"));
        assert_eq!(gathered, of(count, read), "{rules}");
        let pooled = said(&dir, &format!("embedding-bag {files}"));
        assert_eq!(pooled, of(count, read), "{rules}");
        let line = format!("scatter --reduce add --updates ui.npy {files}");
        assert_eq!(said(&dir, &line), of(count, written), "{rules}");
    }
    for rules in ["tensorflow-gpu", "numpy", "torch", "jax-fill", "jax-clip"] {
        let line = format!("gather --params p.npy --indices good.npy --rules {rules}");
        assert_eq!(said(&dir, &line), "none out of bounds", "{rules}");
    }
}

#[test]
fn every_operator_counts_its_lookups() {
    let dir = dir();
    let pair = "(first: indices[1, 0] = 3, params axis 0 has extent 3)";
    let place = "(first: indices[1, 0] = 2, params axis 1 has extent 2)";
    for (line, expected) in [
        ("gather-nd --indices pairs.npy", format!("zeros {pair}")),
        (
            "scatter-nd --reduce none --indices pairs.npy --updates upairs.npy",
            format!("not written {pair}"),
        ),
        (
            "gather-elements --axis 1 --indices places.npy",
            format!("zeros {place}"),
        ),
        (
            "scatter-elements --axis 1 --reduce max --indices places.npy --updates uplaces.npy",
            format!("not written {place}"),
        ),
    ] {
        let got = said(&dir, &format!("{line} --params p.npy"));
        assert_eq!(got, format!("2 out of bounds: {expected}"), "{line}");
    }
    dir.put("scalar.npy", &npy("<i8", "()", &i64s(&[-1])));
    let expected = "1 out of bounds: zeros (first: indices = -1, params axis 0 has extent 3; --negative \
                    from-end counts negative indices from the end)";
    let got = said(&dir, "gather --params p.npy --indices scalar.npy");
    assert_eq!(got, expected);
}

#[test]
fn indices_behind_the_last_bag_are_not_counted() {
    let dir = dir();
    dir.put("ids.npy", &npy("<i8", "(4,)", &i64s(&[0, 9, 1, 9])))
        .put("f.npy", &npy("<i4", "(3,)", &i32s(&[0, 2, 3])));
    let line = "embedding-bag --params p.npy --indices ids.npy --offsets f.npy";
    let first = "out of bounds: zeros (first: indices[1] = 9, params axis 0 has extent 3)";
    assert_eq!(said(&dir, line), format!("2 {first}"));
    let line = format!("{line} --include-last-offset");
    assert_eq!(said(&dir, &line), format!("1 {first}"));
}

#[test]
fn json_has_the_count_and_the_first() {
    let dir = dir();
    let bad = |line: &str| {
        let text = dir.ok(&format!(
            "{line} --params p.npy --out o.npy --backend cpu --json"
        ));
        serde_json::from_str::<Value>(&text).unwrap()["bad_indices"].take()
    };
    let first = json!({"position": [0, 1], "value": 7, "axis": 0, "extent": 3});
    assert_eq!(
        bad("gather --indices i.npy --rules jax-fill"),
        json!({"count": 2, "gave": "fill value 0x7fc00000", "first": first})
    );
    assert_eq!(
        bad("scatter --reduce min --indices i.npy --updates ui.npy --quiet"),
        json!({"count": 3, "gave": "not written", "first": first})
    );
    let none = json!({"count": 0, "gave": null, "first": null});
    assert_eq!(bad("gather --indices good.npy"), none);
    assert_eq!(bad("embedding-bag --indices good.npy --rules torch"), none);
}

#[test]
fn quantised_tables_and_outputs_of_many_chunks_count_too() {
    let dir = Dir::new();
    // 9 MiB of rows of 256 bytes, of plain and of quantised elements: each 7th id is bad.
    let rows: Vec<u8> = (0..5 * 256).map(|n| n as u8).collect();
    let is_bad = |n: &i32| n % 7 == 3;
    let id = |n: i32| if is_bad(&n) { 5 + n } else { n % 5 };
    let ids: Vec<i32> = (0..36_000).map(id).collect();
    let blocks: Vec<u8> = [[0x2c; 34]; 10].concat();
    dir.put("p.npy", &npy("|u1", "(5, 256)", &rows))
        .put("q.gguf", &gguf("t", &[5, 64], 8, &blocks))
        .put("i.npy", &npy("<i4", "(36000,)", &i32s(&ids)));
    let expected = json!({
        "count": (0..36_000).filter(is_bad).count(),
        "gave": "zeros",
        "first": {"position": [3], "value": 8, "axis": 0, "extent": 5},
    });
    let bad = |text: &str| serde_json::from_str::<Value>(text).unwrap()["bad_indices"].take();
    for params in ["p.npy", "q.gguf:t"] {
        let line = format!("gather --params {params} --indices i.npy --out o.npy --json --quiet");
        for backend in ["cpu", "reference"] {
            let said = dir.ok(&format!("{line} --backend {backend}"));
            assert_eq!(bad(&said), expected, "{line}");
        }
        for (adapter, _) in adapters(&dir) {
            let said = on(&dir, &adapter, &format!("{line} --max-gpu-memory 1MiB")).stdout;
            assert_eq!(bad(&said), expected, "{line} on {adapter}");
        }
    }
}
