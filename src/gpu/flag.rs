//! The flag of an output: 16 bytes behind its data, which a copy sets where an index is bad, so that bad
//! indices are counted only where there are some.
//!
//! Outputs that the engine allocates have room for it; those of callers have none, and all of their
//! indices are looked at a second time.

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::storage::{Placement, Storage};
use crate::plan::{CheckPass, Pass, Plan};

/// As wide as the widest store.
const BYTES: u64 = 16;

/// Where an output has room for its flag: the byte of its one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlagRoom(u64);

impl Context {
    /// Memory for the output of `plan`, with room for a flag if its rules need one and one binding holds
    /// both. What is in it is not defined: a flag that looks raised only costs a count.
    pub(super) fn allocate_output(&self, plan: &Plan) -> Result<(Storage, Option<FlagRoom>)> {
        let width = plan.element_bytes();
        let units = [plan.geometry().slice() * width, width];
        let bytes = plan.output_bytes() as u64;
        let at = bytes.next_multiple_of(BYTES);
        let most = self.limits.max_buffer_size & !255;
        if !plan.counts_bad_indices() || at + BYTES > self.binding_limits.output_bytes.min(most) {
            return Ok((self.allocate("output", bytes, &units)?, None));
        }
        let storage = Storage::one(self.acquire("output", at + BYTES)?, 0);
        Ok((storage, Some(FlagRoom(at))))
    }
}

impl FlagRoom {
    /// Has the flag raised and looked at, if one copy makes the whole output and one check looks at all
    /// indices.
    pub(super) fn give_to(self, copies: &mut [Pass], checks: &mut [CheckPass]) {
        if let ([copy], [check]) = (copies, checks)
            && copy.is_alone()
        {
            copy.flag = Some(self.0);
            copy.output.size = self.0 + BYTES;
            check.flag = Some(self.0);
        }
    }
}

/// The output as far as the flag at a byte of it.
pub(super) fn binding<'a>(output: &Placement<'a>, byte: u64) -> wgpu::BindingResource<'a> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer: output.buffers[0],
        offset: 0,
        size: wgpu::BufferSize::new(byte + BYTES),
    })
}
