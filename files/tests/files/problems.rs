//! Errors say which file and tensor, what was got, and what is allowed.

use std::error::Error as _;

use wgpu_gather_files::{Error, Problem, Source, TensorFile};

use crate::make::*;
use crate::{Dir, GGUF, STORED};

/// The text of `error`, with the directory left out.
fn text(dir: &Dir, error: &Error) -> String {
    let folder = format!("{}/", dir.0.path().display());
    assert!(error.path().starts_with(&folder), "{error}");
    error.to_string().replace(&folder, "")
}

#[test]
fn files_that_are_not_read() {
    let dir = Dir::new();
    let twice = r#"{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}} "#;
    for (name, file, expected) in [
        (
            "notes.txt",
            &b"notes"[..],
            "notes.txt: not a tensor file (allowed: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, FILE.gguf:NAME)",
        ),
        (
            "x.npy",
            b"NUMPY",
            "x.npy: not a .npy file: it does not start with \\x93NUMPY",
        ),
        (
            "x.npz",
            b"PK",
            "x.npz: not a .npz file: invalid Zip archive: Could not find EOCD",
        ),
        (
            "x.gguf",
            b"GGML",
            "x.gguf: not a .gguf file: it does not start with GGUF",
        ),
        (
            "x.safetensors",
            b"abc",
            "x.safetensors: truncated: 3 bytes, less than a header",
        ),
        (
            "y.safetensors",
            &safetensors(twice, &[1, 2]),
            "y.safetensors: damaged: 2 bytes follow the header, the tensors need 1",
        ),
        (
            "y.npy",
            &npy("<f4", "(4294967296, 4294967296)", &[]),
            "y.npy: shape [4294967296, 4294967296] of f32 needs more bytes than can be addressed",
        ),
    ] {
        let error = dir.open(name, file).unwrap_err();
        assert_eq!(text(&dir, &error), expected);
        assert_eq!(error.tensor(), None);
    }
    let missing = TensorFile::open(dir.0.path().join("none.gguf")).unwrap_err();
    assert!(matches!(missing.problem(), Problem::Io(_)), "{missing:?}");
    std::fs::create_dir(dir.0.path().join("folder.npy")).unwrap();
    let folder = TensorFile::open(dir.0.path().join("folder.npy")).unwrap_err();
    assert_eq!(text(&dir, &folder), "folder.npy: not a regular file");
}

#[test]
fn tensors_that_are_not_given() {
    let dir = Dir::new();
    // Two tensors of one name.
    let mut twice = gguf("t", &[1], 24, &[]);
    twice.truncate(24 + 8 + 1 + 4 + 8 + 4 + 8);
    twice.extend_from_within(24..);
    twice[8] = 2;
    twice.resize(twice.len().next_multiple_of(32) + 32, 0);
    for (name, tensor, file, expected) in [
        (
            "a.npz",
            "x",
            STORED,
            "a.npz:x: no array is named \"x\"; the file has ids, table, turned",
        ),
        (
            "a.npz",
            "",
            STORED,
            "a.npz: name the array, as FILE.npz:NAME; the file has ids, table, turned",
        ),
        (
            "m.gguf",
            "x",
            GGUF,
            "m.gguf:x: no tensor is named \"x\"; the file has blocks.BF16, blocks.Q8_0, ids, words.weight",
        ),
        (
            "m.npy",
            "x",
            &npy("|u1", "(1,)", &[1]),
            "m.npy:x: no array is named \"x\"; a .npy file holds one, without a name",
        ),
        (
            "n.safetensors",
            "x",
            &safetensors("{}", &[]),
            "n.safetensors:x: no tensor is named \"x\"; the file has no tensor",
        ),
        (
            "d.gguf",
            "t",
            &twice,
            "d.gguf:t: damaged: several tensors are named \"t\"",
        ),
        (
            "u.gguf",
            "t",
            &gguf("t", &[1], 99, &[]),
            "u.gguf:t: element type 99 is unknown (allowed: F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, I8, I16, I32, I64, F64, BF16, MXFP4)",
        ),
        (
            "s.safetensors",
            "t",
            &one_tensor("F4", "[2]", &[1]),
            "s.safetensors:t: element type F4 cannot be gathered (allowed: BOOL, U8, I8, U16, I16, F16, BF16, U32, I32, F32, U64, I64, F64, C64)",
        ),
        (
            "o.npy",
            "",
            &npy("|O", "(1,)", &[0; 8]),
            "o.npy: element type |O cannot be gathered (allowed: bool, u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64, c64, c128, and raw bytes such as V2)",
        ),
    ] {
        let error = dir.tensor(name, tensor, file).unwrap_err();
        assert_eq!(text(&dir, &error), expected);
        assert_eq!(error.tensor().unwrap_or_default(), tensor);
        // The text is whole: nothing is left to say.
        assert!(error.source().is_none(), "{error:?}");
    }
}

#[test]
fn tensors_that_are_not_what_they_are_taken_for() {
    let dir = Dir::new();
    let plain = dir.tensor("p.safetensors", "t", &one_tensor("F32", "[1]", &[0; 4]));
    let blocks = dir.tensor("q.gguf", "t", &gguf("t", &[1, 32], 8, &[0; 34]));
    let turned = dir.tensor("f.npy", "", &npy_fortran("<f2", "(2, 3)", &[0; 12]));
    let (plain, blocks, turned) = (plain.unwrap(), blocks.unwrap(), turned.unwrap());
    for (error, expected) in [
        (
            plain.indices().map(drop),
            "p.safetensors:t: elements of type f32 cannot index (allowed: i8, u8, i16, u16, i32, u32, i64, u64)",
        ),
        (
            plain.quantized_table().map(drop),
            "p.safetensors:t: elements of type f32 are not quantized (allowed: blocks of GGUF, f16, bf16)",
        ),
        (
            blocks.indices().map(drop),
            "q.gguf:t: elements of type Q8_0 cannot index (allowed: i8, u8, i16, u16, i32, u32, i64, u64)",
        ),
        (
            blocks.params().map(drop),
            "q.gguf:t: quantized elements (Q8_0) cannot be read here (allowed: plain ones)",
        ),
        (
            turned.quantized_table().map(drop),
            "f.npy: quantized tables in Fortran's order are not read; store them in C's order (in NumPy: numpy.ascontiguousarray)",
        ),
    ] {
        assert_eq!(text(&dir, &error.unwrap_err()), expected);
    }
    let error = plain.quantized_as(wgpu_gather::quantized::BlockFormat::Q4K);
    let error = error.unwrap_err().into_problem();
    assert!(matches!(error, Problem::Operand(_)), "{error}");
}

#[test]
fn sources_that_name_no_file() {
    let error = Source::parse("ids").unwrap_err();
    assert!(
        error.to_string().starts_with("ids: not a tensor file"),
        "{error}"
    );
}
