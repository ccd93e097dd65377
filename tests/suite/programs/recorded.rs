//! Calls that are recorded into an encoder of the program: gathers, scatters, pooled lookups.

use wgpu_gather::gpu::{Buffers, Engine, Status};
use wgpu_gather::{BagMode, IndexType, Op, Plan, Reduce, Result, Rules, wgpu};

use super::bags::{bags_of, cut, padding};
use super::calls::{Chosen, has_nothing, index_type, makes_subnormals, rules};
use super::expected::{Outcome, Stepped};
use super::machine::Machine;
use super::model::{Bag, Call, Gather, Scatter};
use super::recording::Counted;
use super::slots::Slot;
use super::view::View;

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
        status: Some(&status),
        ..Buffers::new(
            params.tensor.share_slice(),
            indices.tensor.share_slice(),
            slice.buffer().slice(slice.offset() + start..),
        )
    };
    pipeline.bind(&buffers)?.encode(encoder);
    Ok(status)
}

impl Machine {
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
        if number % 7 == 1 {
            return self.record_bag(encoder, &params, [indices, output, rule, how]);
        }
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
                chosen.index_type = index_type(&other.view, how);
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

    /// Records a scatter in place into an encoder of the program.
    fn record_scatter(
        &mut self,
        encoder: usize,
        to: &Slot,
        chosen: &Chosen,
        shape: &[usize],
        [output, rule, how]: [u8; 3],
    ) -> Stepped {
        let (op, engine, dtype) = (chosen.op, to.engine, to.view.dtype);
        let updates = self.target(output, (engine, dtype, shape), &[&to.view])?;
        if !self.is_ready(&updates) || self.model.is_in_batch(&to.view) {
            return Ok(Outcome::Skipped);
        }
        let indices = &chosen.indices;
        let rules = rules(rule, dtype);
        let reduce = Reduce::ALL[usize::from(output) % 5];
        let mut expected = self.expects(engine);
        expected.when(to.view.overlaps(), "OverlappingDestination");
        let is_empty = shape.contains(&0);
        let is_shared = self.model.share(&to.view, &indices.view) && !indices.view.is_empty();
        expected.when(is_shared && !is_empty, "SameBuffer");
        let nothing = has_nothing(op, &to.view, &indices.view, &rules, is_empty);
        expected.when(nothing, "NothingToRead");
        let (at, of, mut tensor) = (chosen.at(), &updates.tensor, to.tensor.clone());
        let recorded = self.record_by(encoder, engine, how, |r| {
            r.scatter_into(op, reduce, &rules, &mut tensor, &at, of)
        });
        let Some(binding) = expected.check("a scatter is recorded", recorded)? else {
            return Ok(Outcome::Refused);
        };
        let call = Call::Scatter(Scatter {
            op,
            reduce,
            rules: rules.clone(),
            destination: to.view.clone(),
            indices: indices.view.clone(),
            index_type: chosen.index_type,
            updates: updates.view.clone(),
        });
        let read = [&indices.view, &updates.view];
        self.note_recorded(encoder, binding, call, &to.view, &read);
        self.tally.add("scatters recorded");
        Ok(Outcome::Done)
    }

    /// Records a pooled lookup into an encoder of the program.
    fn record_bag(
        &mut self,
        encoder: usize,
        params: &Slot,
        [indices, output, rule, how]: [u8; 4],
    ) -> Stepped {
        let (engine, dtype) = (params.engine, params.view.dtype);
        let chosen = Chosen {
            op: Op::gather(0),
            indices: self.bag_indices(indices, engine)?,
            index_type: IndexType::U32,
        };
        let indices = &chosen.indices;
        let chosen = Chosen {
            index_type: index_type(&indices.view, output),
            ..chosen
        };
        let indices = &chosen.indices;
        let Some((offsets, ends, is_rows)) = cut(output, &indices.view) else {
            return Ok(Outcome::Skipped);
        };
        let row_shape = &params.view.shape[1..];
        let shape = [&[ends.len()], row_shape].concat();
        let to = self.target(
            rule,
            (engine, dtype, &shape),
            &[&params.view, &indices.view],
        )?;
        let ready = [indices, &to].iter().all(|slot| self.is_ready(slot));
        if !ready || self.model.is_in_batch(&to.view) {
            return Ok(Outcome::Skipped);
        }
        let rules = rules(rule, dtype);
        let mode = [BagMode::Sum, BagMode::Max][usize::from(how / 3) % 2];
        let padding = padding(how / 8, params.view.shape[0]);
        let is_empty = ends.last().is_none_or(|&end| end == 0) || row_shape.contains(&0);
        let mut expected = self.expects(engine);
        let nothing = has_nothing(chosen.op, &params.view, &indices.view, &rules, is_empty);
        expected.when(nothing, "NothingToRead");
        let bags = bags_of(&offsets, is_rows, mode, padding);
        let (from, at, mut tensor) = (&params.tensor, chosen.at(), to.tensor.clone());
        let recorded = self.record_by(encoder, engine, how, |r| {
            r.embedding_bag_into(bags, &rules, from, &at, None, &mut tensor)
        });
        let Some(binding) = expected.check("a pooled lookup is recorded", recorded)? else {
            return Ok(Outcome::Refused);
        };
        let call = Call::Bag(Bag {
            mode,
            rules,
            ends,
            padding,
            params: params.view.clone(),
            indices: indices.view.clone(),
            index_type: chosen.index_type,
            weights: None,
            output: to.view.clone(),
        });
        let read = [&params.view, &indices.view];
        self.note_recorded(encoder, binding, call, &to.view, &read);
        self.tally.add("pooled lookups recorded");
        Ok(Outcome::Done)
    }
}
