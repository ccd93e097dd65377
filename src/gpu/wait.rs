//! Waiting for the device: wgpu calls back once somebody polls it.

use futures_intrusive::channel::shared::{Receiver, Sender, channel};

use crate::error::Result;
use crate::gpu::engine::Engine;
use crate::gpu::late::Answers;

/// Who polls the device until a callback comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drive {
    /// The calling thread, which blocks.
    #[cfg(not(target_arch = "wasm32"))]
    Here,
    /// A thread of its own (in a browser: the browser), so that the future never blocks.
    Aside,
}

/// What wgpu will call back with, once the submission is done.
#[derive(Debug)]
pub(super) struct Question<T: Send + 'static> {
    submitted: wgpu::SubmissionIndex,
    /// Kept so that the channel stays open until the answer is there.
    sender: Sender<Option<T>>,
    receiver: Receiver<Option<T>>,
    /// What the device has still to say about what was submitted.
    late: Answers,
}

impl<T: Send + 'static> Question<T> {
    /// The same, which waits for what the device has still to say, too. To be called when the error
    /// scopes around the submission are closed: else the next call would hear of them.
    pub(super) fn with_late(self, engine: &Engine) -> Self {
        let late = engine.late().take();
        Question { late, ..self }
    }
}

impl Engine {
    /// Asks for a callback; `register` hands it to wgpu.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        submitted: wgpu::SubmissionIndex,
        register: impl FnOnce(Box<dyn FnOnce(T) + Send>),
    ) -> Question<T> {
        let (sender, receiver) = channel(2);
        let answer = sender.clone();
        // Closed only if the caller dropped the future.
        register(Box::new(move |value| drop(answer.try_send(Some(value)))));
        Question {
            submitted,
            sender,
            receiver,
            late: Answers::default(),
        }
    }

    /// Waits for the callback. A device that stops answering is an error, not a wait without end.
    pub(super) async fn answer<T: Send + 'static>(
        &self,
        question: Question<T>,
        drive: Drive,
    ) -> Result<T> {
        let Question {
            submitted,
            sender,
            receiver,
            late,
        } = question;
        self.settled(late).await?;
        // Whoever polls calls back for everything that is done: this one may be.
        #[cfg(not(target_arch = "wasm32"))]
        let _ = self.device().poll(wgpu::PollType::Poll);
        if let Ok(answer) = receiver.try_receive() {
            return answer.ok_or_else(|| self.lost("it does not answer"));
        }
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
