//! Steps that record into encoders of the program, which are submitted later, in another order, or never.

use wgpu_gather::gpu::{Batch, Binding, Buffers, Engine, Status};
use wgpu_gather::{BadIndices, Error, Plan, Result, Rules, wgpu};

use super::calls::{Chosen, has_nothing, makes_subnormals, rules};
use super::expected::{Difference, Outcome, Stepped};
use super::machine::Machine;
use super::model::{Call, Gather};
use super::slots::Slot;
use super::view::View;

/// An encoder, and what was recorded into it.
#[derive(Debug)]
pub(super) struct Encoder {
    engine: usize,
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

/// A plan for the layouts of tensors, and slices of their buffers.
fn bare(
    engine: &Engine,
    [params, indices, output]: [&Slot; 3],
    chosen: &Chosen,
    rules: &Rules,
    encoder: &mut wgpu::CommandEncoder,
) -> Result<Status> {
    let (from, at) = (params.tensor.layout(), chosen.indices.tensor.layout());
    let width = params.view.dtype.bytes();
    let plan = Plan::new(chosen.op, rules, width, from, chosen.index_type, at)?;
    let pipeline = engine.pipeline(&plan).wait()?;
    let status = pipeline.status()?;
    let start = (output.tensor.layout().offset() * width) as u64;
    let slice = output.tensor.share_slice();
    let buffers = Buffers {
        params: params.tensor.share_slice(),
        indices: indices.tensor.share_slice(),
        output: slice.buffer().slice(slice.offset() + start..),
        status: Some(&status),
        flag: false,
        count: None,
    };
    pipeline.bind(&buffers)?.encode(encoder);
    Ok(status)
}

impl Machine {
    /// Whether a tensor may be read or written by what is submitted at any time.
    pub(super) fn is_ready(&self, slot: &Slot) -> bool {
        !slot.is_new && self.model.is_written(&slot.view)
    }

    pub(super) fn record(
        &mut self,
        encoder: u8,
        [number, params, indices, output, rule, how, stray]: [u8; 7],
    ) -> Stepped {
        let encoder = usize::from(encoder) % self.encoders.len();
        let engine = self.encoders[encoder].as_ref().map(|open| open.engine);
        let found = self.pick(params, engine, |slot| {
            slot.view.rank() > 0 && self.is_ready(slot) && !slot.is_wrapped
        });
        let Some(params) = found else {
            return Ok(Outcome::Skipped);
        };
        let Some(chosen) = self.choose(number, &params, indices, false)? else {
            return Ok(Outcome::Skipped);
        };
        let Some(shape) = Machine::fits(chosen.op, &params.view, &chosen.indices.view) else {
            return Ok(Outcome::Skipped);
        };
        if !self.is_ready(&chosen.indices) {
            return Ok(Outcome::Skipped);
        }
        if number.is_multiple_of(3) {
            return self.record_scatter(encoder, &params, &chosen, &shape, [output, rule, how]);
        }
        self.record_gather(encoder, &params, chosen, &shape, [output, rule, how, stray])
    }

    fn open(&mut self, encoder: usize, engine: usize) -> &mut Encoder {
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

    fn record_gather(
        &mut self,
        encoder: usize,
        params: &Slot,
        mut chosen: Chosen,
        shape: &[usize],
        [output, rule, how, stray]: [u8; 4],
    ) -> Stepped {
        let (op, engine, dtype) = (chosen.op, params.engine, params.view.dtype);
        let rules = rules(rule, dtype);
        let read = [&params.view, &chosen.indices.view];
        let target = self.target(output, (engine, dtype, shape), &read)?;
        let any = |is_good: &dyn Fn(&Slot) -> bool| {
            let is_ready = |slot: &Slot| self.is_ready(slot) && slot.is_the_engines();
            self.pick(rule, None, |slot| is_ready(slot) && is_good(slot))
        };
        // Tensors of the same shapes that another engine made, indices of another type, another output.
        let others = match stray {
            1 => any(&|slot| slot.view.shape == params.view.shape && slot.view.dtype == dtype),
            2 => any(&|slot| slot.view.shape == chosen.indices.view.shape),
            3 => any(&|slot| !makes_subnormals(dtype, slot.view.dtype)),
            _ => None,
        };
        let (mut params, mut output) = (params.clone(), target);
        match (stray, others) {
            (1, Some(other)) => params = other,
            (2, Some(other)) => {
                chosen.index_type = super::calls::index_type(&other.view, how);
                chosen.indices = other;
            }
            (3, Some(other)) => output = other,
            _ => {}
        }
        let all = [&params, &chosen.indices, &output];
        // Of another engine's device: wgpu refuses what the program has wrapped.
        let foreign = all
            .iter()
            .any(|slot| slot.is_wrapped && slot.engine != engine);
        if foreign || !self.is_ready(&output) || self.model.is_in_batch(&output.view) {
            return Ok(Outcome::Skipped);
        }
        let mut expected = self.expected(engine, &chosen, &[&params, &output]);
        let is_empty = shape.contains(&0);
        let nothing = has_nothing(op, &params.view, &chosen.indices.view, &rules, is_empty);
        expected.when(nothing, "NothingToRead");
        expected.when(output.view.dtype.bytes() != dtype.bytes(), "ElementWidth");
        expected.when(output.view.shape != shape, "OutputShape");
        expected.when(!output.view.is_contiguous(), "OutputStrided");
        let shares = |view: &View| !view.is_empty() && self.model.share(view, &output.view);
        let is_shared = shares(&params.view) || shares(&chosen.indices.view);
        expected.when(is_shared && !is_empty, "SameBuffer");
        let call = Call::Gather(Gather {
            op,
            rules: rules.clone(),
            params: params.view.clone(),
            indices: chosen.indices.view.clone(),
            index_type: chosen.index_type,
            output: output.view.clone(),
            count: None,
        });
        self.tally.add("gathers recorded");
        if how % 3 == 2 && stray == 0 && all.iter().all(|slot| !slot.view.is_empty()) {
            let on = self.engines[engine].clone();
            let open = self.open(encoder, engine);
            let status = bare(&on, all, &chosen, &rules, &mut open.encoder);
            if let Some(status) = expected.check("a plan in buffers", status)? {
                let open = self.open(encoder, engine);
                open.recorded.push((call, Counted::Status(status)));
                return Ok(Outcome::Done);
            }
            return Ok(Outcome::Refused);
        }
        let (from, at, mut to) = (&params.tensor, chosen.at(), output.tensor.clone());
        let recorded = self.record_by(encoder, engine, how, |r| {
            r.gather_into(op, &rules, from, &at, &mut to)
        });
        let Some(binding) = expected.check("a gather is recorded", recorded)? else {
            return Ok(Outcome::Refused);
        };
        let read = [&params.view, &chosen.indices.view];
        self.note_recorded(encoder, binding, call, &output.view, &read);
        Ok(Outcome::Done)
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
