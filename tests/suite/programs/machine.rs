//! Executes programs, on engines and on the model, and compares.

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Error, Op};

use super::arithmetic::Lookups;
use super::expected::{Difference, Expected, Outcome, Stepped, Tally};
use super::model::Model;
use super::recording::Encoder;
use super::slots::{Heard, Slot, Station, Table, Way};
use super::step::Step;
use super::tensors::LOST;
use super::view::View;

/// A program that runs.
pub(super) struct Machine {
    pub(super) engines: Vec<Engine>,
    pub(super) heard: Vec<Heard>,
    /// Whether no other program uses the engines.
    pub(super) is_alone: bool,
    pub(super) slots: Vec<Slot>,
    pub(super) tables: Vec<Table>,
    pub(super) encoders: Vec<Option<Encoder>>,
    /// Whether the device of each engine is lost.
    pub(super) lost: Vec<bool>,
    pub(super) model: Model,
    pub(super) tally: Tally,
}

/// The most elements of a tensor.
const MOST: usize = 2000;

impl Machine {
    pub(super) fn new(stations: Vec<Station>, is_alone: bool) -> Machine {
        Machine {
            lost: vec![false; stations.len()],
            engines: stations.iter().map(|s| s.engine.clone()).collect(),
            heard: stations.into_iter().map(|s| s.heard).collect(),
            is_alone,
            slots: Vec::new(),
            tables: Vec::new(),
            encoders: vec![None, None],
            model: Model::default(),
            tally: Tally::default(),
        }
    }

    /// Runs a program.
    pub(super) fn run(&mut self, program: &[Step]) -> std::result::Result<(), Difference> {
        let steps: Vec<(usize, &Step)> = program.iter().enumerate().collect();
        self.run_all(&steps)?;
        self.finish()
    }

    pub(super) fn run_all(
        &mut self,
        steps: &[(usize, &Step)],
    ) -> std::result::Result<(), Difference> {
        let mut rest = steps;
        while let Some(((n, step), behind)) = rest.split_first() {
            let taken = match step {
                Step::Batch { steps, .. } | Step::Stuck { steps, .. } => usize::from(*steps),
                _ => 0,
            };
            let (within, behind) = behind.split_at(taken.min(behind.len()));
            rest = behind;
            let outcome = match step {
                Step::Batch { engine, fails, .. } => self.batch(*engine, *fails, within),
                Step::Stuck { engine, .. } => self.stuck(*engine, within),
                _ => self.step(step, None),
            };
            let outcome = outcome.map_err(|difference| format!("step {n}: {difference}"))?;
            self.note(step, outcome);
        }
        Ok(())
    }

    /// Executes a step, within a batch or not.
    pub(super) fn step(&mut self, step: &Step, way: Option<Way<'_, '_>>) -> Stepped {
        match self.execute(step, way) {
            Err(difference) if difference == LOST => Ok(Outcome::Refused),
            outcome => outcome,
        }
    }

    fn execute(&mut self, step: &Step, way: Option<Way<'_, '_>>) -> Stepped {
        match *step {
            Step::Upload {
                engine,
                dtype,
                ref shape,
                seed,
            } => self.upload(engine, dtype, shape, seed),
            Step::View { of, how, a, b } => self.view(of, how, a, b),
            Step::Clone { of } => self.clone_of(of),
            Step::Drop { of } => self.drop_one(of),
            Step::Gather {
                op,
                params,
                indices,
                rules,
                into,
                stray,
            } => self.gather(way, [op, params, indices, rules, into, stray]),
            Step::Scatter {
                op,
                to,
                indices,
                updates,
                rules,
                reduce,
                into,
                stray,
            } => self.scatter(
                way,
                [
                    op,
                    to,
                    indices,
                    updates,
                    rules,
                    reduce,
                    u8::from(into),
                    stray,
                ],
            ),
            Step::Gradient {
                op,
                like,
                indices,
                updates,
                rules,
            } => self.gradient(way, [op, like, indices, updates, rules]),
            Step::Bag {
                params,
                indices,
                bags,
                mode,
                rules,
                into,
                stray,
            } => self.bag(
                way,
                [params, indices, bags, mode, rules, u8::from(into), stray],
            ),
            Step::Table { engine, seed } => self.table(engine, seed),
            Step::Decode {
                table,
                indices,
                bags,
                rules,
                into,
            } => self.decode(way, [table, indices, bags, rules, u8::from(into)]),
            Step::Record {
                encoder,
                op,
                params,
                indices,
                output,
                rules,
                how,
                stray,
            } => self.record(encoder, [op, params, indices, output, rules, how, stray]),
            Step::Submit { encoder } => self.submit(encoder),
            Step::Forget { encoder } => self.forget(encoder),
            Step::Write { to, at, seed } => self.write(to, at, seed),
            Step::Put { to, seed, stray } => self.put(to, seed, stray),
            Step::Wrap { of } => self.wrap(of),
            Step::Flush { engine } => self.flush(engine),
            Step::Trim { engine } => self.trim(engine),
            Step::Download { of, aside } => self.download(of, aside),
            Step::Check { of } => self.check(of),
            Step::Abandon { of, polls, check } => self.abandon(of, polls, check),
            Step::CountBad {
                op,
                params,
                indices,
                rules,
            } => self.count_bad([op, params, indices, rules]),
            Step::Callback {
                when,
                params,
                indices,
            } => self.callback([when, params, indices]),
            Step::Mistake { engine, within } => self.mistake(engine, within),
            Step::Lose { engine } => self.lose(engine),
            Step::Start { .. } => Ok(Outcome::Done),
            // Not within another.
            Step::Batch { .. } | Step::Stuck { .. } => Ok(Outcome::Skipped),
        }
    }

    fn note(&mut self, step: &Step, outcome: Outcome) {
        let shown = format!("{step:?}");
        let end = shown.find(' ').unwrap_or(shown.len());
        let counts = self.tally.steps.entry(shown[..end].to_owned()).or_default();
        counts[outcome as usize] += 1;
    }

    fn batch(&mut self, engine_number: u8, fails: bool, steps: &[(usize, &Step)]) -> Stepped {
        let number = usize::from(engine_number) % self.engines.len();
        let engine = self.engines[number].clone();
        self.model.begin_batch();
        let mut differs = None;
        let done = engine.batch(|batch| {
            for (n, step) in steps {
                let way = Way::Batch(batch, number);
                let mut stepped = self.step(step, Some(way));
                if stepped == Ok(Outcome::Refused) {
                    // Memory that the call had taken serves what comes next.
                    let next = Step::Upload {
                        engine: engine_number,
                        dtype: 0,
                        shape: vec![8, 7],
                        seed: 1,
                    };
                    stepped = self.step(&next, None).map(|_| Outcome::Refused);
                }
                match stepped {
                    Ok(outcome) => self.note(step, outcome),
                    Err(difference) => {
                        differs = Some(format!("(in batch) step {n}: {difference}"));
                        return Err(Error::NoShards);
                    }
                }
            }
            if fails { Err(Error::NoShards) } else { Ok(()) }
        });
        if let Some(difference) = differs {
            return Err(difference);
        }
        let mut expected = self.expects(number);
        expected.when(fails, "NoShards");
        if expected.check("a batch", done)?.is_none() {
            self.model.give_up_batch();
            self.slots.retain(|slot| !slot.is_new);
            return Ok(Outcome::Refused);
        }
        self.model.submit_batch();
        self.slots.iter_mut().for_each(|slot| slot.is_new = false);
        Ok(Outcome::Done)
    }

    /// At the end every tensor is as the model says.
    fn finish(&mut self) -> std::result::Result<(), Difference> {
        self.encoders = vec![None, None];
        let slots = std::mem::take(&mut self.slots);
        for slot in slots {
            // A report is told once, and then the data is there.
            if self.compare(&slot, false)? == Outcome::Refused {
                self.compare(&slot, false)?;
            }
        }
        for number in 0..self.engines.len() {
            let flushed = self.engines[number].flush();
            self.expects(number).check("a flush at the end", flushed)?;
        }
        self.compare_heard(&[])
    }

    /// The errors that any call on an engine may fail with: its device may be lost.
    pub(super) fn expects(&self, engine: usize) -> Expected {
        Expected {
            allowed: Vec::new(),
            is_lost: self.lost[engine],
        }
    }

    /// One of the tensors that are good for something; of one engine, if it is given.
    pub(super) fn pick(
        &self,
        number: u8,
        engine: Option<usize>,
        is_good: impl Fn(&Slot) -> bool,
    ) -> Option<Slot> {
        let is_of = |slot: &&Slot| engine.is_none_or(|engine| slot.engine == engine);
        let good: Vec<&Slot> = self
            .slots
            .iter()
            .filter(is_of)
            .filter(|s| is_good(s))
            .collect();
        let chosen = good.get(usize::from(number) % good.len().max(1));
        chosen.map(|&slot| slot.clone())
    }

    /// The shape of a gather's output, if the shapes fit.
    pub(super) fn shape(op: Op, params: &View, indices: &View) -> Option<Vec<usize>> {
        let lookups = Lookups {
            op,
            params: &params.shape,
            indices: &indices.shape,
        };
        lookups.output_shape()
    }

    /// The same, if it is not too large.
    pub(super) fn fits(op: Op, params: &View, indices: &View) -> Option<Vec<usize>> {
        let shape = Machine::shape(op, params, indices)?;
        let is_small = shape.len() <= 6 && shape.iter().product::<usize>() <= MOST;
        is_small.then_some(shape)
    }
}
