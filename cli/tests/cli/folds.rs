//! Pooled lookups and scatters of files.

use serde_json::{Value, json};

use crate::gpu::{backends, on_backend};
use crate::kit::{Dir, f32s, i32s, i64s, npy, one_tensor, split_npy, split_safetensors};

/// `p.npy`: a table of 4 rows of 2 numbers; `i.npy`: 5 indices; `f.npy`: offsets.
fn dir() -> Dir {
    let dir = Dir::new();
    let table = f32s(&[0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0]);
    dir.put("p.npy", &npy("<f4", "(4, 2)", &table))
        .put("i.npy", &npy("<i8", "(5,)", &i64s(&[1, 3, 3, 0, 2])))
        .put("f.npy", &npy("<i4", "(3,)", &i32s(&[0, 2, 2])))
        .put("rows.npy", &npy("<i4", "(2, 2)", &i32s(&[3, 1, 0, 2])))
        .put(
            "w.npy",
            &npy("<f4", "(5,)", &f32s(&[2.0, 1.0, 0.5, 1.0, -1.0])),
        );
    dir
}

/// The output of the reference, which is that of the CPU path and of every adapter.
fn pooled(dir: &Dir, line: &str) -> Vec<u8> {
    let mut output = None;
    for backend in backends(dir) {
        let line = format!("{line} --params p.npy --out o.npy");
        on_backend(dir, &backend, &line);
        let made = split_npy(&dir.get("o.npy")).1;
        let expected = output.get_or_insert_with(|| made.clone());
        assert_eq!(made, *expected, "{line} on {backend:?}");
    }
    output.expect("the reference's")
}

#[test]
fn bags_of_offsets_and_of_rows() {
    let dir = dir();
    for (line, expected) in [
        (
            "--indices i.npy --offsets f.npy",
            vec![40.0, 42.0, 0.0, 0.0, 50.0, 53.0],
        ),
        (
            "--indices i.npy --offsets f.npy --padding-index 0",
            vec![40.0, 42.0, 0.0, 0.0, 50.0, 52.0],
        ),
        (
            "--indices i.npy --offsets f.npy --include-last-offset",
            vec![40.0, 42.0, 0.0, 0.0],
        ),
        (
            "--indices i.npy --offsets f.npy --mode max",
            vec![30.0, 31.0, 0.0, 0.0, 30.0, 31.0],
        ),
        (
            "--indices rows.npy --mode mean",
            vec![20.0, 21.0, 10.0, 11.0],
        ),
        (
            "--indices i.npy --offsets f.npy --weights w.npy",
            vec![50.0, 53.0, 0.0, 0.0, -5.0, -4.5],
        ),
    ] {
        let line = format!("embedding-bag {line}");
        assert_eq!(pooled(&dir, &line), f32s(&expected), "{line}");
    }
}

#[test]
fn a_pooled_lookup_says_what_it_did() {
    let dir = dir();
    let line = "embedding-bag --params p.npy --indices i.npy --offsets f.npy --out o.safetensors \
                --backend cpu";
    let said = dir.ok(line);
    let start =
        "embedding_bag sum: params [4, 2] f32, indices [5] i64 -> output [3, 2], 24 bytes, cpu";
    assert!(said.starts_with(start), "{said}");
    let (header, _) = split_safetensors(&dir.get("o.safetensors"));
    assert!(header.contains(r#""shape":[3,2]"#), "{header}");
    let said: Value = serde_json::from_str(&dir.ok(&format!("{line} --json"))).unwrap();
    assert_eq!(said["op"], json!("embedding_bag"));
    assert_eq!(said["output_shape"], json!([3, 2]));
    assert_eq!(dir.ok(&format!("{line} --quiet")), "");
}

#[test]
fn bad_pooled_lookups_are_refused() {
    let dir = dir();
    dir.put("one.npy", &npy("<i4", "(1,)", &i32s(&[1])))
        .put("neg.npy", &npy("<i4", "(2,)", &i32s(&[0, -1])))
        .put("w64.npy", &npy("<f8", "(5,)", &[0; 40]))
        .put("t.safetensors", &one_tensor("I32", "[4,2]", &[0; 32]));
    for (line, expected) in [
        (
            "--indices i.npy",
            "embedding_bag: indices has rank 1, but must have 2",
        ),
        (
            "--indices i.npy --offsets one.npy",
            "embedding_bag: offsets[0] = 1 is out of range (allowed: 0..=0)\n  tip: --offsets says where \
             each bag starts, so the first one is 0",
        ),
        (
            "--indices i.npy --offsets neg.npy",
            "offsets neg.npy: embedding_bag: offsets[1] = -1 is out of range",
        ),
        (
            "--indices i.npy --offsets p.npy",
            "offsets p.npy: elements of type f32 cannot index",
        ),
        (
            "--indices i.npy --offsets f.npy --weights w64.npy",
            "weights w64.npy: elements of type f64, but params has f32; they must be equal",
        ),
        (
            "--indices i.npy --offsets f.npy --mode mean --weights w.npy",
            "embedding_bag: weights with mode = mean",
        ),
        (
            "--indices i.npy --offsets f.npy --padding-index 4",
            "embedding_bag: padding index 4 is out of range",
        ),
        ("--indices i.npy --offsets gone.npy", "offsets gone.npy: "),
        (
            "--indices rows.npy --mode middle",
            "error: invalid value 'middle' for '--mode <MODE>': unknown mode \"middle\" (allowed: sum, mean, max)",
        ),
        (
            "--indices rows.npy --include-last-offset",
            "error: the following required arguments were not provided:",
        ),
    ] {
        let before = dir.files();
        let line = format!("embedding-bag --params p.npy --out o.npy --backend cpu {line}");
        let ran = dir.run(&line);
        assert_ne!(ran.code, 0, "{line}");
        assert!(ran.stderr.contains(expected), "{line}: {}", ran.stderr);
        assert_eq!(dir.files(), before, "{line}");
    }
    let line = "embedding-bag --params t.safetensors:t --indices rows.npy --mode mean --out o.npy \
                --backend cpu";
    let expected = "mode = mean is not defined for i32 (allowed: sum, max)";
    assert!(dir.run(line).stderr.contains(expected));
    let over = "embedding-bag --params p.npy --indices rows.npy --out rows.npy --backend cpu";
    assert_ne!(dir.run(over).code, 0);
    let bad = "embedding-bag --params p.npy --indices neg.npy --offsets f.npy --out o.npy \
               --rules torch --backend cpu";
    dir.put("f.npy", &npy("<i4", "(1,)", &i32s(&[0])));
    let said = dir.run(bad).stderr;
    let expected = "embedding_bag: indices[1] = -1 is out of bounds for params axis 0 of extent 4";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn scatters_of_slices_tuples_and_elements() {
    let dir = dir();
    dir.put(
        "u.npy",
        &npy(
            "<f4",
            "(5, 2)",
            &f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.5]),
        ),
    )
    .put("pairs.npy", &npy("<i4", "(2, 2)", &i32s(&[3, 1, 3, 1])))
    .put("two.npy", &npy("<f4", "(2,)", &f32s(&[1.0, 5.0])))
    .put("e.npy", &npy("<i4", "(1, 2)", &i32s(&[3, 0])))
    .put("one.npy", &npy("<f4", "(1, 2)", &f32s(&[-1.0, -2.0])));
    for (line, expected) in [
        (
            "scatter --indices i.npy --updates u.npy --reduce add",
            [7.0, 9.0, 11.0, 13.0, 29.0, 21.5, 38.0, 41.0],
        ),
        (
            "scatter --indices i.npy --updates u.npy --reduce none --axis 0",
            [7.0, 8.0, 1.0, 2.0, 9.0, 0.5, 5.0, 6.0],
        ),
        (
            "scatter-nd --indices pairs.npy --updates two.npy --reduce mul",
            [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 155.0],
        ),
        (
            "scatter-elements --indices e.npy --updates one.npy --reduce min",
            [0.0, -2.0, 10.0, 11.0, 20.0, 21.0, -1.0, 31.0],
        ),
    ] {
        assert_eq!(pooled(&dir, line), f32s(&expected), "{line}");
    }
    // Params in Fortran's order are scattered to row-major.
    let turned = f32s(&[0.0, 10.0, 20.0, 30.0, 1.0, 11.0, 21.0, 31.0]);
    dir.put("p.npy", &crate::kit::npy_fortran("<f4", "(4, 2)", &turned));
    let line = "scatter-elements --indices e.npy --updates one.npy --reduce min";
    assert_eq!(
        pooled(&dir, line),
        f32s(&[0.0, -2.0, 10.0, 11.0, 20.0, 21.0, -1.0, 31.0])
    );
    for (line, expected) in [
        (
            "scatter --indices i.npy --updates two.npy --reduce add",
            "scatter: updates has shape [2], but",
        ),
        (
            "scatter --indices i.npy --updates i.npy --reduce add",
            "updates i.npy: elements of type i64, but params has f32",
        ),
        (
            "scatter --indices i.npy --updates u.npy --reduce mean",
            "unknown reduce \"mean\" (allowed: none, add, mul, min, max)",
        ),
        ("scatter --indices i.npy --updates u.npy", "--reduce <HOW>"),
        (
            "scatter --indices i.npy --updates u.npy --reduce add --to f16",
            "unexpected argument '--to'",
        ),
        (
            "scatter-elements --indices e.npy --updates one.npy --reduce add --batch-dims 1",
            "unexpected argument",
        ),
    ] {
        let ran = dir.run(&format!("{line} --params p.npy --out no.npy --backend cpu"));
        assert_ne!(ran.code, 0, "{line}");
        assert!(ran.stderr.contains(expected), "{line}: {}", ran.stderr);
    }
    assert!(!dir.files().contains_key("no.npy"));
}
