//! Tensors on the device that the host writes to, or that hold zeros.

use wgpu_gather::gpu::{AnyDeviceTensor, DeviceTensor, Engine, Options, internals};
use wgpu_gather::{AnyTensor, DType, Error, Layout, Op, Params, Role, Rules, Tensor, TensorView};

use crate::common::{buffer_with, bytes_of, engine_with, engines};

const OP: Op = Op::Gather {
    axis: Some(0),
    batch_dims: 0,
};

fn bytes(shape: &[usize], first: u8) -> Tensor<u8> {
    let count = shape.iter().product::<usize>();
    let data = (0..count).map(|n| first.wrapping_add(n as u8)).collect();
    Tensor::new(shape, data).expect("a tensor")
}

fn down<T: wgpu_gather::Element>(engine: &Engine, tensor: &DeviceTensor<T>) -> Vec<T> {
    let tensor = engine.download(tensor).wait().expect("a download");
    tensor.into_data()
}

#[test]
fn a_whole_tensor_is_replaced() {
    for engine in engines() {
        let mut tensor = engine.upload(&bytes(&[3, 5], 0)).wait().unwrap();
        let new = bytes(&[3, 5], 100);
        engine.write(&mut tensor, &new).wait().unwrap();
        assert_eq!(engine.download(&tensor).wait().unwrap(), new);
        // Of a strided view.
        let turned = bytes(&[5, 3], 50);
        let turned = turned.view();
        let turned = TensorView::strided(turned.layout().permute(&[1, 0]).unwrap(), turned.data());
        engine.write(&mut tensor, &turned.unwrap()).wait().unwrap();
        let expected: Vec<u8> = (0..15).map(|n| 50 + n % 5 * 3 + n / 5).collect();
        assert_eq!(down(engine, &tensor), expected);
    }
}

/// Bytes beside the part keep their value, wherever in a word it starts and ends.
#[test]
fn a_part_is_written_and_nothing_beside_it() {
    for engine in engines() {
        let whole = engine.upload(&bytes(&[29], 0)).wait().unwrap();
        let mut expected: Vec<u8> = (0..29).collect();
        for (start, len) in [(1, 1), (3, 7), (5, 16), (0, 3), (28, 1), (7, 0)] {
            let mut part = whole.slice(0, start..start + len).unwrap();
            let new = bytes(&[len], 200 + start as u8);
            engine.write(&mut part, &new).wait().unwrap();
            expected[start..start + len].copy_from_slice(new.data());
            assert_eq!(down(engine, &whole), expected, "{len} from {start} on");
        }
        // In a buffer of the program, from the middle of a word on.
        let buffer = buffer_with(engine, &[0xa5; 24]);
        let layout = Layout::contiguous(&[5]);
        let mut part = DeviceTensor::<u8>::wrap(buffer.slice(7..), layout).unwrap();
        engine.write(&mut part, &bytes(&[5], 1)).wait().unwrap();
        let mut expected = [0xa5; 24];
        expected[7..12].copy_from_slice(&[1, 2, 3, 4, 5]);
        assert_eq!(bytes_of(engine, &buffer), expected);
    }
}

#[test]
fn a_strided_view_is_written_and_nothing_beside_it() {
    for engine in engines() {
        let cache = engine.upload(&bytes(&[2, 3, 3], 0)).wait().unwrap();
        let mut newest = cache.slice(1, 1..2).unwrap();
        let rows = Tensor::new(&[2, 1, 3], vec![90u8, 91, 92, 93, 94, 95]).unwrap();
        engine.write(&mut newest, &rows).wait().unwrap();
        let mut expected: Vec<u8> = (0..18).collect();
        expected[3..6].copy_from_slice(&[90, 91, 92]);
        expected[12..15].copy_from_slice(&[93, 94, 95]);
        assert_eq!(down(engine, &cache), expected);

        let mut turned = cache.permute(&[2, 1, 0]).unwrap();
        engine
            .write(&mut turned, &bytes(&[3, 3, 2], 0))
            .wait()
            .unwrap();
        let of = |n: usize| (n % 3 * 6 + n / 3 % 3 * 2 + n / 9) as u8;
        let expected: Vec<u8> = (0..18).map(of).collect();
        assert_eq!(down(engine, &cache), expected);
    }
}

#[test]
fn a_scalar_is_written() {
    for engine in engines() {
        let scalar = |value: f64| Tensor::new(&[], vec![value]).unwrap();
        let mut tensor = engine.upload(&scalar(1.5)).wait().unwrap();
        engine.write(&mut tensor, &scalar(-2.5)).wait().unwrap();
        assert_eq!(engine.download(&tensor).wait().unwrap(), scalar(-2.5));
        // As an element of another tensor.
        let four = Tensor::new(&[4], vec![0.0f64, 1.0, 2.0, 3.0]).unwrap();
        let four = engine.upload(&four).wait().unwrap();
        let mut third = four.slice(0, 2..3).unwrap().reshape(&[]).unwrap();
        engine.write(&mut third, &scalar(9.0)).wait().unwrap();
        assert_eq!(down(engine, &four), [0.0, 1.0, 9.0, 3.0]);
    }
}

#[test]
fn tensors_of_a_type_known_at_run_time() {
    for engine in engines() {
        let data = [1u8, 2, 3, 4, 5, 6, 7, 8];
        let params = |element: wgpu_gather::ElementType| {
            let count = data.len() / element.bytes();
            Params::new(&data, element, Layout::contiguous(&[count, 1])).unwrap()
        };
        let zeros = AnyTensor::new(&[4, 1], DType::U16, vec![0; 8]).unwrap();
        let shorts = engine.upload(&zeros).wait().unwrap();
        let mut there = shorts.clone();
        let halves = params(DType::U16.into());
        engine.write(&mut there, &halves).wait().unwrap();
        let got = engine.download(&shorts).wait().unwrap();
        assert_eq!(got.bytes(), data);

        // Elements that are bytes alone, in order; with gaps there is no scatter for them.
        let opaque = params(8.into());
        let mut words = engine.upload(&opaque).wait().unwrap();
        engine.write(&mut words, &opaque).wait().unwrap();
        let pairs = Params::new(&data, 2, Layout::contiguous(&[2, 2])).unwrap();
        let mut columns = engine
            .upload(&pairs)
            .wait()
            .unwrap()
            .permute(&[1, 0])
            .unwrap();
        let refused = engine.write(&mut columns, &pairs).wait().unwrap_err();
        let text = refused.to_string();
        assert!(
            text.starts_with(
                "scatter_nd: elements of updates are 2 bytes, which is no type of numbers"
            ),
            "{text}"
        );
    }
}

#[test]
fn what_does_not_fit_is_said() {
    for engine in engines() {
        let mut tensor = engine.upload(&bytes(&[2, 3], 0)).wait().unwrap();
        for shape in [&[3, 2][..], &[6], &[2, 3, 1], &[1, 3]] {
            let refused = engine.write(&mut tensor, &bytes(shape, 0)).wait();
            assert!(
                matches!(refused, Err(Error::UpdatesShape { ref expected, ref got, .. })
                    if *expected == [2, 3] && got == shape),
                "{refused:?}"
            );
        }
        let row = tensor.slice(0, 0..1).unwrap();
        let mut twice = row.broadcast(&[2, 3]).unwrap();
        let refused = engine.write(&mut twice, &bytes(&[2, 3], 0)).wait();
        assert!(
            matches!(refused, Err(Error::OverlappingDestination { .. })),
            "{refused:?}"
        );
        let mut any = AnyDeviceTensor::from(tensor.clone());
        for (dtype, is_view) in [(DType::U16, false), (DType::I8, true)] {
            let data = vec![0; 6 * dtype.bytes()];
            let params = Params::new(&data, dtype, Layout::contiguous(&[2, 3])).unwrap();
            let refused = match is_view {
                false => engine.write(&mut any, &params).wait(),
                true => {
                    let mut turned = any.permute(&[1, 0]).unwrap();
                    let layout = Layout::contiguous(&[3, 2]);
                    let params = Params::new(&data, dtype, layout).unwrap();
                    engine.write(&mut turned, &params).wait()
                }
            };
            assert!(
                matches!(refused, Err(Error::OtherElements { role: Role::Updates, ref expected, ref got, .. })
                    if expected == "u8" && *got == dtype.to_string()),
                "{refused:?}"
            );
        }
        let expected: Vec<u8> = (0..6).collect();
        assert_eq!(down(engine, &tensor), expected, "nothing was written");
        let other = engine_with(engine, Options::default());
        let refused = other.write(&mut tensor, &bytes(&[2, 3], 0)).wait();
        assert!(
            matches!(refused, Err(Error::OtherEngine { .. })),
            "{refused:?}"
        );
    }
}

/// A call that waits reads what was there before, and writes before what the host writes.
#[test]
fn a_write_comes_after_what_waits() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let numbers = |first: u32| {
            Tensor::new(&[64], (0..64).map(|n| first + n).collect::<Vec<_>>()).unwrap()
        };
        let mut table = engine.upload(&numbers(0)).wait().unwrap();
        let ids = engine.upload(&numbers(0)).wait().unwrap();
        let mut rows = engine.gather(OP, &Rules::default(), &table, &ids).unwrap();
        assert_eq!(internals::waiting_gathers(&engine), 1);
        engine.write(&mut table, &numbers(500)).wait().unwrap();
        let mut part = rows.slice(0, 0..1).unwrap();
        let one = Tensor::new(&[1], vec![7u32]).unwrap();
        engine.write(&mut part, &one).wait().unwrap();
        let again = engine.gather(OP, &Rules::default(), &table, &rows).unwrap();
        let expected: Vec<u32> = [7].into_iter().chain(1..64).collect();
        assert_eq!(down(&engine, &rows), expected);
        let expected: Vec<u32> = expected.iter().map(|n| 500 + n).collect();
        assert_eq!(down(&engine, &again), expected);

        // What replaces all of a tensor replaces its reports; a part does not.
        let wrong = engine.upload(&numbers(3)).wait().unwrap();
        let rules = &Rules::ONNX;
        engine
            .gather_into(OP, rules, &table, &wrong, &mut rows)
            .unwrap();
        engine.write(&mut rows, &numbers(0)).wait().unwrap();
        assert_eq!(engine.check(&rows).wait(), Ok(None));
        engine
            .gather_into(OP, rules, &table, &wrong, &mut rows)
            .unwrap();
        engine.write(&mut part, &one).wait().unwrap();
        let found = engine.check(&rows).wait().unwrap();
        assert_eq!(found.map(|bad| (bad.value, bad.count)), Some((64, 3)));
    }
}

#[test]
fn zeros_are_zeros_in_memory_that_was_used() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        for shape in [&[][..], &[1], &[64], &[3, 5, 7], &[0, 4]] {
            let count = shape.iter().product::<usize>();
            drop([0; 3].map(|_| {
                let full = Tensor::new(shape, vec![[0xff_u8; 5]; count]).unwrap();
                engine.upload(&full).wait().unwrap()
            }));
            let zeros = engine.zeros::<[u8; 5]>(shape).unwrap();
            assert_eq!(zeros.shape(), shape);
            assert_eq!(engine.check(&zeros).wait(), Ok(None));
            assert_eq!(down(&engine, &zeros), vec![[0; 5]; count]);
        }
        // They are read by what waits, and written to.
        let mut zeros = engine.zeros::<u32>(&[64]).unwrap();
        let ids = engine.zeros::<u32>(&[64]).unwrap();
        let rows = engine.gather(OP, &Rules::ONNX, &zeros, &ids).unwrap();
        let sevens = Tensor::new(&[64], vec![7u32; 64]).unwrap();
        engine.write(&mut zeros, &sevens).wait().unwrap();
        assert_eq!(down(&engine, &rows), [0; 64]);
        assert_eq!(down(&engine, &zeros), [7; 64]);

        let role = Role::Tensor;
        let none = engine.zeros::<[u8; 0]>(&[3]).map(drop);
        assert_eq!(none, Err(Error::ZeroSizedElement { role }));
        let huge = engine.zeros::<u32>(&[usize::MAX, 2]).map(drop);
        assert!(matches!(huge, Err(Error::SizeOverflow { .. })), "{huge:?}");
    }
}
