//! Errors from the device, without stopping it.

use gather_conformance::{Call, builtin};
use wgpu_gather::gpu::Buffers;
use wgpu_gather::{BadIndex, Error, IndexType, Layout, Op, OpKind, Rules};

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

fn expected() -> Error {
    Error::IndexOutOfBounds(Box::new(BadIndex {
        op: OpKind::GatherNd,
        position: vec![3, 3333, 1],
        value: (1 << 32) + 1,
        axis: 1,
        extent: 4,
        count: 3,
    }))
}

#[test]
fn the_first_bad_index_and_their_number_are_exact_on_every_executor() {
    for executor in executors() {
        let got = block_on(many_bad().output(&executor));
        assert_eq!(got, Err(expected()), "{}", executor.describe());
    }
}

#[test]
fn a_status_is_read_later_and_the_gather_is_not_stopped() {
    let call = many_bad();
    let plan = call.plan().unwrap();
    for engine in engines() {
        let pipeline = block_on(engine.pipeline(&plan)).unwrap();
        let status = pipeline.status().unwrap();
        let params = buffer_with(engine, &call.params);
        let indices = buffer_with(engine, &call.indices);
        let output = buffer_with(engine, &vec![0xa5; plan.output_bytes()]);
        let buffers = Buffers {
            params: params.slice(..),
            indices: indices.slice(..),
            output: output.slice(..),
            status: Some(&status),
            flag: false,
            count: None,
        };
        // Twice in one encoder: each recording starts counting anew.
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        pipeline.encode(&mut encoder, &buffers).unwrap();
        pipeline.encode(&mut encoder, &buffers).unwrap();
        engine.queue().submit([encoder.finish()]);
        assert_eq!(status.read_blocking(), Err(expected()));
        assert_eq!(block_on(status.read()), Err(expected()));
        // The good elements are there, the bad ones are zero.
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes_of(engine, &output));
        let element = |n: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|b| (n * 4 + b) as u8));
        assert_eq!(words[0], element(0));
        assert_eq!(words[5], element(2 * 4 + 1));
        assert_eq!([words[33_333], words[65_000], words[69_999]], [0; 3]);
        assert_eq!(words[69_998], element((69_998 % 3) * 4 + 69_998 % 4));
    }
}

#[test]
fn a_clean_gather_leaves_a_clean_status() {
    for engine in engines() {
        let mut call = many_bad();
        let clean: Vec<i64> = vec![2; 7 * 10_000 * 2];
        call.indices = bytemuck::cast_slice(&clean).to_vec();
        let pipeline = block_on(engine.pipeline(&call.plan().unwrap())).unwrap();
        let status = pipeline.status().unwrap();
        assert_eq!(status.read_blocking(), Ok(()), "before anything ran");
        let output = block_on(call.output(&wgpu_gather::Executor::Gpu(engine.clone())));
        assert!(output.is_ok_and(|o| o.chunks(4).all(|e| e == [40, 41, 42, 43])));
    }
}

#[test]
fn builtin_calls_meet_errors_at_all() {
    let meets = |call: &Call| block_on(call.output(&wgpu_gather::Executor::Reference)).is_err();
    let errors = builtin().iter().filter(|c| meets(c)).count();
    assert!(errors > 100, "{errors}");
}
