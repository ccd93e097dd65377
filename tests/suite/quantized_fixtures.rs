//! The recorded answers for quantised tables, on every executor.

use std::path::Path;

use gather_conformance::{
    QuantizedCase, QuantizedExpected, Report, read_quantized_cases, run_quantized_case,
};
use wgpu_gather::Executor;

use crate::common::{assert_all_passed, block_on, executors, failed};

/// Suite, and how many cases it has.
const SUITES: [(&str, usize); 4] = [
    ("ort_blocks", 910),
    ("numpy_blocks", 420),
    ("gguf_blocks", 1062),
    ("rows_and_fp8", 270),
];

/// The cases of a suite.
pub(crate) fn suite(name: &str) -> Vec<QuantizedCase> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conformance/quantized")
        .join(name)
        .with_extension("json");
    let text = std::fs::read_to_string(&path).expect("a fixture file");
    read_quantized_cases(&text).expect("a case file")
}

#[test]
fn every_recorded_answer_for_quantised_tables_on_every_executor() {
    let mut executors = executors();
    executors.insert(0, Executor::Reference);
    for executor in executors {
        for (name, count) in SUITES {
            let mut report = Report::default();
            for case in suite(name) {
                let outcome = block_on(run_quantized_case(&case, &executor));
                report.add(|| case.name.clone(), outcome);
            }
            assert_all_passed(&format!("{name} on {}", executor.describe()), &report);
            assert_eq!(report.passed, count, "{name}");
        }
    }
}

#[test]
fn another_bit_is_reported_and_so_is_an_output_instead_of_an_error() {
    let mut case = suite("gguf_blocks").remove(0);
    let QuantizedExpected::Output { bytes, .. } = &mut case.expected else {
        panic!("the first case has an output");
    };
    *bytes.last_mut().expect("not empty") ^= 1;
    assert!(failed(&block_on(run_quantized_case(&case, &Executor::Cpu))));
    case.expected = QuantizedExpected::Error("it failed".to_owned());
    assert!(failed(&block_on(run_quantized_case(&case, &Executor::Cpu))));
}

/// Of an element, one of two answers is right; what is neither is wrong.
#[test]
fn either_rounding_is_right_and_no_third() {
    let cases = suite("rows_and_fp8");
    let two = cases.into_iter().find_map(|case| match &case.expected {
        QuantizedExpected::Output { fused: Some(_), .. } => Some(case),
        _ => None,
    });
    let case = two.expect("a case with two roundings");
    let QuantizedExpected::Output {
        shape,
        bytes,
        fused,
    } = &case.expected
    else {
        panic!("of an output");
    };
    let with = |bytes: &[u8], fused: Option<&[u8]>| QuantizedCase {
        expected: QuantizedExpected::Output {
            shape: shape.clone(),
            bytes: bytes.to_vec(),
            fused: fused.map(<[u8]>::to_vec),
        },
        ..case.clone()
    };
    let fused = fused.as_deref().expect("a second answer");
    let run = |case| block_on(run_quantized_case(&case, &Executor::Reference));
    assert!(!failed(&run(with(fused, Some(bytes)))));
    let wrong = vec![0x55; bytes.len()];
    assert!(failed(&run(with(&wrong, Some(&wrong)))));
    assert!(failed(&run(with(bytes, None))) || failed(&run(with(fused, None))));
}
