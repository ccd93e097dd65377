//! Tensors, views and outputs that are wrong whatever the call, each with its exact error text.

use wgpu_gather::{
    Error, Executor, Fill, IndexType, Indices, Layout, Op, OutOfBounds, Params, Plan, Rules,
    Tensor, TensorView,
};

use crate::common::{engines, executors};

const TF: Rules = Rules::TENSORFLOW_CPU;

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
                let call = Executor::Cpu.gather(Op::gather(0), &TF, &p, &indices);
                call.into(&mut []).wait()
            })),
            "output: shape [1073741824, 1099511627776] with 4-byte elements needs more bytes than can be addressed",
        ),
        (
            text(
                Params::new(&[0; 4], 4, Layout::contiguous(&[1])).and_then(|p| {
                    let indices =
                        Indices::new(&[0u8; 8][..], IndexType::I32, Layout::contiguous(&[2]))?;
                    let call = Executor::Cpu.gather(Op::gather(0), &TF, &p, &indices);
                    call.into(&mut [0; 7]).wait()
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
            .gather(Op::gather(0), &TF, &params, &indices)
            .wait()
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
        let fill = executor
            .gather(Op::gather(0), &rules, &wide, &indices)
            .wait();
        assert_eq!(
            fill.unwrap_err().to_string(),
            "gather: the GPU path carries 256 bytes of fill value, this call needs 257; the CPU path has no such limit"
        );
    }
    // Of such an output, boxes that fit a binding have few loops; the call as one has too many.
    let (params, indices) = (Params::try_from(&view).unwrap(), Indices::try_from(&many));
    let (op, rules) = (Op::gather(0), Rules::TENSORFLOW_GPU);
    let plan = Plan::of(op, &rules, &params, &indices.unwrap()).unwrap();
    for engine in engines() {
        assert_eq!(
            engine.pipeline(&plan).wait().unwrap_err().to_string(),
            "gather: the GPU path carries 32 loops, this call needs 33; the CPU path has no such limit"
        );
    }
}
