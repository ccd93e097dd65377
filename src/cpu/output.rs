//! Outputs of the CPU path in fresh memory, which is written once and not zeroed first.

use std::mem::MaybeUninit;

use super::copy::Memory;
use super::parallel;
use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::plan::Plan;
use crate::tensor::{Indices, Params};

/// Executes a plan made for these tensors, whose element type is `T`; returns the elements' bits.
#[allow(
    unsafe_code,
    reason = "memory from the allocator is written once: up to 4 times faster"
)]
pub(crate) fn gather<T: Element>(
    plan: &Plan,
    params: &Params<'_>,
    indices: &Indices<'_>,
) -> Result<Vec<T::Bits>> {
    let len = plan.output_bytes() / size_of::<T>();
    let mut bits = Vec::new();
    bits.try_reserve_exact(len)
        .map_err(|_| Error::HostOutOfMemory {
            role: Role::Output,
            bytes: plan.output_bytes(),
        })?;
    let spare = &mut bits.spare_capacity_mut()[..len];
    // SAFETY: these are the same bytes, of a type without alignment, and any byte may be written
    // to them.
    let bytes = unsafe {
        std::slice::from_raw_parts_mut(
            spare.as_mut_ptr().cast::<MaybeUninit<u8>>(),
            size_of_val(spare),
        )
    };
    parallel::write(plan, params, indices, bytes, Memory::Fresh)?;
    // SAFETY: the first `len` elements lie within the capacity. `write` has written each of their
    // bytes, and `T::Bits` may have any bits.
    unsafe { bits.set_len(len) };
    Ok(bits)
}
