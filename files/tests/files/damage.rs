//! Whatever a file holds, the answer is a tensor within it or an error.

use gather_conformance::SplitMix;
use wgpu_gather::Layout;
use wgpu_gather_files::{Stored, TensorFile};

use crate::make::*;
use crate::{DEFLATED, Dir, GGUF, STORED};

/// Good files of every format.
fn good() -> Vec<(&'static str, Vec<u8>)> {
    let header = r#"{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"I64","shape":[2],"data_offsets":[24,40]}}  "#;
    vec![
        ("c.npy", npy("<f4", "(2, 3)", &[7; 24])),
        ("f.npy", npy_fortran("<i2", "(2, 3)", &[7; 12])),
        ("s.npz", STORED.to_vec()),
        ("d.npz", DEFLATED.to_vec()),
        ("m.safetensors", safetensors(header, &[7; 40])),
        ("m.gguf", GGUF.to_vec()),
    ]
}

/// Takes all that a file gives; how many tensors that were.
fn look(file: &TensorFile, file_bytes: usize) -> usize {
    // The text of an error is part of what must not fail.
    let _ = file.tensors().map_err(|error| error.to_string());
    let mut tensors = 0;
    for name in file.names() {
        let tensor = match file.tensor(&name) {
            Ok(tensor) => tensor,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        tensors += 1;
        let bytes = tensor.bytes();
        assert!(bytes.len() <= 1032 * file_bytes);
        let width = match tensor.stored() {
            Stored::Typed(dtype) => dtype.bytes(),
            Stored::Raw(bytes) => bytes,
            Stored::Blocks(_) => {
                tensor.quantized_table().unwrap();
                continue;
            }
        };
        let elements = Layout::checked_elements(tensor.shape()).unwrap();
        assert_eq!(bytes.len(), elements * width);
        std::hint::black_box(
            bytes
                .iter()
                .fold(0, |sum: u8, &byte| sum.wrapping_add(byte)),
        );
        tensor.params().unwrap();
        let _ = tensor.indices().map_err(|error| error.to_string());
    }
    tensors
}

#[test]
fn every_byte_may_be_wrong_or_missing() {
    let dir = Dir::new();
    for (name, good) in good() {
        let whole = look(&dir.open(name, &good).unwrap(), good.len());
        assert!(whole > 0, "{name}");
        for at in 0..good.len() {
            for damage in [1, 0x08, 0x80, 0xff] {
                let mut damaged = good.clone();
                damaged[at] ^= damage;
                if let Ok(file) = dir.open(name, &damaged) {
                    look(&file, damaged.len());
                }
            }
            if let Ok(file) = dir.open(name, &good[..at]) {
                assert!(look(&file, at) < whole, "{name}, the first {at} bytes");
            }
        }
    }
}

#[test]
fn several_bytes_may_be_wrong() {
    let (dir, mut random) = (Dir::new(), SplitMix(5));
    let mut below = |n: usize| (random.draw() % n as u64) as usize;
    for (name, good) in good() {
        for _ in 0..1500 {
            let mut file = good.clone();
            for _ in 0..=below(4) {
                let at = below(file.len());
                match below(4) {
                    0 => file[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
                    1 => file[at..].iter_mut().take(8).for_each(|b| *b = 0xff),
                    2 => drop(file.drain(at..(at + 1 + below(9)).min(file.len()))),
                    _ => file.insert(at, [b'9', b'[', b'(', b'{', 0xff][below(5)]),
                }
                if file.is_empty() {
                    break;
                }
            }
            if let Ok(opened) = dir.open(name, &file) {
                look(&opened, file.len());
            }
        }
    }
}

/// Parsers that call themselves for each bracket must stop before the stack ends, and those that
/// take longer for each must stop early.
#[test]
fn brackets_end_no_stack() {
    let dir = Dir::new();
    for deep in ["[".repeat(1_000_000), "{\"a\":".repeat(1_000_000)] {
        let error = dir.open("deep.safetensors", &safetensors(&deep, &[]));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("not a .safetensors file: the header: "),
            "{error}"
        );
    }
    for deep in ["(".repeat(9000), "{".repeat(60), "[')',".repeat(60)] {
        let error = dir.open("deep.npy", &npy_dict(&deep, &[])).unwrap_err();
        assert!(error.to_string().contains("is not a dict"), "{error}");
    }
}

/// A header announces as much as it likes; nothing is reserved before it is seen to be there.
#[test]
fn what_is_announced_is_not_allocated() {
    let dir = Dir::new();
    let most = u64::MAX.to_le_bytes();
    let mut counts = b"GGUF\x03\0\0\0".to_vec();
    counts.extend([most, most].concat());
    let mut name = b"GGUF\x03\0\0\0".to_vec();
    name.extend([1u64.to_le_bytes(), [0; 8], most].concat());
    let mut vocabulary = b"GGUF\x03\0\0\0".to_vec();
    vocabulary.extend([[0; 8], 1u64.to_le_bytes(), 1u64.to_le_bytes()].concat());
    vocabulary.extend([b"k\x09\0\0\0\x08\0\0\0", &most[..]].concat());
    for (name, file, expected) in [
        (
            "counts.gguf",
            counts,
            "18446744073709551615 tensors (allowed: at most 65536)",
        ),
        (
            "name.gguf",
            name,
            "tensor 0: truncated: 18446744073709551615 bytes are to follow byte 32",
        ),
        (
            "words.gguf",
            vocabulary,
            "metadata k: truncated: 8 bytes are to follow byte 49",
        ),
        (
            "header.safetensors",
            most.to_vec(),
            "its header would have 18446744073709551615 bytes",
        ),
        (
            "tensor.safetensors",
            one_tensor("U8", "[18446744073709551615]", &[]),
            "not a .safetensors file",
        ),
        (
            "array.npy",
            npy("|u1", "(9223372036854775807,)", &[]),
            "truncated: shape [9223372036854775807] of u8 needs",
        ),
        (
            "raw.npy",
            npy("|V9223372036854775807", "(3,)", &[]),
            "needs more bytes than can be addressed",
        ),
    ] {
        let error = dir.open(name, &file).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    // The sizes in the directory of an archive; those of the member's own header are not looked at.
    let mut archive = DEFLATED.to_vec();
    let signature = b"PK\x01\x02";
    let starts = (0..archive.len() - 4).filter(|&at| archive[at..].starts_with(signature));
    for at in starts.collect::<Vec<_>>() {
        archive[at + 24..at + 28].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    }
    let file = dir.open("a.npz", &archive).unwrap();
    for name in file.names() {
        let error = file.tensor(&name).unwrap_err().to_string();
        assert!(
            error.contains("announces 4294967294 bytes, more than its"),
            "{error}"
        );
    }
}
