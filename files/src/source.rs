//! The names of tensors in files: `FILE.npy`, `FILE.npz:NAME`, `FILE.safetensors:NAME`,
//! `FILE.gguf:NAME`.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::{TensorFile, format_of};
use crate::format::FileFormat;
use crate::problem::Problem;
use crate::tensor::StoredTensor;

/// Where a tensor lies: a file, and a name in it.
///
/// ```
/// let source = wgpu_gather_files::Source::parse("model.gguf:token_embd.weight")?;
/// assert_eq!(source.path(), "model.gguf");
/// assert_eq!(source.name(), "token_embd.weight");
/// # Ok::<(), wgpu_gather_files::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    name: String,
}

impl Source {
    /// Reads `text` as the name of a tensor. The first `.npz:`, `.safetensors:` or `.gguf:` ends the
    /// path, in this order. A pipe may have any name, as a `.npy` file comes through it.
    ///
    /// # Errors
    ///
    /// [`Problem::UnknownEnding`].
    pub fn parse(text: &str) -> Result<Self> {
        let named = FileFormat::ALL.into_iter().filter(|f| f.has_names());
        let split = |format: FileFormat| {
            let at = text.find(&format!("{format}:"))? + format.ending().len();
            Some((&text[..at], &text[at + 1..]))
        };
        let (path, name) = named.filter_map(split).next().unwrap_or((text, ""));
        if format_of(Path::new(path)).is_none() {
            return Err(Error::new(Path::new(text), "", Problem::UnknownEnding));
        }
        Ok(Source {
            path: path.into(),
            name: name.to_owned(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name; empty if there is none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens the file and returns the tensor.
    ///
    /// # Errors
    ///
    /// A file that cannot be read ([`TensorFile::open`]), or a tensor that it does not have or that cannot be
    /// gathered ([`TensorFile::tensor`]).
    pub fn read(&self) -> Result<StoredTensor> {
        TensorFile::open(&self.path)?.tensor(&self.name)
    }
}
