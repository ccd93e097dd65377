//! Outputs in chunks: the same bytes as the reference's, whatever the size of a chunk.

use gather_conformance::{Call, Report, builtin, call_from, compare};
use wgpu_gather::gpu::{Engine, Options, WhenFull};
use wgpu_gather::{Error, Executor, IndexType, Layout, Op, Rules};

use crate::common::{assert_all_passed, block_on, engines, executors};

/// All chunks of the output of `call`, of which there are none if it fails.
fn gathered(
    call: &Call,
    executor: &Executor,
    most: usize,
    blocking: bool,
) -> Result<Vec<u8>, Error> {
    let (params, indices) = (call.params()?, call.indices()?);
    let mut got = Vec::new();
    let chunk = |chunk: &[u8]| {
        assert!(
            (1..=most.max(1)).contains(&chunk.len()),
            "{} bytes",
            chunk.len()
        );
        got.extend_from_slice(chunk);
        Ok(())
    };
    let (op, rules) = (call.op, &call.rules);
    let call = executor.gather(op, rules, &params, &indices);
    let chunks = call.chunks::<Error, _>(most, chunk);
    let made = match blocking {
        true => chunks.wait(),
        false => block_on(chunks.into_future()),
    };
    assert!(made.is_ok() || got.is_empty(), "a chunk of a bad call");
    made.map(|()| got)
}

/// Built-in and random calls: all operators and rules.
fn calls(every: usize) -> Vec<Call> {
    let mut state = 7u64;
    let mut choice = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let random = (0..400).map(|_| call_from(&(0..60).map(|_| choice()).collect::<Vec<_>>()));
    builtin().into_iter().chain(random).step_by(every).collect()
}

fn check(calls: &[Call], executor: &Executor, most: usize) {
    let mut report = Report::default();
    for (n, call) in calls.iter().enumerate() {
        let got = gathered(call, executor, most, n % 2 == 0);
        report.add(|| format!("{call:?}"), compare(call, got));
    }
    let what = format!("chunks of {most} bytes on {}", executor.describe());
    assert_all_passed(&what, &report);
}

fn output_bytes(call: &Call) -> usize {
    call.plan().map_or(0, |plan| plan.output_bytes())
}

#[test]
fn chunks_of_any_size_make_the_output_on_the_host() {
    let (all, some) = (calls(1), calls(5));
    for most in [0, 1, 3, 7, 64, 1000, usize::MAX] {
        check(&all, &Executor::Cpu, most);
        check(&some, &Executor::Reference, most);
    }
}

#[test]
fn chunks_come_from_the_device() {
    let all = calls(11);
    let small: Vec<Call> = all
        .iter()
        .filter(|c| output_bytes(c) < 40)
        .cloned()
        .collect();
    for engine in engines() {
        let executor = Executor::Gpu(engine.clone());
        check(&small, &executor, 1);
        check(&small, &executor, 7);
        check(&all, &executor, 1001);
        check(&all, &executor, usize::MAX);
    }
}

/// An engine on the same adapter, with so much memory.
fn bounded(engine: &Engine, max_memory_bytes: u64, when_full: WhenFull) -> Engine {
    let mut options = Options::default();
    options.max_memory_bytes = max_memory_bytes;
    options.when_full = when_full;
    let label = engine.adapter().label();
    let engine = Engine::headless_with(Some(&label), options);
    engine.wait().expect("an engine")
}

/// Numbered params of so many rows of 256 bytes, of which 1,500 are gathered, all over.
fn large(op: Op, rows: usize) -> Call {
    let indices = match op {
        Op::Gather { .. } => Layout::contiguous(&[1500]),
        Op::GatherNd { .. } => Layout::contiguous(&[1500, 1]),
        Op::GatherElements { .. } => Layout::contiguous(&[1500, 64]),
        other => panic!("no shape of indices for {other:?}"),
    };
    let count: usize = indices.shape().iter().product();
    let value = |n: usize| (n * 7919 % rows) as i32;
    Call {
        op,
        rules: Rules::ONNX,
        element_bytes: 4,
        params: (0..rows * 256).map(|n| (n * 31 + n / 255) as u8).collect(),
        params_layout: Layout::contiguous(&[rows, 64]),
        index_type: IndexType::I32,
        indices: (0..count).flat_map(|n| value(n).to_ne_bytes()).collect(),
        indices_layout: indices,
    }
}

/// Outputs, and params, that are larger than what a call may take of the device.
#[test]
fn what_the_device_has_no_memory_for_the_cpu_delivers() {
    let ops = [Op::gather(0), Op::gather_nd(), Op::gather_elements(0)];
    for engine in engines() {
        let falling_back = bounded(engine, 128 << 10, WhenFull::UseCpu);
        let failing = bounded(engine, 128 << 10, WhenFull::Fail);
        let mut calls = 0;
        for rows in [64, 1024] {
            let all = ops.map(|op| large(op, rows));
            for most in [1000, 40_000, usize::MAX] {
                check(&all, &Executor::Gpu(falling_back.clone()), most);
                calls += 3;
                assert_eq!(falling_back.fallbacks().calls, calls);
            }
            for call in &all {
                let failed = gathered(call, &Executor::Gpu(failing.clone()), 999, true);
                assert!(
                    matches!(failed, Err(Error::GpuOutOfMemory { .. })),
                    "{failed:?}"
                );
            }
        }
        assert_eq!(failing.fallbacks().calls, 0);
    }
}

#[derive(Debug)]
enum Failed {
    Gather(Error),
    Full(usize),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Gather(error)
    }
}

#[test]
fn an_error_of_the_taker_ends_the_call_and_harms_nothing() {
    let call = large(Op::gather(0), 1024);
    let (params, indices) = (call.params().unwrap(), call.indices().unwrap());
    let mut all = executors();
    all.push(Executor::Reference);
    for executor in all {
        let mut taken = 0;
        let full = |chunk: &[u8]| {
            taken += chunk.len();
            match taken > 2500 {
                true => Err(Failed::Full(taken)),
                false => Ok(()),
            }
        };
        let ended = executor
            .gather(call.op, &call.rules, &params, &indices)
            .chunks(1024, full)
            .wait();
        assert!(matches!(ended, Err(Failed::Full(3072))), "{ended:?}");
        check(std::slice::from_ref(&call), &executor, 100_000);

        let other = Op::gather(7);
        let refused = executor
            .gather(other, &call.rules, &params, &indices)
            .chunks(1, |_| Err(Failed::Full(0)))
            .wait();
        assert!(
            matches!(refused, Err(Failed::Gather(Error::AxisOutOfRange { .. }))),
            "{refused:?}"
        );
    }
}
