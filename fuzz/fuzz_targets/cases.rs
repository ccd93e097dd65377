//! The reader of case files, and the cases that it accepts.

#![no_main]

use gather_conformance::{Case, read_cases, read_quantized_cases, run_case};
use libfuzzer_sys::fuzz_target;
use wgpu_gather::Executor;

/// Outputs of more elements only take time, up to where they cannot be had: a slice of an empty
/// tensor may have any extent.
const SLOW: std::ops::Range<usize> = 1 << 20..1 << 59;

fuzz_target!(|text: &str| {
    if let Err(error) = read_quantized_cases(text) {
        assert!(!error.to_string().is_empty());
    }
    let cases = match read_cases(text) {
        Ok(cases) => cases,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for case in cases.iter().filter(|case| !is_slow(case)) {
        // Both compare with the recorded answer, which here is anything.
        let outcome = |executor| pollster::block_on(run_case(case, &executor));
        assert_eq!(outcome(Executor::Cpu), outcome(Executor::Reference));
    }
});

fn is_slow(case: &Case) -> bool {
    let (params, indices) = (&case.params.shape, &case.indices.shape);
    let shape = case.op.output_shape(params, indices, &case.rules);
    shape.is_ok_and(|shape| {
        let elements = wgpu_gather::Layout::checked_elements(&shape);
        elements.is_some_and(|n| SLOW.contains(&n))
    })
}
