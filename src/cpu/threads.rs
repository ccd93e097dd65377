//! Work shared by the threads of rayon's pool, or done by one where there is no rayon. Knows no operator.
//!
//! Closures are called through a reference: rayon's part is compiled for each type of item, not for each of
//! the hundreds of loops that run in it.

/// How many threads share the work.
pub(crate) fn threads() -> usize {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    return rayon::current_num_threads();
    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    1
}

/// Calls `write` with chunk after chunk of `output` and where it starts, on all cores; returns whether
/// some call did.
///
/// The calling thread takes chunks too, and begins at once: a parallel iterator would have it wait
/// for the pool to wake up.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
pub(super) fn in_chunks<B: Send>(
    output: &mut [B],
    chunk_len: usize,
    write: impl Fn(usize, &mut [B]) -> bool + Sync,
) -> bool {
    in_chunks_of(output, chunk_len, &write)
}

#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn in_chunks_of<B: Send>(
    output: &mut [B],
    chunk_len: usize,
    write: &(dyn Fn(usize, &mut [B]) -> bool + Sync),
) -> bool {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::{Mutex, PoisonError};

    let helpers = output.len().div_ceil(chunk_len).min(threads()) - 1;
    let any_bad = AtomicBool::new(false);
    let chunks = Mutex::new(output.chunks_mut(chunk_len).enumerate());
    let next = || chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take_chunks = || {
        while let Some((n, chunk)) = next() {
            if write(n * chunk_len, chunk) {
                any_bad.store(true, Relaxed);
            }
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| take_chunks());
        }
        take_chunks();
    });
    any_bad.into_inner()
}

#[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
pub(super) fn in_chunks<B: Send>(
    output: &mut [B],
    _chunk_len: usize,
    write: impl Fn(usize, &mut [B]) -> bool + Sync,
) -> bool {
    write(0, output)
}

/// Calls `take` with the number of each chunk of `items` and the chunk, on all cores; a thread takes at least
/// so many chunks `together`.
pub(in crate::cpu) fn for_each_chunk<B: Send>(
    items: &mut [B],
    chunk_len: usize,
    together: usize,
    take: impl Fn(usize, &mut [B]) + Sync,
) {
    chunks_of(items, chunk_len, together, &take);
}

fn chunks_of<B: Send>(
    items: &mut [B],
    chunk_len: usize,
    _together: usize,
    take: &(dyn Fn(usize, &mut [B]) + Sync),
) {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    if items.len() > chunk_len {
        use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSliceMut};
        let chunks = items.par_chunks_mut(chunk_len).enumerate();
        return chunks
            .with_min_len(_together)
            .for_each(|(n, chunk)| take(n, chunk));
    }
    let chunks = items.chunks_mut(chunk_len).enumerate();
    chunks.for_each(|(n, chunk)| take(n, chunk));
}

/// Calls `take` with each part and its number, on all cores.
pub(in crate::cpu) fn for_each_part<P: Send>(parts: Vec<P>, take: impl Fn(usize, P) + Sync) {
    parts_of(parts, &take);
}

fn parts_of<P: Send>(parts: Vec<P>, take: &(dyn Fn(usize, P) + Sync)) {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    if parts.len() > 1 {
        use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
        let parts = parts.into_par_iter().enumerate();
        return parts.for_each(|(n, part)| take(n, part));
    }
    let parts = parts.into_iter().enumerate();
    parts.for_each(|(n, part)| take(n, part));
}

/// Sorts, on all cores.
pub(in crate::cpu) fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    rayon::prelude::ParallelSliceMut::par_sort_unstable(items);
    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    items.sort_unstable();
}
