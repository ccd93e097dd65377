//! Waiting for the device: wgpu calls back once somebody polls it.
//!
//! Used for whatever is mapped. Blocking calls poll on their own thread, the others have the
//! `poller` do it; in a browser, the browser polls.

#[cfg(not(target_arch = "wasm32"))]
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_intrusive::channel::shared::{Receiver, Sender, channel};

use crate::error::Result;
use crate::gpu::context::Context;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::arrival::arrives;
use crate::gpu::device::deferred::Pending;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::poller::Transfer;
use crate::waiting::PollMode;

impl PollMode {
    /// Keeps the poller's thread, if it is the poller that drives.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn transfer(self, context: &Context) -> Option<Transfer> {
        (self == PollMode::Aside).then(|| context.poller.transfer())
    }
}

/// A callback of wgpu that is due once a submission is done.
#[derive(Debug)]
pub(in crate::gpu) struct Callback<T: Send + 'static> {
    submitted: wgpu::SubmissionIndex,
    /// Kept so that the channel stays open until the answer is there.
    sender: Sender<Option<T>>,
    receiver: Receiver<Option<T>>,
    /// Errors of the submission that have not been reported yet.
    deferred: Pending,
}

impl<T: Send + 'static> Callback<T> {
    /// Asks for a callback; `register` hands it to wgpu.
    pub(in crate::gpu) fn register(
        submitted: wgpu::SubmissionIndex,
        register: impl FnOnce(Box<dyn FnOnce(T) + Send>),
    ) -> Self {
        let (sender, receiver) = channel(2);
        let done = sender.clone();
        // Closed only if the caller dropped the future.
        register(Box::new(move |value| drop(done.try_send(Some(value)))));
        Callback {
            submitted,
            sender,
            receiver,
            deferred: Pending::default(),
        }
    }

    /// Also waits for deferred errors. Must be called after the error scopes around the submission are closed;
    /// otherwise the next call would report them.
    pub(in crate::gpu) fn with_deferred_errors(self, context: &Context) -> Self {
        let deferred = context.deferred.take();
        Callback { deferred, ..self }
    }

    /// Waits for the callback. A device that stops answering is an error, not a wait without end.
    pub(in crate::gpu) async fn wait(self, context: &Context, poll_mode: PollMode) -> Result<T> {
        let Callback {
            submitted,
            sender,
            receiver,
            deferred,
        } = self;
        context.settled(deferred).await?;
        // A poll runs the callbacks of everything that is done, possibly including this one.
        #[cfg(not(target_arch = "wasm32"))]
        let _ = context.device.poll(wgpu::PollType::Poll);
        let silent = || context.lost("it does not answer");
        if let Ok(value) = receiver.try_receive() {
            return value.ok_or_else(silent);
        }
        match poll_mode {
            #[cfg(not(target_arch = "wasm32"))]
            PollMode::Here => {
                let polled = arrives(&context.device, &submitted);
                polled.map_err(|error| context.lost(&error.to_string()))?;
            }
            #[cfg(not(target_arch = "wasm32"))]
            PollMode::Aside => {
                let device = context.device.clone();
                context.poller.wait(move || {
                    // Should wgpu panic, nobody is to wait for what will not come.
                    let polled = catch_unwind(AssertUnwindSafe(|| arrives(&device, &submitted)));
                    if !matches!(polled, Ok(Ok(_))) {
                        // Full only if the callback has answered already.
                        let _ = sender.try_send(None);
                    }
                });
            }
            #[cfg(target_arch = "wasm32")]
            PollMode::Aside => drop((submitted, sender)),
        }
        receiver.receive().await.flatten().ok_or_else(silent)
    }
}
