//! The recorded answers of frameworks, on every executor.

use std::collections::BTreeMap;
use std::path::Path;

use gather_conformance::{Case, Expected, Report, Values, read_cases, run_case};
use wgpu_gather::{Executor, Op, OutOfBounds, Rules};

use crate::common::{assert_all_passed, block_on, executors, failed};

/// Suite, and how many of its cases pass; the only skipped case is named below.
const SUITES: &[(&str, usize)] = &[
    ("doc_examples", 27),
    ("modes_recorded", 90),
    ("numpy_recorded", 15),
    ("onnx_node_tests", 10),
    ("ort_unit_tests", 159),
    ("tf_gather_nd_recorded", 48),
    ("tf_gather_recorded", 382),
    ("tfjs_recorded", 46),
    ("webnn_baseline", 25),
    ("wpt_webnn", 60),
];

/// TensorFlow refuses a gather_nd from params without elements; the other systems do not.
const SKIPPED: &str = "testEmptyIndicesAndParamsOKButJustEmptyParamsFails#4";

fn suite(name: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conformance")
        .join(name)
        .with_extension("json");
    let text = std::fs::read_to_string(&path).expect("a fixture file");
    read_cases(&text).expect("a case file")
}

#[test]
fn every_recorded_answer_on_every_executor() {
    let mut executors = executors();
    executors.insert(0, Executor::Reference);
    for executor in executors {
        for &(name, passing) in SUITES {
            let mut report = Report::default();
            for case in suite(name) {
                let outcome = block_on(run_case(&case, &executor));
                report.add(|| case.name.clone(), outcome);
            }
            assert_all_passed(&format!("{name} on {}", executor.describe()), &report);
            assert_eq!(report.passed, passing, "{name}");
            assert!(report.skipped.iter().all(|(case, _)| case == SKIPPED));
        }
    }
}

#[test]
fn the_fixtures_cover_every_element_type_but_none_by_accident() {
    let mut types = BTreeMap::<&str, usize>::new();
    for &(name, _) in SUITES {
        for case in suite(name) {
            *types.entry(case.params.type_name()).or_default() += 1;
        }
    }
    assert_eq!(types.len(), 16, "{types:?}");
}

#[test]
fn the_fixtures_cover_every_operator() {
    let cases: Vec<Case> = SUITES.iter().flat_map(|&(name, _)| suite(name)).collect();
    for op in Op::ALL {
        let kind = op.kind();
        let recorded = cases.iter().filter(|case| case.op.kind() == kind).count();
        assert!(recorded >= 20, "{recorded} recorded answers of {kind}");
    }
}

#[test]
fn a_flipped_bit_in_the_expected_output_is_reported() {
    let mut case = suite("onnx_node_tests").remove(0);
    let Expected::Output(output) = &mut case.expected else {
        panic!("the first ONNX case has an output");
    };
    let Values::Bytes(_, bytes) = &mut output.values else {
        panic!("of numbers");
    };
    *bytes.last_mut().expect("not empty") ^= 1;
    for executor in executors() {
        assert!(failed(&block_on(run_case(&case, &executor))));
    }
}

#[test]
fn an_output_where_an_error_was_recorded_is_reported() {
    let mut case = suite("onnx_node_tests").remove(0);
    case.expected = Expected::Error("it failed".to_owned());
    assert!(failed(&block_on(run_case(&case, &Executor::Cpu))));
}

#[test]
fn the_rules_for_jax_fill_with_what_jax_was_seen_to_fill_with() {
    let mut seen = 0;
    for case in suite("modes_recorded") {
        let (Values::Bytes(dtype, _), OutOfBounds::Fill(_)) =
            (&case.params.values, &case.rules.out_of_bounds)
        else {
            continue;
        };
        assert_eq!(Rules::jax_fill(*dtype), case.rules, "{dtype}");
        seen += 1;
    }
    assert_eq!(seen, 13);
}
