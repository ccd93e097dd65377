//! Outputs of the CPU path, in memory of an output that was dropped (`unused`) or in fresh memory.
//!
//! Memory is written once. Zeroing it first took 1.9 to 4 times as long for outputs of 4 to 16 MiB
//! (which the allocator reuses) and 1.1 to 1.3 times for larger ones (which come from the system);
//! for those, doing without huge pages took 1.6 to 2.4 times as long. Both measured on two cores of
//! an x86-64 virtual machine, rows of 384 bytes to 32 KiB.

use std::mem::MaybeUninit;

use super::copy::Memory;
use super::{parallel, unused};
use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::plan::Plan;
use crate::tensor::{Indices, Params};

/// From this size on, huge pages are asked for.
#[cfg(all(target_os = "linux", not(miri)))]
const HUGE_FROM_BYTES: usize = 4 << 20;

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
    let (mut bits, memory): (Vec<T::Bits>, _) = match unused::take(len) {
        Some(bits) => (bits, Memory::Used),
        None => (fresh(len)?, Memory::Fresh),
    };
    let spare = &mut bits.spare_capacity_mut()[..len];
    // SAFETY: these are the same bytes, of a type without alignment, and any byte may be written
    // to them.
    let bytes = unsafe {
        std::slice::from_raw_parts_mut(
            spare.as_mut_ptr().cast::<MaybeUninit<u8>>(),
            size_of_val(spare),
        )
    };
    parallel::write(plan, params, indices, bytes, memory)?;
    // SAFETY: the first `len` elements lie within the capacity. `write` has written each of their
    // bytes, and `T::Bits` may have any bits.
    unsafe { bits.set_len(len) };
    Ok(bits)
}

/// Fresh memory for `len` values; if there is none, once more without what is kept unused.
fn fresh<T>(len: usize) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    let mut reserved = memory.try_reserve_exact(len);
    if reserved.is_err() && unused::free_unused() > 0 {
        reserved = memory.try_reserve_exact(len);
    }
    reserved.map_err(|_| Error::HostOutOfMemory {
        role: Role::Output,
        bytes: len.saturating_mul(size_of::<T>()),
    })?;
    advise_huge_pages(memory.spare_capacity_mut());
    Ok(memory)
}

/// Asks for huge pages behind large fresh memory: its first touch then takes one fault in 2 MiB
/// instead of 512.
#[cfg(all(target_os = "linux", not(miri)))]
#[allow(unsafe_code, reason = "a call into libc")]
fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    if size_of_val(memory) < HUGE_FROM_BYTES {
        return;
    }
    let start = memory.as_mut_ptr().cast::<u8>();
    let skip = start.addr().next_multiple_of(PAGE) - start.addr();
    let bytes = size_of_val(memory) - skip;
    // SAFETY: the range lies in memory that is ours, and the advice changes no byte of it. Whether
    // it is taken changes nothing but speed, so the result says nothing we need.
    unsafe { libc::madvise(start.wrapping_add(skip).cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge_pages<T>(_memory: &mut [MaybeUninit<T>]) {}
