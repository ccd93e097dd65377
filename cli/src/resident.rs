//! Limits how much of mapped files is in this process's memory.
//!
//! Pages of a mapped file that were read stay, until the system needs their memory for something
//! else. They count as memory of this process meanwhile, and a limit on that (of a container, say)
//! ends it. So what was read is given back on the way: it stays in the system's cache of files,
//! which is nobody's, and is mapped again when it is needed again.

use wgpu_gather_files::StoredTensor;

/// Bytes of mapped files that may be resident before they are given back.
pub const MOST_BYTES: u64 = 128 << 20;

/// What one read of a mapped file can make resident: the system maps the cached pages around the
/// one that is read.
pub const AROUND_BYTES: u64 = 64 << 10;

/// Keeps tensors from becoming resident altogether.
pub struct Resident<'a> {
    tensors: Vec<&'a StoredTensor>,
    /// What else of files is resident: the program and its libraries.
    others: u64,
}

impl<'a> Resident<'a> {
    /// Of those of `tensors` that are mapped; `None` if they are too small to matter, or if this
    /// system does not tell what is resident.
    pub fn of(tensors: &[&'a StoredTensor]) -> Option<Self> {
        let mapped = tensors.iter().copied().filter(|t| t.mapped_bytes() > 0);
        let tensors: Vec<&StoredTensor> = mapped.collect();
        let bytes: u64 = tensors.iter().map(|t| t.mapped_bytes()).sum();
        if bytes <= MOST_BYTES {
            return None;
        }
        let others = file_pages()?;
        Some(Resident { tensors, others })
    }

    /// Gives back what is resident, if that is too much.
    pub fn trim(&mut self) {
        let Some(resident) = file_pages() else { return };
        if resident > self.others + MOST_BYTES {
            self.tensors.iter().for_each(|t| t.release_pages());
            self.others = file_pages().unwrap_or(resident);
        }
    }
}

/// Bytes of files that are resident in this process.
#[cfg(target_os = "linux")]
fn file_pages() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssFile:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(not(target_os = "linux"))]
fn file_pages() -> Option<u64> {
    None
}
