//! Buffers of tensors, recycled when the last view of a tensor is gone.
//!
//! The context holds the pool, `storage` takes from it. It makes no buffer. Who hands one out or
//! frees one has the `queue` submit the gathers that wait.
//!
//! A fresh buffer costs more than its allocation: wgpu fills it with zeros before a shader may see
//! it, a third pass over the memory of a gather. A buffer from the pool has been filled already.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::gpu::device::queue::Queue;

/// The buffers that nobody uses, by size.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Pool(Arc<Mutex<Free>>);

#[derive(Debug)]
struct Free {
    buffers: BTreeMap<u64, Vec<wgpu::Buffer>>,
    bytes: u64,
    /// The most bytes that are kept.
    limit: u64,
    /// How often buffers were discarded: those from before are not kept.
    discards: u64,
}

impl Pool {
    pub(in crate::gpu) fn new(limit: u64) -> Self {
        Pool(Arc::new(Mutex::new(Free {
            buffers: BTreeMap::new(),
            bytes: 0,
            limit,
            discards: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of the buffers that are kept.
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// A buffer of `size` bytes or up to an eighth more.
    pub(in crate::gpu) fn take(&self, size: u64) -> Option<wgpu::Buffer> {
        let mut free = self.lock();
        let (&found, buffers) = free.buffers.range_mut(size..=size + size / 8).next()?;
        let buffer = buffers.pop();
        if buffers.is_empty() {
            free.buffers.remove(&found);
        }
        free.bytes -= found;
        buffer
    }

    /// Keeps a buffer, unless it was discarded or there are enough; says whether it does.
    fn recycle(&self, buffer: &wgpu::Buffer, discards: u64) -> bool {
        let mut free = self.lock();
        let size = buffer.size();
        let fits = size <= free.limit - free.bytes.min(free.limit);
        let is_kept = discards == free.discards && fits;
        if is_kept {
            free.bytes += size;
            free.buffers.entry(size).or_default().push(buffer.clone());
        }
        is_kept
    }

    /// Forgets every buffer; says how many bytes they had.
    pub(in crate::gpu) fn trim(&self) -> u64 {
        let mut free = self.lock();
        free.buffers.clear();
        std::mem::take(&mut free.bytes)
    }

    /// Forgets every buffer, and will keep none that is in use now: a browser said late that there
    /// was no memory for one of them.
    pub(in crate::gpu) fn discard(&self) {
        self.trim();
        self.lock().discards += 1;
    }
}

/// A buffer with tensors in it: the caller's, or one that goes back to the pool.
#[derive(Debug)]
pub(in crate::gpu) struct Owned {
    buffer: wgpu::Buffer,
    /// Where it goes back to; nowhere, if it is the caller's or the engine's own.
    home: Option<Home>,
    /// Whether the caller has the buffer itself, and may use it after the last tensor is gone.
    shared: AtomicBool,
}

/// The pool that a buffer returns to.
#[derive(Debug)]
struct Home {
    pool: Pool,
    /// The pool's count of discards when this buffer was taken.
    discards: u64,
    /// The queue that may hold back gathers which use the buffer.
    queue: Arc<Queue>,
}

impl Owned {
    /// A buffer that goes back to `pool`.
    pub(in crate::gpu) fn pooled(
        buffer: wgpu::Buffer,
        pool: &Pool,
        queue: &Arc<Queue>,
    ) -> Arc<Self> {
        let home = Home {
            pool: pool.clone(),
            discards: pool.lock().discards,
            queue: Arc::clone(queue),
        };
        Arc::new(Owned {
            buffer,
            home: Some(home),
            shared: AtomicBool::new(false),
        })
    }

    /// A buffer that the engine keeps for itself.
    pub(in crate::gpu) fn kept(buffer: wgpu::Buffer) -> Arc<Self> {
        Arc::new(Owned {
            buffer,
            home: None,
            shared: AtomicBool::new(false),
        })
    }

    /// The caller's buffer.
    pub(in crate::gpu) fn wrapped(buffer: wgpu::Buffer) -> Arc<Self> {
        Arc::new(Owned {
            buffer,
            home: None,
            shared: AtomicBool::new(true),
        })
    }

    /// Another engine made the buffer. (wgpu cannot tell devices or buffers of two instances apart.)
    pub(in crate::gpu) fn is_of_another(&self, pool: &Pool) -> bool {
        let home = self.home.as_ref();
        home.is_some_and(|home| !Arc::ptr_eq(&home.pool.0, &pool.0))
    }

    /// The buffer, for work that is submitted while this lives.
    pub(in crate::gpu) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The buffer, for the caller to keep: it will not go back to the pool, and no gather that uses
    /// it waits.
    pub(in crate::gpu) fn share(&self) -> &wgpu::Buffer {
        // In this order: see `Queue::defer`.
        self.shared.store(true, Ordering::Relaxed);
        self.home.iter().for_each(|home| home.queue.flush());
        &self.buffer
    }

    /// The caller may hold the buffer.
    pub(in crate::gpu) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(home) = &self.home
            && !*self.shared.get_mut()
            && !home.pool.recycle(&self.buffer, home.discards)
        {
            // Held-back gathers would keep the memory alive.
            home.queue.flush();
        }
    }
}

/// Sizes are rounded up by at most an eighth and at most 16 MiB, so that tensors of nearly the
/// same size use the same buffers. A multiple of 256.
pub(in crate::gpu) fn rounded(bytes: u64) -> u64 {
    let step = (bytes / 8).checked_next_power_of_two().unwrap_or(1);
    bytes
        .max(1)
        .next_multiple_of((step / 2).clamp(256, 16 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_by_at_most_an_eighth() {
        assert_eq!(rounded(0), 256);
        assert_eq!(rounded(257), 512);
        for bytes in [3000, 4096, 5000, 1 << 20, (1 << 20) + 1, 5 << 30] {
            let size = rounded(bytes);
            assert!(
                size >= bytes && size - bytes <= (bytes / 8).max(256),
                "{bytes} {size}"
            );
            assert!(size - bytes < 16 << 20);
        }
        assert_eq!(rounded(5 << 30), 5 << 30);
    }
}
