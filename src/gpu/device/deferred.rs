//! Deferred errors: a browser answers an error scope only after the call that it watches has
//! returned. On other targets wgpu answers at once, and nothing is ever deferred.

#[cfg(target_arch = "wasm32")]
use std::{
    cell::{Cell, RefCell},
    fmt,
    pin::Pin,
    rc::Rc,
};

use crate::error::Result;
#[cfg(target_arch = "wasm32")]
use crate::gpu::device::scope::Scopes;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::scope::scoped;

/// Errors reported after the call that caused them has returned, oldest first.
#[derive(Debug, Clone, Default)]
pub(in crate::gpu) struct DeferredErrors {
    #[cfg(target_arch = "wasm32")]
    answers: Rc<RefCell<Pending>>,
    /// Whether scopes are open.
    #[cfg(target_arch = "wasm32")]
    watching: Rc<Cell<bool>>,
}

/// Deferred errors removed from the queue ([`DeferredErrors`]); the caller must await them.
#[derive(Default)]
#[cfg_attr(not(target_arch = "wasm32"), derive(Debug))]
pub(in crate::gpu) struct Pending {
    #[cfg(target_arch = "wasm32")]
    all: Vec<Pin<Box<dyn Future<Output = Result<()>>>>>,
}

impl DeferredErrors {
    /// Runs `work` in error scopes. What the device says too late for this call is kept.
    #[cfg_attr(
        target_arch = "wasm32",
        expect(
            clippy::unnecessary_wraps,
            reason = "no error comes at once in a browser"
        )
    )]
    pub(in crate::gpu) fn scoped<T>(
        &self,
        device: &wgpu::Device,
        what: &'static str,
        work: impl FnOnce() -> T,
    ) -> Result<T> {
        #[cfg(not(target_arch = "wasm32"))]
        return pollster::block_on(scoped(device, what, work));
        #[cfg(target_arch = "wasm32")]
        Ok(self.watch(device, what, work))
    }

    /// Runs `work`, which calls [`DeferredErrors::scoped`] often. In a browser all of it has the same scopes,
    /// as each costs a message to another process and one back.
    pub(in crate::gpu) fn together<T>(
        &self,
        device: &wgpu::Device,
        what: &'static str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            let _ = (device, what);
            work()
        }
        #[cfg(target_arch = "wasm32")]
        self.watch(device, what, work)
    }

    /// Runs `work` in error scopes, unless it is in some already.
    #[cfg(target_arch = "wasm32")]
    fn watch<T>(&self, device: &wgpu::Device, what: &'static str, work: impl FnOnce() -> T) -> T {
        if self.watching.get() {
            return work();
        }
        self.watching.set(true);
        let scopes = Scopes::open(device);
        let value = work();
        let answer = Box::pin(scopes.close(what));
        self.watching.set(false);
        self.answers.borrow_mut().all.push(answer);
        value
    }

    /// The answers that are still to come. Between two awaits one call alone runs, so what it
    /// takes before it awaits is about its own work.
    pub(in crate::gpu) fn take(&self) -> Pending {
        #[cfg(target_arch = "wasm32")]
        return self.answers.take();
        #[cfg(not(target_arch = "wasm32"))]
        Pending {}
    }
}

impl Pending {
    /// Waits for all; the first error of them.
    #[cfg(target_arch = "wasm32")]
    pub(in crate::gpu) async fn settle(self) -> Result<()> {
        let mut first = Ok(());
        for answer in self.all {
            first = first.and(answer.await);
        }
        first
    }

    /// Nothing is deferred.
    #[cfg(not(target_arch = "wasm32"))]
    #[expect(clippy::unused_async, reason = "a browser waits here")]
    pub(in crate::gpu) async fn settle(self) -> Result<()> {
        Ok(())
    }
}

#[cfg(target_arch = "wasm32")]
impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answers to come", self.all.len())
    }
}
