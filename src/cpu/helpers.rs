//! Other threads for one piece of work.
//!
//! The threads are rayon's. A scope of rayon's would wait for every thread it has asked, also for
//! those that the system has not woken by the time the work is done; here such a thread finds the
//! gate closed. A thread that has helped stands by for a moment, as gathers often come one after
//! the other, and waking a thread takes as long as copying some hundred kilobytes.
//!
//! A caller that is a thread of rayon's itself takes a scope all the same: the others have work of
//! their own then, of which standing by would keep them (up to 2.6 times as long).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a helper waits for the next work before it goes back to its pool.
const STAND_BY: Duration = Duration::from_micros(100);

/// How long the calling thread stays awake for helpers that are still at work.
const AWAKE: Duration = Duration::from_micros(50);

/// The bit of [`Gate::inside`] that says that nobody may enter any more.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// Does `work` on this thread, and on up to `most` others that come while it lasts.
pub(super) fn with_helpers(most: usize, work: &(dyn Fn() + Sync)) {
    if most == 0 {
        return work();
    }
    if rayon::current_thread_index().is_some() {
        return rayon::scope(|scope| {
            for _ in 0..most {
                scope.spawn(|_| work());
            }
            work();
        });
    }
    let gate = Arc::new(Gate::new(work));
    let open = Open(&gate);
    for _ in offer(&gate, most)..most {
        let gate = gate.clone();
        rayon::spawn(|| help(gate));
    }
    work();
    drop(open);
    if let Some(panic) = lock(&gate.panic).take() {
        resume_unwind(panic);
    }
}

/// What a helper does: this work, and what comes shortly after.
fn help(gate: Arc<Gate>) {
    let mut next = Some(gate);
    while let Some(gate) = next {
        gate.help();
        next = stand_by();
    }
}

/// Work that helpers may join as long as its gate is open.
struct Gate {
    work: *const (dyn Fn() + Sync),
    /// How many helpers are at work, and [`CLOSED`].
    inside: AtomicUsize,
    caller: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: what `work` points to is `Sync`, and `help` says why it is there.
#[allow(unsafe_code, reason = "a pointer instead of a reference")]
unsafe impl Send for Gate {}
// SAFETY: as for `Send`.
#[allow(unsafe_code, reason = "a pointer instead of a reference")]
unsafe impl Sync for Gate {}

impl Gate {
    #[allow(unsafe_code, reason = "a helper may outlive the work, not enter it")]
    fn new(work: &(dyn Fn() + Sync)) -> Self {
        let work: *const (dyn Fn() + Sync + '_) = work;
        Gate {
            // SAFETY: the two pointers differ in the lifetime alone.
            work: unsafe {
                std::mem::transmute::<
                    *const (dyn Fn() + Sync + '_),
                    *const (dyn Fn() + Sync + 'static),
                >(work)
            },
            inside: AtomicUsize::new(0),
            caller: thread::current(),
            panic: Mutex::new(None),
        }
    }

    /// Does the work if the gate is still open.
    #[allow(unsafe_code, reason = "work that is borrowed by the caller")]
    fn help(&self) {
        let enter = |inside| (inside & CLOSED == 0).then_some(inside + 1);
        if self
            .inside
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, enter)
            .is_err()
        {
            return;
        }
        // SAFETY: `Gate::new` was given a reference to the work by `with_helpers`, which keeps it
        // until `Open` has been dropped. That closes the gate and then waits for `inside` to count
        // nobody; this thread was counted before the gate closed and is until after the call.
        let work = unsafe { &*self.work };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            *lock(&self.panic) = Some(panic);
        }
        if self.inside.fetch_sub(1, Ordering::Release) == CLOSED | 1 {
            self.caller.unpark();
        }
    }
}

/// A gate that closes at the end, also at the end by a panic.
struct Open<'a>(&'a Gate);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let inside = &self.0.inside;
        inside.fetch_or(CLOSED, Ordering::Relaxed);
        let since = Instant::now();
        while inside.load(Ordering::Acquire) != CLOSED {
            if since.elapsed() < AWAKE {
                std::hint::spin_loop();
            } else {
                thread::park();
            }
        }
    }
}

/// The helpers that stand by, and what they are to do next. Those that wait are as many as
/// `free` and `offers` together.
struct Waiting {
    free: usize,
    offers: Vec<Arc<Gate>>,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    free: 0,
    offers: Vec::new(),
});
/// How many offers there are, for those that wait to look at without the lock.
static OFFERS: AtomicUsize = AtomicUsize::new(0);

/// Offers the work to helpers that stand by; says how many.
fn offer(gate: &Arc<Gate>, most: usize) -> usize {
    let mut waiting = lock(&WAITING);
    let taken = waiting.free.min(most);
    waiting.free -= taken;
    waiting
        .offers
        .extend(std::iter::repeat_n(gate.clone(), taken));
    OFFERS.store(waiting.offers.len(), Ordering::Relaxed);
    taken
}

/// Waits a moment for the next work.
fn stand_by() -> Option<Arc<Gate>> {
    lock(&WAITING).free += 1;
    let since = Instant::now();
    loop {
        let late = since.elapsed() > STAND_BY;
        if late || OFFERS.load(Ordering::Relaxed) > 0 {
            let mut waiting = lock(&WAITING);
            let next = waiting.offers.pop();
            OFFERS.store(waiting.offers.len(), Ordering::Relaxed);
            if next.is_some() {
                return next;
            }
            if late {
                waiting.free -= 1;
                return None;
            }
        }
        // Whoever else wants this core has it.
        thread::yield_now();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn is_helper() -> bool {
        rayon::current_thread_index().is_some()
    }

    /// Works until a helper has come.
    fn until(helped: &AtomicBool) {
        while !helped.load(Ordering::Acquire) {
            thread::yield_now();
        }
    }

    #[test]
    fn the_work_is_done_and_left_by_all_when_the_call_returns() {
        let calls = || {
            for pieces in 0..if cfg!(miri) { 20 } else { 2000 } {
                let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let inside = AtomicUsize::new(0);
                with_helpers(3, &|| {
                    inside.fetch_add(1, Ordering::Relaxed);
                    while next.fetch_add(1, Ordering::Relaxed) < pieces {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    inside.fetch_sub(1, Ordering::Relaxed);
                });
                assert_eq!(done.into_inner(), pieces);
                assert_eq!(inside.into_inner(), 0);
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(calls);
            }
        });
        // From a thread of the pool.
        let (sender, receiver) = std::sync::mpsc::channel();
        rayon::spawn(move || {
            calls();
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
    }

    #[test]
    fn a_helper_that_panics_makes_the_call_panic() {
        let helped = AtomicBool::new(false);
        let call = || {
            with_helpers(1, &|| {
                if is_helper() {
                    helped.store(true, Ordering::Release);
                    panic!("in a helper");
                }
                until(&helped);
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"in a helper"));
    }

    #[test]
    fn a_call_that_panics_waits_for_its_helpers() {
        let (helped, left) = (AtomicBool::new(false), AtomicBool::new(false));
        let call = || {
            with_helpers(1, &|| {
                if is_helper() {
                    helped.store(true, Ordering::Release);
                    thread::sleep(4 * AWAKE);
                    left.store(true, Ordering::Relaxed);
                } else {
                    until(&helped);
                    panic!("in the caller");
                }
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"in the caller"));
        assert!(left.into_inner());
    }

    #[test]
    fn a_gate_that_is_closed_lets_nobody_in() {
        let entered = AtomicBool::new(false);
        let gate = {
            let work = || entered.store(true, Ordering::Relaxed);
            let gate = Gate::new(&work);
            drop(Open(&gate));
            gate
        };
        gate.help();
        assert!(!entered.into_inner());
    }
}
