//! Scatters on device tensors and in the caller's encoder, and what they refuse.

use wgpu_gather::gpu::{AnyDeviceTensor, DeviceTensor};
use wgpu_gather::{Error, Executor, Layout, Op, Reduce, Rules, Tensor, wgpu};

use crate::common::{buffer_with, bytes_of, engines};

fn floats(shape: &[usize], first: f32) -> Tensor<f32> {
    let count = shape.iter().product();
    let data = (0..count).map(|n| first + n as f32 / 3.0).collect();
    Tensor::new(shape, data).unwrap()
}

fn ids(values: &[u32]) -> Tensor<u32> {
    Tensor::new(&[values.len()], values.to_vec()).unwrap()
}

#[test]
fn a_new_tensor_keeps_the_base_and_in_place_changes_it() {
    let (base, ids, updates) = (
        floats(&[5, 3], 0.1),
        ids(&[4, 1, 4, 9]),
        floats(&[4, 3], 7.0),
    );
    let op = Op::gather(0);
    let expected = Executor::Reference
        .scatter(op, Reduce::Add, &Rules::default(), &base, &ids, &updates)
        .wait()
        .unwrap();
    assert_ne!(expected, base);
    for engine in engines() {
        let mut on_device = engine.upload(&base).wait().unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let updates = engine.upload(&updates).wait().unwrap();
        let rules = Rules::default();
        let made = engine.scatter(op, Reduce::Add, &rules, &on_device, &ids, &updates);
        assert_eq!(engine.download(&made.unwrap()).wait().unwrap(), expected);
        assert_eq!(engine.download(&on_device).wait().unwrap(), base);
        engine
            .scatter_into(op, Reduce::Add, &rules, &mut on_device, &ids, &updates)
            .unwrap();
        assert_eq!(engine.download(&on_device).wait().unwrap(), expected);
    }
}

/// The result of a scatter over a part of a tensor is a tensor of its own: its data is where its layout
/// and its slice of a buffer say.
#[test]
fn what_is_made_of_a_view_starts_at_its_own_buffer() {
    let rows: Vec<u16> = (0..40).collect();
    let table = Tensor::new(&[8, 5], rows).unwrap();
    let one = Tensor::new(&[1], vec![1u32]).unwrap();
    let nines = Tensor::new(&[1, 5], vec![9u16; 5]).unwrap();
    for engine in engines() {
        let table = engine.upload(&table).wait().unwrap();
        let one = engine.upload(&one).wait().unwrap();
        let nines = engine.upload(&nines).wait().unwrap();
        let (op, rules) = (Op::gather(0), Rules::default());
        let base = table.slice(0, 3..6).unwrap();
        let made = engine.scatter(op, Reduce::None, &rules, &base, &one, &nines);
        let made = made.unwrap();
        let expected: Vec<u16> = (15..20).chain([9; 5]).chain(25..30).collect();
        assert_eq!(engine.download(&made).wait().unwrap().data(), expected);

        assert_eq!(*made.layout(), Layout::contiguous(&[3, 5]));
        let slice = made.share_slice();
        let start = slice.offset() as usize;
        let bytes = bytes_of(engine, slice.buffer());
        let got: Vec<u16> = bytemuck::pod_collect_to_vec(&bytes[start..start + 30]);
        assert_eq!(got, expected);
    }
}

#[test]
fn tensors_of_a_type_known_at_run_time() {
    let base = Tensor::new(&[3], vec![10u16, 20, 30]).unwrap();
    let updates = Tensor::new(&[3], vec![1u16, 2, 3]).unwrap();
    for engine in engines() {
        let upload =
            |tensor: &Tensor<u16>| AnyDeviceTensor::from(engine.upload(tensor).wait().unwrap());
        let download = |made: AnyDeviceTensor| {
            let made = DeviceTensor::<u16>::try_from(made).unwrap();
            engine.download(&made).wait().unwrap().into_data()
        };
        let (base, updates) = (upload(&base), upload(&updates));
        let places = engine.upload(&ids(&[2, 0, 2])).wait().unwrap();
        let places = AnyDeviceTensor::from(places);
        let (op, rules) = (Op::gather_elements(0), Rules::TORCH);
        let made = engine.scatter(op, Reduce::Mul, &rules, &base, &places, &updates);
        assert_eq!(download(made.unwrap()), [20, 20, 90]);
        assert_eq!(download(base.clone()), [10, 20, 30]);
        let made = engine.gather_gradient(op, &rules, &[4], &places, &updates);
        assert_eq!(download(made.unwrap()), [2, 0, 4, 0]);
        let huge = engine.gather_gradient(op, &rules, &[usize::MAX, 2], &places, &updates);
        assert!(matches!(huge, Err(Error::SizeOverflow { .. })), "{huge:?}");
    }
}

#[test]
fn a_view_is_written_and_nothing_beside_it() {
    let base = floats(&[4, 6], 0.0);
    for engine in engines() {
        let whole = engine.upload(&base).wait().unwrap();
        // columns 1 to 3 as rows
        let mut columns = whole.slice(1, 1..4).unwrap().permute(&[1, 0]).unwrap();
        let ids = engine.upload(&ids(&[2, 0])).wait().unwrap();
        let updates = floats(&[2, 4], 100.0);
        let on_device = engine.upload(&updates).wait().unwrap();
        let (op, rules) = (Op::gather(0), Rules::default());
        engine
            .scatter_into(op, Reduce::None, &rules, &mut columns, &ids, &on_device)
            .unwrap();
        let mut expected = base.data().to_vec();
        for row in 0..4 {
            expected[row * 6 + 3] = updates.data()[row];
            expected[row * 6 + 1] = updates.data()[4 + row];
        }
        assert_eq!(engine.download(&whole).wait().unwrap().data(), expected);
    }
}

#[test]
fn a_gradient_and_a_gather_of_it_in_one_batch() {
    let grad = floats(&[3, 2], 1.0);
    for engine in engines() {
        let places = engine.upload(&ids(&[1, 3, 1])).wait().unwrap();
        let grad_device = engine.upload(&grad).wait().unwrap();
        let (op, rules) = (Op::gather(0), Rules::default());
        let rows = engine.batch(|batch| {
            let table = batch.gather_gradient(op, &rules, &[4, 2], &places, &grad_device)?;
            batch.gather(op, &rules, &table, &places)
        });
        let rows = engine.download(&rows.unwrap()).wait().unwrap();
        let g = grad.data();
        let sum = [g[0] + g[4], g[1] + g[5]];
        assert_eq!(rows.data(), [sum[0], sum[1], g[2], g[3], sum[0], sum[1]]);
    }
}

#[test]
fn a_bad_index_is_reported_and_the_good_ones_have_written() {
    let text = "scatter: indices[1] = 7 is out of bounds for params axis 0 of extent 5 (the first of 2 bad indices)";
    let base = floats(&[5], 0.0);
    let updates = floats(&[4], 50.0);
    for engine in engines() {
        let mut on_device = engine.upload(&base).wait().unwrap();
        let ids = engine.upload(&ids(&[2, 7, 0, 9])).wait().unwrap();
        let updates = engine.upload(&updates).wait().unwrap();
        let (op, rules) = (Op::gather(0), Rules::TORCH);
        engine
            .scatter_into(op, Reduce::None, &rules, &mut on_device, &ids, &updates)
            .unwrap();
        let bad = engine.check(&on_device).wait().unwrap();
        assert_eq!(bad.expect("a report").to_string(), text);
    }
    let mut executors = crate::common::executors();
    executors.push(Executor::Reference);
    for executor in executors {
        let mut destination = base.data().to_vec();
        let ids = ids(&[2, 7, 0, 9]);
        let error = executor
            .scatter_into(
                Op::gather(0),
                Reduce::None,
                &Rules::TORCH,
                &[5],
                &mut destination,
                &ids,
                &updates,
            )
            .wait();
        assert_eq!(
            error.unwrap_err().to_string(),
            text,
            "{}",
            executor.describe()
        );
        let (b, u) = (base.data(), updates.data());
        assert_eq!(destination, [u[2], b[1], u[0], b[3], b[4]]);
    }
}

#[test]
fn the_callers_encoder_records_it_twice() {
    let wrap = |slice: wgpu::BufferSlice<'_>, shape: &[usize]| {
        DeviceTensor::<u16>::wrap(slice, Layout::contiguous(shape))
    };
    for engine in engines() {
        let words = |values: &[u32]| bytemuck::cast_slice::<u32, u8>(values).to_vec();
        let halves = |values: &[u16]| bytemuck::cast_slice::<u16, u8>(values).to_vec();
        let before: Vec<u16> = (0..12).collect();
        let destination = buffer_with(engine, &halves(&before));
        let indices = buffer_with(engine, &words(&[3, 1, 3]));
        let updates = buffer_with(engine, &halves(&[1, 2, 3, 10, 20, 30, 100, 200, 300]));
        let ids = DeviceTensor::<u32>::wrap(indices.slice(..), Layout::contiguous(&[3])).unwrap();
        let mut into = wrap(destination.slice(..), &[4, 3]).unwrap();
        let rows = wrap(updates.slice(..), &[3, 3]).unwrap();
        let mut bind = |rows: &DeviceTensor<u16>| {
            let (op, rules) = (Op::gather(0), Rules::TORCH);
            engine.bind(|r| r.scatter_into(op, Reduce::Add, &rules, &mut into, &ids, rows))
        };
        let binding = bind(&rows).unwrap();
        assert_eq!(binding.check().wait(), Err(Error::StatusUnused));
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        binding.encode(&mut encoder);
        binding.encode(&mut encoder);
        engine.queue().submit([encoder.finish()]);
        assert_eq!(binding.check().wait(), Ok(None));
        let mut expected = before;
        for (row, add) in [(1, [20, 40, 60]), (3, [202, 404, 606])] {
            for (column, add) in add.into_iter().enumerate() {
                expected[row * 3 + column] += add;
            }
        }
        assert_eq!(bytes_of(engine, &destination)[..24], halves(&expected));

        // The destination's buffer is read, too.
        let same = wrap(destination.slice(..), &[3, 3]).unwrap();
        let refused = bind(&same).unwrap_err().to_string();
        assert!(
            refused.starts_with("scatter: updates and output lie"),
            "{refused}"
        );
        let refused = wrap(updates.slice(..16), &[3, 3]).unwrap_err();
        assert!(
            matches!(refused, Error::TensorBeyondBuffer { .. }),
            "{refused}"
        );
        let refused = wrap(destination.slice(1..), &[3, 3]).unwrap_err();
        assert!(matches!(refused, Error::Misaligned { .. }), "{refused}");
    }
}

#[test]
fn what_a_device_refuses_names_the_type_or_the_view() {
    for engine in engines() {
        let ids = engine.upload(&ids(&[0])).wait().unwrap();
        let one = Tensor::new(&[1], vec![1.0f64]).unwrap();
        let doubles = engine.upload(&one).wait().unwrap();
        let (op, rules) = (Op::gather(0), Rules::default());
        let refused = engine.scatter(op, Reduce::Mul, &rules, &doubles, &ids, &doubles);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "scatter: the GPU path has no arithmetic for f64 (allowed: u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, all with reduce = none); the CPU path has it"
        );
        let host = Executor::Gpu(engine.clone());
        let place = Tensor::new(&[1], vec![0u32]).unwrap();
        let refused = host
            .scatter(op, Reduce::Min, &rules, &one, &place, &one)
            .wait();
        assert!(matches!(refused, Err(Error::CpuOnly { dtype: "f64", .. })));
        // Moved, they need no arithmetic.
        let moved = engine.scatter(op, Reduce::None, &rules, &doubles, &ids, &doubles);
        assert_eq!(engine.download(&moved.unwrap()).wait().unwrap(), one);

        let row = engine.upload(&floats(&[1, 3], 0.0)).wait().unwrap();
        let updates = row.clone();
        let mut repeated = row.broadcast(&[2, 3]).unwrap();
        let refused = engine.scatter_into(op, Reduce::Add, &rules, &mut repeated, &ids, &updates);
        assert!(matches!(refused, Err(Error::OverlappingDestination { .. })));
        let mut own = row.clone();
        let refused = engine.scatter_into(op, Reduce::Add, &rules, &mut own, &ids, &updates);
        assert!(
            matches!(refused, Err(Error::SameBuffer { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused_in_the_name_of_the_scatter() {
    let base = floats(&[5, 3], 0.0);
    let text = |op, indices: &[usize], updates: &[usize]| {
        let count = indices.iter().product();
        let indices = Tensor::new(indices, vec![0i32; count]).unwrap();
        let updates = floats(updates, 0.0);
        let made = Executor::Cpu
            .scatter(op, Reduce::Add, &Rules::ONNX, &base, &indices, &updates)
            .wait();
        made.unwrap_err().to_string()
    };
    assert_eq!(
        text(Op::gather(0), &[2], &[2, 4]),
        "scatter: updates has shape [2, 4], but params and indices need [2, 3]"
    );
    assert_eq!(
        text(Op::gather_nd(), &[2, 3], &[2]),
        "scatter_nd: indices dim -1 is 3, but params has 2 dims after batch_dims = 0"
    );
    assert_eq!(
        text(Op::gather_elements(2), &[2, 3], &[2, 3]),
        "scatter_elements: axis 2 is out of range for params of rank 2 (allowed -2..=1)"
    );
}

#[test]
fn a_tensor_of_the_caller_is_a_destination() {
    for engine in engines() {
        let buffer = buffer_with(engine, &[0xa5; 64]);
        let slice = buffer.slice(8..);
        let mut tensor = DeviceTensor::<u8>::wrap(slice, Layout::contiguous(&[6])).unwrap();
        let updates = Tensor::new(&[3], vec![1u8, 2, 3]).unwrap();
        let updates = engine.upload(&updates).wait().unwrap();
        let ids = engine.upload(&ids(&[5, 0, 5])).wait().unwrap();
        let (op, rules) = (Op::gather_elements(0), Rules::default());
        engine
            .scatter_into(op, Reduce::None, &rules, &mut tensor, &ids, &updates)
            .unwrap();
        let mut expected = [0xa5; 64];
        (expected[8], expected[13]) = (2, 3);
        assert_eq!(bytes_of(engine, &buffer), expected);
    }
}
