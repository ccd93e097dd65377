//! The bytes of files: mapped, so that of a large tensor only the parts that are gathered are read,
//! or owned where they were compressed or came through a pipe.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

use crate::problem::Problem;

/// Bytes that several tensors share.
#[derive(Clone)]
pub(crate) enum Storage {
    /// A file.
    Mapped(Arc<Mmap>),
    /// A member of an archive, what a stream held, or what a program made.
    Owned(Arc<Vec<u8>>),
}

impl Storage {
    /// Maps the file at `path`.
    pub(crate) fn map(path: &Path) -> Result<Self, Problem> {
        if !fs::metadata(path)?.is_file() {
            return Err(Problem::NotAFile);
        }
        let file = File::open(path)?;
        #[expect(unsafe_code, reason = "a mapping is the way not to read a whole file")]
        // SAFETY: the mapping is read-only, and this crate never writes to a file. A program that
        // changes the file meanwhile (which the documentation of the crate asks not to do) gives
        // other bytes, which are only moved, never trusted: headers are parsed once, and their
        // sizes checked against the mapping. One that truncates it ends this process with a bus
        // error, as for every program that maps files.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Storage::Mapped(Arc::new(map)))
    }

    /// Takes mapped pages out of this process's memory; they are mapped again when they are read.
    #[cfg(target_os = "linux")]
    pub(crate) fn release_pages(&self) {
        let Storage::Mapped(map) = self else { return };
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
    pub(crate) fn release_pages(&self) {}

    /// Tells the system that a mapping is read here and there: what lies around a page is not read
    /// ahead with it.
    #[cfg(unix)]
    pub(crate) fn expect_scattered(&self) {
        if let Storage::Mapped(map) = self {
            // Advice not taken changes nothing but speed.
            let _ = map.advise(memmap2::Advice::Random);
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn expect_scattered(&self) {}
}

impl AsRef<[u8]> for Storage {
    fn as_ref(&self) -> &[u8] {
        match self {
            Storage::Mapped(map) => map,
            Storage::Owned(bytes) => bytes,
        }
    }
}

/// Whether a pipe has this path: a FIFO, or what a shell names for another command's output.
#[cfg(unix)]
pub(crate) fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo())
}

#[cfg(not(unix))]
pub(crate) fn is_pipe(_path: &Path) -> bool {
    false
}

/// Room for so many bytes, which a file announces.
pub(crate) fn reserved(bytes: u64) -> Result<Vec<u8>, Problem> {
    let mut room = Vec::new();
    let reserved = usize::try_from(bytes).map(|bytes| room.try_reserve_exact(bytes));
    match reserved {
        Ok(Ok(())) => Ok(room),
        _ => Err(Problem::OutOfMemory { bytes }),
    }
}
