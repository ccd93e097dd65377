//! Steps that ask: downloads and checks, which are waited for or not.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use wgpu_gather::gpu::internals;
use wgpu_gather::{BadIndices, Error, wgpu};

use super::expected::{Difference, Outcome, Stepped};
use super::machine::Machine;
use super::slots::Slot;
use super::view::from_bytes;
use crate::common::block_on;

/// Polls a future so often; what it gave, if it was done by then.
fn polled<F: Future>(future: F, polls: u8) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).find_map(|_| match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    })
}

/// A device that is lost gives no data, and says so.
fn compare_lost<T: std::fmt::Debug>(got: wgpu_gather::Result<T>) -> Stepped {
    match got {
        Err(Error::DeviceLost { .. }) => Ok(Outcome::Refused),
        got => Err(format!("of a lost device: {got:?}")),
    }
}

impl Machine {
    pub(super) fn download(&mut self, of: u8, aside: bool) -> Stepped {
        let is_written = |slot: &Slot| self.model.is_written(&slot.view);
        match self.pick(of, None, is_written) {
            Some(slot) => self.compare(&slot, aside),
            None => Ok(Outcome::Skipped),
        }
    }

    /// Downloads a tensor: either it reports what the model does, or it has the same data.
    pub(super) fn compare(&mut self, slot: &Slot, aside: bool) -> Stepped {
        self.compare_statuses(slot)?;
        let (engine, view) = (&self.engines[slot.engine], &slot.view);
        let mut bytes = vec![0xa5; view.elements() * view.dtype.bytes()];
        let got = match aside {
            true => block_on(
                engine
                    .download_bytes(&slot.tensor, &mut bytes)
                    .into_future(),
            ),
            false => engine.download_bytes(&slot.tensor, &mut bytes).wait(),
        };
        if self.lost[slot.engine] {
            self.tally.add("downloads from lost devices");
            // Without elements there is nothing to ask the device for.
            return if view.is_empty() {
                Ok(Outcome::Refused)
            } else {
                compare_lost(got)
            };
        }
        let expected = self.model.take(view);
        match (got, expected) {
            (Err(Error::IndexOutOfBounds(got)), Some(expected)) if *got == expected => {
                self.tally.add("reports of downloads");
                Ok(Outcome::Refused)
            }
            (Ok(()), None) => {
                let (got, expected) = (from_bytes(view.dtype, &bytes), self.model.elements(view));
                if got != expected {
                    return Err(format!(
                        "a download of {view:?}: {got:x?}, expected {expected:x?}"
                    ));
                }
                self.tally.add("downloads");
                if expected.iter().any(|&bits| bits != 0) {
                    self.tally.add("downloads with values");
                }
                Ok(Outcome::Done)
            }
            (got, expected) => Err(format!("a download: {got:?}, expected {expected:?}")),
        }
    }

    /// A tensor holds as many statuses as the model says, however many calls wrote to it.
    fn compare_statuses(&self, slot: &Slot) -> std::result::Result<(), Difference> {
        if self.lost[slot.engine] {
            return Ok(());
        }
        let (got, expected) = (
            internals::pending_statuses(&slot.tensor),
            self.model.pending(&slot.view),
        );
        match got == expected {
            true => Ok(()),
            false => Err(format!(
                "{got} statuses, expected {expected}: {:?}",
                slot.view
            )),
        }
    }

    pub(super) fn check(&mut self, of: u8) -> Stepped {
        let Some(slot) = self.pick(of, None, |slot| self.model.is_written(&slot.view)) else {
            return Ok(Outcome::Skipped);
        };
        let got = self.engines[slot.engine].check(&slot.tensor).wait();
        self.checked(&slot, got)
    }

    fn checked(&mut self, slot: &Slot, got: wgpu_gather::Result<Option<BadIndices>>) -> Stepped {
        if self.lost[slot.engine] {
            let asks = internals::pending_statuses(&slot.tensor) > 0;
            return if asks {
                compare_lost(got)
            } else {
                Ok(Outcome::Refused)
            };
        }
        let expected = match self.model.take(&slot.view) {
            None if self.model.is_uncounted(&slot.view) => Err(Error::NotCounted),
            found => Ok(found),
        };
        if got != expected {
            return Err(format!("a check: {got:?}, expected {expected:?}"));
        }
        self.tally.add(match got {
            Ok(Some(_)) => "reports of checks",
            Ok(None) => "checks that all is well",
            Err(_) => "checks of what nobody counted",
        });
        Ok(Outcome::Done)
    }

    /// Drops the future of a download or a check: the report of bad indices is still there.
    pub(super) fn abandon(&mut self, of: u8, polls: u8, check: bool) -> Stepped {
        let Some(slot) = self.pick(of, None, |slot| self.model.is_written(&slot.view)) else {
            return Ok(Outcome::Skipped);
        };
        let engine = self.engines[slot.engine].clone();
        if check && let Some(got) = polled(engine.check(&slot.tensor).into_future(), polls) {
            return self.checked(&slot, got);
        }
        if !check {
            let mut bytes = vec![0; slot.view.elements() * slot.view.dtype.bytes()];
            let _ = engine.device().poll(wgpu::PollType::Poll);
            let download = engine
                .download_bytes(&slot.tensor, &mut bytes)
                .into_future();
            if let Some(Err(Error::IndexOutOfBounds(got))) = polled(download, polls) {
                return self.checked(&slot, Ok(Some(*got)));
            }
        }
        // What was asked, and whether it was answered, shows in no result.
        let got = engine.check(&slot.tensor).wait();
        self.checked(&slot, got)
    }
}
