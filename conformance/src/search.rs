//! Searching for a call on which an executor and the reference disagree.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use wgpu_gather::{DType, Executor, bad_indices};

use crate::call::{Call, check_call};
use crate::large::LargeCall;
use crate::random::call_from;
use crate::report::Outcome;
use crate::values::FOLDED;

/// The most choices that a random call is made from.
const MAX_CHOICES: usize = 200;

/// The choices that a large call is made from.
const LARGE_CHOICES: usize = 30;

/// How often a call that went wrong is tried again to make it smaller.
const SHRINKS: u32 = 2000;

/// The same of a large one, which takes longer.
const LARGE_SHRINKS: u32 = 60;

/// A call on which an executor and the reference disagree, as small as it could be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample<C = Call> {
    /// How many calls agreed before it.
    pub agreed: u32,
    /// What is different.
    pub difference: String,
    /// The call.
    pub call: C,
    /// The choices that it is made from.
    pub choices: Vec<u32>,
}

/// How much work random calls were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// All calls.
    pub calls: u64,
    /// Those with an output that is not empty.
    pub outputs: u64,
    /// Those that are errors.
    pub errors: u64,
    /// The indices of those with an output.
    pub lookups: u64,
    /// How many of them are within bounds.
    pub good: u64,
}

impl Work {
    /// Counts one call.
    pub fn add(&mut self, call: &Call) {
        self.calls += 1;
        let (Ok(plan), Ok(indices)) = (call.plan(), call.indices()) else {
            self.errors += 1;
            return;
        };
        if plan.is_empty() {
            return;
        }
        let shape = call.params_layout.shape();
        let bad = bad_indices(call.op, &call.rules, shape, &indices).unwrap_or_default();
        let bad = bad.map_or(0, |bad| bad.count);
        if bad > 0 && plan.reports_bad_indices() {
            self.errors += 1;
            return;
        }
        let lookups = plan.lookups().elements() as u64;
        self.outputs += 1;
        self.lookups += lookups;
        self.good += lookups - bad;
    }
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
    progress: impl FnMut(),
) -> Result<Work, Box<Counterexample>> {
    let work = RefCell::new(Work::default());
    let check = |choices: &[u32]| {
        let call = call_from(choices);
        match pollster::block_on(check_call(&call, executor)) {
            Outcome::Failed(difference) => Some(difference),
            Outcome::Passed | Outcome::Skipped(_) => {
                work.borrow_mut().add(&call);
                None
            }
        }
    };
    match first_failure([count, SHRINKS], seed, MAX_CHOICES, check, progress) {
        None => Ok(work.into_inner()),
        Some(found) => Err(Box::new(found.of(call_from))),
    }
}

/// As [`search`], for scatters, gradients and pooled lookups of up to 100,000 lookups and rows of up to
/// 10,000 elements, most of which meet in few places. A call takes up to some hundred megabytes.
///
/// # Errors
///
/// The [`Counterexample`], if there is one.
pub fn search_large(
    executor: &Executor,
    count: u32,
    seed: u64,
    progress: impl FnMut(),
) -> Result<(), Box<Counterexample<LargeCall>>> {
    let dtypes = large_types(executor);
    let check = |choices: &[u32]| LargeCall::of(choices, dtypes).difference(executor);
    match first_failure([count, LARGE_SHRINKS], seed, LARGE_CHOICES, check, progress) {
        None => Ok(()),
        Some(found) => Err(Box::new(found.of(|choices| LargeCall::of(choices, dtypes)))),
    }
}

/// The types that `executor` folds.
fn large_types(executor: &Executor) -> &'static [DType] {
    match matches!(executor, Executor::Reference | Executor::Cpu) {
        true => &DType::ALL,
        false => &FOLDED,
    }
}

impl Counterexample<()> {
    /// With the call that the choices make.
    fn of<C>(self, make: impl FnOnce(&[u32]) -> C) -> Counterexample<C> {
        Counterexample {
            agreed: self.agreed,
            difference: self.difference,
            call: make(&self.choices),
            choices: self.choices,
        }
    }
}

/// The first of `count` lists of choices that `check` finds something wrong with, made as small as can be
/// with so many more. Calls `progress` after each list up to that one.
fn first_failure(
    [count, shrinks]: [u32; 2],
    seed: u64,
    most: usize,
    check: impl FnMut(&[u32]) -> Option<String>,
    progress: impl FnMut(),
) -> Option<Counterexample<()>> {
    let config = Config {
        cases: count,
        failure_persistence: None,
        max_shrink_iters: shrinks,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let choices = prop::collection::vec(any::<u32>(), 0..most);
    let (check, progress) = (RefCell::new(check), RefCell::new(progress));
    let (agreed, shrinking) = (Cell::new(0), Cell::new(false));
    let result = TestRunner::new_with_rng(config, rng).run(&choices, |choices| {
        let difference = (check.borrow_mut())(&choices);
        if !shrinking.get() {
            (progress.borrow_mut())();
            agreed.set(agreed.get() + u32::from(difference.is_none()));
        }
        match difference {
            Some(difference) => {
                shrinking.set(true);
                Err(TestCaseError::fail(difference))
            }
            None => Ok(()),
        }
    });
    let (difference, choices) = match result {
        Ok(()) => return None,
        Err(TestError::Fail(reason, choices)) => (reason.to_string(), choices),
        Err(TestError::Abort(reason)) => (reason.to_string(), Vec::new()),
    };
    Some(Counterexample {
        agreed: agreed.get(),
        difference,
        call: (),
        choices,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wgpu_gather::Op;

    use super::*;

    /// How often large calls reach what they are for.
    #[derive(Debug, Default)]
    struct Reached {
        kinds: [u32; 3],
        /// Bags of everything, and of one.
        bags: [u32; 2],
        rows: BTreeMap<usize, u32>,
        lookups: BTreeMap<usize, u32>,
        /// The calls with more than 32,767 updates of one key in rows of more than 512 bytes, each a
        /// multiple of 16: of which an invocation folds two fours, and a dispatch not all updates.
        long_runs: Vec<u32>,
    }

    impl Reached {
        fn add(&mut self, number: u32, call: &LargeCall) {
            let (kind, row) = match call {
                LargeCall::Scatter(scatter) => (0, scatter.call.params_layout.shape()),
                LargeCall::Gradient(scatter) => (1, scatter.call.params_layout.shape()),
                LargeCall::Bag(bag) => (2, bag.params.layout.shape()),
            };
            let row = row[row.len() - 1];
            self.kinds[kind] += 1;
            *self.rows.entry(row).or_default() += 1;
            *self.lookups.entry(call.indices()).or_default() += 1;
            match call {
                LargeCall::Bag(bag) => {
                    let bags = bag.offsets.as_ref().map_or(0, |(offsets, _)| offsets.len());
                    self.bags[0] += u32::from(bags == 1);
                    self.bags[1] += u32::from(bags > 1 && bags == call.indices());
                }
                LargeCall::Scatter(scatter) | LargeCall::Gradient(scatter) => {
                    let bytes = row * scatter.dtype.bytes();
                    let is_row = scatter.call.op == Op::gather(0) && scatter.dtype.bytes() == 4;
                    let is_long = bytes > 512 && bytes.is_multiple_of(16);
                    if is_row && is_long && longest_run(&scatter.call) > 32_767 {
                        self.long_runs.push(number);
                    }
                }
            }
        }
    }

    /// How often the most frequent index occurs.
    fn longest_run(call: &Call) -> usize {
        let mut counts = BTreeMap::<i128, usize>::new();
        for value in call.index_values() {
            *counts.entry(value).or_default() += 1;
        }
        counts.values().copied().max().unwrap_or(0)
    }

    #[test]
    fn large_calls_are_large() {
        let mut reached = Reached::default();
        let mut number = 0;
        let look = |choices: &[u32]| {
            number += 1;
            reached.add(number, &LargeCall::of(choices, &FOLDED));
            None
        };
        let found = first_failure([800, 0], 1, LARGE_CHOICES, look, || ());
        assert_eq!(found, None);
        println!("{reached:?}");
        assert!(reached.kinds.iter().all(|&n| n > 80), "{reached:?}");
        assert!(reached.bags.iter().all(|&n| n > 10), "{reached:?}");
        let (rows, lookups) = (&reached.rows, &reached.lookups);
        assert!(
            rows.contains_key(&1) && rows.contains_key(&10_000),
            "{reached:?}"
        );
        assert!(lookups.keys().any(|&n| n >= 100_000), "{reached:?}");
        assert!(!reached.long_runs.is_empty(), "{reached:?}");
    }
}
