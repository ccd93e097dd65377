//! Bad indices are found with a flag behind the output as without one, whatever lies there before, and
//! what lies behind it is left alone.

use gather_conformance::Call;
use wgpu_gather::gpu::{Buffers, Engine};
use wgpu_gather::{Error, Executor, IndexType, Layout, Op, OutOfBounds, Role, Rules};

use crate::common::{block_on, buffer_with, bytes_of, engines, read_status};

/// What memory holds before: zeros, ones, and a flag that is raised.
const BEFORE: [u32; 3] = [0, u32::MAX, 0x7261_697d];

/// Rows of every kernel: elements of so many bytes, so many in a row, and so many rows.
const ROWS: [(usize, usize, usize); 12] = [
    (4, 300, 7),
    (8, 3, 9),
    (16, 1, 700),
    (8, 1, 300),
    (4, 1, 1001),
    (4, 1, 1024),
    (1, 7, 300),
    (1, 37, 301),
    (1, 37, 304),
    (1, 1, 999),
    (2, 1, 777),
    (1, 3, 400),
];

/// A gather of `count` rows, of which some are bad.
fn call((width, row, count): (usize, usize, usize), bad: &[usize]) -> Call {
    let mut indices: Vec<i32> = (0..count as i32).map(|n| n * 7 % 50).collect();
    bad.iter().for_each(|&n| indices[n] = 50 + n as i32);
    Call {
        op: Op::gather(0),
        rules: Rules::ONNX,
        element_bytes: width,
        params: (0..50 * row * width).map(|n| (n * 31 + 1) as u8).collect(),
        params_layout: Layout::contiguous(&[50, row]),
        index_type: IndexType::I32,
        indices: bytemuck::cast_slice(&indices).to_vec(),
        indices_layout: Layout::contiguous(&[count]),
    }
}

/// The output's bytes: zeros where an index is bad.
fn zeros_where_bad(call: &Call) -> Vec<u8> {
    let mut lenient = call.clone();
    lenient.rules = call.rules.clone().with_out_of_bounds(OutOfBounds::Zero);
    block_on(lenient.output(&Executor::Reference)).expect("no error")
}

/// Gathers `calls`, which differ in their indices alone, one after the other into the same output, which
/// starts `offset` bytes into its buffer.
fn check(engine: &Engine, calls: &[Call], offset: usize, before: u32) {
    let plan = calls[0].plan().unwrap();
    let pipeline = engine.pipeline(&plan).wait().unwrap();
    let status = pipeline.status().unwrap();
    let end = offset + pipeline.bytes_with_flag() as usize;
    let words = vec![before; end.div_ceil(4) + 4];
    let output = buffer_with(engine, bytemuck::cast_slice(&words));
    let params = buffer_with(engine, &calls[0].params);
    for call in calls {
        let indices = buffer_with(engine, &call.indices);
        let buffers = Buffers {
            status: Some(&status),
            flag: true,
            ..Buffers::new(
                params.slice(..),
                indices.slice(..),
                output.slice(offset as u64..end as u64),
            )
        };
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        pipeline.encode(&mut encoder, &buffers).unwrap();
        engine.queue().submit([encoder.finish()]);
        let expected = block_on(call.output(&Executor::Reference)).map(|_| ());
        assert_eq!(read_status(&status), expected, "{call:?}");
        let got = bytes_of(engine, &output);
        let start = offset + plan.output_bytes();
        assert_eq!(got[offset..start], zeros_where_bad(call), "{call:?}");
        let words: &[u8] = bytemuck::cast_slice(&words);
        assert_eq!(got[..offset], words[..offset], "before the output");
        assert_eq!(got[end..], words[end..], "behind the room for the flag");
    }
}

#[test]
fn a_flag_changes_no_count_and_no_byte_beside_its_room() {
    for engine in engines() {
        for (n, rows) in ROWS.into_iter().enumerate() {
            let bad: [&[usize]; 5] = [&[], &[0], &[], &[rows.2 - 1], &[1, 2, 5]];
            let calls = bad.map(|bad| call(rows, bad));
            check(engine, &calls, 0, BEFORE[n % 3]);
            check(engine, &calls, 48, BEFORE[(n + 1) % 3]);
            check(engine, &calls, 16, BEFORE[(n + 2) % 3]);
        }
    }
}

#[test]
fn an_output_without_the_room_is_refused() {
    for engine in engines() {
        let call = call((4, 1, 10), &[]);
        let pipeline = engine.pipeline(&call.plan().unwrap()).wait().unwrap();
        let [params, indices] = [&call.params, &call.indices].map(|b| buffer_with(engine, b));
        let output = buffer_with(engine, &[0; 68]);
        let buffers = Buffers {
            flag: true,
            ..Buffers::new(params.slice(..), indices.slice(..), output.slice(..))
        };
        let Err(Error::BufferTooSmall {
            role, needed, size, ..
        }) = pipeline.bind(&buffers)
        else {
            panic!("not refused")
        };
        assert_eq!((role, needed, size), (Role::Output, 72, 68));
    }
}
