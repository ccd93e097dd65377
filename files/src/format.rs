//! The formats of files, told apart by their endings.

use std::fmt;
use std::path::Path;

/// A format of files that hold tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileFormat {
    /// NumPy's `.npy`: one tensor without a name.
    Npy,
    /// NumPy's `.npz`: a zip archive of `.npy` files.
    Npz,
    /// Hugging Face's `.safetensors`.
    Safetensors,
    /// llama.cpp's `.gguf`.
    Gguf,
}

impl FileFormat {
    /// Every format.
    pub const ALL: [FileFormat; 4] = [
        FileFormat::Npy,
        FileFormat::Npz,
        FileFormat::Safetensors,
        FileFormat::Gguf,
    ];

    /// The ending of its files: `.npy`, `.npz`, `.safetensors`, `.gguf`.
    pub const fn ending(self) -> &'static str {
        match self {
            FileFormat::Npy => ".npy",
            FileFormat::Npz => ".npz",
            FileFormat::Safetensors => ".safetensors",
            FileFormat::Gguf => ".gguf",
        }
    }

    /// The format that the ending of `path` stands for, if it stands for one.
    pub fn of(path: &Path) -> Option<Self> {
        let path = path.as_os_str().as_encoded_bytes();
        let mut all = FileFormat::ALL.into_iter();
        all.find(|format| path.ends_with(format.ending().as_bytes()))
    }

    /// Whether its files name their tensors.
    pub const fn has_names(self) -> bool {
        !matches!(self, FileFormat::Npy)
    }

    /// What it calls a tensor.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            FileFormat::Npy | FileFormat::Npz => "array",
            FileFormat::Safetensors | FileFormat::Gguf => "tensor",
        }
    }
}

/// The ending.
impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.ending())
    }
}
