//! Steps that record into encoders of the program, which are submitted later, in another order, or never.

use wgpu_gather::gpu::{Batch, Binding, Status};
use wgpu_gather::{BadIndices, Error, Result, wgpu};

use super::expected::{Difference, Outcome, Stepped};
use super::machine::Machine;
use super::model::Call;
use super::slots::Slot;
use super::view::View;

/// An encoder, and what was recorded into it.
#[derive(Debug)]
pub(super) struct Encoder {
    pub(super) engine: usize,
    pub(super) encoder: wgpu::CommandEncoder,
    pub(super) recorded: Vec<(Call, Counted)>,
}

/// Where a recorded call counts its bad indices.
#[derive(Debug)]
pub(super) enum Counted {
    /// In its binding, if its rules ask for an error.
    Binding(Binding),
    /// In a status that the tensor reports, if its rules ask for an error: its number in the model.
    Tensor(Option<usize>),
    /// In a status of the program.
    Status(Status),
}

impl Machine {
    /// Whether a tensor may be read or written by what is submitted at any time.
    pub(super) fn is_ready(&self, slot: &Slot) -> bool {
        !slot.is_new && self.model.is_written(&slot.view)
    }

    pub(super) fn open(&mut self, encoder: usize, engine: usize) -> &mut Encoder {
        let device = self.engines[engine].device();
        self.encoders[encoder].get_or_insert_with(|| Encoder {
            engine,
            encoder: device.create_command_encoder(&Default::default()),
            recorded: Vec::new(),
        })
    }

    /// Binds a call and encodes it, or records it, as `how` says.
    pub(super) fn record_by(
        &mut self,
        encoder: usize,
        engine: usize,
        how: u8,
        call: impl FnOnce(&mut Batch<'_>) -> Result<()>,
    ) -> Result<Option<Binding>> {
        let on = self.engines[engine].clone();
        let open = self.open(encoder, engine);
        if how % 3 == 1 {
            on.record(&mut open.encoder, call)?;
            return Ok(None);
        }
        let binding = on.bind(call)?;
        binding.encode(&mut open.encoder);
        Ok(Some(binding))
    }

    /// Notes what was recorded, in the model too.
    pub(super) fn note_recorded(
        &mut self,
        encoder: usize,
        binding: Option<Binding>,
        call: Call,
        output: &View,
        read: &[&View],
    ) {
        let status = self.model.leave(&call, output, read, binding.is_none());
        let counted = match binding {
            Some(binding) => Counted::Binding(binding),
            None => Counted::Tensor(status),
        };
        let open = self.encoders[encoder].as_mut().expect("an open encoder");
        open.recorded.push((call, counted));
    }

    /// Submits an encoder: what was recorded into it is executed now.
    pub(super) fn submit(&mut self, encoder: u8) -> Stepped {
        let Some(open) = self.take_encoder(encoder) else {
            return Ok(Outcome::Skipped);
        };
        let engine = self.engines[open.engine].clone();
        engine.queue().submit([open.encoder.finish()]);
        if self.lost[open.engine] {
            return Ok(Outcome::Refused);
        }
        for (call, counted) in open.recorded {
            let bad = self.model.run(&call);
            match counted {
                Counted::Tensor(None) => {}
                Counted::Tensor(Some(status)) => self.model.statuses.find(status, bad),
                Counted::Status(status) => {
                    let got = status.read().wait();
                    self.compare_counts("statuses with bad indices", got, Ok(bad))?;
                }
                Counted::Binding(binding) => {
                    let expected = match self.model.counts(&call) {
                        true => Ok(bad),
                        false if self.model.looks_up(&call) => Err(Error::NotCounted),
                        false => Ok(None),
                    };
                    let got = binding.check().wait();
                    self.compare_counts("bindings with bad indices", got, expected)?;
                }
            }
        }
        Ok(Outcome::Done)
    }

    fn compare_counts(
        &mut self,
        what: &'static str,
        got: Result<Option<BadIndices>>,
        expected: Result<Option<BadIndices>>,
    ) -> std::result::Result<(), Difference> {
        match got == expected {
            true => {
                let is_bad = matches!(expected, Ok(Some(_)));
                self.tally.add(if is_bad { what } else { "counts without" });
                Ok(())
            }
            false => Err(format!("{what}: {got:?}, expected {expected:?}")),
        }
    }

    /// Drops an encoder: nothing of what was recorded into it is executed.
    pub(super) fn forget(&mut self, encoder: u8) -> Stepped {
        match self.take_encoder(encoder) {
            Some(_) => Ok(Outcome::Done),
            None => Ok(Outcome::Skipped),
        }
    }

    /// One of the encoders that something was recorded into.
    fn take_encoder(&mut self, number: u8) -> Option<Encoder> {
        let open: Vec<usize> = (0..self.encoders.len())
            .filter(|&n| self.encoders[n].is_some())
            .collect();
        let chosen = open.get(usize::from(number) % open.len().max(1));
        self.encoders[*chosen?].take()
    }
}
