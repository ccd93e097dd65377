//! The recorded answers of frameworks for scatters and pooled lookups.

use std::collections::BTreeMap;
use std::path::Path;

use gather_conformance::{
    Expected, FoldCase, Outcome, Report, Values, read_fold_cases, run_fold_case,
};
use wgpu_gather::{DType, Executor};

use crate::common::{assert_all_passed, block_on, executors, failed};

/// Suite, its cases, and how many of them are recorded errors.
const SUITES: &[(&str, usize, usize)] = &[
    ("jax_scatter_recorded", 225, 0),
    ("numpy_at_recorded", 106, 2),
    ("onnx_scatter_node_tests", 14, 0),
    ("tf_scatter_recorded", 253, 40),
    ("torch_bag_recorded", 229, 11),
    ("torch_scatter_recorded", 93, 2),
];

fn suite(name: &str) -> Vec<FoldCase> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conformance/folds")
        .join(name)
        .with_extension("json");
    let text = std::fs::read_to_string(&path).expect("a fixture file");
    read_fold_cases(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_file_of_folds_is_read_whole() {
    let mut operators = BTreeMap::<String, usize>::new();
    for &(name, cases, errors) in SUITES {
        let read = suite(name);
        let failed = |case: &&FoldCase| matches!(case.expected, Expected::Error(_));
        assert_eq!(read.len(), cases, "{name}");
        assert_eq!(read.iter().filter(failed).count(), errors, "{name}");
        for case in &read {
            let operator = case.kind().to_string();
            *operators.entry(operator).or_default() += 1;
        }
    }
    println!("{operators:?}");
    assert_eq!(operators.len(), 4, "{operators:?}");
}

fn run(case: &FoldCase, executor: &Executor) -> Outcome {
    block_on(run_fold_case(case, executor))
}

/// Whether shaders have no arithmetic for it.
fn is_for_the_host(case: &FoldCase) -> bool {
    let types = [DType::F64, DType::C64, DType::C128];
    matches!(&case.params.values, Values::Bytes(dtype, _) if types.contains(dtype))
}

#[test]
fn every_recorded_fold_on_every_executor() {
    let mut executors = executors();
    executors.insert(0, Executor::Reference);
    for executor in executors {
        for &(name, cases, _) in SUITES {
            let mut report = Report::default();
            let mut refused = 0;
            for case in suite(name) {
                match (&executor, run(&case, &executor)) {
                    (Executor::Gpu(_), Outcome::Skipped(_)) if is_for_the_host(&case) => {
                        refused += 1;
                    }
                    (_, outcome) => report.add(|| case.name.clone(), outcome),
                }
            }
            assert_all_passed(&format!("{name} on {}", executor.describe()), &report);
            assert_eq!(report.passed + refused, cases, "{name}");
            let is_gpu = matches!(executor, Executor::Gpu(_));
            if name == "torch_bag_recorded" {
                assert_eq!(refused, if is_gpu { 42 } else { 0 });
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_a_recorded_fold_is_reported() {
    let mut flipped = 0;
    for mut case in SUITES.iter().flat_map(|(name, ..)| suite(name)) {
        let Expected::Output(output) = &mut case.expected else {
            continue;
        };
        let Values::Bytes(_, bytes) = &mut output.values else {
            panic!("of numbers");
        };
        // In the highest byte: far more than the one ulp that a mean may be off.
        let Some(last) = bytes.last_mut() else {
            continue;
        };
        *last ^= 4;
        let outcome = run(&case, &Executor::Cpu);
        assert!(failed(&outcome), "{}: {outcome:?}", case.name);
        flipped += 1;
    }
    assert!(flipped > 850, "{flipped}");
}
