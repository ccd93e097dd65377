//! Outputs in memory of the caller: what lies around them stays as it is, and their length is
//! checked before anything is written.

use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{
    BadIndices, BagMode, Bags, Error, Executor, Op, OpKind, Params, Result, Rules, Tensor,
};

use crate::common::{block_on, executors};

const POISON: u16 = 0xa5a5;

fn all_executors() -> Vec<Executor> {
    let mut all = executors();
    all.push(Executor::Reference);
    all
}

/// What a call makes that is waited for, and one that is polled, in the middle of a slice of poison; they must agree.
fn into(
    executor: &Executor,
    op: Op,
    rules: &Rules,
    (params, indices): (&Tensor<u16>, &Tensor<i64>),
    len: usize,
) -> (Result<()>, Vec<u16>) {
    let made = [true, false].map(|blocking| {
        let mut memory = vec![POISON; len + 6];
        let output = &mut memory[3..3 + len];
        let result = match blocking {
            true => executor
                .gather(op, rules, params, indices)
                .into(output)
                .wait(),
            false => {
                let call = executor.gather(op, rules, params, indices).into(output);
                block_on(call.into_future())
            }
        };
        assert_eq!(
            (&memory[..3], &memory[3 + len..]),
            (&[POISON; 3][..], &[POISON; 3][..])
        );
        (result, memory[3..3 + len].to_vec())
    });
    let [blocking, polled] = made;
    assert_eq!(blocking, polled, "{}", executor.describe());
    blocking
}

fn table() -> Tensor<u16> {
    Tensor::new(&[5, 3], (1..=15).collect()).unwrap()
}

fn ids(values: &[i64]) -> Tensor<i64> {
    Tensor::new(&[values.len()], values.to_vec()).unwrap()
}

#[test]
fn outputs_in_the_callers_memory_are_those_of_new_tensors() {
    let table = table();
    let elements = Tensor::new(&[2, 3], vec![4, 0, -1, 9, 2, 1]).unwrap();
    for executor in all_executors() {
        for rules in [Rules::TENSORFLOW_GPU, Rules::ONNX_CUDA, Rules::NUMPY_CLIP] {
            for (op, indices) in [
                (Op::gather(0), &ids(&[4, 0, 7, -1, 2])),
                (Op::gather(1), &ids(&[2, 0, 7])),
                (Op::gather_nd(), &ids(&[3, 1])),
                (Op::gather_elements(0), &elements),
            ] {
                let new = executor.gather(op, &rules, &table, indices).wait();
                let new = new.unwrap();
                let call = (&table, indices);
                let (result, got) = into(&executor, op, &rules, call, new.data().len());
                assert_eq!((result, &got[..]), (Ok(()), new.data()), "{op:?} {rules:?}");
            }
        }
    }
}

#[test]
fn an_output_serves_call_after_call() {
    let table = table();
    for executor in all_executors() {
        let mut rows = [POISON; 6];
        for (at, expected) in [
            ([0, 4], [1, 2, 3, 13, 14, 15]),
            ([9, 1], [0, 0, 0, 4, 5, 6]),
        ] {
            let (op, rules, at) = (Op::gather(0), Rules::default(), ids(&at));
            executor
                .gather(op, &rules, &table, &at)
                .into(&mut rows)
                .wait()
                .unwrap();
            assert_eq!(rows, expected, "{}", executor.describe());
        }
    }
}

#[test]
fn a_wrong_length_is_an_error_and_nothing_is_written() {
    // The length is checked before any index is: 99 would be an error, too.
    let (table, ids) = (table(), ids(&[1, 99]));
    for executor in all_executors() {
        for len in [0, 5, 7] {
            let (result, got) = into(&executor, Op::gather(0), &Rules::ONNX, (&table, &ids), len);
            let error = result.unwrap_err();
            let expected = Error::OutputLength {
                op: OpKind::Gather,
                expected: 12,
                got: 2 * len,
            };
            assert_eq!(error, expected, "{}", executor.describe());
            let text = format!(
                "gather: the output needs 12 bytes, got a buffer of {}",
                2 * len
            );
            assert_eq!(error.to_string(), text);
            assert_eq!(got, vec![POISON; len], "{}", executor.describe());
        }
    }
}

#[test]
fn a_bad_index_is_reported() {
    let (table, some_bad) = (table(), ids(&[1, 5, -6, -1]));
    for executor in all_executors() {
        let call = (&table, &some_bad);
        let (result, _) = into(&executor, Op::gather(0), &Rules::ONNX, call, 12);
        let expected = BadIndices {
            op: OpKind::Gather,
            position: vec![1],
            value: 5,
            axis: 0,
            extent: 5,
            count: 2,
        };
        let expected = Err(Error::IndexOutOfBounds(Box::new(expected)));
        assert_eq!(result, expected, "{}", executor.describe());
    }
}

#[test]
fn empty_outputs_need_no_memory_and_look_at_no_index() {
    let no_columns = Tensor::new(&[5, 0], Vec::new()).unwrap();
    for executor in all_executors() {
        for (params, indices) in [(&no_columns, &ids(&[99])), (&table(), &ids(&[]))] {
            let call = (params, indices);
            let (result, _) = into(&executor, Op::gather(0), &Rules::ONNX, call, 0);
            assert_eq!(result, Ok(()), "{}", executor.describe());
            let (result, got) = into(&executor, Op::gather(0), &Rules::ONNX, call, 1);
            let too_long = Error::OutputLength {
                op: OpKind::Gather,
                expected: 0,
                got: 2,
            };
            assert_eq!((result, got), (Err(too_long), vec![POISON]));
        }
    }
}

/// A call into the middle of a slice of poison.
fn poisoned<T: Copy + PartialEq + std::fmt::Debug>(
    (what, poison, len): (&str, T, usize),
    call: impl FnOnce(&mut [T]) -> Result<()>,
) -> (Result<()>, Vec<T>) {
    let mut memory = vec![poison; len + 6];
    let result = call(&mut memory[3..3 + len]);
    let fences = [&memory[..3], &memory[3 + len..]].concat();
    assert_eq!(fences, [poison; 6], "{what}");
    (result, memory[3..3 + len].to_vec())
}

#[test]
fn pooled_lookups_into_the_callers_memory() {
    let table = Tensor::new(&[4, 3], (0..12).collect::<Vec<i32>>()).unwrap();
    let ids = ids(&[3, 1, 9, 2]);
    let params = Params::try_from(&table.view()).unwrap();
    let bags = Bags::offsets(BagMode::Sum, &[0, 2, 2]);
    let expected = [12, 14, 16, 0, 0, 0, 6, 7, 8];
    let mut codes = vec![0, 0x3c]; // a scale of 1 in f16
    codes.extend(0..32u8);
    let codes = QuantizedTable::blocks(BlockFormat::Q8_0, &[1, 32], &codes).unwrap();
    let first = Tensor::new(&[2], vec![0u32, 0]).unwrap();
    for executor in all_executors() {
        let what = &executor.describe();
        let rules = Rules::TENSORFLOW_GPU;
        let call = || executor.embedding_bag(bags, &rules, &table, &ids);
        let made = poisoned((what, -1, 9), |output| call().into(output).wait());
        assert_eq!(made, (Ok(()), expected.to_vec()), "{what}");
        let made = poisoned((what, -1, 9), |output| {
            block_on(call().into(output).into_future())
        });
        assert_eq!(made, (Ok(()), expected.to_vec()), "{what}");
        // As bytes, where the type is known at run time.
        let made = poisoned((what, 0xa5u8, 36), |output| {
            let call = executor.embedding_bag(bags, &rules, &params, &ids);
            call.into(output).wait()
        });
        assert_eq!(made, (Ok(()), bytemuck::cast_slice(&expected).to_vec()));
        let made = poisoned((what, f32::MAX, 32), |output| {
            let (bags, decoded) = (Bags::offsets(BagMode::Sum, &[0]), codes.to::<f32>());
            let call = executor.embedding_bag(bags, &rules, &decoded, &first);
            call.into(output).wait()
        });
        let doubled = (0..32u8).map(|n| f32::from(2 * n)).collect();
        assert_eq!(made, (Ok(()), doubled), "{what}");

        for len in [0, 8, 10] {
            let (result, got) = poisoned((what, -1, len), |output| call().into(output).wait());
            let short = Error::OutputLength {
                op: OpKind::EmbeddingBag,
                expected: 36,
                got: 4 * len,
            };
            assert_eq!((result, got), (Err(short), vec![-1; len]), "{what}");
        }
        let (result, _) = poisoned((what, -1, 9), |output| {
            let call = executor.embedding_bag(bags, &Rules::ONNX, &table, &ids);
            call.into(output).wait()
        });
        assert_eq!(
            result.unwrap_err().to_string(),
            "embedding_bag: indices[2] = 9 is out of bounds for params axis 0 of extent 4",
            "{what}"
        );
    }
}

#[test]
fn gradients_into_the_callers_memory() {
    let grad = Tensor::new(&[4, 2], (1..=8).map(|n| n as f32).collect()).unwrap();
    let ids = ids(&[2, 0, 2, 9]);
    let params = Params::try_from(&grad.view()).unwrap();
    let expected = [3.0f32, 4.0, 0.0, 0.0, 6.0, 8.0];
    for executor in all_executors() {
        let what = &executor.describe();
        let rules = Rules::TENSORFLOW_GPU;
        let call = || executor.gather_gradient(Op::gather(0), &rules, &[3, 2], &ids, &grad);
        let made = poisoned((what, 7.5, 6), |output| call().into(output).wait());
        assert_eq!(made, (Ok(()), expected.to_vec()), "{what}");
        let made = poisoned((what, 7.5, 6), |output| {
            block_on(call().into(output).into_future())
        });
        assert_eq!(made, (Ok(()), expected.to_vec()), "{what}");
        let made = poisoned((what, 0xa5u8, 24), |output| {
            let op = Op::gather(0);
            let call = executor.gather_gradient(op, &rules, &[3, 2], &ids, &params);
            call.into(output).wait()
        });
        assert_eq!(made, (Ok(()), bytemuck::cast_slice(&expected).to_vec()));

        for len in [0, 5, 7] {
            let (result, got) = poisoned((what, 7.5, len), |output| call().into(output).wait());
            let is_short = matches!(result, Err(Error::OutputLength { expected: 24, got, .. })
                if got == 4 * len);
            assert!(is_short, "{what}: {result:?}");
            assert_eq!(got, vec![7.5; len], "{what}");
        }
        let (result, got) = poisoned((what, 7.5, 6), |output| {
            let (op, rules) = (Op::gather(0), Rules::ONNX);
            let call = executor.gather_gradient(op, &rules, &[3, 2], &ids, &grad);
            call.into(output).wait()
        });
        assert_eq!(
            result.unwrap_err().to_string(),
            "scatter: indices[3] = 9 is out of bounds for params axis 0 of extent 3",
            "{what}"
        );
        assert_eq!(got, expected, "{what}: the good ones have written");
        // A gradient of nothing is zeros, of params that are empty nothing.
        let none = Tensor::new(&[0], Vec::<i64>::new()).unwrap();
        let nothing = Tensor::new(&[0, 2], Vec::<f32>::new()).unwrap();
        let made = poisoned((what, 7.5, 6), |output| {
            let op = Op::gather(0);
            let call = executor.gather_gradient(op, &rules, &[3, 2], &none, &nothing);
            call.into(output).wait()
        });
        assert_eq!(made, (Ok(()), vec![0.0; 6]), "{what}");
    }
}
