//! Outputs in the middle of poisoned buffers, recorded into an encoder of the test: every byte of
//! the output is written, no byte beside it is, and params and indices are read from any offset.

use gather_conformance::{Call, Outcome, builtin, call_from, compare};
use wgpu_gather::gpu::{Buffers, Engine};
use wgpu_gather::wgpu;

use crate::common::{buffer_with, bytes_of, engines};

/// Two poisons, so that no output byte equals both.
const POISONS: [u8; 2] = [0xa5, 0x5a];
/// Bytes before and behind the output.
const FENCE: usize = 64;

/// Where the tensors start in their buffers, in elements (indices for indices).
type Offsets = [usize; 3];

/// Just what a tensor takes, to the byte.
fn tensor(buffer: &wgpu::Buffer, start: usize, bytes: usize) -> wgpu::BufferSlice<'_> {
    buffer.slice(start as u64..(start + bytes) as u64)
}

/// Runs `call` between fences; says what is wrong with the output or the fences, or whether there was
/// something to run.
fn run(engine: &Engine, call: &Call, offsets: Offsets) -> Result<bool, String> {
    let plan = match call.plan() {
        Ok(plan) if !plan.is_empty() && !plan.reports_bad_indices() => plan,
        _ => return Ok(false), // an error or nothing to write: not a matter of buffers
    };
    let width = call.element_bytes;
    let lead = |n: usize, bytes: &[u8]| [vec![0xc3; n], bytes.to_vec()].concat();
    let params_start = offsets[0] * width;
    let indices_start = offsets[1] * call.index_type.bytes();
    let params = buffer_with(engine, &lead(params_start, &call.params));
    let indices = buffer_with(engine, &lead(indices_start, &call.indices));
    let pipeline = engine.pipeline(&plan).wait().map_err(|e| e.to_string())?;

    let start = FENCE.next_multiple_of(width) + offsets[2] * width;
    let mut outputs = Vec::new();
    for poison in POISONS {
        let output = buffer_with(engine, &vec![poison; start + plan.output_bytes() + FENCE]);
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        let buffers = Buffers::new(
            tensor(&params, params_start, call.params.len()),
            tensor(&indices, indices_start, call.indices.len()),
            tensor(&output, start, plan.output_bytes()),
        );
        pipeline
            .encode(&mut encoder, &buffers)
            .map_err(|e| e.to_string())?;
        engine.queue().submit([encoder.finish()]);
        let bytes = bytes_of(engine, &output);
        let (before, rest) = bytes.split_at(start);
        let (inside, behind) = rest.split_at(plan.output_bytes());
        let intact = |fence: &[u8]| fence.iter().take(FENCE).all(|&b| b == poison);
        if !before.iter().all(|&b| b == poison) || !intact(behind) {
            return Err(format!(
                "bytes beside the output were written ({poison:#x})"
            ));
        }
        outputs.push(inside.to_vec());
    }
    if outputs[0] != outputs[1] {
        return Err("bytes of the output were not written".to_owned());
    }
    match compare(call, Ok(outputs.remove(0))) {
        Outcome::Failed(difference) => Err(difference),
        _ => Ok(true),
    }
}

/// Whether there was something to run, all of it right.
fn fenced(engine: &Engine, call: &Call, offsets: Offsets) -> bool {
    run(engine, call, offsets).unwrap_or_else(|wrong| {
        panic!("{:?} at {offsets:?}: {wrong}\n{call:?}", engine.adapter());
    })
}

#[test]
fn outputs_are_written_whole_and_nothing_else_is() {
    for engine in engines() {
        let mut ran = 0;
        for (n, call) in builtin().iter().enumerate() {
            // 0: aligned. Then every way to be off a word, a vector and an access.
            let offsets = [n % 5, n / 5 % 3, n / 2 % 7];
            ran += usize::from(fenced(engine, call, offsets));
        }
        println!("{ran} fenced calls on {}", engine.adapter().label());
        assert!(ran > 1500, "{ran}");
    }
}

#[test]
fn random_views_between_fences() {
    for engine in engines() {
        let mut ran = 0;
        for n in 0..600u32 {
            let mix = |at: u32| {
                (n * 1009 + at)
                    .wrapping_mul(2_654_435_761)
                    .rotate_left(at % 31)
            };
            let choices: Vec<u32> = (0..90).map(mix).collect();
            let call = call_from(&choices);
            let offsets = [n % 9, n / 9 % 5, n / 3 % 11].map(|o| o as usize);
            ran += usize::from(fenced(engine, &call, offsets));
        }
        println!("{ran} fenced random calls on {}", engine.adapter().label());
        assert!(ran > 250, "{ran}");
    }
}

#[test]
fn a_write_beside_the_output_is_noticed() {
    // The output is taken to start one element later than it does.
    let engine = match engines().first() {
        Some(engine) => engine,
        None => return, // said and allowed in `engines`
    };
    let call = &builtin()[0];
    let plan = call.plan().expect("a plan");
    let pipeline = engine.pipeline(&plan).wait().expect("pipeline");
    let params = buffer_with(engine, &call.params);
    let indices = buffer_with(engine, &call.indices);
    let output = buffer_with(engine, &vec![POISONS[0]; plan.output_bytes() + FENCE]);
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    let buffers = Buffers::new(params.slice(..), indices.slice(..), output.slice(..));
    pipeline.encode(&mut encoder, &buffers).expect("encoded");
    engine.queue().submit([encoder.finish()]);
    let bytes = bytes_of(engine, &output);
    let shifted = bytes[call.element_bytes..][..plan.output_bytes()].to_vec();
    assert!(matches!(compare(call, Ok(shifted)), Outcome::Failed(_)));
}
