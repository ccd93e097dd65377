//! Faults in the shaders of the library, which its calls must show.

use gather_conformance::{Call, Outcome, builtin, check_call};
use pollster::block_on;

use crate::bench::{Bench, Tally};
use crate::recorder::Fault;

/// The name of a fault, what plants it, and what is said then.
type Planted = (&'static str, Fault, &'static str);

const FAULTS: &[Planted] = &[
    (
        "an element one too far",
        |text| {
            replace(
                text,
                "output[geometry.output_offset + a]",
                "output[geometry.output_offset + a + 1u]",
            )
        },
        "outside the call's memory",
    ),
    (
        "two rows in one place",
        |text| {
            replace(
                text,
                "let to = geometry.output_offset + row *",
                "let to = geometry.output_offset + row / 2u *",
            )
        },
        "two invocations write a word",
    ),
    (
        "a neighbour's element",
        |text| {
            replace(
                text,
                "output[geometry.output_offset + a] = vector_a",
                "output[geometry.output_offset + a] = output[geometry.output_offset + (a ^ 1u)]",
            )
        },
        "one invocation writes what another reads",
    ),
    (
        "a division that does not end",
        |text| replace(text, "select(32u, 0u, short)", "65535u"),
        "steps of an invocation's loops",
    ),
];

fn replace(text: String, from: &str, to: &str) -> String {
    text.replace(from, to)
}

/// Calls of all kernels that the faults are in.
fn calls() -> Vec<Call> {
    let all = builtin().into_iter().step_by(31);
    let small = all.filter(|call| call.params.len() < 8 << 10);
    small.take(40).collect()
}

/// Says of each fault what is not as it should be; nothing, if it is reported.
pub(crate) fn check() -> Vec<(String, Option<String>)> {
    let calls = calls();
    let none: Planted = ("no fault", |text| text, "");
    let all = [none].into_iter().chain(FAULTS.iter().copied());
    let named = all.map(|planted| (planted.0.to_owned(), wrong(&calls, planted)));
    named.collect()
}

fn wrong(calls: &[Call], (_, fault, says): Planted) -> Option<String> {
    let bench = match Bench::new(128 << 20, Some(fault)) {
        Ok(bench) => bench,
        Err(error) => return Some(error),
    };
    let mut tally = Tally::default();
    let said = |tally: &Tally| tally.failed.iter().any(|said| said.contains(says));
    for call in calls {
        bench.run(&mut tally, "a call", |bench| {
            // Another output, too: what counts here is what the records show.
            let _ = block_on(check_call(call, &bench.executor()));
            Outcome::Passed
        });
        if said(&tally) {
            break;
        }
    }
    match says {
        "" => tally.failed.first().cloned(),
        _ if said(&tally) => None,
        _ => Some(format!("{} calls say {:?}", calls.len(), tally.failed)),
    }
}
