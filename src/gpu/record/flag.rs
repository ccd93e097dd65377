//! The flag of an output: 16 bytes behind its data, which a copy sets where an index is bad, so that bad
//! indices are counted only where there are some.
//!
//! Outputs that the engine allocates have room for it, and those of callers who say so. For others, all
//! indices are looked at a second time.

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::tensor::storage::Storage;
use crate::plan::{BindingLimits, CheckPass, FLAG_BYTES, Pass, Plan};

/// The bytes of an output of so many with room for its flag, wherever it starts.
pub(in crate::gpu) fn bytes_with_flag(output_bytes: u64) -> u64 {
    output_bytes.next_multiple_of(4) + 2 * FLAG_BYTES
}

impl Context {
    /// Memory for the output of `plan`, and whether there is room for a flag: if its rules need one, and
    /// one buffer holds both. What is in it is not defined: a flag that looks raised only costs a count.
    pub(in crate::gpu) fn allocate_output(&self, plan: &Plan) -> Result<(Storage, bool)> {
        let width = plan.element_bytes();
        let units = [plan.geometry().slice() * width, width];
        let bytes = plan.output_bytes() as u64;
        let with_flag = bytes_with_flag(bytes);
        let room = plan.counts_bad_indices() && with_flag <= self.limits.max_buffer_size & !255;
        let storage = match room {
            true => self.allocate_one("output", bytes, with_flag)?,
            false => self.allocate("output", bytes, &units)?,
        };
        Ok((storage, room))
    }
}

/// Has the flag behind an output raised and looked at, if one copy makes all of that, one check looks at
/// all indices, and a binding holds the flag, too.
pub(in crate::gpu) fn give_flag(
    output_bytes: u64,
    copies: &mut [Pass],
    checks: &mut [CheckPass],
    limits: &BindingLimits,
) {
    let ([copy], [check]) = (copies, checks) else {
        return;
    };
    let at = (copy.output_offset + output_bytes).next_multiple_of(FLAG_BYTES);
    if copy.is_alone() && at + FLAG_BYTES <= limits.output_bytes {
        copy.output.size = at + FLAG_BYTES;
        copy.flagged = true;
        check.flagged = Some(copy.output);
    }
}
