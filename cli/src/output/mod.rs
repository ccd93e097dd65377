//! Output files, which appear whole or not at all.

pub(crate) mod npy;
mod rows;
mod safetensors;
mod stdout;

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use tempfile::NamedTempFile;
use wgpu_gather::DType;

use crate::{interrupt, text};

pub(crate) use rows::Rows;
pub(crate) use stdout::{Closed, ToStdout};

/// Small pieces are written together.
const BUFFER_BYTES: usize = 256 << 10;

/// The name of the tensor in a `.safetensors` output.
const TENSOR: &str = "output";

/// A file to be written.
pub struct Output {
    path: PathBuf,
    format: Format,
    /// Of the file that is to be replaced, if there is one.
    permissions: Option<Permissions>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Safetensors,
    Csv,
    Txt,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "npy" => Some(Format::Npy),
            "safetensors" => Some(Format::Safetensors),
            "csv" => Some(Format::Csv),
            "txt" => Some(Format::Txt),
            _ => None,
        }
    }

    /// What separates the numbers of a text.
    fn separator(self) -> Option<char> {
        match self {
            Format::Csv => Some(','),
            Format::Txt => Some(' '),
            Format::Npy | Format::Safetensors => None,
        }
    }
}

impl Output {
    /// The tensor file at `path`, which is to be none of `inputs` and looks as if it could be written.
    ///
    /// An input is mapped, and its new content would be computed from its old.
    pub fn new(path: &Path, inputs: &[&Path]) -> Result<Self> {
        match Format::of(path).filter(|format| format.separator().is_none()) {
            Some(format) => Output::of_format(format, path, inputs),
            None => bail!("not a file that can be written (allowed: FILE.npy, FILE.safetensors)"),
        }
    }

    /// [`Output::new`], or a text of numbers.
    pub(crate) fn any(path: &Path, inputs: &[&Path]) -> Result<Self> {
        match Format::of(path) {
            Some(format) => Output::of_format(format, path, inputs),
            None => bail!(
                "not a file that can be written (allowed: FILE.npy, FILE.safetensors, FILE.csv, FILE.txt, \
                 - for .npy on stdout)"
            ),
        }
    }

    fn of_format(format: Format, path: &Path, inputs: &[&Path]) -> Result<Self> {
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

    /// What separates the numbers, if it is a text of them.
    pub(crate) fn separator(&self) -> Option<char> {
        self.format.separator()
    }

    /// Everything that precedes `bytes` bytes of data in a file of this format; nothing in a text.
    pub fn header(&self, dtype: DType, shape: &[usize], bytes: usize) -> Result<Vec<u8>> {
        match self.format {
            Format::Npy => npy::header(dtype, shape),
            Format::Safetensors => safetensors::header(TENSOR, dtype, shape, bytes),
            Format::Csv | Format::Txt => Ok(Vec::new()),
        }
    }

    /// Begins to write the file, of `bytes` bytes, or more if it is a text: aside, under a temporary name.
    /// Refused at once if there is no space for it.
    pub fn begin(&self, bytes: u64) -> Result<Writing<'_>> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".wgpu-gather-").suffix(".tmp");
        #[cfg(unix)]
        {
            // As any new file, not private as temporary ones are; the umask applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(Permissions::from_mode(0o666));
        }
        let mut unfinished = interrupt::unfinished();
        let file = builder.tempfile_in(directory(&self.path))?;
        if let Some(free) = free_bytes(file.as_file()) {
            let (needed, there) = (text::bytes(bytes), text::bytes(free));
            ensure!(
                bytes <= free,
                "no space: {needed} are needed, {there} are free"
            );
        }
        *unfinished = Some(file.path().to_owned());
        Ok(Writing {
            output: self,
            file: Some(BufWriter::with_capacity(BUFFER_BYTES, file)),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that is being written. If it is dropped unfinished, nothing is left of it.
pub struct Writing<'o> {
    output: &'o Output,
    /// Until it is finished.
    file: Option<BufWriter<NamedTempFile>>,
}

impl Writing<'_> {
    /// Writes what comes next.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }

    /// Makes room for a file of `bytes` bytes, of which others write the rest, and says where it is
    /// until it is finished.
    pub fn share(&mut self, bytes: u64) -> io::Result<PathBuf> {
        let Some(file) = &mut self.file else {
            return Err(ErrorKind::NotFound.into());
        };
        file.flush()?;
        file.get_ref().as_file().set_len(bytes)?;
        Ok(file.get_ref().path().to_owned())
    }

    /// Gives the file its name, now that everything is written.
    pub fn finish(mut self) -> Result<()> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let file = file.into_inner().map_err(IntoInnerError::into_error)?;
        if let Some(permissions) = &self.output.permissions {
            file.as_file().set_permissions(permissions.clone())?;
        }
        let mut unfinished = interrupt::unfinished();
        *unfinished = None;
        file.persist(&self.output.path)
            .map_err(|failed| failed.error)?;
        Ok(())
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut unfinished = interrupt::unfinished();
        drop(self.file.take());
        *unfinished = None;
    }
}

/// Bytes that are free where `file` lies, if the system tells.
#[cfg(unix)]
fn free_bytes(file: &File) -> Option<u64> {
    let system = rustix::fs::fstatvfs(file).ok()?;
    let tells = system.f_blocks > 0;
    tells.then(|| system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_file: &File) -> Option<u64> {
    None
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
