//! Random calls: the reference against every other executor.
//!
//! `GATHER_CASES` sets how many (20,000 by default); a failing call is shrunk and printed.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wgpu_gather::Executor;
use wgpu_gather::verify::{Outcome, builtin, call_from, check_call};

use crate::common::{assert_all_passed, block_on, check_all, executors};

fn cases() -> u32 {
    let given = std::env::var("GATHER_CASES").ok();
    given.map_or(20_000, |n| n.parse().expect("GATHER_CASES is a number"))
}

/// Choices for a call: structure first, then index values.
fn choices() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..200)
}

/// The smallest failing call that was found on `executor`, if any.
fn counterexample(executor: &Executor, cases: u32) -> Option<String> {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let result = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
    .run(&choices(), |choices| {
        match block_on(check_call(&call_from(&choices), executor)) {
            Outcome::Failed(difference) => Err(TestCaseError::fail(difference)),
            _ => Ok(()),
        }
    });
    match result {
        Ok(()) => None,
        Err(proptest::test_runner::TestError::Fail(reason, choices)) => {
            Some(format!("{reason}\n{:#?}", call_from(&choices)))
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn random_calls_agree_with_the_reference() {
    for executor in executors() {
        let found = counterexample(&executor, cases());
        assert!(
            found.is_none(),
            "{}: {}",
            executor.describe(),
            found.unwrap_or_default()
        );
        println!("{} random calls on {}", cases(), executor.describe());
    }
}

#[test]
fn builtin_calls_agree_with_the_reference() {
    for executor in executors() {
        let report = check_all(&builtin(), &executor);
        assert_all_passed(&format!("builtin on {}", executor.describe()), &report);
    }
}
