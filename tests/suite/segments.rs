//! Tensors beyond a binding and beyond a buffer, on devices whose limits are lowered: the same
//! bits, whatever the size of a segment.

use gather_conformance::{Call, builtin, call_from};
use wgpu_gather::gpu::{DeviceTensor, Engine, Options, WhenFull};
use wgpu_gather::{
    Error, Executor, Fill, IndexType, Layout, Op, OutOfBounds, Plan, Rules, Tensor, wgpu,
};

use crate::common::{assert_all_passed, block_on, check_all, device_on, engines, fresh_adapter};

/// Limits with bindings and buffers of so many bytes, and so many storage buffers bound.
pub(crate) fn limits(binding: u64, buffer: u64, storage_buffers: u32) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffer_binding_size: binding,
        max_buffer_size: buffer,
        max_storage_buffers_per_shader_stage: storage_buffers,
        ..wgpu::Limits::downlevel_defaults()
    }
}

/// An engine with bindings and buffers of so many bytes, that binds so many storage buffers.
fn small(engine: &Engine, binding: u64, buffer: u64, storage_buffers: u32) -> Engine {
    small_with(engine, binding, buffer, storage_buffers, Options::default())
}

fn small_with(
    engine: &Engine,
    binding: u64,
    buffer: u64,
    storage_buffers: u32,
    options: Options,
) -> Engine {
    let limits = limits(binding, buffer, storage_buffers);
    let (device, queue) = device_on(&fresh_adapter(engine), limits);
    Engine::with_options(device, queue, options)
        .wait()
        .expect("an engine")
}

/// Calls of the built-in set and random ones that take some dozens of small segments, not
/// thousands.
pub(crate) fn calls() -> Vec<Call> {
    let mut seed = 11u64;
    let mut choice = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    let random = (0..120).map(|_| call_from(&(0..60).map(|_| choice()).collect::<Vec<_>>()));
    let bytes = |call: &Call| {
        let output = call.plan().map_or(0, |plan| plan.output_bytes());
        call.params.len() + call.indices.len() + output
    };
    builtin()
        .into_iter()
        .step_by(16)
        .chain(random)
        .filter(|call| bytes(call) < 64 << 10 && tuple_bytes(call) <= LEAST_BINDING - ALIGNMENT)
        .collect()
}

/// From the first index of a tuple to its last: they must lie in one binding, wherever that starts.
fn tuple_bytes(call: &Call) -> usize {
    let steps = call.plan().map_or(0, |plan| {
        let nest = plan.geometry();
        nest.coordinates.len().saturating_sub(1) * nest.index_step.unsigned_abs()
    });
    (steps + 1) * call.index_type.bytes()
}

/// Bytes of the smallest bindings here, and what their starts are multiples of.
const LEAST_BINDING: usize = 1024;
const ALIGNMENT: usize = 256;

#[test]
fn small_bindings_change_no_bit() {
    for engine in engines() {
        // Two segments at a time, and six; 1,024 bytes are the least.
        for (binding, storage_buffers) in [(LEAST_BINDING as u64, 4), (2048, 8)] {
            let small = small(engine, binding, 256 << 20, storage_buffers);
            let report = check_all(&calls(), &Executor::Gpu(small));
            assert_all_passed(&format!("bindings of {binding} bytes"), &report);
        }
    }
}

#[test]
fn small_buffers_change_no_bit() {
    for engine in engines() {
        for (buffer, storage_buffers) in [(4096, 4), (4608, 8)] {
            let small = small(engine, 2048, buffer, storage_buffers);
            let report = check_all(&calls(), &Executor::Gpu(small));
            assert_all_passed(&format!("buffers of {buffer} bytes"), &report);
        }
    }
}

/// A call on numbered elements, with indices all over params, some of them bad.
fn call(
    op: Op,
    rules: &Rules,
    element_bytes: usize,
    params: &[usize],
    index_type: IndexType,
    indices: &[usize],
) -> Call {
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let bytes = count(params) * element_bytes;
    let [params_layout, indices_layout] = [params, indices].map(Layout::contiguous);
    let plan = Plan::new(
        op,
        rules,
        element_bytes,
        &params_layout,
        index_type,
        &indices_layout,
    );
    let plan = plan.expect("shapes that fit");
    let coordinates = &plan.geometry().coordinates;
    let value = |n: usize| {
        let extent = coordinates[n % coordinates.len()].extent;
        let all_over = n.wrapping_mul(2_654_435_761) % (extent + extent / 8 + 1);
        all_over as i64
    };
    let mut index_bytes = Vec::new();
    for n in 0..count(indices) {
        index_type.encode(value(n).into(), &mut index_bytes);
    }
    Call {
        op,
        rules: rules.clone(),
        element_bytes,
        params: (0..bytes).map(|n| (n * 31 + n / 255) as u8).collect(),
        params_layout,
        index_type,
        indices: index_bytes,
        indices_layout,
    }
}

/// Looks up rows of so many words.
pub(crate) fn rows_of(words: usize) -> Call {
    let rules = Rules::default();
    call(Op::gather(0), &rules, 4, &[3, words], IndexType::I32, &[4])
}

/// Sizes on both sides of a binding of 4,096 bytes.
#[test]
fn sizes_at_the_limit_of_a_binding() {
    let zero = Rules::default();
    let fill = |width: usize| {
        Rules::ONNX.with_out_of_bounds(OutOfBounds::Fill(match width {
            1 => Fill::new(0x5au8),
            2 => Fill::new(0x5aa5u16),
            4 => Fill::new(0x5a5a_a5a5u32),
            8 => Fill::new(u64::MAX),
            _ => Fill::new([7u8; 16]),
        }))
    };
    let clip = Rules::ONNX.with_out_of_bounds(OutOfBounds::Clip);
    let mut calls = Vec::new();
    for width in [1, 2, 4, 8, 16] {
        // A binding, a word or a row more or less, in params, output and indices.
        for elements in [4092, 4096, 4100, 4080, 4112, 12288].map(|bytes| bytes / width) {
            for rules in [&zero, &fill(width), &clip, &Rules::TENSORFLOW_CPU] {
                let i32s = IndexType::I32;
                calls.push(call(Op::gather(0), rules, width, &[elements], i32s, &[700]));
                calls.push(call(
                    Op::gather(0),
                    rules,
                    width,
                    &[elements],
                    i32s,
                    &[elements],
                ));
                calls.push(call(
                    Op::gather(0),
                    rules,
                    width,
                    &[elements / 3, 3],
                    i32s,
                    &[99],
                ));
            }
            // A row larger than a binding, and one just as large.
            let i64s = IndexType::I64;
            calls.push(call(
                Op::gather(0),
                &zero,
                width,
                &[3, elements],
                i64s,
                &[4],
            ));
            calls.push(call(
                Op::gather(1),
                &fill(width),
                width,
                &[3, 9, elements / 8],
                i64s,
                &[5],
            ));
            let last = Op::gather_elements(1);
            calls.push(call(last, &zero, width, &[2, elements], i64s, &[2, 600]));
        }
    }
    // Index tuples at the end of a segment of indices: 4,096 bytes are 170 tuples and two thirds.
    for tuples in [169, 170, 171, 172, 512] {
        let nd = Op::gather_nd();
        for index_type in [IndexType::I64, IndexType::I32] {
            calls.push(call(nd, &zero, 4, &[7, 11, 30], index_type, &[tuples, 3]));
            calls.push(call(
                nd,
                &Rules::TENSORFLOW_CPU,
                1,
                &[70, 11, 3],
                index_type,
                &[tuples, 2],
            ));
        }
    }
    for engine in engines() {
        for (buffer, storage_buffers) in [(1 << 20, 4), (1 << 20, 8), (8192, 5)] {
            let small = small(engine, 4096, buffer, storage_buffers);
            let report = check_all(&calls, &Executor::Gpu(small));
            assert_all_passed(&format!("buffers of {buffer} bytes"), &report);
        }
    }
}

/// Calls that take more than 64 KiB of device memory and more.
#[test]
fn host_calls_beyond_the_memory_bound_are_made_by_the_cpu() {
    let zero = Rules::default();
    let calls = [
        call(
            Op::gather(0),
            &zero,
            4,
            &[3000, 20],
            IndexType::I32,
            &[5000],
        ),
        call(
            Op::gather(0),
            &zero,
            1,
            &[90_001, 3],
            IndexType::I64,
            &[60_000],
        ),
        call(
            Op::gather(1),
            &zero,
            2,
            &[40, 300, 7],
            IndexType::I32,
            &[200],
        ),
        call(
            Op::gather_nd(),
            &zero,
            8,
            &[70, 80, 3],
            IndexType::I32,
            &[9000, 2],
        ),
        call(
            Op::gather_elements(0),
            &zero,
            4,
            &[300, 200],
            IndexType::I64,
            &[200, 200],
        ),
        call(
            Op::gather(0),
            &Rules::TENSORFLOW_CPU,
            4,
            &[3000, 20],
            IndexType::I32,
            &[5000],
        ),
        call(Op::gather(0), &zero, 4, &[2, 50_000], IndexType::I32, &[5]),
    ];
    for engine in engines() {
        let large = 1 << 27;
        for (bytes, binding) in [(64 << 10, large), (100_000, large), (200_000, 32 << 10)] {
            let bounded = |when_full| {
                let mut options = Options::default();
                options.max_memory_bytes = bytes;
                options.when_full = when_full;
                small_with(engine, binding, 1 << 28, 4, options)
            };
            let small = bounded(WhenFull::UseCpu);
            let report = check_all(&calls, &Executor::Gpu(small.clone()));
            assert_all_passed(&format!("{bytes} bytes of device memory"), &report);
            let fallbacks = small.fallbacks();
            assert_eq!(fallbacks.calls, calls.len() as u64);
            let why = fallbacks.last.expect("a reason").to_string();
            assert!(
                why.contains(&format!("more than {bytes} bytes of tensors")),
                "{why}"
            );
            assert_eq!(small.pool_bytes(), 0, "nothing was uploaded");

            let failing = bounded(WhenFull::Fail);
            for call in &calls {
                let refused = block_on(call.output(&Executor::Gpu(failing.clone())));
                let is_full = matches!(refused, Err(Error::GpuOutOfMemory { .. }));
                assert!(is_full, "{call:?}: {:?}", refused.err());
            }
            assert_eq!(failing.fallbacks().calls, 0);
        }
    }
}

/// Long work goes in several submissions.
#[test]
fn short_passes_change_no_bit() {
    for engine in engines() {
        let mut options = Options::default();
        options.max_pass_bytes = 1000;
        let small = small_with(engine, 1 << 27, 1 << 28, 4, options);
        let report = check_all(&calls(), &Executor::Gpu(small));
        assert_all_passed("passes of 1,000 bytes", &report);
    }
}

/// A tensor of several buffers behaves like any other.
#[test]
fn a_tensor_in_several_buffers() {
    for engine in engines() {
        let small = small(engine, 4096, 16 << 10, 8);
        let table: Vec<u32> = (0..30_000).collect();
        let table = Tensor::new(&[300, 100], table).unwrap();
        let there = small.upload(&table).wait().unwrap();
        // 32 rows in each, which are a multiple of 256 bytes.
        assert_eq!(there.share_parts().count(), 10);
        assert_eq!(small.download(&there).wait().unwrap(), table);
        // The rows in another order, twice, without leaving the device.
        let order: Vec<u32> = (0..300).map(|n| (n * 7 + 5) % 300).collect();
        let order = small.upload(&Tensor::new(&[300], order).unwrap()).wait();
        let order = order.unwrap();
        let gather = |from: &DeviceTensor<u32>| {
            small
                .gather(Op::gather(0), &Rules::default(), from, &order)
                .unwrap()
        };
        let twice = small.download(&gather(&gather(&there))).wait().unwrap();
        for (n, row) in twice.data().chunks(100).enumerate() {
            let once = (n * 7 + 5) % 300;
            let from = (once * 7 + 5) % 300;
            assert_eq!(row[0] as usize, from * 100, "row {n}");
        }
        // A view over the ends of buffers.
        let columns = there.permute(&[1, 0]).unwrap().slice(0, 98..100).unwrap();
        let columns = small.download(&columns).wait().unwrap();
        assert_eq!(columns.data()[..3], [98, 198, 298]);
        assert_eq!(columns.data()[599], 29_999);
    }
}
