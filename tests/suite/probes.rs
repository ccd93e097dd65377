//! Adapters that cannot run gathers, imitated by faults in the shaders: none is chosen, and what
//! they report is not trusted.

use gather_conformance::{Call, check_call};
use wgpu_gather::gpu::{Engine, adapters, find_adapter, internals, probe_adapters};
use wgpu_gather::{Error, Executor, IndexType, Layout, Op, Rules, wgpu};

use crate::common::{block_on, engines, failed};
use crate::planted::{Change, faulty};

/// The shaders of a driver that executes nothing.
fn idle(source: String) -> String {
    let Some((before, entry)) = source.split_once("@compute") else {
        panic!("no entry point: {source}");
    };
    let leave = "{ if (geometry.row_count < 0xffffffffu) { return; }";
    format!("{before}@compute{}", entry.replacen('{', leave, 1))
}

/// Shaders that no compiler takes.
fn broken(source: String) -> String {
    source + "fn"
}

fn one_access_off(source: String) -> String {
    source.replace("params[", "params[1u + ")
}

const NO_COMPILER: &str = "a compiler for the shaders: ";
const WRONG: &str = "right results: of a small gather, output[";

fn with_fault(engine: &Engine, fault: Change) -> Engine {
    faulty(engine, wgpu::Limits::downlevel_defaults(), fault)
}

#[test]
fn a_probe_passes_what_is_right_and_says_what_is_lacking() {
    for engine in engines() {
        let label = engine.adapter().label();
        assert_eq!(engine.probe().wait(), Ok(()), "{label}");
        assert_eq!(with_fault(engine, |s| s).probe().wait(), Ok(()));
        let faults: [(Change, &str); 3] = [
            (idle, WRONG),
            (one_access_off, WRONG),
            (broken, NO_COMPILER),
        ];
        for (fault, expected) in faults {
            let refused = with_fault(engine, fault).probe().wait();
            let Err(Error::AdapterLacks { adapter, what }) = refused else {
                panic!("{label}: {refused:?} for {expected}");
            };
            assert_eq!(adapter, label);
            assert!(what.starts_with(expected), "{what}");
            assert!(!what.contains('\n') && what.len() < 200, "{what}");
        }
    }
}

/// Other tests leave out an adapter that cannot, and only say so.
#[test]
fn every_adapter_that_has_the_limits_runs_gathers() {
    engines();
    for adapter in adapters().wait() {
        let label = adapter.label();
        let opened = Engine::headless(Some(&label)).wait();
        let engine = opened.unwrap_or_else(|error| panic!("{label}: {error}"));
        assert_eq!(engine.probe().wait(), Ok(()), "{label}");
    }
}

#[test]
fn an_adapter_that_cannot_run_gathers_is_taken_by_its_name_only() {
    if engines().is_empty() {
        return;
    }
    let all: Vec<String> = probe_adapters()
        .wait()
        .iter()
        .map(|p| p.adapter.label())
        .collect();
    let headless = |wanted: Option<&str>, fault: Change| {
        Engine::headless_with(wanted, internals::with_fault(fault)).wait()
    };
    for (fault, expected) in [(idle as Change, WRONG), (broken, NO_COMPILER)] {
        let refused = headless(None, fault);
        let Err(Error::NoUsableAdapter { lacking }) = refused else {
            panic!("{refused:?}");
        };
        let mut named: Vec<_> = lacking.iter().map(|(label, _)| label.clone()).collect();
        let mut all = all.clone();
        named.sort();
        all.sort();
        assert_eq!(named, all);
        for engine in engines() {
            let label = engine.adapter().label();
            let (_, what) = lacking.iter().find(|(l, _)| *l == label).unwrap();
            assert!(what.starts_with(expected), "{label}: {what}");
        }
    }
    for engine in engines() {
        let label = engine.adapter().label();
        // It compiles, so `verify` may find out how wrong it is.
        assert!(headless(Some(&label), idle).is_ok());
        let refused = headless(Some(&label), broken);
        assert!(
            matches!(&refused, Err(Error::AdapterLacks { adapter, .. }) if *adapter == label),
            "{refused:?}"
        );
    }
}

#[test]
fn the_default_is_the_first_that_runs_gathers() {
    let probed = probe_adapters().wait();
    assert!(probed.is_sorted_by_key(|p| p.lacks.is_some()), "{probed:?}");
    let Some(first) = probed.iter().find(|p| p.lacks.is_none()) else {
        return;
    };
    let label = first.adapter.label();
    let engine = Engine::headless(None).wait().expect("an engine");
    assert_eq!(engine.adapter().label(), label);
    let info = find_adapter(None).wait().expect("an adapter").get_info();
    assert_eq!(format!("{} ({})", info.name, info.backend), label);
    let auto = Executor::auto().wait();
    match auto.executor {
        Executor::Gpu(engine) => assert_eq!(engine.adapter().label(), label),
        executor => {
            assert!(matches!(executor, Executor::Cpu), "{executor:?}");
            assert!(first.adapter.is_software(), "{}", auto.reason);
        }
    }
}

/// A gather of rows under a rule that reports the two bad ones of its indices.
fn two_bad() -> Call {
    Call {
        op: Op::gather(0),
        rules: Rules::ONNX,
        element_bytes: 4,
        params: (0..48).collect(),
        params_layout: Layout::contiguous(&[3, 4]),
        index_type: IndexType::I32,
        indices: bytemuck::cast_slice(&[0, 2, 9, 1, -9]).to_vec(),
        indices_layout: Layout::contiguous(&[5]),
    }
}

#[test]
fn a_status_that_cannot_be_is_an_error() {
    let faults: [(Change, &str); 4] = [
        (
            |s| {
                s.replace(
                    "fn locate_first() {",
                    "fn locate_first() { if (geometry.depth > 0u) { return; }",
                )
            },
            "the flag of the first bad index",
        ),
        (
            |s| s.replace("&status[4], number", "&status[4], number + 4096u"),
            "the first bad index",
        ),
        (
            |s| {
                s.replace(
                    "atomicAdd(&status[0], bad)",
                    "atomicAdd(&status[0], 9u * bad)",
                )
            },
            "the number of bad indices",
        ),
        (
            |s| s.replace("&status[7u + 2u * k], index.x", "&status[7u + 2u * k], 1u"),
            "the first bad index",
        ),
    ];
    for engine in engines() {
        for (fault, expected) in faults {
            let executor = Executor::Gpu(with_fault(engine, fault));
            let refused = block_on(two_bad().output(&executor));
            let Err(Error::ImpossibleReport { what, .. }) = &refused else {
                panic!("{refused:?} for {expected}");
            };
            assert_eq!(*what, expected);
            assert!(failed(&block_on(check_call(&two_bad(), &executor))));
        }
        let executor = Executor::Gpu(with_fault(engine, |s| s));
        let refused = block_on(two_bad().output(&executor));
        assert!(
            matches!(refused, Err(Error::IndexOutOfBounds(_))),
            "{refused:?}"
        );
    }
}

/// A status that is recorded into a pass goes on counting: several gathers may count more bad
/// indices than one has.
#[test]
fn a_status_counts_over_several_recordings() {
    use crate::common::buffer_with;
    use wgpu_gather::gpu::Buffers;
    let call = two_bad();
    for engine in engines() {
        let pipeline = engine.pipeline(&call.plan().unwrap()).wait().unwrap();
        let status = pipeline.status().unwrap();
        let params = buffer_with(engine, &call.params);
        let indices = buffer_with(engine, &call.indices);
        let output = buffer_with(engine, &[0; 80]);
        let buffers = Buffers {
            status: Some(&status),
            ..Buffers::new(params.slice(..), indices.slice(..), output.slice(..))
        };
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for _ in 0..4 {
            pipeline.encode_in_pass(&mut pass, &buffers).unwrap();
        }
        drop(pass);
        engine.queue().submit([encoder.finish()]);
        let read = status.read().wait().expect("it can be read");
        let bad = read.expect("two indices are bad");
        assert_eq!((bad.count, bad.position), (8, vec![2]));
    }
}
