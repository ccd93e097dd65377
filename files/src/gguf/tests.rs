//! Files made by hand, whole and damaged.

use gather_conformance::SplitMix;
use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{DType, Layout};

use super::*;
use crate::stored::Stored;

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

/// A tensor: its name, its dims (the last one first), the number of its type, its offset.
fn info(name: &str, dims: &[u64], kind: u32, offset: u64) -> Vec<u8> {
    let mut bytes = string(name);
    bytes.extend((dims.len() as u32).to_le_bytes());
    dims.iter().for_each(|d| bytes.extend(d.to_le_bytes()));
    bytes.extend(kind.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes
}

/// An entry of the metadata.
fn entry(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&string(key), &kind.to_le_bytes()[..], value].concat()
}

fn array(kind: u32, count: u64, values: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes(), &count.to_le_bytes()[..], values].concat()
}

/// A file, with its data aligned to `alignment`.
fn file(
    version: u32,
    alignment: usize,
    entries: &[Vec<u8>],
    infos: &[Vec<u8>],
    data: &[u8],
) -> Vec<u8> {
    let mut file = b"GGUF".to_vec();
    file.extend(version.to_le_bytes());
    file.extend((infos.len() as u64).to_le_bytes());
    file.extend((entries.len() as u64).to_le_bytes());
    entries
        .iter()
        .chain(infos)
        .for_each(|part| file.extend(part));
    file.resize(file.len().next_multiple_of(alignment), 0);
    file.extend(data);
    file
}

/// Metadata of all types, arrays of arrays as well, and three tensors.
fn good() -> Vec<u8> {
    let words = [string("a"), string("ähm"), string("")].concat();
    let arrays = [array(0, 3, &[1, 2, 3]), array(8, 1, &string("b"))].concat();
    let scalars = [1, 1, 2, 2, 4, 4, 4, 1].into_iter().enumerate();
    let mut entries: Vec<_> = scalars
        .map(|(kind, bytes)| entry("k", kind as u32, &vec![7; bytes]))
        .collect();
    entries.push(entry("name", 8, &string("a model")));
    entries.push(entry("words", 9, &array(8, 3, &words)));
    entries.push(entry("deep", 9, &array(9, 2, &arrays)));
    entries.extend([10, 11, 12].map(|kind| entry("wide", kind, &[9; 8])));
    entries.push(entry("general.alignment", 4, &64u32.to_le_bytes()));
    let infos = [
        info("rows", &[2, 3], 0, 0),
        info("blocks.weight", &[32, 2], 8, 64),
        info("ids", &[5], 27, 192),
    ];
    let data: Vec<u8> = (0..192 + 40).map(|n| n as u8).collect();
    file(3, 64, &entries, &infos, &data)
}

/// Where the tensor `name` lies in `file`, and what it is; `None` if the file has none of this name.
fn find(file: &[u8], name: &str) -> Result<Option<(Range<usize>, Stored, Layout)>, Problem> {
    let mut tensors = place(file)?.into_iter();
    let Some(placed) = tensors.find(|placed| placed.info.name() == name) else {
        return Ok(None);
    };
    let stored = stored(placed.info.type_name())?;
    assert_eq!(placed.info.stored(), Some(stored));
    Ok(Some((placed.data, stored, placed.layout)))
}

fn found(file: &[u8], name: &str) -> (Range<usize>, Stored, Layout) {
    find(file, name).unwrap().unwrap()
}

/// What is wrong with asking `file` for `name`.
fn complaint(file: &[u8], name: &str) -> String {
    find(file, name).unwrap_err().to_string()
}

#[test]
fn tensors_lie_where_the_file_says() {
    let good = good();
    let start = good.len() - (192 + 40);
    assert_eq!(start % 64, 0);
    let (data, stored, layout) = found(&good, "rows");
    assert_eq!(
        (data, stored),
        (start..start + 24, Stored::Typed(DType::F32))
    );
    assert_eq!(layout.shape(), [3, 2]);
    let (data, stored, layout) = found(&good, "blocks.weight");
    assert_eq!(data, start + 64..start + 64 + 2 * 34);
    assert_eq!(stored, Stored::Blocks(BlockFormat::Q8_0));
    assert_eq!(layout.shape(), [2, 32]);
    let (data, stored, layout) = found(&good, "ids");
    assert_eq!(data, start + 192..good.len());
    assert_eq!(
        (stored, layout.shape()),
        (Stored::Typed(DType::I64), &[5][..])
    );
}

#[test]
fn old_versions_scalars_and_empty_tensors() {
    let infos = [info("s", &[], 24, 0), info("e", &[0, 7], 1, 32)];
    let file = file(2, 32, &[], &infos, &[5]);
    let (data, _, layout) = found(&file, "s");
    assert_eq!((&file[data], layout.shape()), (&[5][..], &[][..]));
    let (data, _, layout) = found(&file, "e");
    assert_eq!((data.len(), layout.shape()), (0, &[7, 0][..]));
}

#[test]
fn what_is_wrong_is_named() {
    let with = |entries: &[Vec<u8>], tensor: Vec<u8>| file(3, 32, entries, &[tensor], &[0; 64]);
    let t = |dims: &[u64], kind, offset| with(&[], info("t", dims, kind, offset));
    let fine = || info("t", &[1], 0, 0);
    let with_tensors = |count: u64| {
        let mut file = file(3, 32, &[], &[], &[])[..24].to_vec();
        file[8..16].copy_from_slice(&count.to_le_bytes());
        file
    };
    let nested = (0..9).fold(vec![], |inner, _| array(9, 1, &inner));
    for (file, expected) in [
        (t(&[17], 0, 0), "truncated: tensor t ends at byte"),
        (t(&[1], 0, 96), "truncated: tensor t ends at byte"),
        (
            t(&[1], 0, 33),
            "tensor t: its data starts at 33 (allowed: multiples of the alignment, 32)",
        ),
        (t(&[1; 5], 0, 0), "tensor t: 5 dims (allowed: at most 4)"),
        (
            t(&[u64::MAX, 2], 0, 0),
            "tensor t: shape [2, 18446744073709551615] of F32 needs more bytes than can be addressed",
        ),
        (
            t(&[0, u64::MAX, 2], 0, 0),
            "needs more bytes than can be addressed",
        ),
        (
            t(&[1], 0, u64::MAX - 31),
            "needs more bytes than can be addressed",
        ),
        (
            t(&[33], 8, 0),
            "tensor t: shape [33] of Q8_0 (allowed: rows of whole blocks, of 32 elements each)",
        ),
        (
            t(&[], 8, 0),
            "tensor t: shape [] of Q8_0 (allowed: rows of whole blocks, of 32 elements each)",
        ),
        (t(&[1], 99, 0), "element type 99 is unknown (allowed: F32"),
        (t(&[256], 15, 0), "truncated: tensor t ends at byte"),
        (t(&[256], 16, 0), "truncated: tensor t ends at byte"),
        (
            t(&[0], 16, 0),
            "element type IQ2_XXS cannot be gathered (allowed: F32",
        ),
        (
            with_tensors(u64::MAX),
            "18446744073709551615 tensors (allowed: at most 65536)",
        ),
        (
            with_tensors(1 << 16),
            "tensor 0: truncated: 8 bytes are to follow byte 24",
        ),
        (
            with(&[entry(&"k".repeat(1000), 13, &[])], fine()),
            "kkk: values of the unknown type 13",
        ),
        (
            with(&[entry("k", 13, &[])], fine()),
            "metadata k: values of the unknown type 13",
        ),
        (
            with(&[entry("k", 9, &nested)], fine()),
            "metadata k: arrays 9 deep (allowed: at most 8)",
        ),
        (
            with(&[entry("k", 9, &array(8, u64::MAX, &[]))], fine()),
            "metadata k: truncated",
        ),
        (
            with(&[entry("k", 9, &array(0, u64::MAX, &[]))], fine()),
            "metadata k: truncated",
        ),
        (
            with(&[entry("general.alignment", 10, &[1; 8])], fine()),
            "a value of type 10 (allowed: 4, UINT32)",
        ),
        (
            with(&[entry("general.alignment", 4, &[0; 4])], fine()),
            "general.alignment is 0",
        ),
        (
            with(&[entry("general.alignment", 4, &[3; 4])], fine()),
            "(allowed: powers of two)",
        ),
        (b"GGML\x03\0\0\0".to_vec(), "does not start with GGUF"),
        (b"GGUF".to_vec(), "truncated: 4 bytes are to follow byte 4"),
        (
            b"GGUF\x01\0\0\0".to_vec(),
            "unknown GGUF version 1 (allowed: 2, 3)",
        ),
        (
            b"GGUF\0\0\0\x03".to_vec(),
            "big-endian numbers (version 3) are not read",
        ),
        (
            with(&[], info(&"t".repeat(1025), &[1], 0, 0)),
            "tensor 0: a name of 1025 bytes (allowed: at most 1024)",
        ),
        (
            file(3, 32, &[], &[vec![1, 0, 0, 0, 0, 0, 0, 0, 0xff]], &[]),
            "tensor 0: its name is not text",
        ),
    ] {
        let complaint = complaint(&file, "t");
        assert!(complaint.contains(expected), "{complaint}\n{expected}");
    }
}

/// What `find` gives lies within the file and is of the size of its shape.
fn check(file: &[u8]) {
    for name in ["rows", "blocks.weight", "ids"] {
        let Ok(Some((data, stored, layout))) = find(file, name) else {
            continue;
        };
        let (bytes, shape) = (&file[data], layout.shape());
        match stored {
            Stored::Typed(dtype) => {
                let elements = Layout::checked_elements(shape).unwrap();
                assert_eq!(bytes.len(), elements * dtype.bytes());
            }
            Stored::Blocks(format) => drop(QuantizedTable::blocks(format, shape, bytes).unwrap()),
            Stored::Raw(_) => panic!("{stored}"),
        }
    }
}

#[test]
fn no_file_that_is_cut_has_all_tensors() {
    let good = good();
    for length in 0..good.len() {
        assert!(find(&good[..length], "rows").is_err(), "{length}");
    }
}

#[test]
fn damage_is_an_error_or_another_tensor_within_the_file() {
    let (good, mut random) = (good(), SplitMix(17));
    let mut below = |n: usize| (random.draw() % n as u64) as usize;
    for _ in 0..50_000 {
        let mut file = good.clone();
        for _ in 0..=below(3) {
            let at = below(file.len());
            match below(4) {
                0 => file[at] ^= 1 << below(8),
                1 => file[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
                2 => file[at..].iter_mut().take(8).for_each(|b| *b = 0xff),
                _ => drop(file.drain(at..(at + 1 + below(9)).min(file.len()))),
            }
        }
        check(&file);
    }
}
