//! Waiting for the device: wgpu calls back once somebody polls it.

use futures_intrusive::channel::shared::{Sender, channel};

use crate::error::Result;
use crate::gpu::engine::Engine;

/// Who polls the device until a callback comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drive {
    /// The calling thread, which blocks.
    #[cfg(not(target_arch = "wasm32"))]
    Here,
    /// A thread of its own (in a browser: the browser), so that the future never blocks.
    Aside,
}

impl Engine {
    /// Waits for the message that a callback of wgpu sends; `register` hands wgpu the callback.
    ///
    /// A device that stops answering is an error, not a wait without end.
    pub(super) async fn answer<T: Send + 'static>(
        &self,
        submitted: wgpu::SubmissionIndex,
        drive: Drive,
        register: impl FnOnce(Sender<Option<T>>),
    ) -> Result<T> {
        let (sender, receiver) = channel(2);
        register(sender.clone());
        match drive {
            #[cfg(not(target_arch = "wasm32"))]
            Drive::Here => self.poll(submitted)?,
            #[cfg(not(target_arch = "wasm32"))]
            Drive::Aside => {
                let engine = self.clone();
                std::thread::spawn(move || {
                    if engine.poll(submitted).is_err() {
                        // Full only if the callback has answered already.
                        let _ = sender.try_send(None);
                    }
                });
            }
            #[cfg(target_arch = "wasm32")]
            Drive::Aside => drop((submitted, sender)),
        }
        let answer = receiver.receive().await.flatten();
        answer.ok_or_else(|| self.lost("it does not answer"))
    }

    /// Waits until `submitted` is done.
    pub(super) async fn settle(
        &self,
        submitted: wgpu::SubmissionIndex,
        drive: Drive,
    ) -> Result<()> {
        let done = |sender: Sender<Option<()>>| {
            self.queue().on_submitted_work_done(move || {
                // Closed only if the caller dropped the future.
                let _ = sender.try_send(Some(()));
            });
        };
        self.answer(submitted, drive, done).await
    }

    /// Polls until `submitted` is done and its callbacks are called.
    #[cfg(not(target_arch = "wasm32"))]
    fn poll(&self, submitted: wgpu::SubmissionIndex) -> Result<()> {
        let until = wgpu::PollType::Wait {
            submission_index: Some(submitted),
            timeout: None,
        };
        match self.device().poll(until) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.lost(&error.to_string())),
        }
    }
}
