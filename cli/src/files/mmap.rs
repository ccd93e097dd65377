//! Files as memory, so that of a large tensor only the parts that are gathered are read.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Result, ensure};
use memmap2::Mmap;

/// Maps the file at `path`.
pub(super) fn map(path: &Path) -> Result<Mmap> {
    // Opening a pipe would wait for a writer.
    ensure!(fs::metadata(path)?.is_file(), "not a regular file");
    let file = File::open(path)?;
    #[expect(unsafe_code, reason = "a mapping is the way not to read a whole file")]
    // SAFETY: the mapping is read-only, and this process never writes to the mapped file: outputs
    // are written to new files, and refused if they would replace an input. Another process that
    // changes the file meanwhile gives other bytes, which are only moved, never trusted (headers
    // are parsed once and their sizes checked against the mapping); one that truncates it ends
    // this process with a bus error, as for every program that maps files.
    let map = unsafe { Mmap::map(&file) }?;
    Ok(map)
}
