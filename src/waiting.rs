//! How a call waits for a device: its caller's thread drives the device, or a future is woken.

use std::fmt;
use std::pin::Pin;
#[cfg(not(target_arch = "wasm32"))]
use std::task::{Context, Poll, Waker};

/// Who polls the device while a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "gpu"),
    expect(unreachable_pub, reason = "sealed traits of `gpu` name it")
)]
pub enum PollMode {
    /// This thread, which blocks.
    #[cfg(not(target_arch = "wasm32"))]
    Here,
    /// Another thread, or the browser, which wakes the future.
    Aside,
}

/// A future that may move between threads; in a browser all stay on one.
#[cfg(not(target_arch = "wasm32"))]
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// A future that stays on its thread.
#[cfg(target_arch = "wasm32")]
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

#[cfg(not(target_arch = "wasm32"))]
type Start<'a, T> = dyn FnOnce(PollMode) -> BoxFuture<'a, T> + Send + 'a;
#[cfg(target_arch = "wasm32")]
type Start<'a, T> = dyn FnOnce(PollMode) -> BoxFuture<'a, T> + 'a;

/// What may move to another thread, where there are any.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) trait MaySend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send> MaySend for T {}
/// Anything: in a browser there is one thread.
#[cfg(target_arch = "wasm32")]
pub(crate) trait MaySend {}
#[cfg(target_arch = "wasm32")]
impl<T> MaySend for T {}

/// A call that has to wait, for the device or for a long computation: `.await` it, or block this thread
/// with [`Waiting::wait`]. Nothing is done before. A program that looks for the result from time to time polls the
/// future that [`IntoFuture::into_future`] returns; `guide::programs` has an example.
#[must_use = "nothing is done until it is awaited, or `wait` is called"]
pub struct Waiting<'a, T>(Box<Start<'a, T>>);

impl<'a, T> Waiting<'a, T> {
    /// A call that `start` begins.
    pub(crate) fn new<F>(start: impl FnOnce(PollMode) -> F + MaySend + 'a) -> Self
    where
        F: Future<Output = T> + MaySend + 'a,
    {
        Waiting(Box::new(move |poll_mode| Box::pin(start(poll_mode))))
    }

    /// The call as a part of another one, which waits so.
    pub(crate) fn within(self, poll_mode: PollMode) -> BoxFuture<'a, T> {
        (self.0)(poll_mode)
    }

    /// Makes the call, blocking this thread, which drives the device meanwhile. In a browser nothing may
    /// block, so there it does not exist.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(self) -> T {
        block_on(self.within(PollMode::Here))
    }
}

impl<'a, T> IntoFuture for Waiting<'a, T> {
    type Output = T;
    type IntoFuture = BoxFuture<'a, T>;

    fn into_future(self) -> BoxFuture<'a, T> {
        self.within(PollMode::Aside)
    }
}

impl<T> fmt::Debug for Waiting<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

/// Runs a future on this thread. What never waits, as the CPU path, takes one poll and no memory; only what
/// does needs a waker.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => output,
        Poll::Pending => pollster::block_on(future),
    }
}
