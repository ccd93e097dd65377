//! The readers of files: whatever a file holds, it is a tensor or an error.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use wgpu_gather_files::{Error, FileFormat, Stored, StoredTensor, TensorFile};

static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

fuzz_target!(|input: &[u8]| {
    for format in FileFormat::ALL {
        let path: PathBuf = DIRECTORY.path().join(format!("input{format}"));
        // A new file each time: the last one may still be mapped.
        let _ = fs::remove_file(&path);
        fs::write(&path, input).unwrap();
        let Ok(file) = TensorFile::open(&path).inspect_err(print) else {
            continue;
        };
        let _ = file.tensors().inspect_err(print);
        for name in file.names() {
            if let Ok(tensor) = file.tensor(&name).inspect_err(print) {
                look(&tensor, input.len());
            }
        }
    }
});

/// Writes the text of an error.
fn print(error: &Error) {
    std::hint::black_box(error.to_string());
}

/// Looks at all of a tensor.
fn look(tensor: &StoredTensor, file_bytes: usize) {
    let _ = tensor.indices().inspect_err(print);
    let element_bytes = match tensor.stored() {
        Stored::Typed(dtype) => dtype.bytes(),
        Stored::Raw(bytes) => bytes,
        Stored::Blocks(_) => {
            let table = tensor.quantized_table().unwrap();
            let mut decoded = vec![0.0; table.elements()];
            table.decode(0, &mut decoded).unwrap();
            std::hint::black_box(decoded);
            return;
        }
    };
    let elements: usize = match tensor.layout().is_empty() {
        true => 0,
        false => tensor.shape().iter().product(),
    };
    assert_eq!(tensor.bytes().len(), elements * element_bytes);
    // Deflate makes a byte of at most 1032.
    assert!(tensor.bytes().len() <= 1032 * file_bytes);
    let sum = |sum: u8, &byte: &u8| sum.wrapping_add(byte);
    std::hint::black_box(tensor.bytes().iter().fold(0, sum));
    tensor.params().unwrap();
}
