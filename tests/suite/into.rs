//! Outputs in memory of the caller: what lies around them stays as it is, and their length is
//! checked before anything is written.

use wgpu_gather::{BadIndices, Error, Executor, Op, OpKind, Result, Rules, Tensor};

use crate::common::{block_on, executors};

const POISON: u16 = 0xa5a5;

fn all_executors() -> Vec<Executor> {
    let mut all = executors();
    all.push(Executor::Reference);
    all
}

/// What both forms of `run_into` make of the middle of a slice of poison, which must agree.
fn into(
    executor: &Executor,
    op: Op,
    rules: &Rules,
    (params, indices): (&Tensor<u16>, &Tensor<i64>),
    len: usize,
) -> (Result<()>, Vec<u16>) {
    let (params, indices) = (&params.view(), &indices.view());
    let made = [true, false].map(|blocking| {
        let mut memory = vec![POISON; len + 6];
        let output = &mut memory[3..3 + len];
        let result = match blocking {
            true => executor.run_into_blocking(op, rules, params, indices, output),
            false => block_on(executor.run_into(op, rules, params, indices, output)),
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
                let new = executor.run_blocking(op, &rules, &table.view(), &indices.view());
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
                .run_into_blocking(op, &rules, &table.view(), &at.view(), &mut rows)
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
