//! Memory for outputs on the host.
//!
//! The first write to a page is a trap, and pages of 4 KiB make so many of them that they take longer than
//! to fill a large output. So Linux is asked for its large pages; where an administrator has turned
//! them off, or another system is below, memory is as it comes.

use std::mem::MaybeUninit;

use bytemuck::Zeroable;

use crate::element::Element;
use crate::error::{Error, Result, Role};

/// From so many bytes on, as NumPy: what is smaller has few large pages, if any.
#[cfg(all(target_os = "linux", not(miri)))]
const LARGE_BYTES: usize = 4 << 20;

/// Memory for `len` elements that will all be written, as bits; zeros until then.
pub(crate) fn zeroed_bits<T: Element>(role: Role, len: usize) -> Result<Vec<T::Bits>> {
    let memory = sparse_bits::<T>(role, len)?;
    ask_for_large_pages(&memory);
    Ok(memory)
}

/// Memory for `len` elements of which few may be written, as bits. It comes zeroed from the allocator,
/// which for large sizes is untouched pages: small ones, so that one that is written takes no others
/// with it.
pub(crate) fn sparse_bits<T: Element>(role: Role, len: usize) -> Result<Vec<T::Bits>> {
    zeros(role, len)
}

/// `len` zeros, as the allocator has them.
pub(crate) fn zeros<T: Zeroable>(role: Role, len: usize) -> Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(len).map_err(|()| out_of_memory::<T>(role, len))
}

/// Memory for `len` elements, as bits, which `fill` writes; it is not zeroed first.
///
/// # Safety
///
/// Where `fill` returns no error, it has written to every byte that it was given.
#[allow(unsafe_code, reason = "memory that is written once")]
pub(crate) unsafe fn filled_bits<T: Element>(
    role: Role,
    len: usize,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<()>,
) -> Result<Vec<T::Bits>> {
    let mut bits = Vec::new();
    bits.try_reserve_exact(len)
        .map_err(|_| out_of_memory::<T::Bits>(role, len))?;
    ask_for_large_pages(&bits);
    let room: &mut [MaybeUninit<T::Bits>] = &mut bits.spare_capacity_mut()[..len];
    // SAFETY: these are the same bytes, of a type without alignment, and any byte may be written
    // to them.
    let bytes =
        unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), size_of_val(room)) };
    fill(bytes)?;
    // SAFETY: the first `len` elements lie within the capacity. `fill` has written each of their
    // bytes, and `T::Bits` may have any bits.
    unsafe { bits.set_len(len) };
    Ok(bits)
}

/// An empty list with room for `len` items.
pub(crate) fn room<T>(role: Role, len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items
        .try_reserve_exact(len)
        .map_err(|_| out_of_memory::<T>(role, len))?;
    Ok(items)
}

fn out_of_memory<B>(role: Role, len: usize) -> Error {
    Error::HostOutOfMemory {
        role,
        bytes: len.saturating_mul(size_of::<B>()),
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[allow(unsafe_code, reason = "advice to the kernel about memory of our own")]
fn ask_for_large_pages<B>(memory: &Vec<B>) {
    // Advice is about whole pages. (Larger ones than 4 KiB refuse it, and do not need it.)
    const PAGE: usize = 4 << 10;
    let bytes = memory.capacity() * size_of::<B>();
    let start = memory.as_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    if bytes < LARGE_BYTES || skipped >= bytes {
        return;
    }
    // SAFETY: the range lies within an allocation of ours, and MADV_HUGEPAGE changes neither what it
    // holds nor what may be done with it. Whether the kernel takes the advice makes no difference.
    unsafe {
        let first = start.add(skipped).cast_mut().cast();
        libc::madvise(first, bytes - skipped, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn ask_for_large_pages<B>(_memory: &Vec<B>) {}
