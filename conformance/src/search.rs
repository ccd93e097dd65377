//! Searching for a call on which an executor and the reference disagree.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use wgpu_gather::Executor;

use crate::call::{Call, check_call};
use crate::random::call_from;
use crate::report::Outcome;

/// The most choices that a random call is made from.
const MAX_CHOICES: usize = 200;

/// A call on which an executor and the reference disagree, as small as it could be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// What is different.
    pub difference: String,
    /// The call.
    pub call: Call,
    /// The choices that [`call_from`] makes it from.
    pub choices: Vec<u32>,
}

/// Checks `count` random calls on `executor` against the reference; `seed` says which. Calls
/// `progress` after each call.
///
/// The calls cover all operators, ranks 0 to 9, zero sizes, element widths of 1 to 256 bytes, index
/// types, rules, and views of both tensors; the indices are valid, negative, just outside, huge,
/// or equal to a valid one in their low 32 bits.
///
/// # Errors
///
/// The [`Counterexample`], if there is one.
pub fn search(
    executor: &Executor,
    count: u32,
    seed: u64,
    mut progress: impl FnMut(),
) -> Result<(), Box<Counterexample>> {
    let config = Config {
        cases: count,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let choices = prop::collection::vec(any::<u32>(), 0..MAX_CHOICES);
    let progress = std::cell::RefCell::new(&mut progress);
    let result = TestRunner::new_with_rng(config, rng).run(&choices, |choices| {
        progress.borrow_mut()();
        match pollster::block_on(check_call(&call_from(&choices), executor)) {
            Outcome::Failed(difference) => Err(TestCaseError::fail(difference)),
            Outcome::Passed | Outcome::Skipped(_) => Ok(()),
        }
    });
    let (difference, choices) = match result {
        Ok(()) => return Ok(()),
        Err(TestError::Fail(reason, choices)) => (reason.to_string(), choices),
        Err(TestError::Abort(reason)) => (reason.to_string(), Vec::new()),
    };
    Err(Box::new(Counterexample {
        difference,
        call: call_from(&choices),
        choices,
    }))
}
