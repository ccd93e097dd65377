//! The readers of the command: whatever a file holds, it is a tensor or an error.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use wgpu_gather::Params;
use wgpu_gather::quantized::QuantizedTable;

#[allow(dead_code, unused_imports, reason = "the command also writes files")]
#[path = "../../cli/src/files/mod.rs"]
mod files;
#[allow(dead_code, reason = "what the command writes files with")]
#[path = "../../cli/src/interrupt.rs"]
mod interrupt;
#[allow(dead_code, reason = "what the command writes files with")]
#[path = "../../cli/src/text.rs"]
mod text;

use files::{Array, Source, Stored};

static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

fuzz_target!(|input: &[u8]| {
    for ending in ["npy", "npz", "safetensors", "gguf"] {
        let path: PathBuf = DIRECTORY.path().join(format!("input.{ending}"));
        // A new file each time: the last one may still be mapped.
        let _ = fs::remove_file(&path);
        fs::write(&path, input).unwrap();
        let path = path.to_str().unwrap();
        // Without a name, the file's names are in the complaint.
        let Some(complaint) = read(path, input.len()) else {
            continue;
        };
        let Some((_, names)) = complaint.rsplit_once("; the file has ") else {
            continue;
        };
        for name in names.split(", ") {
            read(&format!("{path}:{name}"), input.len());
        }
    }
});

/// Reads the tensor called `name` and looks at all of it, or returns the complaint.
fn read(name: &str, file_bytes: usize) -> Option<String> {
    let array = match Source::parse(name).and_then(|source| Array::read(&source)) {
        Ok(array) => array,
        Err(error) => return Some(format!("{error:#}")),
    };
    let element_bytes = match array.stored() {
        Stored::Typed(dtype) => dtype.bytes(),
        Stored::Raw(bytes) => bytes,
        Stored::Blocks(format) => {
            let shape = array.layout().shape();
            let table = QuantizedTable::blocks(format, shape, array.bytes()).unwrap();
            let mut decoded = vec![0.0; table.elements()];
            table.decode(0, &mut decoded).unwrap();
            std::hint::black_box(decoded);
            return None;
        }
    };
    let elements: usize = match array.layout().is_empty() {
        true => 0,
        false => array.layout().shape().iter().product(),
    };
    assert_eq!(array.bytes().len(), elements * element_bytes);
    // Deflate makes a byte of at most 1032.
    assert!(array.bytes().len() <= 1032 * file_bytes);
    let sum = |sum: u8, &byte: &u8| sum.wrapping_add(byte);
    std::hint::black_box(array.bytes().iter().fold(0, sum));
    Params::new(array.bytes(), element_bytes, array.layout().clone()).unwrap();
    None
}
