//! Steps that scatter: over a copy, in place, and the gradient of a gather.

use wgpu_gather::{DType, Reduce};

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
        expected.when(updates.view.dtype != dtype, "OtherElements");
        expected.when(in_place && to.view.overlaps(), "OverlappingDestination");
        let is_empty = shape.contains(&0);
        let shares = |slot: &Slot| !slot.view.is_empty() && self.model.share(&to.view, &slot.view);
        let is_shared = shares(indices) || shares(&updates);
        expected.when(in_place && is_shared && !is_empty, "SameBuffer");
        if fits {
            let nothing = has_nothing(op, &to.view, &indices.view, &rules, is_empty);
            expected.when(nothing, "NothingToRead");
        }
        let (at, of) = (chosen.at(), &updates.tensor);
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
            let got = by!(way, scatter_into(op, reduce, &rules, &mut tensor, &at, of));
            if expected.check("a scatter in place", got)?.is_none() {
                return Ok(Outcome::Refused);
            }
            self.tally.add("scatters in place");
            self.model.record(call(&to.view), &to.view, &read, false);
            return Ok(Outcome::Done);
        }
        let is_new = way.is_batch();
        let got = by!(way, scatter(op, reduce, &rules, &to.tensor, &at, of));
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
        let (at, of) = (chosen.at(), &updates.tensor);
        let got = by!(way, gather_gradient(op, &rules, &like.view.shape, &at, of));
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
}
