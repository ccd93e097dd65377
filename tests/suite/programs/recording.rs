//! Steps that record into encoders of the program, which are submitted later, in another order, or never.

use wgpu_gather::gpu::{DeviceTensor, Engine, GatherBinding, Status};
use wgpu_gather::{BadIndices, Element, Index, IndexType, Plan, Result, wgpu};

use super::calls::{Chosen, has_nothing, index_type, makes_subnormals, rules};
use super::expected::{Difference, Outcome, Stepped};
use super::gathers::{with_element, with_index};
use super::machine::Machine;
use super::model::{Call, Gather};
use super::slots::Slot;
use super::view::View;
use crate::common::block_on;

/// An encoder, and what was recorded into it.
#[derive(Debug)]
pub(super) struct Encoder {
    engine: usize,
    pub(super) encoder: wgpu::CommandEncoder,
    pub(super) recorded: Vec<(Call, Option<Status>)>,
}

/// The tensors of a recording.
struct Bound<'a> {
    params: &'a Slot,
    indices: &'a Slot,
    index_type: IndexType,
    output: &'a Slot,
}

fn lies_alike(a: &View, b: &View) -> bool {
    (&a.shape, &a.strides, a.offset) == (&b.shape, &b.strides, b.offset)
}

impl Bound<'_> {
    fn bind(&self, engine: &Engine, plan: &Plan) -> Result<(GatherBinding, Status)> {
        with_element!(self.params.view.dtype, T => {
            with_index!(self.index_type, I => self.bind_as::<T, I>(engine, plan))
        })
    }

    fn bind_as<T: Element, I: Index<Wide = I>>(
        &self,
        engine: &Engine,
        plan: &Plan,
    ) -> Result<(GatherBinding, Status)> {
        let params = DeviceTensor::<T>::try_from(self.params.tensor.clone())?;
        let indices = DeviceTensor::<I>::try_from(self.indices.tensor.clone())?;
        let output = DeviceTensor::<T>::try_from(self.output.tensor.clone())?;
        let pipeline = block_on(engine.pipeline(plan))?;
        let status = pipeline.status()?;
        let bound = pipeline.bind_tensors(&params, &indices, &output, Some(&status))?;
        Ok((bound, status))
    }
}

impl Machine {
    /// Whether a tensor may be read or written by what is submitted at any time.
    pub(super) fn is_ready(&self, slot: &Slot) -> bool {
        !slot.is_new && self.model.is_written(&slot.view)
    }

    pub(super) fn record(
        &mut self,
        encoder: u8,
        [number, params, indices, output, rule, stray]: [u8; 6],
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
            return self.record_scatter(encoder, &params, &chosen, &shape, [output, rule]);
        }
        self.record_gather(encoder, &params, &chosen, &shape, [output, rule, stray])
    }

    pub(super) fn open(&mut self, encoder: usize, engine: usize) -> &mut Encoder {
        let device = self.engines[engine].device();
        self.encoders[encoder].get_or_insert_with(|| Encoder {
            engine,
            encoder: device.create_command_encoder(&Default::default()),
            recorded: Vec::new(),
        })
    }

    /// Plans a gather of some tensors, and binds those or others.
    fn record_gather(
        &mut self,
        encoder: usize,
        params: &Slot,
        chosen: &Chosen,
        shape: &[usize],
        [output, rule, stray]: [u8; 3],
    ) -> Stepped {
        let (op, engine, dtype) = (chosen.op, params.engine, params.view.dtype);
        let rules = rules(rule, dtype);
        let (from, at) = (params.tensor.layout(), chosen.indices.tensor.layout());
        let width = dtype.bytes();
        let plan = Plan::new(op, &rules, width, from, chosen.index_type, at);
        let mut expected = self.expects(engine);
        let is_empty = shape.contains(&0);
        let nothing = has_nothing(op, &params.view, &chosen.indices.view, &rules, is_empty);
        expected.when(nothing, "NothingToRead");
        let Some(plan) = expected.check("a plan", plan)? else {
            return Ok(Outcome::Refused);
        };
        let planned = (params.view.clone(), chosen.indices.view.clone());
        let read = [&params.view, &chosen.indices.view];
        let target = self.target(output, (engine, dtype, shape), &read)?;
        let ready = |slot: &Slot| self.is_ready(slot);
        let any =
            |is_good: &dyn Fn(&Slot) -> bool| self.pick(rule, None, |s| ready(s) && is_good(s));
        let other_params = match stray {
            1 => any(&|slot| !makes_subnormals(slot.view.dtype, dtype)),
            _ => None,
        };
        let params = other_params.as_ref().unwrap_or(params);
        let other_indices = match stray {
            2 => any(&|slot| slot.view.dtype.bytes() >= 4),
            _ => None,
        };
        let indices = other_indices.as_ref().unwrap_or(&chosen.indices);
        let other_output = match stray {
            1 | 3 => any(&|slot| {
                let (from, to) = (params.view.dtype, slot.view.dtype);
                from.bytes() == to.bytes() && !makes_subnormals(from, to)
            }),
            _ => None,
        };
        let output = other_output.as_ref().unwrap_or(&target);
        let index_type = match stray {
            2 => index_type(&indices.view, output.view.offset as u8),
            _ => chosen.index_type,
        };
        let bound = Bound {
            params,
            indices,
            index_type,
            output,
        };
        expected.when(params.view.dtype.bytes() != width, "ElementWidth");
        expected.when(output.view.dtype.bytes() != width, "ElementWidth");
        // Nothing says how a tensor lies that has no elements.
        if stray > 0 && [params, indices].iter().any(|slot| slot.view.is_empty()) {
            return Ok(Outcome::Skipped);
        }
        let alike = lies_alike(&params.view, &planned.0) && lies_alike(&indices.view, &planned.1);
        expected.when(!alike, "OtherPlan");
        expected.when(index_type != chosen.index_type, "OtherIndices");
        expected.when(output.view.shape != shape, "OutputShape");
        expected.when(!output.view.is_contiguous(), "OutputStrided");
        let strays = [params, indices, output]
            .iter()
            .any(|slot| slot.is_stray(engine));
        expected.when(strays, "OtherEngine");
        let shares = |view: &View| !view.is_empty() && self.model.share(view, &output.view);
        let is_shared = shares(&params.view) || shares(&indices.view);
        expected.when(is_shared && !is_empty, "SameBuffer");
        // Of another engine's device: wgpu refuses what the program has wrapped.
        let foreign = [params, indices, output]
            .iter()
            .any(|s| s.is_wrapped && s.engine != engine);
        if foreign {
            return Ok(Outcome::Skipped);
        }
        let got = bound.bind(&self.engines[engine], &plan);
        let call = Call::Gather(Gather {
            op,
            rules,
            params: params.view.clone(),
            indices: indices.view.clone(),
            index_type,
            output: output.view.clone(),
            count: None,
        });
        let Some((binding, status)) = expected.check("a binding", got)? else {
            return Ok(Outcome::Refused);
        };
        let open = self.open(encoder, engine);
        binding.encode(&mut open.encoder);
        open.recorded.push((call, Some(status)));
        self.tally.add("gathers recorded");
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
        for (call, status) in open.recorded {
            let bad = self.model.run(&call);
            let Some(status) = status else { continue };
            self.compare_status(&status, bad)?;
        }
        Ok(Outcome::Done)
    }

    fn compare_status(
        &mut self,
        status: &Status,
        expected: Option<BadIndices>,
    ) -> std::result::Result<(), Difference> {
        let got = status.read_blocking();
        match got == Ok(expected.clone()) {
            true => {
                self.tally.add(match expected {
                    Some(_) => "statuses with bad indices",
                    None => "statuses without",
                });
                Ok(())
            }
            false => Err(format!("a status: {got:?}, expected {expected:?}")),
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
