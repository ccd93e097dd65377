//! Output files, which appear whole or not at all.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use wgpu_gather::DType;

use super::{npy, safetensors};

/// The name of the tensor in a `.safetensors` output.
const TENSOR: &str = "output";

/// A file to be written.
pub(crate) struct Output {
    path: PathBuf,
    format: Format,
    /// Of the file that is to be replaced, if there is one.
    permissions: Option<Permissions>,
}

enum Format {
    Npy,
    Safetensors,
}

impl Output {
    /// The file at `path`, which is to be none of `inputs` and looks as if it could be written.
    ///
    /// An input is mapped, and its new content would be computed from its old.
    pub(crate) fn new(path: &Path, inputs: &[&Path]) -> Result<Self> {
        let format = match path.extension().and_then(|e| e.to_str()) {
            Some("npy") => Format::Npy,
            Some("safetensors") => Format::Safetensors,
            _ => bail!("not a file that can be written (allowed: FILE.npy, FILE.safetensors)"),
        };
        let directory = directory(path);
        ensure!(
            directory.is_dir(),
            "there is no directory {}",
            directory.display()
        );
        if let Ok(real) = path.canonicalize() {
            let is_input = |input: &&&Path| input.canonicalize().is_ok_and(|i| i == real);
            if let Some(input) = inputs.iter().find(is_input) {
                bail!("the output cannot replace the input {}", input.display());
            }
        }
        Ok(Output {
            path: path.to_owned(),
            format,
            permissions: replaced(path)?,
        })
    }

    /// Everything that precedes `bytes` bytes of data in a file of this format.
    pub(crate) fn header(&self, dtype: DType, shape: &[usize], bytes: usize) -> Result<Vec<u8>> {
        match self.format {
            Format::Npy => npy::header(dtype, shape),
            Format::Safetensors => safetensors::header(TENSOR, dtype, shape, bytes),
        }
    }

    /// Writes the file: aside first, then under its name.
    pub(crate) fn write(&self, header: &[u8], data: &[u8]) -> Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".wgpu-gather-").suffix(".tmp");
        #[cfg(unix)]
        {
            // As any new file, not private as temporary ones are; the umask applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(directory(&self.path))?;
        file.write_all(header)?;
        file.write_all(data)?;
        if let Some(permissions) = &self.permissions {
            file.as_file().set_permissions(permissions.clone())?;
        }
        file.persist(&self.path).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The directory that `path` lies in.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The permissions of the file at `path`, if there is one; only a writable file may be replaced.
fn replaced(path: &Path) -> Result<Option<Permissions>> {
    let there = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        there => there.context("cannot be replaced")?,
    };
    ensure!(there.is_file(), "not a regular file");
    ensure!(!there.permissions().readonly(), "the file is read-only");
    Ok(Some(there.permissions()))
}
