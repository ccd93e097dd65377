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

/// Takes a mapping's pages out of this process's memory; they are mapped again when they are read.
#[cfg(target_os = "linux")]
pub(super) fn give_back(map: &Mmap) {
    #[expect(
        unsafe_code,
        reason = "the advice may lose the content of other mappings"
    )]
    // SAFETY: the mapping is shared, read-only and of a file: what is read after this is again
    // what the file holds, so no byte of the slice that the mapping derefs to changes. A failure
    // changes nothing but how much is resident.
    let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
}

#[cfg(not(target_os = "linux"))]
pub(super) fn give_back(_map: &Mmap) {}

/// Tells the system that a mapping is read here and there: what lies around a page is not read
/// ahead with it.
#[cfg(unix)]
pub(super) fn expect_scattered(map: &Mmap) {
    // Advice not taken changes nothing but speed.
    let _ = map.advise(memmap2::Advice::Random);
}

#[cfg(not(unix))]
pub(super) fn expect_scattered(_map: &Mmap) {}
