//! Gathers from quantized tables, on every executor and every adapter, against the reference.

mod device;
mod faults;

pub(crate) use faults::DECODE_FAULTS;
use gather_conformance::QuantizedGather;
use wgpu_gather::gpu::{Engine, Options, WhenFull};
use wgpu_gather::quantized::FloatType;
use wgpu_gather::{Error, Executor, Result};

use crate::common::{block_on, device_on, devices, engines, fresh_adapter};
use crate::segments::limits;

/// How many random calls are made on the host, and on each adapter: Mesa 22 keeps what it compiles for
/// them.
const CALLS: [u64; 2] = [5_000, 1_000];

/// What calls came to.
#[derive(Debug, Default)]
struct Compared {
    /// All of them.
    calls: usize,
    /// Those for which the reference has an output that is not empty.
    outputs: usize,
    /// Those that differ from the reference.
    differing: usize,
    /// The first of these, and how it differs.
    first: Option<String>,
}

/// Compares calls with the reference.
fn compared(executor: &Executor, cases: impl Iterator<Item = QuantizedGather>) -> Compared {
    let mut found = Compared::default();
    for case in cases {
        let [got, expected] =
            [executor, &Executor::Reference].map(|executor| block_on(case.output(executor)));
        found.calls += 1;
        found.outputs += usize::from(expected.as_ref().is_ok_and(|output| !output.is_empty()));
        if got != expected {
            found.differing += 1;
            let first = || format!("{case:?}\n{}", difference(&got, &expected));
            found.first.get_or_insert_with(first);
        }
    }
    found
}

fn difference(got: &Result<Vec<u8>>, expected: &Result<Vec<u8>>) -> String {
    match (got, expected) {
        (Ok(got), Ok(expected)) => {
            let at = got.iter().zip(expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(0) & !3;
            let word = |bytes: &[u8]| bytes[at..bytes.len().min(at + 4)].to_vec();
            format!("byte {at}: {:x?}, not {:x?}", word(got), word(expected))
        }
        (got, expected) => format!(
            "{:?}, not {:?}",
            got.as_ref().err(),
            expected.as_ref().err()
        ),
    }
}

fn assert_equal(what: &str, executor: &Executor, cases: impl Iterator<Item = QuantizedGather>) {
    let found = compared(executor, cases);
    println!("{what}: {found:?}");
    assert_eq!(
        found.first, None,
        "{what}: {} calls differ",
        found.differing
    );
    assert!(found.outputs * 100 >= found.calls * 60, "{what}: {found:?}");
}

fn check_random(executor: &Executor, calls: u64) {
    let what = executor.describe();
    assert_equal(&what, executor, (0..calls).map(QuantizedGather::random));
}

#[test]
fn random_calls_give_the_bits_of_the_reference_on_the_host() {
    check_random(&Executor::Cpu, CALLS[0]);
}

#[test]
fn random_calls_give_the_bits_of_the_reference_on_devices() {
    for device in devices() {
        check_random(&device, CALLS[1]);
    }
}

/// An engine whose bindings and buffers hold so few bytes that tables take several of them.
fn small(engine: &Engine, binding: u64, buffer: u64) -> Engine {
    let (device, queue) = device_on(&fresh_adapter(engine), limits(binding, buffer, 4));
    Engine::with_options(device, queue, Options::default())
        .wait()
        .expect("an engine")
}

/// Random calls that take some dispatches with bindings of so many bytes, but not hundreds.
fn of_few_dispatches(
    count: usize,
    binding: usize,
    case: fn(u64) -> QuantizedGather,
) -> impl Iterator<Item = QuantizedGather> {
    let few = move |case: &QuantizedGather| {
        let [windows, boxes] = case
            .bytes()
            .unwrap_or_default()
            .map(|bytes| bytes / binding + 1);
        windows > 1 && windows * boxes < 32
    };
    (0..).map(case).filter(few).take(count)
}

#[test]
fn tables_beyond_bindings_and_buffers() {
    for engine in engines() {
        for (binding, buffer, count, case) in [
            (
                1024,
                1 << 20,
                40,
                QuantizedGather::random as fn(u64) -> QuantizedGather,
            ),
            (4096, 1 << 20, 40, QuantizedGather::random),
            // Buffers that hold several blocks and rows of any format, as larger ones do.
            (64 << 10, 64 << 10, 10, QuantizedGather::large),
        ] {
            let executor = Executor::Gpu(small(engine, binding, buffer));
            let what = format!("{}, {binding} of {buffer} bytes", executor.describe());
            let cases = of_few_dispatches(count, binding as usize, case);
            assert_equal(&what, &executor, cases);
        }
    }
}

/// The memory that a call may take in the next test: its tensors take more.
const MEMORY: usize = 256 << 10;

#[test]
fn tables_beyond_the_memory_of_a_call() {
    let beyond = |case: &QuantizedGather| {
        let [table, output] = case.bytes().unwrap_or_default();
        table + output > MEMORY && output > 0
    };
    for engine in engines() {
        let bounded = |when_full| {
            let mut options = Options::default();
            options.max_memory_bytes = MEMORY as u64;
            options.when_full = when_full;
            let (device, queue) = device_on(&fresh_adapter(engine), limits(64 << 10, 1 << 20, 4));
            let engine = Engine::with_options(device, queue, options);
            engine.wait().expect("an engine")
        };
        let cases = || (0..).map(QuantizedGather::large).filter(beyond).take(20);
        let engine = bounded(WhenFull::UseCpu);
        let executor = Executor::Gpu(engine.clone());
        let what = format!("{}, by the CPU", executor.describe());
        assert_equal(&what, &executor, cases());
        assert_eq!(engine.fallbacks().calls, 20);

        let engine = bounded(WhenFull::Fail);
        let executor = Executor::Gpu(engine.clone());
        for case in cases() {
            let refused = block_on(case.output(&executor));
            let is_full = matches!(refused, Err(Error::GpuOutOfMemory { .. }));
            assert!(is_full, "{case:?}: {:?}", refused.err());
        }
        assert_eq!(engine.fallbacks().calls, 0);
    }
}

#[test]
fn every_output_type_is_drawn() {
    let drawn = |to| (0..100).any(|seed| QuantizedGather::random(seed).to == to);
    assert!(FloatType::ALL.into_iter().all(drawn));
}
