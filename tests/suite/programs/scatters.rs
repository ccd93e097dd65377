//! Steps that scatter: over a copy, in place, and the gradient of a gather.

use wgpu_gather::gpu::ScatterBuffers;
use wgpu_gather::{DType, Reduce, ScatterLayouts, ScatterPlan};

use super::calls::{Chosen, has_nothing, makes_subnormals, rules};
use super::expected::{Outcome, Stepped};
use super::machine::Machine;
use super::model::{Call, Scatter};
use super::slots::{Slot, Way, by};
use super::view::View;

impl Machine {
    /// Updates of this shape, apart from the destination.
    fn updates(
        &mut self,
        number: u8,
        (engine, dtype, shape): (usize, DType, &[usize]),
        destination: Option<&View>,
    ) -> Result<Slot, String> {
        let found = self.pick(number, Some(engine), |slot| {
            let is_apart = destination.is_none_or(|to| !self.model.share(to, &slot.view));
            slot.view.shape == shape && slot.view.dtype == dtype && is_apart
        });
        match found {
            Some(slot) => Ok(slot),
            None => self.uploaded(engine, dtype, shape, u16::from(number)),
        }
    }

    pub(super) fn scatter(
        &mut self,
        way: Option<Way<'_, '_>>,
        [number, to, indices, updates, rule, reduce, into, stray]: [u8; 8],
    ) -> Stepped {
        let in_place = into == 1;
        let is_good = |slot: &Slot| {
            let overlaps = in_place && stray == 0 && slot.view.overlaps();
            slot.view.rank() > 0 && !overlaps
        };
        let Some((to, way)) = self.start(to, way, is_good) else {
            return Ok(Outcome::Skipped);
        };
        let Some(chosen) = self.choose(number, &to, indices, stray == 1)? else {
            return Ok(Outcome::Skipped);
        };
        let (dtype, engine) = (to.view.dtype, way.engine());
        let (rules, reduce) = (rules(rule, dtype), Reduce::ALL[usize::from(reduce) % 5]);
        let Chosen {
            op,
            ref indices,
            index_type,
        } = chosen;
        let shape = Machine::fits(op, &to.view, &indices.view);
        let fits = shape.is_some();
        let shape = shape.unwrap_or_else(|| vec![1]);
        let updates = match stray {
            2 => self
                .pick(updates, None, |slot| {
                    slot.is_the_engines() && !makes_subnormals(slot.view.dtype, dtype)
                })
                .unwrap_or_else(|| to.clone()),
            _ => self.updates(
                updates,
                (engine, dtype, &shape),
                in_place.then_some(&to.view),
            )?,
        };
        let mut expected = self.expected(engine, &chosen, &[&to, &updates]);
        expected.shapes(fits);
        expected.when(updates.view.shape != shape, "UpdatesShape");
        expected.when(updates.view.dtype.bytes() != dtype.bytes(), "ElementWidth");
        expected.when(in_place && to.view.overlaps(), "OverlappingDestination");
        let is_empty = shape.contains(&0);
        let shares = |slot: &Slot| self.model.share(&to.view, &slot.view);
        let is_shared = shares(indices) || shares(&updates);
        expected.when(in_place && is_shared && !is_empty, "SameBuffer");
        if fits {
            let nothing = has_nothing(op, &to.view, &indices.view, &rules, is_empty);
            expected.when(nothing, "NothingToRead");
        }
        let (at, of) = ((&indices.tensor, index_type), (&updates.tensor, dtype));
        let call = |destination: &View| {
            Call::Scatter(Scatter {
                op,
                reduce,
                rules: rules.clone(),
                destination: destination.clone(),
                indices: indices.view.clone(),
                index_type,
                updates: updates.view.clone(),
            })
        };
        let read = [&indices.view, &updates.view];
        if in_place {
            let mut tensor = to.tensor.clone();
            let got = by!(
                way,
                scatter_any_into(op, reduce, &rules, &mut tensor, at, of)
            );
            if expected.check("a scatter in place", got)?.is_none() {
                return Ok(Outcome::Refused);
            }
            self.tally.add("scatters in place");
            self.model.record(call(&to.view), &to.view, &read, false);
            return Ok(Outcome::Done);
        }
        let is_new = way.is_batch();
        let got = by!(way, scatter_any(op, reduce, &rules, &to.tensor, at, of));
        let Some(tensor) = expected.check("a scatter", got)? else {
            return Ok(Outcome::Refused);
        };
        let view = self.model.copy_for(&to.view);
        self.model.record(call(&view), &view, &read, false);
        self.keep(tensor, view, engine, is_new);
        Ok(Outcome::Done)
    }

    pub(super) fn gradient(
        &mut self,
        way: Option<Way<'_, '_>>,
        [number, like, indices, updates, rule]: [u8; 5],
    ) -> Stepped {
        let is_good = |slot: &Slot| slot.view.rank() > 0;
        let Some((like, way)) = self.start(like, way, is_good) else {
            return Ok(Outcome::Skipped);
        };
        let Some(chosen) = self.choose(number, &like, indices, false)? else {
            return Ok(Outcome::Skipped);
        };
        let (dtype, engine, is_new) = (like.view.dtype, way.engine(), way.is_batch());
        let rules = rules(rule, dtype);
        let Chosen {
            op,
            ref indices,
            index_type,
        } = chosen;
        let Some(shape) = Machine::fits(op, &like.view, &indices.view) else {
            return Ok(Outcome::Skipped);
        };
        let updates = self.updates(updates, (engine, dtype, &shape), None)?;
        let mut expected = self.expected(engine, &chosen, &[&updates]);
        let is_empty = shape.contains(&0);
        let nothing = has_nothing(op, &like.view, &indices.view, &rules, is_empty);
        expected.when(nothing, "NothingToRead");
        let (at, of) = ((&indices.tensor, index_type), (&updates.tensor, dtype));
        let got = by!(
            way,
            gather_gradient_any(op, &rules, &like.view.shape, at, of)
        );
        let Some(tensor) = expected.check("a gradient", got)? else {
            return Ok(Outcome::Refused);
        };
        let view = self.model.output(dtype, &like.view.shape);
        let call = Call::Scatter(Scatter {
            op,
            reduce: Reduce::Add,
            rules,
            destination: view.clone(),
            indices: indices.view.clone(),
            index_type,
            updates: updates.view.clone(),
        });
        self.model
            .record(call, &view, &[&indices.view, &updates.view], false);
        self.keep(tensor, view, engine, is_new);
        Ok(Outcome::Done)
    }

    /// Records a scatter into an encoder of the program.
    pub(super) fn record_scatter(
        &mut self,
        encoder: usize,
        to: &Slot,
        chosen: &Chosen,
        shape: &[usize],
        [output, rule]: [u8; 2],
    ) -> Stepped {
        let (op, engine, dtype) = (chosen.op, to.engine, to.view.dtype);
        let updates = self.target(output, (engine, dtype, shape), &[&to.view])?;
        let indices = &chosen.indices;
        let is_apart = !self.model.share(&to.view, &indices.view);
        let is_aligned = |slot: &Slot| slot.tensor.buffer_slice().offset().is_multiple_of(8);
        let all = [to, indices, &updates];
        if to.view.overlaps() || !is_apart || !all.into_iter().all(is_aligned) || dtype.bytes() < 4
        {
            return Ok(Outcome::Skipped);
        }
        if !self.is_ready(&updates) {
            return Ok(Outcome::Skipped);
        }
        let rules = rules(rule, dtype);
        let reduce = Reduce::ALL[usize::from(output) % 5];
        let [destination, at, of] = [to, indices, &updates].map(|slot| slot.tensor.layout());
        let mut expected = self.expects(engine);
        let nothing = has_nothing(op, &to.view, &indices.view, &rules, shape.contains(&0));
        expected.when(nothing, "NothingToRead");
        let layouts = ScatterLayouts {
            dtype,
            destination,
            index_type: chosen.index_type,
            indices: at,
            updates: of,
        };
        let plan = ScatterPlan::new(op, reduce, &rules, layouts);
        let Some(plan) = expected.check("a plan of a scatter", plan)? else {
            return Ok(Outcome::Refused);
        };
        let bound = self.engines[engine]
            .scatter_pipeline(&plan)
            .and_then(|pipeline| {
                let status = pipeline.status()?;
                let buffers = ScatterBuffers {
                    destination: to.tensor.buffer_slice(),
                    indices: indices.tensor.buffer_slice(),
                    updates: updates.tensor.buffer_slice(),
                    status: status.as_ref(),
                };
                Ok((pipeline.bind(&buffers)?, status))
            });
        let call = Call::Scatter(Scatter {
            op,
            reduce,
            rules,
            destination: to.view.clone(),
            indices: indices.view.clone(),
            index_type: chosen.index_type,
            updates: updates.view.clone(),
        });
        let Some((binding, status)) = self.expects(engine).check("a scatter is bound", bound)?
        else {
            return Ok(Outcome::Refused);
        };
        let open = self.open(encoder, engine);
        binding.encode(&mut open.encoder);
        open.recorded.push((call, status));
        self.tally.add("scatters recorded");
        Ok(Outcome::Done)
    }
}
