//! Calls that must fail: with this text, with this status, and without a trace in the directory.

use std::path::Path;

use crate::kit::{
    Dir, f32s, gguf, i32s, i64s, npy, npy_dict, npy_fortran, one_tensor, safetensors,
};

const STORED: &[u8] = include_bytes!("../fixtures/stored.npz");
const GGUF: &[u8] = include_bytes!("../fixtures/small.gguf");
const DEFLATED: &[u8] = include_bytes!("../fixtures/deflated.npz");

/// What the bad calls are made with, good files and bad ones.
fn inputs() -> Dir {
    let dir = Dir::new();
    let table = f32s(&[1., 2., 3., 4., 5., 6.]);
    let good = npy("<f4", "(3, 2)", &table);
    dir.put("p.npy", &good)
        .put("i.npy", &npy("<i4", "(2,)", &i32s(&[0, 2])))
        .put("bad.npy", &npy("<i8", "(2, 2)", &i64s(&[0, 1, 7, -1])))
        .put("scalar.npy", &npy("<f4", "()", &f32s(&[1.])))
        .put("one.npy", &npy("<i4", "()", &i32s(&[1])))
        .put("empty.npy", &npy("<f4", "(0, 2)", &[]))
        .put("zero.npy", &npy("|u1", "(1,)", &[0]))
        .put("far.npy", &npy("<i4", "(4611686018427387904, 0)", &[]))
        .put("ids.npy", &npy("<i4", "(2, 3)", &i32s(&[0; 6])))
        .put("wide.npy", &npy("<i4", "(1, 3)", &i32s(&[0; 3])))
        .put("floats.npy", &npy("<f4", "(2,)", &f32s(&[0., 1.])))
        .put("truths.npy", &npy("|b1", "(2,)", &[0, 1]))
        .put("raw2.npy", &npy("|V2", "(2,)", &[0; 4]))
        .put("raw3.npy", &npy("|V3", "(1,)", &[0; 3]))
        .put("c128.npy", &npy("<c16", "(1,)", &[0; 16]));
    // Headers that say what is not so, or nothing.
    dir.put("notes.txt", b"notes")
        .put("no_bytes.npy", b"")
        .put("magic.npy", b"NUMPY, but not quite")
        .put("version.npy", b"\x93NUMPY\x09\x01\x00\x00{}")
        .put("cut_in_version.npy", b"\x93NUMPY\x01")
        .put("cut_in_header.npy", &good[..40])
        .put("cut_in_data.npy", &good[..good.len() - 1])
        .put("long_header.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}")
        .put("not_text.npy", b"\x93NUMPY\x01\x00\x04\x00\xff\xfe\xfd\xfc")
        .put("not_a_dict.npy", &npy_dict("[1, 2]", &[]))
        .put("deep.npy", &npy_dict(&"[".repeat(5000), &[]))
        // Parsing these would take longer than anyone can wait.
        .put("nested.npy", &npy("<f4", &"[".repeat(60), &[]))
        .put("nested_more.npy", &npy("<f4", &"[')',".repeat(60), &[]))
        .put(
            "no_descr.npy",
            &npy_dict("{'fortran_order': False, 'shape': (1,)}", &[]),
        )
        .put("negative_dim.npy", &npy("<f4", "(-1,)", &[]))
        .put("huge_dim.npy", &npy("<f4", "(99999999999999999999,)", &[]))
        .put("overflow.npy", &npy("<f4", "(4294967296, 4294967296)", &[]))
        .put(
            "overflow_f.npy",
            &npy_fortran("<f4", "(4294967296, 4294967296)", &[]),
        )
        .put("big_endian.npy", &npy(">f4", "(3, 2)", &table))
        .put("text.npy", &npy("<U5", "(1,)", &[0; 20]))
        .put("objects.npy", &npy("|O", "(1,)", &[0; 8]))
        .put("dates.npy", &npy("<M8[s]", "(1,)", &[0; 8]))
        .put("accent.npy", &npy("\u{e9}", "(1,)", &[0; 8]))
        .put(
            "record.npy",
            &npy_dict(
                "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }",
                &[0; 4],
            ),
        );
    put_archives(&dir);
    put_quantized(&dir);
    put_safetensors(&dir);
    let mut unknown = GGUF.to_vec();
    // The number of a type, behind a name and one dim.
    let ids = GGUF.windows(3).position(|w| w == b"ids").unwrap();
    unknown[ids + 3 + 4 + 8] = 42;
    dir.put("m.gguf", GGUF)
        .put("cut.gguf", &GGUF[..GGUF.len() - 1])
        .put("cut_in_header.gguf", &GGUF[..100])
        .put("text.gguf", b"This is text, not a tensor")
        .put("unknown.gguf", &unknown);
    std::fs::create_dir(dir.path().join("directory.npy")).unwrap();
    dir.put("locked.npy", b"");
    let mut locked = std::fs::metadata(dir.path().join("locked.npy"))
        .unwrap()
        .permissions();
    locked.set_readonly(true);
    std::fs::set_permissions(dir.path().join("locked.npy"), locked).unwrap();
    dir
}

/// Codes of 3 rows of 40 codes of 4 bits, in blocks of 16.
fn put_quantized(dir: &Dir) {
    let (codes, scales) = (npy("|u1", "(3, 20)", &[0x98; 60]), f32s(&[1.; 12]));
    dir.put("codes.npy", &codes)
        .put("scales.npy", &npy("<f4", "(3, 3)", &scales[..36]))
        .put("wide_scales.npy", &npy("<f4", "(3, 4)", &scales))
        .put("f64_scales.npy", &npy("<f8", "(3, 3)", &[0; 72]))
        .put("raw_scales.npy", &npy("|V2", "(3, 3)", &[0; 18]))
        .put("zeros.npy", &npy("|u1", "(3, 2)", &[0; 6]))
        .put("wide_zeros.npy", &npy("|u1", "(3, 3)", &[0; 9]))
        .put("signed_zeros.npy", &npy("|i1", "(3, 2)", &[0; 6]))
        .put("one_code.npy", &npy("|u1", "()", &[0]))
        .put("turned.npy", &npy_fortran("|u1", "(3, 20)", &[0; 60]))
        .put("turned_scales.npy", &npy_fortran("<f4", "(3, 3)", &[0; 36]))
        .put("blocks.gguf", &gguf("t", &[2, 33], 8, &[0; 200]))
        .put("q8_k.gguf", &gguf("t", &[1, 256], 15, &[0; 292]));
}

fn put_archives(dir: &Dir) {
    let mut flipped = STORED.to_vec();
    let data = STORED
        .windows(4)
        .position(|w| w == [0, 0, 0xc0, 0x3f])
        .unwrap();
    flipped[data] ^= 1;
    let mut garbled = DEFLATED.to_vec();
    garbled[50..90].fill(0xff);
    // The size that the directory at the end announces.
    let mut announcing = STORED.to_vec();
    let entry = STORED.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    announcing[entry + 24..][..4].copy_from_slice(&0xffff_fffeu32.to_le_bytes());
    dir.put("a.npz", STORED)
        .put("announcing.npz", &announcing)
        .put("flipped.npz", &flipped)
        .put("garbled.npz", &garbled)
        .put("cut.npz", &STORED[..STORED.len() - 30])
        .put("text.npz", b"no archive");
}

fn put_safetensors(dir: &Dir) {
    let header = |text: &str, data: &[u8]| safetensors(text, data);
    let many: Vec<String> = (0..11)
        .map(|n| {
            format!(
                r#""t{n:02}":{{"dtype":"U8","shape":[1],"data_offsets":[{n},{}]}}"#,
                n + 1
            )
        })
        .collect();
    let many = format!("{{{}}}", many.join(","));
    let one = one_tensor("F32", "[3,2]", &[0; 24]);
    dir.put("m.safetensors", &header(&many, &[0; 11]))
        .put("one.safetensors", &one)
        .put("none.safetensors", &header("{}", &[]))
        .put("short.safetensors", &[1, 2, 3])
        .put("cut.safetensors", &one[..one.len() - 5])
        .put("cut_in_header.safetensors", &one[..20])
        .put("long.safetensors", &[one.clone(), vec![0; 3]].concat())
        .put("text.safetensors", b"This is text, not a tensor")
        .put("json.safetensors", &header("{nonsense", &[]))
        .put("f8.safetensors", &one_tensor("F8_E4M3", "[2]", &[0; 2]))
        .put("f4.safetensors", &one_tensor("F4", "[4]", &[0; 2]))
        .put("unknown.safetensors", &one_tensor("I7", "[2]", &[0; 2]))
        .put("mismatch.safetensors", &one_tensor("F32", "[3]", &[0; 8]))
        .put(
            "overflow.safetensors",
            &one_tensor("F32", "[4294967296,4294967296]", &[]),
        )
        .put("floats.safetensors", &one_tensor("F16", "[1]", &[0; 2]));
}

/// A call of the table.
#[derive(Debug)]
struct Bad {
    line: &'static str,
    code: i32,
    stderr: String,
}

/// The calls of the table, whose format is explained there.
fn table() -> Vec<Bad> {
    let mut calls: Vec<Bad> = Vec::new();
    let text = include_str!("bad_calls.txt");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(line) = line.strip_prefix("$ ") {
            calls.push(Bad {
                line,
                code: 1,
                stderr: String::new(),
            });
        } else if let Some(bad) = calls.last_mut() {
            match line.strip_prefix("? ") {
                Some(code) => bad.code = code.parse().unwrap(),
                None => bad.stderr += &format!("{line}\n"),
            }
        }
    }
    for bad in &mut calls {
        let stderr = bad.stderr.trim_end().replace("NOT_FOUND", &not_found());
        bad.stderr = format!("{stderr}\n");
    }
    calls
}

/// What this system calls a missing file.
fn not_found() -> String {
    let error = std::fs::read(Path::new("there is no such file")).unwrap_err();
    error.to_string()
}

#[test]
fn every_bad_call_is_refused_and_leaves_no_trace() {
    let (dir, calls) = (inputs(), table());
    assert!(calls.len() > 100, "{} calls", calls.len());
    let before = dir.files();
    // All of them before complaining.
    let mut wrong = Vec::new();
    for bad in calls {
        let ran = dir.run(bad.line);
        assert!(!ran.stderr.contains("panicked"), "{bad:?}: {}", ran.stderr);
        assert!(dir.files() == before, "{} left a trace", bad.line);
        let as_expected = ran.code == bad.code && ran.stdout.is_empty();
        if !as_expected || ran.stderr != bad.stderr {
            wrong.push(format!("$ {}\n? {}\n{}", bad.line, ran.code, ran.stderr));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} calls:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[cfg(unix)]
#[test]
fn an_input_is_not_replaced_through_a_link() {
    let dir = inputs();
    std::os::unix::fs::symlink("p.npy", dir.path().join("link.npy")).unwrap();
    let ran = dir.run("gather --params p.npy --indices i.npy --out link.npy --backend cpu");
    let expected = "error: output link.npy: the output cannot replace the input p.npy\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (1, expected));
}

#[test]
fn damage_anywhere_in_a_file_is_no_reason_to_panic() {
    let dir = inputs();
    let npy = dir.get("p.npy");
    let checkpoint = dir.get("one.safetensors");
    let files = [
        ("d.npy", "d.npy", npy),
        ("d.safetensors", "d.safetensors:t", checkpoint),
        ("d.npz", "d.npz:table", DEFLATED.to_vec()),
    ];
    for (file, source, good) in files {
        let line = format!("gather --params {source} --indices i.npy --out o.npy --backend cpu");
        for at in 0..good.len() {
            let mut damaged = good.clone();
            // What is a digit becomes another digit, now and then a large one.
            damaged[at] ^= if at % 2 == 0 { 0x08 } else { 0xff };
            for bytes in [damaged.as_slice(), &good[..at]] {
                let ran = dir.put(file, bytes).run(&line);
                let says = (ran.code, ran.stderr.starts_with("error: "));
                assert!(
                    says == (0, false) || says == (1, true),
                    "byte {at} of {file}: {ran:?}"
                );
                let written = dir.path().join("o.npy").exists();
                assert_eq!(written, ran.code == 0, "byte {at} of {file}");
                if written {
                    std::fs::remove_file(dir.path().join("o.npy")).unwrap();
                }
            }
        }
    }
}
