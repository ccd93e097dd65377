//! Uniform buffers that calls of the same shapes share.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use crate::error::Result;

/// How many uniform blocks a device keeps.
const KEPT: usize = 512;

/// Uniform buffers by what they hold. Calls of the same shapes read the same blocks, which are made once and
/// never rewritten.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Uniforms(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Blocks are of two thousand bytes, which the standard library's hash takes longer for than all else that
    /// a call of known shapes does.
    buffers: HashMap<Box<[u8]>, Uniform, RandomState>,
    uses: u64,
}

#[derive(Debug)]
struct Uniform {
    buffer: wgpu::Buffer,
    last_use: u64,
}

impl Uniforms {
    /// The buffer that holds these bytes, which `make` makes if there is none.
    pub(in crate::gpu) fn get(
        &self,
        bytes: &[u8],
        make: impl FnOnce() -> Result<wgpu::Buffer>,
    ) -> Result<wgpu::Buffer> {
        if let Some(buffer) = self.lock().found(bytes) {
            return Ok(buffer);
        }
        // Made outside the lock: two threads may do so at once.
        let buffer = make()?;
        self.lock().keep(bytes, &buffer);
        Ok(buffer)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn found(&mut self, bytes: &[u8]) -> Option<wgpu::Buffer> {
        self.uses += 1;
        let found = self.buffers.get_mut(bytes)?;
        found.last_use = self.uses;
        Some(found.buffer.clone())
    }

    /// Keeps a buffer, in the place of the one that was not used for longest.
    fn keep(&mut self, bytes: &[u8], buffer: &wgpu::Buffer) {
        if self.buffers.len() >= KEPT {
            let oldest = self.buffers.values().map(|u| u.last_use).min();
            self.buffers.retain(|_, u| Some(u.last_use) != oldest);
        }
        let uniform = Uniform {
            buffer: buffer.clone(),
            last_use: self.uses,
        };
        self.buffers.insert(bytes.into(), uniform);
    }
}
