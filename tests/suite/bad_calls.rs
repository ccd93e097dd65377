//! Bad calls, each with its exact error text, on every executor; none panics.

mod shapes;

use wgpu_gather::{Executor, Op, Rules, Tensor};

use crate::common::executors;

struct Bad {
    op: Op,
    rules: Rules,
    params: &'static [usize],
    indices: &'static [usize],
    values: &'static [i64],
    error: &'static str,
}

const TF: Rules = Rules::TENSORFLOW_CPU;

fn bad(op: Op, params: &'static [usize], indices: &'static [usize], error: &'static str) -> Bad {
    Bad {
        op,
        rules: TF,
        params,
        indices,
        values: &[],
        error,
    }
}

const fn batched(axis: isize, batch_dims: isize) -> Op {
    Op::Gather {
        axis: Some(axis),
        batch_dims,
    }
}

fn values() -> Vec<Bad> {
    let with = |op, rules, params, indices, values, error| Bad {
        op,
        rules,
        params,
        indices,
        values,
        error,
    };
    vec![
        with(
            Op::gather(0),
            TF,
            &[10],
            &[2, 5],
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 12],
            "gather: indices[1, 4] = 12 is out of bounds for params axis 0 of extent 10",
        ),
        with(
            Op::gather(0),
            TF,
            &[10],
            &[],
            &[10],
            "gather: indices = 10 is out of bounds for params axis 0 of extent 10",
        ),
        with(
            Op::gather(0),
            TF,
            &[10, 2],
            &[3],
            &[0, -1, 11],
            "gather: indices[1] = -1 is out of bounds for params axis 0 of extent 10 (the first of 2 bad indices)",
        ),
        with(
            Op::gather(0),
            Rules::ONNX,
            &[10, 2],
            &[3],
            &[0, -1, -11],
            "gather: indices[2] = -11 is out of bounds for params axis 0 of extent 10",
        ),
        with(
            Op::gather(-1),
            TF,
            &[2, 3],
            &[1],
            &[4294967296],
            "gather: indices[0] = 4294967296 is out of bounds for params axis 1 of extent 3",
        ),
        with(
            Op::gather(0),
            TF,
            &[10],
            &[1],
            &[i64::MIN],
            "gather: indices[0] = -9223372036854775808 is out of bounds for params axis 0 of extent 10",
        ),
        with(
            Op::gather(0),
            TF,
            &[0, 2],
            &[1],
            &[0],
            "gather: indices[0] = 0 is out of bounds for params axis 0 of extent 0",
        ),
        with(
            batched(1, 1),
            TF,
            &[2, 3],
            &[2, 2],
            &[0, 1, 2, 3],
            "gather: indices[1, 1] = 3 is out of bounds for params axis 1 of extent 3",
        ),
        with(
            Op::gather_nd(),
            TF,
            &[2, 3],
            &[2, 2],
            &[1, 2, 1, 3],
            "gather_nd: indices[1, 1] = 3 is out of bounds for params axis 1 of extent 3",
        ),
        with(
            Op::gather_nd(),
            TF,
            &[2, 3],
            &[2, 2],
            &[2, 3, 0, -1],
            "gather_nd: indices[0, 0] = 2 is out of bounds for params axis 0 of extent 2 (the first of 2 bad indices)",
        ),
        with(
            Op::GatherNd { batch_dims: 1 },
            TF,
            &[2, 3],
            &[2, 1],
            &[0, 9],
            "gather_nd: indices[1, 0] = 9 is out of bounds for params axis 1 of extent 3",
        ),
        with(
            Op::gather_elements(1),
            Rules::TORCH,
            &[2, 2],
            &[2, 2],
            &[0, 1, 2, 0],
            "gather_elements: indices[1, 0] = 2 is out of bounds for params axis 1 of extent 2",
        ),
        with(
            Op::gather_elements(0),
            Rules::TORCH,
            &[],
            &[],
            &[1],
            "gather_elements: indices = 1 is out of bounds for params axis 0 of extent 1",
        ),
    ]
}

#[test]
fn bad_calls_have_their_exact_errors_on_every_executor() {
    let mut all = executors();
    all.push(Executor::Reference);
    for executor in &all {
        for case in shapes::shapes().into_iter().chain(values()) {
            let params =
                Tensor::new(case.params, vec![1.0f32; case.params.iter().product()]).unwrap();
            let count = case.indices.iter().product();
            let mut indices = case.values.to_vec();
            indices.resize(count, 0);
            let indices = Tensor::new(case.indices, indices).unwrap();
            let got = executor
                .gather(case.op, &case.rules, &params, &indices)
                .wait();
            let got = got.expect_err(case.error).to_string();
            assert_eq!(got, case.error, "{}", executor.describe());
        }
    }
}

#[test]
fn every_operator_has_a_bad_call() {
    for op in Op::ALL {
        let kind = op.kind();
        let mut shapes = shapes::shapes().into_iter();
        assert!(shapes.any(|case| case.op.kind() == kind), "{kind}");
    }
}

#[test]
fn empty_outputs_look_at_no_index() {
    type Dims = &'static [usize];
    let cases: [(Op, Rules, Dims, Dims, Dims); 6] = [
        (Op::gather(0), Rules::ONNX, &[3, 0], &[2], &[2, 0]),
        (Op::gather(1), Rules::ONNX, &[0, 3], &[2], &[0, 2]),
        (Op::gather(0), Rules::NUMPY_CLIP, &[0, 0], &[2], &[2, 0]),
        (Op::gather_nd(), Rules::ONNX, &[3, 0], &[2, 1], &[2, 0]),
        (Op::gather_elements(0), Rules::TORCH, &[3], &[0, 7], &[0, 7]),
        (Op::gather(0), Rules::ONNX, &[0], &[0], &[0]),
    ];
    for executor in executors() {
        for (op, rules, params, indices, output) in &cases {
            let params = Tensor::new(params, vec![0u8; params.iter().product()]).unwrap();
            let bad = vec![99i32; indices.iter().product()];
            let indices = Tensor::new(indices, bad).unwrap();
            let got = executor.gather(*op, rules, &params, &indices).wait();
            assert_eq!(got.unwrap().shape(), *output);
        }
    }
}
