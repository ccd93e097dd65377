//! Steps in which wgpu calls the program back, which uses the engine then, or waits for another thread; and
//! in which a device is destroyed.

use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use wgpu_gather::gpu::{AnyDeviceTensor, Engine};
use wgpu_gather::{DType, Op, Rules, wgpu};

use super::calls::rules;
use super::expected::{Difference, Outcome, Stepped};
use super::machine::Machine;
use super::model::{Call, Gather};
use super::slots::Slot;
use super::step::Step;

/// How the program is called back.
#[derive(Debug, Clone, Copy)]
enum When {
    /// Out of a poll, or of a submission.
    Done,
    Mapped,
    /// Out of a submission only.
    Within,
}

/// Has wgpu call back for all that is done, and for what those callbacks ask for.
fn poll(engine: &Engine) {
    for _ in 0..2 {
        // A lost device has nothing to wait for.
        let _ = engine.device().poll(wgpu::PollType::wait_indefinitely());
    }
}

fn call_back(engine: &Engine, when: When, callback: impl FnOnce() + Send + 'static) {
    let queue = engine.queue().clone();
    match when {
        When::Done => queue.on_submitted_work_done(callback),
        When::Mapped => {
            let buffer = engine.device().create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            buffer.map_async(wgpu::MapMode::Read, .., move |_| callback());
        }
        When::Within => {
            // Not in the poll before the submission: out of that, this one is asked for.
            poll(engine);
            let register = move || queue.clone().on_submitted_work_done(callback);
            engine.queue().on_submitted_work_done(register);
        }
    }
}

/// What a callback has sent, which another thread may be in that polls.
fn called<T>(engine: &Engine, sent: &Receiver<T>) -> Option<T> {
    (0..2000).find_map(|_| {
        poll(engine);
        sent.recv_timeout(Duration::from_millis(10)).ok()
    })
}

/// What another thread says.
enum Said {
    IsIn,
    IsDone(wgpu_gather::Result<()>),
}

impl Machine {
    /// A callback that gathers and takes the buffer of what it made, out of a submission that holds a
    /// gather.
    pub(super) fn callback(&mut self, [when, params, indices]: [u8; 3]) -> Stepped {
        let is_good =
            |slot: &Slot| slot.view.rank() > 0 && !slot.is_new && self.model.is_written(&slot.view);
        let Some((params, way)) = self.start(params, None, is_good) else {
            return Ok(Outcome::Skipped);
        };
        let Some(chosen) = self.choose(0, &params, indices, false)? else {
            return Ok(Outcome::Skipped);
        };
        let (number, indices) = (way.engine(), &chosen.indices);
        if indices.is_new || !self.model.is_written(&indices.view) {
            return Ok(Outcome::Skipped);
        }
        let Some(shape) = Machine::fits(chosen.op, &params.view, &indices.view) else {
            return Ok(Outcome::Skipped);
        };
        let (engine, op, rules) = (
            self.engines[number].clone(),
            chosen.op,
            rules(0, params.view.dtype),
        );
        let gather = {
            let (engine, rules) = (engine.clone(), rules.clone());
            let (from, at) = (params.tensor.clone(), chosen.at());
            move || engine.gather(op, &rules, &from, &at)
        };
        let (sender, made) = channel();
        let (again, of_callback) = (gather.clone(), engine.clone());
        let callback = move || {
            let rows = again();
            if let Ok(rows) = &rows {
                let _ = rows.share_buffer();
            }
            // Nobody listens if the program was ended by a difference.
            let _ = sender.send(rows.and_then(|rows| of_callback.flush().map(|()| rows)));
        };
        let when = [When::Done, When::Mapped, When::Within][usize::from(when) % 3];
        call_back(&engine, when, callback);
        let first = gather();
        let flushed = engine.flush();
        poll(&engine);
        self.expects(number)
            .check("a flush that calls back", flushed)?;
        let second = called(&engine, &made).ok_or_else(|| format!("{when:?}: no callback"))?;
        for got in [first, second] {
            let Some(tensor) = self.expects(number).check("a gather of a callback", got)? else {
                continue;
            };
            let view = self.model.output(params.view.dtype, &shape);
            let call = Call::Gather(Gather {
                op,
                rules: rules.clone(),
                params: params.view.clone(),
                indices: indices.view.clone(),
                index_type: chosen.index_type,
                output: view.clone(),
                count: None,
            });
            self.model
                .record_now(call, &view, &[&params.view, &indices.view], true);
            self.keep(tensor, view, number, false);
        }
        Ok(Outcome::Done)
    }

    /// Runs steps while another thread is in a callback out of a submission of what waited.
    pub(super) fn stuck(&mut self, engine: u8, steps: &[(usize, &Step)]) -> Stepped {
        let number = usize::from(engine) % self.engines.len();
        let engine = self.engines[number].clone();
        let Ok([table, ids]) = self.two_tensors(number) else {
            return Ok(Outcome::Skipped);
        };
        let (sender, said) = channel();
        let (leave, may_leave) = channel::<()>();
        let in_callback = sender.clone();
        let (says_who, who) = channel();
        let callback = move || {
            // If it is called out of a call of the main thread, that one must go on.
            if who.recv() == Ok(thread::current().id()) {
                let _ = in_callback.send(Said::IsIn);
                let _ = may_leave.recv();
            }
        };
        call_back(&engine, When::Within, callback);
        let other = thread::spawn(move || {
            let _ = says_who.send(thread::current().id());
            let (op, rules) = (Op::gather(0), Rules::default());
            let made = engine.gather(op, &rules, &table, &ids);
            let flushed = made.and_then(|_| engine.flush());
            // The memory of its tensors is in the pool before the main thread goes on, which may trim that.
            drop((table, ids));
            let _ = sender.send(Said::IsDone(flushed));
        });
        let first = said
            .recv()
            .map_err(|_| "the other thread ended".to_owned())?;
        let is_in = matches!(first, Said::IsIn);
        let ran = self.run_all(steps);
        drop(leave);
        let ended = match first {
            Said::IsDone(ended) => Ok(Said::IsDone(ended)),
            Said::IsIn => said.recv(),
        };
        other
            .join()
            .map_err(|_| "the other thread panics".to_owned())?;
        ran.map_err(|difference| format!("(while a callback runs) {difference}"))?;
        if let Ok(Said::IsDone(flushed)) = ended {
            self.expects(number)
                .check("a flush of another thread", flushed)?;
        }
        Ok(if is_in {
            Outcome::Done
        } else {
            Outcome::Skipped
        })
    }

    /// A table and ids that no step knows of.
    fn two_tensors(&mut self, engine: usize) -> Result<[AnyDeviceTensor; 2], Difference> {
        let table = self.uploaded(engine, DType::U32, &[3], 1)?;
        let ids = self.uploaded(engine, DType::U32, &[4], 0)?;
        self.slots.truncate(self.slots.len() - 2);
        Ok([table.tensor, ids.tensor])
    }

    /// The program makes a mistake, in a callback or not: its handler hears of it, and the engine's calls
    /// do not.
    pub(super) fn mistake(&mut self, engine: u8, within: bool) -> Stepped {
        let number = usize::from(engine) % self.engines.len();
        if !self.is_alone || self.lost[number] {
            return Ok(Outcome::Skipped);
        }
        let Ok([table, ids]) = self.two_tensors(number) else {
            return Ok(Outcome::Skipped);
        };
        let engine = self.engines[number].clone();
        let device = engine.device().clone();
        let (sender, made) = channel();
        let mistake = move || {
            drop(device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("of the program"),
                size: 4,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            }));
            let _ = sender.send(());
        };
        match within {
            true => call_back(&engine, When::Within, mistake),
            false => mistake(),
        }
        let (op, rules) = (Op::gather(0), Rules::default());
        let gathered = engine.gather(op, &rules, &table, &ids);
        let flushed = gathered.and_then(|_| engine.flush());
        called(&engine, &made).ok_or("the mistake is never made")?;
        flushed.map_err(|error| format!("a call that calls back: {error}"))?;
        self.compare_heard(&["of the program"])?;
        Ok(Outcome::Done)
    }

    /// The handlers for errors have heard of these, and of nothing else.
    pub(super) fn compare_heard(&self, expected: &[&str]) -> Result<(), Difference> {
        if !self.is_alone || self.lost.contains(&true) {
            return Ok(());
        }
        let take = |heard: &super::slots::Heard| {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *heard)
        };
        let heard: Vec<String> = self.heard.iter().flat_map(take).collect();
        let is_expected = heard.len() == expected.len()
            && heard
                .iter()
                .zip(expected)
                .all(|(got, part)| got.contains(part));
        match is_expected {
            true => Ok(()),
            false => Err(format!(
                "the handler heard {heard:?}, expected {expected:?}"
            )),
        }
    }

    /// Destroys a device. What follows is refused.
    pub(super) fn lose(&mut self, engine: u8) -> Stepped {
        let number = usize::from(engine) % self.engines.len();
        self.engines[number].device().destroy();
        self.lost[number] = true;
        Ok(Outcome::Done)
    }
}
