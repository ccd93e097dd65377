//! Files in, tensors of the library out.

mod damage;
mod make;
mod problems;
mod streams;
mod tables;

use std::path::PathBuf;

use tempfile::TempDir;
use wgpu_gather_files::{Result, StoredTensor, TensorFile};

const STORED: &[u8] = include_bytes!("../../../cli/tests/fixtures/stored.npz");
const DEFLATED: &[u8] = include_bytes!("../../../cli/tests/fixtures/deflated.npz");
const GGUF: &[u8] = include_bytes!("../../../cli/tests/fixtures/small.gguf");

/// A directory of files, removed at the end.
struct Dir(TempDir);

impl Dir {
    fn new() -> Self {
        Dir(tempfile::tempdir().unwrap())
    }

    /// Writes a file. A new one each time: an old one may still be mapped.
    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn open(&self, name: &str, bytes: &[u8]) -> Result<TensorFile> {
        TensorFile::open(self.put(name, bytes))
    }

    /// The tensor `tensor` of a file of these bytes.
    fn tensor(&self, name: &str, tensor: &str, bytes: &[u8]) -> Result<StoredTensor> {
        self.open(name, bytes)?.tensor(tensor)
    }
}
