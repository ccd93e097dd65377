//! Folds the updates of one key into its part of the destination.

use crate::fold::{Combine, Fold};

/// How many elements are folded side by side: their sums stay in the fastest memory.
const SIDE_BY_SIDE: usize = 512;

/// Folds into the elements of `target` those that start at `places` of the updates, in order, `step`
/// elements apart.
pub(super) fn fold_segment<T: Fold, C: Combine<T>>(
    target: &mut [u8],
    updates: &[u8],
    places: impl Iterator<Item = usize> + Clone,
    step: isize,
) {
    let width = size_of::<T>();
    if target.len() == width {
        let start = load::<T>(target, 0).widen();
        let value = |at| load::<T>(updates, at).widen();
        let sum = places.fold(start, |sum, at| C::combine(sum, value(at)));
        return target.copy_from_slice(bytemuck::bytes_of(&T::narrow(sum)));
    }
    if T::RESUMES && step == 1 {
        return fold_in_place::<T, C>(target, updates, places);
    }
    for (n, part) in target.chunks_mut(SIDE_BY_SIDE * width).enumerate() {
        let skipped = step.wrapping_mul((n * SIDE_BY_SIDE) as isize);
        let places = places.clone().map(|at| at.wrapping_add_signed(skipped));
        fold_part::<T, C>(part, updates, places, step);
    }
}

/// Where an element holds the sums, and updates are rows: one row after the other.
#[inline(always)]
pub(super) fn fold_in_place<T: Fold, C: Combine<T>>(
    target: &mut [u8],
    updates: &[u8],
    places: impl Iterator<Item = usize>,
) {
    let width = size_of::<T>();
    for at in places {
        let row = &updates[at * width..][..target.len()];
        for (to, from) in target.chunks_exact_mut(width).zip(row.chunks_exact(width)) {
            let value = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).widen();
            let sum = T::narrow(C::combine(value(to), value(from)));
            to.copy_from_slice(bytemuck::bytes_of(&sum));
        }
    }
}

fn fold_part<T: Fold, C: Combine<T>>(
    part: &mut [u8],
    updates: &[u8],
    places: impl Iterator<Item = usize>,
    step: isize,
) {
    let width = size_of::<T>();
    let count = part.len() / width;
    let mut memory = [T::zeroed().widen(); SIDE_BY_SIDE];
    let sums = &mut memory[..count];
    for (sum, bytes) in sums.iter_mut().zip(part.chunks_exact(width)) {
        *sum = bytemuck::pod_read_unaligned::<T>(bytes).widen();
    }
    for at in places {
        if step == 1 {
            let row = &updates[at * width..][..count * width];
            for (sum, bytes) in sums.iter_mut().zip(row.chunks_exact(width)) {
                *sum = C::combine(*sum, bytemuck::pod_read_unaligned::<T>(bytes).widen());
            }
        } else {
            for (n, sum) in sums.iter_mut().enumerate() {
                let at = at.wrapping_add_signed(step.wrapping_mul(n as isize));
                *sum = C::combine(*sum, load::<T>(updates, at).widen());
            }
        }
    }
    for (sum, bytes) in sums.iter().zip(part.chunks_exact_mut(width)) {
        bytes.copy_from_slice(bytemuck::bytes_of(&T::narrow(*sum)));
    }
}

/// Element `at` of bytes of any alignment.
#[inline]
fn load<T: Fold>(bytes: &[u8], at: usize) -> T {
    let width = size_of::<T>();
    bytemuck::pod_read_unaligned(&bytes[at * width..][..width])
}
