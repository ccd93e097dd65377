//! The planner and the CPU executor against the reference, on calls that mostly make sense.
//!
//! The input is a list of choices, four bytes each, that `gather_conformance::call_from` makes a call from.

#![no_main]

use gather_conformance::{Outcome, call_from, check_call};
use libfuzzer_sys::fuzz_target;
use wgpu_gather::Executor;

fuzz_target!(|input: &[u8]| {
    let choices: Vec<u32> = input
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect();
    let call = call_from(&choices);
    if let Outcome::Failed(difference) = pollster::block_on(check_call(&call, &Executor::Cpu)) {
        panic!("{difference}\n{call:#?}");
    }
});
