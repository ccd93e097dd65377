//! Random calls: the reference against every other executor.
//!
//! `GATHER_CASES` sets how many (20,000 by default) and `GATHER_SEED` which; a failing call is
//! shrunk and printed.

use gather_conformance::{builtin, search};
use wgpu_gather::Executor;

use crate::common::{assert_all_passed, check_all, engines, executors};
use crate::planted::faulty;

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |n| n.parse().expect("a number"))
}

#[test]
fn random_calls_agree_with_the_reference() {
    let cases = setting("GATHER_CASES", 20_000) as u32;
    let seed = setting("GATHER_SEED", 1);
    for executor in executors() {
        let mut ran = 0;
        let found = search(&executor, cases, seed, || ran += 1);
        assert_eq!(found, Ok(()), "{}", executor.describe());
        assert_eq!(ran, cases);
        println!("{ran} random calls on {}, seed {seed}", executor.describe());
    }
}

#[test]
fn a_planted_fault_is_found_and_shrunk() {
    let dropped = |source: String| source.replace("count * l.z", "count * (l.z | 1u)");
    for engine in engines() {
        let faulty = faulty(engine, engine.device().limits(), dropped);
        let found = search(&Executor::Gpu(faulty), 2000, 1, || ()).expect_err("the fault is found");
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
