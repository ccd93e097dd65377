//! Random calls: the reference against every other executor.
//!
//! `GATHER_CASES` sets how many (20,000 by default) and `GATHER_SEED` which; a failing call is
//! shrunk and printed.

use gather_conformance::{builtin, search, search_large};
use wgpu_gather::Executor;

use crate::common::{assert_all_passed, check_all, devices, engines, executors};
use crate::planted::faulty;

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |n| n.parse().expect("a number"))
}

fn check_random_calls(executor: &Executor) {
    let cases = setting("GATHER_CASES", 20_000) as u32;
    let seed = setting("GATHER_SEED", 1);
    let found = search(executor, cases, seed, || ());
    let work = found.unwrap_or_else(|found| panic!("{}: {found:?}", executor.describe()));
    println!("{work:?} on {}, seed {seed}", executor.describe());
    assert_eq!(work.calls, u64::from(cases));
    // A few calls may all be empty, or errors.
    if cases >= 500 {
        assert!(work.outputs * 100 >= work.calls * 55, "{work:?}");
        assert!(work.errors * 100 <= work.calls * 25, "{work:?}");
        assert!(work.good * 100 >= work.lookups * 60, "{work:?}");
        assert!(work.good * 100 <= work.lookups * 95, "{work:?}");
    }
}

#[test]
fn random_calls_agree_with_the_reference_on_the_host() {
    check_random_calls(&Executor::Cpu);
}

#[test]
fn random_calls_agree_with_the_reference_on_devices() {
    devices().iter().for_each(check_random_calls);
}

fn check_large_calls(executor: &Executor) {
    let cases = setting("GATHER_LARGE", 60) as u32;
    let seed = setting("GATHER_SEED", 1);
    let (what, started) = (executor.describe(), std::time::Instant::now());
    if let Err(found) = search_large(executor, cases, seed, || ()) {
        let (agreed, call, difference) = (found.agreed, found.call, found.difference);
        let choices = found.choices;
        panic!("{what}: after {agreed} calls: {difference}\n{call}\n{choices:?}");
    }
    let seconds = started.elapsed().as_secs();
    println!("{cases} large calls on {what}, seed {seed}: {seconds} s");
}

/// Where much accumulates. `GATHER_LARGE` sets how many.
#[test]
fn large_calls_agree_with_the_reference_on_the_host() {
    check_large_calls(&Executor::Cpu);
}

#[test]
fn large_calls_agree_with_the_reference_on_devices() {
    devices().iter().for_each(check_large_calls);
}

#[test]
fn a_planted_fault_is_found_and_shrunk() {
    let dropped = |source: String| source.replace("count * l.z", "count * (l.z | 1u)");
    for engine in engines() {
        let faulty = faulty(engine, engine.device().limits(), dropped);
        let found = search(&Executor::Gpu(faulty), 2000, 1, || ()).expect_err("the fault is found");
        assert!(!found.difference.contains("wgpu refused"), "{found:?}");
        let elements: usize = found.call.output_shape().expect("a shape").iter().product();
        assert!(elements < 200, "shrunk: {found:?}");
    }
}

#[test]
fn builtin_calls_agree_with_the_reference() {
    for executor in executors() {
        let report = check_all(&builtin(), &executor);
        assert_all_passed(&format!("builtin on {}", executor.describe()), &report);
    }
}
