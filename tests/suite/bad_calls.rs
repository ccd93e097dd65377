//! Bad calls, each with its exact error text, on every executor; none panics.

use wgpu_gather::{
    Error, Executor, Fill, IndexType, Indices, Layout, Op, OutOfBounds, Params, Rules, Tensor,
    TensorView,
};

use wgpu_gather::Plan;

use crate::common::{block_on, engines, executors};

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

fn shapes() -> Vec<Bad> {
    let nd = |batch_dims| Op::GatherNd { batch_dims };
    vec![
        bad(
            Op::gather(0),
            &[],
            &[1],
            "gather: params has rank 0, but needs at least 1",
        ),
        bad(
            Op::gather(3),
            &[2, 3, 4],
            &[1],
            "gather: axis 3 is out of range for params of rank 3 (allowed -3..=2)",
        ),
        bad(
            Op::gather(-4),
            &[2, 3, 4],
            &[1],
            "gather: axis -4 is out of range for params of rank 3 (allowed -3..=2)",
        ),
        bad(
            Op::gather(isize::MAX),
            &[2],
            &[1],
            "gather: axis 9223372036854775807 is out of range for params of rank 1 (allowed -1..=0)",
        ),
        bad(
            Op::gather(isize::MIN),
            &[2],
            &[1],
            "gather: axis -9223372036854775808 is out of range for params of rank 1 (allowed -1..=0)",
        ),
        bad(
            batched(1, 3),
            &[2, 3, 4],
            &[2, 3],
            "gather: batch_dims 3 is out of range for indices of rank 2 and params of rank 3 (allowed -2..=2)",
        ),
        bad(
            batched(1, -3),
            &[2, 3, 4],
            &[2, 3],
            "gather: batch_dims -3 is out of range for indices of rank 2 and params of rank 3 (allowed -2..=0)",
        ),
        bad(
            batched(0, 2),
            &[2, 3],
            &[2, 3, 4],
            "gather: batch_dims 2 is out of range for indices of rank 3 and params of rank 2 (allowed 0..=1)",
        ),
        bad(
            batched(0, -1),
            &[2, 3],
            &[2, 3, 4],
            "gather: batch_dims -1 is out of range for indices of rank 3 and params of rank 2 (allowed -3..=-2)",
        ),
        bad(
            batched(0, isize::MIN),
            &[2],
            &[2],
            "gather: batch_dims -9223372036854775808 is out of range for indices of rank 1 and params of rank 1 (allowed -1..=-1)",
        ),
        bad(
            batched(0, 1),
            &[2, 3],
            &[2, 3],
            "gather: axis 0 is less than batch_dims = 1; the axis must follow the batch dims",
        ),
        bad(
            batched(1, 1),
            &[2, 3],
            &[3, 3],
            "gather: params dim 0 is 2, but indices dim 0 is 3; the first batch_dims = 1 dims must be equal",
        ),
        bad(
            batched(2, 2),
            &[2, 1, 4],
            &[2, 3],
            "gather: params dim 1 is 1, but indices dim 1 is 3; the first batch_dims = 2 dims must be equal",
        ),
        bad(
            nd(0),
            &[],
            &[1, 1],
            "gather_nd: params has rank 0, but needs at least 1",
        ),
        bad(
            nd(0),
            &[2],
            &[],
            "gather_nd: indices has rank 0, but needs at least 1",
        ),
        bad(
            nd(0),
            &[2, 3],
            &[5, 3],
            "gather_nd: indices dim -1 is 3, but params has 2 dims after batch_dims = 0",
        ),
        bad(
            nd(1),
            &[5, 2, 3, 4],
            &[5, 4],
            "gather_nd: indices dim -1 is 4, but params has 3 dims after batch_dims = 1",
        ),
        bad(
            nd(-1),
            &[5, 2],
            &[5, 1],
            "gather_nd: batch_dims -1 is out of range for indices of rank 2 and params of rank 2 (allowed 0..=1)",
        ),
        bad(
            nd(2),
            &[5, 2],
            &[5, 2],
            "gather_nd: batch_dims 2 is out of range for indices of rank 2 and params of rank 2 (allowed 0..=1)",
        ),
        bad(
            nd(1),
            &[5, 2],
            &[4, 1],
            "gather_nd: params dim 0 is 5, but indices dim 0 is 4; the first batch_dims = 1 dims must be equal",
        ),
        bad(
            Op::gather_elements(0),
            &[],
            &[1],
            "gather_elements: params has rank 0, but needs at least 1",
        ),
        bad(
            Op::gather_elements(0),
            &[1],
            &[],
            "gather_elements: indices has rank 0, but needs at least 1",
        ),
        bad(
            Op::gather_elements(2),
            &[2, 2],
            &[2, 2],
            "gather_elements: axis 2 is out of range for params of rank 2 (allowed -2..=1)",
        ),
        bad(
            Op::gather_elements(-3),
            &[2, 2],
            &[2, 2],
            "gather_elements: axis -3 is out of range for params of rank 2 (allowed -2..=1)",
        ),
        bad(
            Op::gather_elements(0),
            &[2, 2],
            &[2],
            "gather_elements: indices has rank 1, but params has rank 2; the ranks must be equal",
        ),
        bad(
            Op::gather_elements(0),
            &[2, 3, 5],
            &[2, 3, 7],
            "gather_elements: indices dim 2 is 7, larger than params dim 2 = 5; only the axis (0) may be larger",
        ),
        bad(
            Op::gather_elements(-1),
            &[2, 3],
            &[3, 3],
            "gather_elements: indices dim 0 is 3, larger than params dim 0 = 2; only the axis (1) may be larger",
        ),
        Bad {
            rules: Rules::TORCH,
            ..bad(
                Op::gather_elements(1),
                &[],
                &[],
                "gather_elements: axis 1 is out of range for params of rank 1 (allowed -1..=0)",
            )
        },
        Bad {
            rules: Rules::TORCH,
            ..bad(
                Op::gather_elements(0),
                &[],
                &[1, 1],
                "gather_elements: indices has rank 2, but params has rank 0; the ranks must be equal",
            )
        },
        Bad {
            rules: Rules::TORCH,
            ..bad(
                Op::gather_elements(-2),
                &[3],
                &[0, 2],
                "gather_elements: axis -2 is out of range for params of rank 1 (allowed -1..=0)",
            )
        },
        Bad {
            rules: Rules::NUMPY_CLIP,
            ..bad(
                Op::gather(1),
                &[2, 0],
                &[3],
                "gather: params axis 1 has extent 0, so out_of_bounds = clip has no element to read",
            )
        },
        Bad {
            rules: Rules::NUMPY_WRAP,
            ..bad(
                Op::gather_nd(),
                &[2, 0],
                &[3, 2],
                "gather_nd: params axis 1 has extent 0, so out_of_bounds = wrap has no element to read",
            )
        },
        Bad {
            rules: TF.with_out_of_bounds(OutOfBounds::Fill(Fill::new(1.0f64))),
            ..bad(
                Op::gather(0),
                &[2],
                &[1],
                "gather: the fill value has 8 bytes, but an element of params has 4",
            )
        },
        Bad {
            rules: TF.with_out_of_bounds(OutOfBounds::Fill(Fill::from_bytes(&[]))),
            ..bad(
                Op::gather(0),
                &[2],
                &[0],
                "gather: the fill value has 0 bytes, but an element of params has 4",
            )
        },
    ]
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
        for case in shapes().into_iter().chain(values()) {
            let params =
                Tensor::new(case.params, vec![1.0f32; case.params.iter().product()]).unwrap();
            let count = case.indices.iter().product();
            let mut indices = case.values.to_vec();
            indices.resize(count, 0);
            let indices = Tensor::new(case.indices, indices).unwrap();
            let got = executor.run_blocking(case.op, &case.rules, &params.view(), &indices.view());
            let got = got.expect_err(case.error).to_string();
            assert_eq!(got, case.error, "{}", executor.describe());
        }
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
            let got = executor.run_blocking(*op, rules, &params.view(), &indices.view());
            assert_eq!(got.unwrap().shape(), *output);
        }
    }
}

#[test]
fn bad_tensors_are_named_before_anything_runs() {
    let text = |result: Result<(), Error>| result.unwrap_err().to_string();
    let huge = Layout::strided(&[1 << 40, 1 << 40], &[0, 0], 0).unwrap();
    let data = [1.0f32; 6];
    let zero_sized: [[u8; 0]; 2] = [[], []];
    let table = [
        (
            text(Tensor::new(&[2, 3], vec![0u8; 5]).map(drop)),
            "tensor: shape [2, 3] needs 6 elements, got 5",
        ),
        (
            text(TensorView::new(&[7], &data).map(drop)),
            "tensor: shape [7] needs 7 elements, got 6",
        ),
        (
            text(Tensor::<u64>::new(&[usize::MAX, 2], vec![]).map(drop)),
            "tensor: shape [18446744073709551615, 2] with 8-byte elements needs more bytes than can be addressed",
        ),
        (
            text(Layout::strided(&[2, 3], &[1], 0).map(drop)),
            "a view has 2 dims, but 1 strides; there must be one for each",
        ),
        (
            text(
                Layout::strided(&[2, 3], &[3, 1], 1)
                    .and_then(|l| TensorView::strided(l, &data).map(drop)),
            ),
            "tensor: a view of shape [2, 3], strides [3, 1] and offset 1 reaches outside its 6 elements",
        ),
        (
            text(
                Layout::strided(&[3], &[-1], 1)
                    .and_then(|l| TensorView::strided(l, &data).map(drop)),
            ),
            "tensor: a view of shape [3], strides [-1] and offset 1 reaches outside its 6 elements",
        ),
        (
            text(Params::new(&[0; 7], 4, Layout::contiguous(&[1])).map(drop)),
            "params: 7 bytes are not a whole number of 4-byte elements",
        ),
        (
            text(Params::new(&[0; 4], 0, Layout::contiguous(&[1])).map(drop)),
            "params: elements of 0 bytes cannot be gathered (allowed: 1 byte or more)",
        ),
        (
            text(Indices::new(&[0u8; 12][..], IndexType::I64, Layout::contiguous(&[1])).map(drop)),
            "indices: 12 bytes are not a whole number of 8-byte elements",
        ),
        (
            text(Indices::new(&[0u8; 8][..], IndexType::I64, Layout::contiguous(&[2])).map(drop)),
            "indices: a view of shape [2], strides [1] and offset 0 reaches outside its 1 elements",
        ),
        (
            text(Params::try_from(&TensorView::new(&[2], &zero_sized).unwrap()).map(drop)),
            "params: elements of 0 bytes cannot be gathered (allowed: 1 byte or more)",
        ),
        (
            text(Params::new(&[0; 4], 4, huge.clone()).and_then(|p| {
                let indices = Indices::new(
                    &[0u8; 4][..],
                    IndexType::I32,
                    Layout::strided(&[1 << 30], &[0], 0)?,
                )?;
                block_on(Executor::Cpu.run_bytes(Op::gather(0), &TF, &p, &indices, &mut []))
            })),
            "output: shape [1073741824, 1099511627776] with 4-byte elements needs more bytes than can be addressed",
        ),
        (
            text(
                Params::new(&[0; 4], 4, Layout::contiguous(&[1])).and_then(|p| {
                    let indices =
                        Indices::new(&[0u8; 8][..], IndexType::I32, Layout::contiguous(&[2]))?;
                    block_on(Executor::Cpu.run_bytes(Op::gather(0), &TF, &p, &indices, &mut [0; 7]))
                }),
            ),
            "gather: the output needs 8 bytes, got a buffer of 7",
        ),
    ];
    for (got, expected) in table {
        assert_eq!(got, expected);
    }
}

#[test]
fn an_output_that_no_host_can_hold_is_an_error() {
    // A broadcast table and broadcast indices: a few bytes in, 2^62 bytes out.
    let params =
        TensorView::strided(Layout::strided(&[1, 1 << 31], &[0, 0], 0).unwrap(), &[1u8]).unwrap();
    let indices =
        TensorView::strided(Layout::strided(&[1 << 31], &[0], 0).unwrap(), &[0i32]).unwrap();
    for executor in executors() {
        let got = executor
            .run_blocking(Op::gather(0), &TF, &params, &indices)
            .unwrap_err();
        assert_eq!(
            got.to_string(),
            "output: the host could not allocate 4611686018427387904 bytes"
        );
    }
}

#[test]
fn what_shaders_cannot_carry_is_an_error_that_names_the_cpu_path() {
    let indices = Tensor::new(&[1], vec![0i32]).unwrap();
    let wide = Tensor::new(&[2], vec![[1u8; 257]; 2]).unwrap();
    let rules = TF.with_out_of_bounds(OutOfBounds::Fill(Fill::new([7u8; 257])));
    // 34 dims that no two of which merge: every second element of each
    let shape = [2usize; 20];
    let strides: Vec<isize> = (0..20).map(|n| 3isize.pow(n) % 1000).collect();
    let data: Vec<u8> = (0..40_000).map(|n| n as u8).collect();
    let view = TensorView::strided(Layout::strided(&shape, &strides, 0).unwrap(), &data).unwrap();
    let shape = [1usize; 20].map(|_| 2);
    let index_strides: Vec<isize> = (0..20).map(|n| 3isize.pow(n) % 700).collect();
    let zeros = vec![0u32; 40_000];
    let many = TensorView::strided(
        Layout::strided(&shape[..14], &index_strides[..14], 0).unwrap(),
        &zeros,
    )
    .unwrap();
    for executor in executors().iter().filter(|e| !matches!(e, Executor::Cpu)) {
        let fill = executor.run_blocking(Op::gather(0), &rules, &wide.view(), &indices.view());
        assert_eq!(
            fill.unwrap_err().to_string(),
            "gather: the GPU path carries 256 bytes of fill value, this call needs 257; the CPU path has no such limit"
        );
        let loops = executor.run_bytes_blocking(
            Op::gather(0),
            &Rules::TENSORFLOW_GPU,
            &Params::try_from(&view).unwrap(),
            &Indices::try_from(&many).unwrap(),
            &mut vec![0; 1 << 33],
        );
        assert_eq!(
            loops.unwrap_err().to_string(),
            "gather: the GPU path carries 32 loops, this call needs 33; the CPU path has no such limit"
        );
    }
}

#[test]
fn a_plan_for_other_tensors_is_refused() {
    let tensors = |params: &[usize], indices: &[usize]| {
        let bytes = |shape: &[usize]| vec![0u8; shape.iter().product::<usize>() * 4];
        (
            bytes(params),
            Layout::contiguous(params),
            bytes(indices),
            Layout::contiguous(indices),
        )
    };
    let (p, p_layout, i, i_layout) = tensors(&[4, 3], &[2]);
    let (q, q_layout, j, j_layout) = tensors(&[4, 2], &[3]);
    let params = Params::new(&p, 4, p_layout).unwrap();
    let indices = Indices::new(&i[..], IndexType::I32, i_layout.clone()).unwrap();
    let plan = Plan::of(Op::gather(0), &TF, &params, &indices).unwrap();
    let other_params = Params::new(&q, 4, q_layout).unwrap();
    let other_indices = Indices::new(&j[..], IndexType::I32, j_layout).unwrap();
    let other_type = Indices::new(&i[..], IndexType::U32, i_layout).unwrap();
    let mut output = [0; 24];
    let cases = [
        (
            &other_params,
            &indices,
            "gather: the plan is for params of shape [4, 3], got shape [4, 2] (strides, offset and type must agree, too)",
        ),
        (
            &params,
            &other_indices,
            "gather: the plan is for indices of shape [2], got shape [3] (strides, offset and type must agree, too)",
        ),
        (
            &params,
            &other_type,
            "gather: the plan is for indices of shape [2], got shape [2] (strides, offset and type must agree, too)",
        ),
    ];
    for (params, indices, text) in cases {
        for engine in engines() {
            let got = engine.execute_blocking(&plan, params, indices, &mut output);
            assert_eq!(got.unwrap_err().to_string(), text);
        }
    }
}
