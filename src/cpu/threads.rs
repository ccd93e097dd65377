//! Work shared by the threads of rayon's pool, or done by one where there is no rayon. Knows no operator.

/// Up to so many bytes to be read, one thread reads alone: waking another takes longer.
pub(super) const BYTES_OF_ONE: usize = 1 << 20;

/// How often a thread without further parts yields before it blocks until the others have finished: tens of
/// microseconds, within which most of them do. To wake a blocked thread takes about as long.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
const MOST_YIELDS: usize = 256;

/// How many threads share the work.
pub(crate) fn threads() -> usize {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    return rayon::current_num_threads();
    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    1
}

/// Calls `take` with each part and its number, on all cores; returns whether some call did.
///
/// The calling thread takes parts too, and begins at once: a parallel iterator would have it wait
/// for the pool to wake up.
pub(super) fn for_each<P: Send>(
    parts: impl ExactSizeIterator<Item = P> + Send,
    take: impl Fn(usize, P) -> bool + Sync,
) -> bool {
    for_each_of(parts, &take)
}

/// Calls `write` with each part of `output` of `chunk` elements and with where it starts; with all of it, where
/// threads are not worth their start. Returns whether some call did.
pub(super) fn in_chunks<T: Send>(
    output: &mut [T],
    chunk: usize,
    write: impl Fn(usize, &mut [T]) -> bool + Sync,
) -> bool {
    match output.len() <= 2 * chunk {
        true => write(0, output),
        false => for_each(output.chunks_mut(chunk), |n, part| write(n * chunk, part)),
    }
}

/// By reference: rayon's part is compiled for each kind of parts, not for each of the hundreds of loops that
/// run in it.
fn for_each_of<P: Send>(
    parts: impl ExactSizeIterator<Item = P> + Send,
    take: &(dyn Fn(usize, P) -> bool + Sync),
) -> bool {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    if parts.len() > 1 && threads() > 1 {
        use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
        use std::sync::{Mutex, PoisonError};

        let helpers = parts.len().min(threads()) - 1;
        let any = AtomicBool::new(false);
        let parts = Mutex::new(parts.enumerate());
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let take_parts = || {
            while let Some((n, part)) = next() {
                if take(n, part) {
                    any.store(true, Relaxed);
                }
            }
        };
        let working = AtomicUsize::new(helpers);
        rayon::in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| {
                    take_parts();
                    working.fetch_sub(1, Relaxed);
                });
            }
            take_parts();
            // A thread of the pool does not block: the scope has it run other jobs.
            let most_yields = match rayon::current_thread_index() {
                Some(_) => 0,
                None => MOST_YIELDS,
            };
            (0..most_yields)
                .take_while(|_| working.load(Relaxed) > 0)
                .for_each(|_| std::thread::yield_now());
        });
        return any.into_inner();
    }
    let taken = parts.enumerate().map(|(n, part)| take(n, part));
    taken.fold(false, |any, did| any | did)
}

/// Sorts, on all cores.
pub(in crate::cpu) fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    rayon::prelude::ParallelSliceMut::par_sort_unstable(items);
    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    items.sort_unstable();
}
