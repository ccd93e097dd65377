//! Programs whose device is destroyed at some step: every call that follows gives a typed error.

use proptest::prelude::*;
use wgpu_gather::gpu::{Engine, Options};

use super::STEPS;
use super::run::{Ground, search, setting, station};
use super::step::{Step, program};
use crate::common::{engine_with, engines};

/// A program of which one step is that the device is lost.
fn losing() -> impl Strategy<Value = Vec<Step>> {
    let at = 5..STEPS;
    (program(STEPS), at, any::<u8>()).prop_map(|(mut program, at, engine)| {
        program.insert(at, Step::Lose { engine });
        program
    })
}

/// An engine of its own, on a device of the program's or of the engine's own.
fn alone(engine: &Engine, number: u32) -> Ground {
    let engine = match number % 2 {
        0 => engine_with(engine, Options::default()),
        _ => Engine::headless(Some(&engine.adapter().label()))
            .wait()
            .expect("an engine"),
    };
    Ground::of_one(station(engine))
}

#[test]
fn a_lost_device_is_an_error_of_every_call() {
    // Each takes a device, and its pipelines.
    let count = setting("GATHER_PROGRAMS", 100).div_ceil(10) as u32;
    let seed = setting("GATHER_SEED", 1);
    for engine in engines() {
        let label = engine.adapter().label();
        let ground = |number| alone(engine, number);
        let (tally, failure) = search(&ground, &losing(), count, seed);
        println!("{label}: {count} programs that lose the device, seed {seed}: {tally:#?}");
        if let Some(failure) = failure {
            panic!("{label}, seed {seed}, {failure}");
        }
        let lost = tally.compared.get("downloads from lost devices");
        assert!(lost.is_some_and(|&n| n >= count as usize), "{tally:?}");
    }
}
