//! Work shared by the threads of rayon's pool, or done by one where there is no rayon. Knows no operator.

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
