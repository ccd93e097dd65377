//! Random programs: steps on one or several engines, compared with a model in which a tensor is a vector.
//!
//! `GATHER_PROGRAMS` sets how many on each adapter (100 by default) and `GATHER_SEED` which. A failing
//! program is shrunk and printed, as a vector to be pasted into `replayed`.
//!
//! A step names tensors by numbers, modulo how many there are, so what is left of a program is one.
//! `machine` runs the steps on engines and on the `model`; `arithmetic` and `compute` say what calls
//! compute, `reports` what tensors tell of bad indices. Nothing expected comes from the crate.

mod arithmetic;
mod bags;
mod callbacks;
mod calls;
mod compute;
mod downloads;
mod expected;
mod gathers;
mod lost;
mod machine;
mod model;
mod recorded;
mod recording;
mod reports;
mod run;
mod scatters;
mod slots;
mod step;
mod team;
mod tensors;
mod view;

use crate::common::engines;
use expected::Tally;
use run::{Ground, search, setting};

/// Steps of a program.
const STEPS: usize = 30;

#[test]
fn engines_do_what_the_model_does() {
    let (count, seed) = (
        setting("GATHER_PROGRAMS", 100) as u32,
        setting("GATHER_SEED", 1),
    );
    for engine in engines() {
        let ground = Ground::on(engine);
        let label = engine.adapter().label();
        let (tally, failure) = search(&|_| ground.clone(), &step::program(STEPS), count, seed);
        println!("{label}: {count} programs, seed {seed}: {tally:#?}");
        if let Some(failure) = failure {
            panic!("{label}, seed {seed}, {failure}");
        }
        // A few programs need not have everything.
        if count >= 100 {
            assert_shares(&tally, count as usize);
        }
    }
}

/// Kinds of steps, all of which are done.
const KINDS: [&str; 27] = [
    "Abandon", "Bag", "Batch", "Callback", "Check", "Clone", "CountBad", "Decode", "Download",
    "Drop", "Flush", "Forget", "Gather", "Gradient", "Mistake", "Put", "Record", "Scatter",
    "Start", "Stuck", "Submit", "Table", "Trim", "Upload", "View", "Wrap", "Write",
];

/// What is refused now and then.
const REFUSED: [&str; 6] = ["Batch", "Download", "Gather", "Put", "Record", "Scatter"];

/// What is compared, or done in a way of its own.
const COMPARED: [&str; 12] = [
    "checks of what nobody counted",
    "checks that all is well",
    "gathers into tensors",
    "gathers into typed tensors",
    "gathers recorded",
    "pooled lookups recorded",
    "reports of checks",
    "reports of downloads",
    "scatters in place",
    "scatters recorded",
    "statuses with bad indices",
    "bindings with bad indices",
];

/// Programs do what they say: each kind of step occurs and succeeds in every 25 of them, most steps do,
/// and most of what is downloaded is not zero.
fn assert_shares(tally: &Tally, programs: usize) {
    let [mut done, mut all] = [0; 2];
    for kind in KINDS {
        let counts = tally.steps.get(kind).copied().unwrap_or_default();
        assert!(counts[0] * 25 >= programs, "{kind}: {tally:#?}");
        let refused = counts[1] * 25 >= programs;
        assert!(
            refused || !REFUSED.contains(&kind),
            "{kind} is never refused: {tally:#?}"
        );
        done += counts[0];
        all += counts.iter().sum::<usize>();
    }
    assert_eq!(KINDS.len(), tally.steps.len(), "{tally:#?}");
    assert!(done * 10 >= all * 8, "{done} of {all} steps: {tally:#?}");
    let compared = |what| tally.compared.get(what).copied().unwrap_or(0);
    for what in COMPARED {
        assert!(compared(what) * 50 >= programs, "{what}: {tally:#?}");
    }
    assert!(compared("downloads") >= 20 * programs, "{tally:#?}");
    assert!(
        compared("downloads with values") * 2 >= compared("downloads"),
        "{tally:#?}"
    );
}

/// A program that is pasted here.
#[test]
#[ignore = "for a program that failed"]
fn replayed() {
    use step::Step;
    let program = vec![Step::Start { engines: 0 }];
    for engine in engines() {
        let ground = Ground::on(engine);
        for _ in 0..20 {
            println!("{:?}", run::once(&ground, &program));
        }
    }
}
