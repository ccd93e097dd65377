//! Pooled lookups from quantized tables through the command.

use serde_json::{Value, json};

use crate::gpu::{backends, on_backend};
use crate::kit::{Dir, f32s, gguf, hex, i32s, i64s, npy, split_npy};

/// `q.gguf`: two rows of Q8_0, of 0.5 * 3 and 2 * -7; `p.npy`, `s.npy`: two rows of two codes of 4 bits
/// with a scale each, of 7, 1 and 0, -16; `h.npy`: rows of f16, 1.5 and -1; `i.npy`: 4 indices; `f.npy`:
/// offsets; `w.npy`: weights.
fn dir() -> Dir {
    let dir = Dir::new();
    let row = |scale: &str, code: u8| [&hex(scale)[..], &[code; 32]].concat();
    let rows = [row("0038", 3), row("0040", 0xf9)].concat();
    dir.put("q.gguf", &gguf("t", &[2, 32], 8, &rows))
        .put("p.npy", &npy("|u1", "(2, 1)", &[0x9f, 0x08]))
        .put("s.npy", &npy("<f2", "(2, 1)", &hex("003c 0040")))
        .put("h.npy", &npy("<f2", "(2, 1)", &hex("003e 00bc")))
        .put("i.npy", &npy("<i8", "(4,)", &i64s(&[1, 0, 0, 1])))
        .put("f.npy", &npy("<i4", "(2,)", &i32s(&[0, 2])))
        .put("w.npy", &npy("<f4", "(4,)", &f32s(&[0.5, 2.0, 1.0, -1.0])));
    dir
}

const ONNX: &str = "--params p.npy --scales s.npy --bits 4 --block-size 16";

#[test]
fn quantized_rows_are_pooled() {
    let dir = dir();
    let both = |a: f32, b: f32| f32s(&[[a; 32], [b; 32]].concat());
    for (line, expected) in [
        ("--params q.gguf:t", both(-12.5, -12.5)),
        ("--params q.gguf:t --to f32 --mode max", both(1.5, 1.5)),
        ("--params q.gguf:t --mode mean", both(-6.25, -6.25)),
        ("--params q.gguf:t --weights w.npy", both(-4.0, 15.5)),
        ("--params q.gguf:t --padding-index -1", both(1.5, 1.5)),
        (ONNX, f32s(&[7.0, -15.0, 7.0, -15.0])),
        ("--params h.npy --to f32", f32s(&[0.5, 0.5])),
    ] {
        for backend in backends(&dir) {
            let line = format!("embedding-bag {line} --indices i.npy --offsets f.npy --out o.npy");
            on_backend(&dir, &backend, &line);
            let (head, data) = split_npy(&dir.get("o.npy"));
            assert_eq!(data, expected, "{line} on {backend:?}");
            assert!(head.contains("<f4"), "{line} on {backend:?}: {head}");
        }
    }
    let line = format!(
        "embedding-bag {ONNX} --indices i.npy --offsets f.npy --out o.npy --backend cpu --quiet"
    );
    let said = dir.ok(&line.replace("--quiet", ""));
    let start = "embedding_bag sum: params [2, 2] u4 in blocks of 16 along axis -1, scales f16, \
                 indices [4] i64 -> output [2, 2] f32, 16 bytes, cpu";
    assert!(said.starts_with(start), "{said}");
    let said: Value = serde_json::from_str(&dir.ok(&line.replace("--quiet", "--json"))).unwrap();
    assert_eq!(said["dtype"], json!("f32"));
    let format = "u4 in blocks of 16 along axis -1, scales f16";
    assert_eq!(said["format"], json!(format));
}

#[test]
fn what_does_not_fit_is_refused() {
    let dir = dir();
    dir.put("w16.npy", &npy("<f2", "(4,)", &[0; 8]))
        .put("f32.npy", &npy("<f4", "(2, 1)", &[0; 8]));
    for (line, expected) in [
        (
            "--params q.gguf:t --to f16".to_owned(),
            "error: embedding_bag: --to f16, but rows are decoded to f32 (allowed: f32)",
        ),
        (
            "--params q.gguf:t --weights w16.npy".to_owned(),
            "error: weights w16.npy: elements of type f16, but params decodes to f32; they must be \
             equal",
        ),
        (
            "--params f32.npy --to f32".to_owned(),
            "error: params f32.npy: --to is for quantized elements, f16 and bf16, but the elements \
             are f32",
        ),
        (
            "--params q.gguf:t --dtype f16".to_owned(),
            "error: params q.gguf:t: --dtype is for raw bytes, but the file says that the elements \
             are Q8_0",
        ),
        ("--params q.gguf:u".to_owned(), "error: params q.gguf:u: "),
        (
            format!("{ONNX} --quantize-axis 2"),
            "error: scales: quantize axis 2 is out of range",
        ),
        (
            "--params q.gguf:t --mode mean --weights w.npy".to_owned(),
            "error: embedding_bag: weights with mode = mean",
        ),
    ] {
        let before = dir.files();
        let line = format!(
            "embedding-bag {line} --indices i.npy --offsets f.npy --out o.npy --backend cpu"
        );
        let ran = dir.run(&line);
        assert_eq!(ran.code, 1, "{line}");
        assert!(ran.stderr.starts_with(expected), "{line}: {}", ran.stderr);
        assert_eq!(dir.files(), before, "{line}");
    }
    let over = "embedding-bag --params p.npy --scales s.npy --bits 4 --block-size 16 --indices i.npy \
                --offsets f.npy --out s.npy --backend cpu";
    assert_ne!(dir.run(over).code, 0);
}
