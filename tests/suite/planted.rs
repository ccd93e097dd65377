//! Faults planted in the shaders of an engine.

use wgpu_gather::gpu::{Engine, internals};
use wgpu_gather::wgpu;

use crate::common::fresh_device;

/// What becomes of the text of each shader.
pub(crate) type Change = fn(String) -> String;

/// Replaces text that must be there in the shaders that have `part`.
pub(crate) fn plant(source: String, part: &str, from: &str, to: &str) -> String {
    if !source.contains(part) {
        return source;
    }
    assert!(
        source.contains(from),
        "the fault has lost its place: {from}"
    );
    source.replace(from, to)
}

/// An engine with a fault, on a device of its own on the adapter of `engine`.
pub(crate) fn faulty(engine: &Engine, limits: wgpu::Limits, fault: Change) -> Engine {
    let (device, queue) = fresh_device(engine, limits);
    let options = internals::with_fault(fault);
    Engine::with_options(device, queue, options)
        .wait()
        .expect("an engine")
}
