//! Errors from the device, without stopping it.

use gather_conformance::{Call, builtin};
use wgpu_gather::gpu::{Buffers, DeviceTensor, Engine, GatherPipeline};
use wgpu_gather::{
    BadIndices, Error, Executor, Fill, IndexType, Layout, Negative, Op, OpKind, OutOfBounds,
    Params, Result, Rules, bad_indices,
};

use crate::common::{block_on, buffer_with, bytes_of, engines, executors};

/// A gather_nd of 70,000 tuples, bad in several workgroups.
fn many_bad() -> Call {
    let count = 70_000;
    let mut values = vec![0i64; count * 2];
    for (n, tuple) in values.chunks_mut(2).enumerate() {
        tuple[0] = (n % 3) as i64;
        tuple[1] = (n % 4) as i64;
    }
    values[2 * 33_333 + 1] = (1 << 32) + 1; // first, in its second coordinate
    values[2 * 65_000] = -1;
    values[2 * 65_000 + 1] = 9; // twice in one tuple
    values[2 * 69_999] = 3;
    Call {
        op: Op::gather_nd(),
        rules: Rules::TENSORFLOW_CPU,
        element_bytes: 4,
        params: (0..48).collect(),
        params_layout: Layout::contiguous(&[3, 4]),
        index_type: IndexType::I64,
        indices: bytemuck::cast_slice(&values).to_vec(),
        indices_layout: Layout::contiguous(&[7, 10_000, 2]),
    }
}

fn expected() -> BadIndices {
    BadIndices {
        op: OpKind::GatherNd,
        position: vec![3, 3333, 1],
        value: (1 << 32) + 1,
        axis: 1,
        extent: 4,
        count: 3,
    }
}

#[test]
fn the_first_bad_index_and_their_number_are_exact_on_every_executor() {
    for executor in executors() {
        let got = block_on(many_bad().output(&executor));
        let expected = Error::IndexOutOfBounds(Box::new(expected()));
        assert_eq!(got, Err(expected), "{}", executor.describe());
    }
}

#[test]
fn a_status_is_read_later_and_the_gather_is_not_stopped() {
    let call = many_bad();
    let plan = call.plan().unwrap();
    for engine in engines() {
        let pipeline = engine.pipeline(&plan).wait().unwrap();
        let status = pipeline.status().unwrap();
        let params = buffer_with(engine, &call.params);
        let indices = buffer_with(engine, &call.indices);
        let output = buffer_with(engine, &vec![0xa5; plan.output_bytes()]);
        let buffers = Buffers {
            status: Some(&status),
            ..Buffers::new(params.slice(..), indices.slice(..), output.slice(..))
        };
        // Twice in one encoder: each recording starts counting anew.
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        pipeline.encode(&mut encoder, &buffers).unwrap();
        pipeline.encode(&mut encoder, &buffers).unwrap();
        engine.queue().submit([encoder.finish()]);
        assert_eq!(status.read().wait(), Ok(Some(expected())));
        assert_eq!(status.read().wait(), Ok(Some(expected())));
        // The good elements are there, the bad ones are zero.
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes_of(engine, &output));
        let element = |n: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|b| (n * 4 + b) as u8));
        assert_eq!(words[0], element(0));
        assert_eq!(words[5], element(2 * 4 + 1));
        assert_eq!([words[33_333], words[65_000], words[69_999]], [0; 3]);
        assert_eq!(words[69_998], element((69_998 % 3) * 4 + 69_998 % 4));
    }
}

/// Gathers, twice with the status, which then is read.
fn twice(
    engine: &Engine,
    pipeline: &GatherPipeline,
    call: &Call,
    flag: bool,
) -> Result<Option<BadIndices>> {
    let status = pipeline.status()?;
    assert_eq!(status.read().wait(), Err(Error::StatusUnused));
    let [params, indices] = [&call.params, &call.indices].map(|bytes| buffer_with(engine, bytes));
    let output = buffer_with(engine, &vec![0xa5; pipeline.bytes_with_flag() as usize]);
    let buffers = Buffers {
        status: Some(&status),
        flag,
        ..Buffers::new(params.slice(..), indices.slice(..), output.slice(..))
    };
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    let binding = pipeline.bind(&buffers)?;
    binding.encode(&mut encoder);
    binding.encode_in_pass(&mut encoder.begin_compute_pass(&Default::default()));
    engine.queue().submit([encoder.finish()]);
    status.read().wait()
}

#[test]
fn bad_indices_are_counted_under_any_rules() {
    let fill = Fill::new(7u32);
    for engine in engines() {
        for (negative, from_end) in [(Negative::OutOfBounds, false), (Negative::FromEnd, true)] {
            for rule in OutOfBounds::all(fill.clone()) {
                let mut call = many_bad();
                call.rules = Rules::new(negative, rule);
                let pipeline = engine.pipeline(&call.plan().unwrap()).wait().unwrap();
                // The two lookups with -1 and 9: the second is bad all the same.
                let expected = BadIndices {
                    count: 6,
                    ..expected()
                };
                for flag in [false, true] {
                    let got = twice(engine, &pipeline, &call, flag);
                    assert_eq!(
                        got,
                        Ok(Some(expected.clone())),
                        "{:?}, flag {flag}",
                        call.rules
                    );
                }
                // -1 alone is bad or not.
                let good = vec![[2i64, 3]; 70_000];
                let mut values = good.clone();
                values[50_000][0] = -1;
                call.indices = bytemuck::cast_slice(&values).to_vec();
                let found = twice(engine, &pipeline, &call, true).unwrap();
                let found = found.map(|bad| (bad.position, bad.value, bad.count));
                let expected = (!from_end).then(|| (vec![5, 0, 0], -1, 2));
                assert_eq!(found, expected, "{:?}", call.rules);
                call.indices = bytemuck::cast_slice(&good).to_vec();
                assert_eq!(twice(engine, &pipeline, &call, true), Ok(None));
            }
        }
    }
}

#[test]
fn a_status_is_one_of_its_plan() {
    for engine in engines() {
        let mut call = many_bad();
        let status = engine.pipeline(&call.plan().unwrap()).wait().unwrap();
        let status = status.status().unwrap();
        call.rules = Rules::ONNX;
        let pipeline = engine.pipeline(&call.plan().unwrap()).wait().unwrap();
        let [params, indices] = [&call.params, &call.indices].map(|b| buffer_with(engine, b));
        let output = buffer_with(engine, &vec![0; call.plan().unwrap().output_bytes()]);
        let buffers = Buffers {
            status: Some(&status),
            ..Buffers::new(params.slice(..), indices.slice(..), output.slice(..))
        };
        let op = OpKind::GatherNd;
        assert_eq!(
            pipeline.bind(&buffers).err(),
            Some(Error::OtherStatus { op })
        );
    }
}

/// What the reference reports of the same indices where rules ask for an error.
fn as_reported(call: &Call) -> Option<BadIndices> {
    let mut strict = call.clone();
    strict.rules = strict.rules.with_out_of_bounds(OutOfBounds::Error);
    match block_on(strict.output(&Executor::Reference)) {
        Err(Error::IndexOutOfBounds(bad)) => Some(*bad),
        _ => None,
    }
}

#[test]
fn indices_can_be_counted_without_a_gather() {
    let calls = builtin();
    let (mut met, mut clean) = (0, 0);
    for call in calls.iter().filter(|call| call.plan().is_ok()) {
        let indices = call.indices().unwrap();
        let shape = call.params_layout.shape();
        let got = bad_indices(call.op, &call.rules, shape, &indices);
        let expected = as_reported(call);
        assert_eq!(got, Ok(expected.clone()), "{call:?}");
        *(if expected.is_some() {
            &mut met
        } else {
            &mut clean
        }) += 1;
        if call.index_type != IndexType::I32 {
            continue;
        }
        for engine in engines() {
            let bytes = Params::new(&call.indices, 4, call.indices_layout.clone()).unwrap();
            let indices = engine.upload(&bytes).wait().unwrap();
            let indices = DeviceTensor::<i32>::try_from(indices).unwrap();
            let got = engine
                .bad_indices(call.op, &call.rules, shape, &indices)
                .wait();
            assert_eq!(got, Ok(expected.clone()), "{call:?}");
        }
    }
    assert!(met > 300 && clean > 100, "{met} {clean}");
}

#[test]
fn builtin_calls_meet_errors_at_all() {
    let meets = |call: &Call| block_on(call.output(&wgpu_gather::Executor::Reference)).is_err();
    let errors = builtin().iter().filter(|c| meets(c)).count();
    assert!(errors > 100, "{errors}");
}
