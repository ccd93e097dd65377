//! The examples of the frameworks' documentation, typed by hand.

use wgpu_gather::{Error, Executor, Op, Rules, Tensor, gather_cloned};

use crate::common::executors;

struct Example {
    /// Where it stands.
    source: &'static str,
    op: Op,
    rules: Rules,
    params: (&'static [usize], &'static [i32]),
    indices: (&'static [usize], &'static [i64]),
    output: (&'static [usize], &'static [i32]),
}

fn examples() -> Vec<Example> {
    let tf = Rules::TENSORFLOW_CPU;
    vec![
        Example {
            source: "torch.gather: t = [[1, 2], [3, 4]], dim 1, [[0, 0], [1, 0]]",
            op: Op::gather_elements(1),
            rules: Rules::TORCH,
            params: (&[2, 2], &[1, 2, 3, 4]),
            indices: (&[2, 2], &[0, 0, 1, 0]),
            output: (&[2, 2], &[1, 1, 4, 3]),
        },
        Example {
            source: "tf.gather: rows of a matrix",
            op: Op::gather(0),
            rules: tf.clone(),
            params: (&[4, 3], &[0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]),
            indices: (&[2], &[3, 1]),
            output: (&[2, 3], &[30, 31, 32, 10, 11, 12]),
        },
        Example {
            source: "tf.gather: columns of a matrix",
            op: Op::gather(1),
            rules: tf.clone(),
            params: (&[4, 3], &[0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]),
            indices: (&[2], &[2, 1]),
            output: (&[4, 2], &[2, 1, 12, 11, 22, 21, 32, 31]),
        },
        Example {
            source: "tf.gather: batch_dims = 1 picks the non-zero columns",
            op: Op::Gather {
                axis: Some(1),
                batch_dims: 1,
            },
            rules: tf.clone(),
            params: (&[3, 5], &[0, 0, 1, 0, 2, 3, 0, 0, 0, 4, 0, 5, 0, 6, 0]),
            indices: (&[3, 2], &[2, 4, 0, 4, 1, 3]),
            output: (&[3, 2], &[1, 2, 3, 4, 5, 6]),
        },
        Example {
            source: "tf.gather_nd: elements of a matrix",
            op: Op::gather_nd(),
            rules: tf.clone(),
            params: (&[2, 2], &[1, 2, 3, 4]),
            indices: (&[2, 2], &[0, 0, 1, 1]),
            output: (&[2], &[1, 4]),
        },
        Example {
            source: "tf.gather_nd: slices of a matrix",
            op: Op::gather_nd(),
            rules: tf.clone(),
            params: (&[2, 2], &[1, 2, 3, 4]),
            indices: (&[2, 1], &[1, 0]),
            output: (&[2, 2], &[3, 4, 1, 2]),
        },
        Example {
            source: "tf.gather_nd: batch_dims = 1",
            op: Op::GatherNd { batch_dims: 1 },
            rules: tf.clone(),
            params: (&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]),
            indices: (&[2, 1], &[1, 0]),
            output: (&[2, 2], &[3, 4, 5, 6]),
        },
        Example {
            source: "tf.gather_nd: zeros where an index is out of bounds on a GPU",
            op: Op::gather_nd(),
            rules: Rules::TENSORFLOW_GPU,
            params: (&[2, 2], &[1, 2, 3, 4]),
            indices: (&[3, 2], &[0, 1, 1, 2, 0, -1]),
            output: (&[3], &[2, 0, 0]),
        },
        Example {
            source: "ONNX Gather: axis 0",
            op: Op::gather(0),
            rules: Rules::ONNX,
            params: (&[3, 2], &[10, 12, 23, 34, 45, 57]),
            indices: (&[2, 2], &[0, 1, 1, 2]),
            output: (&[2, 2, 2], &[10, 12, 23, 34, 23, 34, 45, 57]),
        },
        Example {
            source: "ONNX Gather: axis 1",
            op: Op::gather(1),
            rules: Rules::ONNX,
            params: (&[3, 3], &[10, 12, 19, 23, 34, 39, 45, 57, 59]),
            indices: (&[1, 2], &[0, 2]),
            output: (&[3, 1, 2], &[10, 19, 23, 39, 45, 59]),
        },
        Example {
            source: "ONNX GatherElements: axis 1",
            op: Op::gather_elements(1),
            rules: Rules::ONNX,
            params: (&[2, 2], &[1, 2, 3, 4]),
            indices: (&[2, 2], &[0, 0, 1, 0]),
            output: (&[2, 2], &[1, 1, 4, 3]),
        },
        Example {
            source: "ONNX GatherElements: axis 0, negative indices",
            op: Op::gather_elements(0),
            rules: Rules::ONNX,
            params: (&[3, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
            indices: (&[2, 3], &[-1, -2, 0, -2, 0, 0]),
            output: (&[2, 3], &[7, 5, 3, 4, 2, 3]),
        },
        Example {
            source: "ONNX GatherND: example 1",
            op: Op::gather_nd(),
            rules: Rules::ONNX,
            params: (&[2, 2], &[0, 1, 2, 3]),
            indices: (&[2, 2], &[0, 0, 1, 1]),
            output: (&[2], &[0, 3]),
        },
        Example {
            source: "ONNX GatherND: example 4",
            op: Op::gather_nd(),
            rules: Rules::ONNX,
            params: (&[2, 2, 2], &[0, 1, 2, 3, 4, 5, 6, 7]),
            indices: (&[2, 1, 2], &[0, 1, 1, 0]),
            output: (&[2, 1, 2], &[2, 3, 4, 5]),
        },
        Example {
            source: "ONNX GatherND: example 5, batch_dims = 1",
            op: Op::GatherNd { batch_dims: 1 },
            rules: Rules::ONNX,
            params: (&[2, 2, 2], &[0, 1, 2, 3, 4, 5, 6, 7]),
            indices: (&[2, 1], &[1, 0]),
            output: (&[2, 2], &[2, 3, 4, 5]),
        },
    ]
}

#[test]
fn documented_examples_on_every_executor() {
    let mut executors = executors();
    executors.push(Executor::Reference);
    for executor in &executors {
        for e in examples() {
            let params = Tensor::new(e.params.0, e.params.1.to_vec()).unwrap();
            let indices = Tensor::new(e.indices.0, e.indices.1.to_vec()).unwrap();
            let got = executor.gather(e.op, &e.rules, &params, &indices).wait();
            let expected = Tensor::new(e.output.0, e.output.1.to_vec()).unwrap();
            assert_eq!(got, Ok(expected), "{} on {}", e.source, executor.describe());
        }
    }
}

#[test]
fn strings_follow_their_positions() {
    let words = ["a", "b", "c"].map(str::to_owned);
    let params = Tensor::new(&[3], words.to_vec()).unwrap();
    let indices = Tensor::new(&[2, 2], vec![2i32, 0, 3, -1]).unwrap();
    let gather = |rules: &Rules| {
        let (params, indices) = (params.view(), indices.view());
        gather_cloned(Op::gather(0), rules, &params, &indices, &String::new())
    };
    let zero = gather(&Rules::TENSORFLOW_GPU).unwrap();
    assert_eq!(zero.data(), ["c", "a", "", ""]);
    let end = gather(&Rules::OPENVINO_8).unwrap();
    assert_eq!(end.data(), ["c", "a", "", "c"]);
    let error = gather(&Rules::ONNX).unwrap_err();
    assert!(matches!(error, Error::IndexOutOfBounds(bad) if bad.position == [1, 0]));
}

#[test]
fn zero_dimensional_and_empty_tensors_as_torch_has_them() {
    // torch.gather: a 0-d tensor acts as shape [1]; empty indices give an empty output of their
    // shape, whatever params is.
    let cases: [(&[usize], &[usize], isize); 6] = [
        (&[], &[], 0),
        (&[], &[3], -1),
        (&[1], &[], 0),
        (&[4], &[], -1),
        (&[2, 3], &[0], 1),
        (&[], &[5, 0, 2], 0),
    ];
    let mut executors = executors();
    executors.push(Executor::Reference);
    for executor in &executors {
        for (params_shape, indices_shape, axis) in cases {
            let elements = params_shape.iter().product();
            let params = Tensor::new(params_shape, vec![7u8; elements]).unwrap();
            let count: usize = indices_shape.iter().product();
            let indices = Tensor::new(indices_shape, vec![0i64; count]).unwrap();
            let op = Op::gather_elements(axis);
            let got = executor.gather(op, &Rules::TORCH, &params, &indices).wait();
            let expected = Tensor::new(indices_shape, vec![7u8; count]).unwrap();
            assert_eq!(got, Ok(expected), "{params_shape:?}, {indices_shape:?}");
        }
    }
}

#[test]
fn an_axis_of_extent_zero_gives_zeros_where_zeros_are_asked_for() {
    let params = Tensor::new(&[0, 2], vec![0u16; 0]).unwrap();
    let indices = Tensor::new(&[3], vec![0i32, -1, 5]).unwrap();
    for executor in executors() {
        let rules = Rules::TENSORFLOW_GPU;
        let got = executor
            .gather(Op::gather(0), &rules, &params, &indices)
            .wait();
        assert_eq!(got.unwrap().data(), [0; 6]);
    }
}
