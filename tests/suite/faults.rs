//! Planted faults: each must be reported, or the checks prove nothing. These are planted in answers;
//! `shader_faults.rs` has those of shaders, and `src/tests/faults.rs` those of plans.

use gather_conformance::{Call, Outcome, builtin, compare};
use wgpu_gather::Executor;

use crate::common::block_on;

/// The built-in calls, and some where only one kind of fault shows.
pub(crate) fn calls() -> Vec<Call> {
    let mut calls = builtin();
    calls.retain(|c| c.element_bytes <= 12);
    calls
}

#[test]
fn one_flipped_output_bit_is_reported() {
    for (n, call) in calls().iter().enumerate() {
        let right = block_on(call.output(&Executor::Reference));
        let Ok(mut output) = right else { continue };
        if output.is_empty() {
            continue;
        }
        let at = n * 7919 % output.len();
        output[at] ^= 1 << (n % 8);
        assert!(matches!(compare(call, Ok(output)), Outcome::Failed(_)));
    }
}
