//! Runs programs: many of them, each with an end, and makes those that fail small.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use wgpu_gather::gpu::{Engine, Options};
use wgpu_gather::wgpu;

use super::expected::Tally;
use super::machine::Machine;
use super::slots::{Heard, Station};
use super::step::Step;
use crate::common::engine_with;

/// Longer than any program takes.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

const HANGS: &str = "it hangs";

pub(super) fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |n| n.parse().expect("a number"))
}

/// The engines that programs run on. Their pipelines are compiled once.
#[derive(Debug, Clone)]
pub(super) struct Ground(Vec<Station>);

impl Ground {
    /// Engines on the adapter of this one, with pools and passes of several sizes.
    pub(super) fn on(engine: &Engine) -> Ground {
        let pools = [256 << 20, 0, 1024, 256 << 20];
        let passes = [1 << 30, 1 << 30, 1 << 30, 64];
        let stations = pools.into_iter().zip(passes).map(|(pool, pass)| {
            let mut options = Options::default();
            (options.max_pool_bytes, options.max_pass_bytes) = (pool, pass);
            station(engine_with(engine, options))
        });
        Ground(stations.collect())
    }

    /// One engine.
    pub(super) fn of_one(station: Station) -> Ground {
        Ground(vec![station])
    }

    /// One or two of them.
    pub(super) fn of(&self, program: &[Step]) -> Vec<Station> {
        let number = match program.first() {
            Some(Step::Start { engines }) => usize::from(*engines),
            _ => 0,
        };
        let count = self.0.len();
        let mut stations = vec![self.0[number % count].clone()];
        if number.is_multiple_of(3) && count > 1 {
            stations.push(self.0[(number + 1) % count].clone());
        }
        for station in &stations {
            // Each program starts with the same pool, whatever became of the one before.
            station.engine.trim_pool();
            let mut heard = station.heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.clear();
        }
        stations
    }
}

/// An engine whose device calls the engine when it hears of an error that is none of the engine's.
pub(super) fn station(engine: Engine) -> Station {
    let heard = Heard::default();
    let (of_handler, for_handler) = (Arc::clone(&heard), engine.clone());
    engine
        .device()
        .on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let flushed = for_handler.flush();
            let mut heard = of_handler.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push(error.to_string());
            if let Err(error) = flushed {
                heard.push(format!("a flush of the handler: {error}"));
            }
        }));
    Station { engine, heard }
}

type Ran = (std::result::Result<(), String>, Tally);

/// A thread that runs programs, until one of them hangs.
struct Worker {
    programs: Sender<(Vec<Station>, Vec<Step>)>,
    results: std::sync::mpsc::Receiver<Ran>,
}

impl Worker {
    fn start() -> Worker {
        let (programs, to_run) = channel::<(Vec<Station>, Vec<Step>)>();
        let (done, results) = channel();
        thread::spawn(move || {
            for (stations, program) in to_run {
                let mut machine = Machine::new(stations, true);
                let ran = catch_unwind(AssertUnwindSafe(|| machine.run(&program)));
                let ran = ran.unwrap_or_else(|_| Err("it panics".to_owned()));
                if done.send((ran, machine.tally.clone())).is_err() {
                    return;
                }
            }
        });
        Worker { programs, results }
    }

    /// Runs a program. One that hangs takes its thread with it.
    fn run(&mut self, stations: Vec<Station>, program: &[Step]) -> Ran {
        self.programs
            .send((stations, program.to_vec()))
            .expect("the worker listens");
        match self.results.recv_timeout(LIMIT) {
            Ok(ran) => ran,
            Err(why) => {
                *self = Worker::start();
                let hangs = matches!(why, RecvTimeoutError::Timeout);
                let what = if hangs {
                    "it hangs"
                } else {
                    "its thread ended"
                };
                (Err(what.to_owned()), Tally::default())
            }
        }
    }
}

/// A program that failed, made small.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) after: u32,
    difference: String,
    program: Vec<Step>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "after {} programs: {}\n{}",
            self.after,
            self.difference,
            text(&self.program)
        )
    }
}

/// A program as a vector that can be pasted.
pub(super) fn text(program: &[Step]) -> String {
    let lines = program.iter().map(|step| format!("    Step::{step:?},\n"));
    format!(
        "vec![\n{}]",
        lines.collect::<String>().replace(": [", ": vec![")
    )
}

/// Makes the same programs each time.
pub(super) fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}

/// Runs so many programs; what they did, and the one that failed, if one did.
pub(super) fn search(
    ground: &dyn Fn(u32) -> Ground,
    programs: &impl Strategy<Value = Vec<Step>>,
    count: u32,
    seed: u64,
) -> (Tally, Option<Failure>) {
    let mut runner = runner(seed);
    let (mut worker, mut tally) = (Worker::start(), Tally::default());
    for after in 0..count {
        let program = programs.new_tree(&mut runner).expect("a program").current();
        let (ran, did) = worker.run(ground(after).of(&program), &program);
        let Err(difference) = ran else {
            tally.merge(&did);
            continue;
        };
        let (program, difference) = shrunk(program, difference, |program| {
            worker.run(ground(after).of(program), program).0.err()
        });
        let failure = Failure {
            after,
            difference,
            program,
        };
        return (tally, Some(failure));
    }
    (tally, None)
}

/// Takes steps out of a program for as long as it fails, many at a time first.
fn shrunk(
    mut program: Vec<Step>,
    mut difference: String,
    mut fails: impl FnMut(&[Step]) -> Option<String>,
) -> (Vec<Step>, String) {
    // The engines of one that hangs are good for nothing any more.
    let mut size = match &difference[..] {
        HANGS => 0,
        _ => program.len().div_ceil(2),
    };
    while size > 0 {
        let (mut start, before) = (0, program.len());
        while start < program.len() {
            let end = program.len().min(start + size);
            let rest = [&program[..start], &program[end..]].concat();
            match fails(&rest) {
                Some(other) => (program, difference) = (rest, other),
                None => start = end,
            }
        }
        if size > 1 || program.len() == before {
            size /= 2;
        }
    }
    (program, difference)
}

pub(super) fn once(ground: &Ground, program: &[Step]) -> std::result::Result<(), String> {
    Worker::start().run(ground.of(program), program).0
}
