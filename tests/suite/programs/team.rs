//! Programs that run at a time, each on a thread of its own, on the same engines.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;

use proptest::strategy::{Strategy, ValueTree};

use super::STEPS;
use super::expected::Tally;
use super::machine::Machine;
use super::run::{Ground, LIMIT, runner, setting, text};
use super::step::program;
use crate::common::engines;

/// Threads of a team.
const THREADS: usize = 3;

#[test]
fn threads_that_share_engines_do_what_the_model_does() {
    let count = setting("GATHER_PROGRAMS", 100).div_ceil(5) as u32;
    let seed = setting("GATHER_SEED", 1);
    for engine in engines() {
        let (ground, label) = (Ground::on(engine), engine.adapter().label());
        let (mut runner, mut tally) = (runner(seed), Tally::default());
        let one = program(STEPS);
        for after in 0..count {
            let new = || one.new_tree(&mut runner).expect("a program").current();
            let programs: Vec<_> = std::iter::repeat_with(new).take(THREADS).collect();
            let stations = ground.of(&programs[0]);
            let (sender, results) = channel();
            for program in programs.clone() {
                let (stations, sender) = (stations.clone(), sender.clone());
                thread::spawn(move || {
                    let mut machine = Machine::new(stations, false);
                    let ran = catch_unwind(AssertUnwindSafe(|| machine.run(&program)));
                    let ran = ran.unwrap_or_else(|_| Err("it panics".to_owned()));
                    let _ = sender.send((ran, machine.tally.clone()));
                });
            }
            for _ in 0..THREADS {
                let (ran, did) = match results.recv_timeout(LIMIT) {
                    Ok(ended) => ended,
                    Err(_) => (Err("it hangs".to_owned()), Tally::default()),
                };
                tally.merge(&did);
                if let Err(difference) = ran {
                    let programs: Vec<String> = programs.iter().map(|p| text(p)).collect();
                    panic!(
                        "{label}, seed {seed}, after {after} teams: {difference}\n{}",
                        programs.join("\n")
                    );
                }
            }
        }
        println!("{label}: {count} teams, seed {seed}: {tally:#?}");
        assert!(
            tally.compared["downloads"] > 10 * count as usize,
            "{tally:?}"
        );
    }
}
