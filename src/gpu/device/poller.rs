//! The thread that polls the device for futures: one at most, and none while nothing waits.
//!
//! wgpu calls back once somebody polls it, and a future must not block. `wait` hands in what would
//! block; this knows no device. The thread ends when nothing waits and no transfer is under way: so
//! a transfer of many chunks starts one thread at most.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks until what it is about is done.
type Wait = Box<dyn FnOnce() + Send>;

/// Runs waits on a thread of its own.
#[derive(Debug, Clone, Default)]
pub(in crate::gpu) struct Poller(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waits: VecDeque<Wait>,
    /// Transfers under way, which will have more to wait for.
    transfers: usize,
    is_running: bool,
    /// Number of threads started so far.
    started: u64,
}

impl Poller {
    /// Has `wait` run on the thread, which is started if there is none.
    pub(in crate::gpu) fn wait(&self, wait: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        state.waits.push_back(Box::new(wait));
        if state.is_running {
            self.0.changed.notify_one();
            return;
        }
        state.is_running = true;
        state.started += 1;
        drop(state);
        let shared = Arc::clone(&self.0);
        let named = std::thread::Builder::new().name("wgpu-gather poller".to_owned());
        if named.spawn(move || shared.run()).is_err() {
            // No thread is to be had: the caller blocks.
            self.0.run_here();
        }
    }

    /// Keeps the thread, if one is started, until the transfer is over.
    pub(in crate::gpu) fn transfer(&self) -> Transfer {
        self.0.lock().transfers += 1;
        Transfer(self.clone())
    }

    /// How many threads were started so far.
    #[cfg(any(test, feature = "internals"))]
    pub(in crate::gpu) fn threads_started(&self) -> u64 {
        self.0.lock().started
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while let Some(wait) = self.next() {
            wait();
        }
    }

    /// Runs what waits, without a thread.
    fn run_here(&self) {
        let mut state = self.lock();
        state.is_running = false;
        let waits = std::mem::take(&mut state.waits);
        drop(state);
        waits.into_iter().for_each(|wait| wait());
    }

    /// The next wait; nothing, if the thread is to end.
    fn next(&self) -> Option<Wait> {
        let mut state = self.lock();
        loop {
            if let Some(wait) = state.waits.pop_front() {
                return Some(wait);
            }
            if state.transfers == 0 {
                state.is_running = false;
                return None;
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A transfer under way.
#[derive(Debug)]
pub(in crate::gpu) struct Transfer(Poller);

impl Drop for Transfer {
    fn drop(&mut self) {
        self.0.0.lock().transfers -= 1;
        self.0.0.changed.notify_one();
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("waits", &self.waits.len())
            .field("transfers", &self.transfers)
            .field("is_running", &self.is_running)
            .field("started", &self.started)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    use super::*;

    fn assert_ends(poller: &Poller) {
        let started = Instant::now();
        while poller.0.lock().is_running {
            assert!(started.elapsed() < Duration::from_secs(10), "it runs on");
            std::thread::sleep(Duration::from_millis(1));
        }
        // It has let go of what it shares, or is about to.
        while Arc::strong_count(&poller.0) > 1 {
            assert!(started.elapsed() < Duration::from_secs(10), "it holds on");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits one after the other, as a transfer does that uses each chunk before it asks for more.
    fn transfer(poller: &Poller) {
        let _transfer = poller.transfer();
        for n in 0..20 {
            let (done, answer) = channel();
            poller.wait(move || done.send(n).unwrap());
            assert_eq!(answer.recv(), Ok(n));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_transfer_starts_one_thread() {
        let poller = Poller::default();
        transfer(&poller);
        assert_eq!(poller.threads_started(), 1);
        assert_ends(&poller);
    }

    #[test]
    fn transfers_at_a_time_share_a_thread() {
        let poller = Poller::default();
        let all = poller.transfer();
        std::thread::scope(|scope| {
            (0..4).for_each(|_| drop(scope.spawn(|| transfer(&poller))));
        });
        drop(all);
        assert_eq!(poller.threads_started(), 1);
        assert_ends(&poller);
    }

    #[test]
    fn without_a_transfer_it_ends_when_nothing_waits() {
        let poller = Poller::default();
        assert_ends(&poller);
        assert_eq!(poller.threads_started(), 0);
        for n in 1..=3 {
            let (done, answer) = channel();
            poller.wait(move || done.send(()).unwrap());
            assert_eq!(answer.recv(), Ok(()));
            assert_ends(&poller);
            assert_eq!(poller.threads_started(), n);
        }
        // A transfer that never waits starts none.
        drop(poller.transfer());
        assert_eq!(poller.threads_started(), 3);
    }
}
