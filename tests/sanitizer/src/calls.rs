//! The calls that are made: the built-in ones, recorded ones, random ones of every operator, those for
//! pipelines that few need, and long loops.

use std::path::Path;

use gather_conformance::{
    Call, FOLDED, Outcome, SplitMix, builtin, call_from, check_call, random_bag, random_scatter,
    read_fold_cases, read_quantized_cases, run_fold_case, run_quantized_case,
};
use pollster::block_on;
use wgpu_gather::DType;

use crate::bench::{Bench, Tally};
use crate::{long, rare, sliced};

/// The bytes of a binding, where tensors fit into one, and where they take several.
pub(crate) const BINDINGS: [u64; 3] = [128 << 20, 2048, 1280];

/// All calls on devices with bindings of so many bytes.
///
/// # Errors
///
/// What keeps lavapipe from being used.
pub(crate) fn run(binding: u64) -> Result<Tally, String> {
    let bench = Bench::new(binding, None)?;
    let mut tally = Tally {
        says_at_once: true,
        ..Tally::default()
    };
    let whole = binding == BINDINGS[0];
    let say = |tally: &Tally, what: &str| {
        let (passed, failed) = (tally.passed, tally.failed.len());
        println!("bindings of {binding} bytes, with {what}: {passed} passed, {failed} failed");
    };
    gathers_of(&bench, &mut tally, whole);
    say(&tally, "gathers");
    folds(&bench, &mut tally, whole);
    say(&tally, "folds");
    recorded(&bench, &mut tally, whole);
    say(&tally, "recorded calls");
    rare::run(&bench, &mut tally, whole);
    say(&tally, "calls for pipelines that few need");
    if whole {
        long::run(&bench, &mut tally);
        say(&tally, "long loops");
    }
    Ok(tally)
}

/// Gathers by host calls and, others, in slices; some of these of a count.
fn gathers_of(bench: &Bench, tally: &mut Tally, whole: bool) {
    let mut random = SplitMix(28);
    for (n, call) in gathers(whole).iter().enumerate() {
        let entries = call.indices_layout.shape().first().copied().unwrap_or(1) as u32;
        let (what, count) = match random.draw() % 16 {
            0..=7 => ("by a host call", None),
            8 => ("of a count", Some(entries * (n as u32 % 4) / 3)),
            _ => ("in slices", None),
        };
        let name = format!("gather {n} {what}: {call:?}");
        bench.run(tally, &name, |bench| match what {
            "by a host call" => block_on(check_call(call, &bench.executor())),
            _ => sliced::gather(bench, call, n, count),
        });
    }
}
/// Built-in and random gathers; where they take several bindings, those that take few.
fn gathers(whole: bool) -> Vec<Call> {
    let mut random = SplitMix(26);
    let mut choices = || (0..90).map(|_| random.draw() as u32).collect::<Vec<_>>();
    let drawn: Vec<Call> = (0..300).map(|_| call_from(&choices())).collect();
    let builtin = builtin().into_iter().step_by(if whole { 2 } else { 24 });
    let bytes = |call: &Call| {
        let output = call.plan().map_or(0, |plan| plan.output_bytes());
        call.params.len() + call.indices.len() + output
    };
    let most = if whole { 8 << 20 } else { 32 << 10 };
    let all = builtin.chain(drawn);
    all.filter(|call| bytes(call) < most).collect()
}

/// Random scatters and pooled lookups.
fn folds(bench: &Bench, tally: &mut Tally, whole: bool) {
    let mut random = SplitMix(27);
    let count = if whole { 300 } else { 60 };
    // Devices move truth values, too.
    let dtypes = [&FOLDED[..], &[DType::Bool]].concat();
    for n in 0..count {
        let Some(scatter) = random_scatter(&mut random, &dtypes) else {
            continue;
        };
        if !whole && scatter.base.len() + scatter.updates.len() > 4 << 10 {
            continue; // thousands of dispatches
        }
        let name = format!(
            "scatter {n} of {} {}: {:?}",
            scatter.dtype, scatter.reduce, scatter.call
        );
        bench.run(tally, &name, |bench| match n % 2 {
            0 => sliced::scatter(bench, &scatter, n),
            _ => outcome(scatter.difference(&bench.executor())),
        });
    }
    for n in 0..count {
        let bag = random_bag(&mut random, &FOLDED);
        bench.run(
            tally,
            &format!("bags {n} of {} {:?}", bag.dtype, bag.mode),
            |bench| outcome(bag.difference(&bench.executor())),
        );
    }
}

/// What cannot be bound is refused before anything is dispatched.
fn outcome(difference: Option<String>) -> Outcome {
    let refused = |why: &String| why.contains("more than one binding of this device holds");
    let wrong = difference.filter(|why| !refused(why));
    wrong.map_or(Outcome::Passed, Outcome::Failed)
}

/// The recorded answers for scatters, pooled lookups and quantized tables.
fn recorded(bench: &Bench, tally: &mut Tally, whole: bool) {
    let step = if whole { 2 } else { 24 };
    for text in files("folds") {
        let cases = read_fold_cases(&text).expect("a case file");
        for case in cases.iter().step_by(step) {
            bench.run(tally, &case.name, |bench| {
                block_on(run_fold_case(case, &bench.executor()))
            });
        }
    }
    for text in files("quantized") {
        let cases = read_quantized_cases(&text).expect("a case file");
        for case in cases.iter().step_by(3 * step / 2) {
            bench.run(tally, &case.name, |bench| {
                block_on(run_quantized_case(case, &bench.executor()))
            });
        }
    }
}

/// The texts of a folder of recorded answers.
fn files(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let read = std::fs::read_dir(root.join(folder)).expect("a folder of recorded answers");
    let mut paths: Vec<_> = read.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "json"));
    paths.sort();
    let text = |path| std::fs::read_to_string(path).expect("a file of recorded answers");
    paths.iter().map(text).collect()
}
