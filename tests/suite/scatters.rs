//! Scatters on every executor against the sequential loop of the reference.
//!
//! `SCATTER_CASES` sets how many random ones there are.

use gather_conformance::SplitMix;
use wgpu_gather::{DType, Executor};

use crate::scatter_calls::random_scatter;

fn cases(default: usize) -> usize {
    let given = std::env::var("SCATTER_CASES").ok();
    given.map_or(default, |n| n.parse().expect("a number"))
}

/// Runs so many random scatters; says which differ.
fn differences(executor: &Executor, count: usize, seed: u64, dtypes: &[DType]) -> Vec<String> {
    let mut random = SplitMix(seed);
    let (mut found, mut ran) = (Vec::new(), 0);
    while ran < count {
        let Some(scatter) = random_scatter(&mut random, dtypes) else {
            continue;
        };
        ran += 1;
        if let Some(difference) = scatter.difference(executor) {
            found.push(format!("{difference}: {scatter:?}"));
        }
    }
    found
}

#[test]
fn random_scatters_on_the_cpu_agree_with_the_reference() {
    let found = differences(&Executor::Cpu, cases(12_000), 1, &DType::ALL);
    assert!(found.is_empty(), "{}: {}", found.len(), found[0]);
}
