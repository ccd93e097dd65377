//! Every verb on tensors that fit a screen.

use std::fmt::Display;

use anyhow::Result;
use wgpu_gather::quantized::{
    CodeType, Format, QuantizedTable, ScaleType, SplitFormat, ZeroPoints,
};
use wgpu_gather::{BagMode, Bags, Executor, Op, Reduce, Rules, Tensor};

use crate::demo::Part;
use crate::demo::columns::{column, side_by_side};

/// Under these rules a bad index gives zeros.
const RULES: Rules = Rules::TENSORFLOW_GPU;

/// Each verb, a quantised table, and a bad index that is an error.
pub(super) fn parts(executor: &Executor) -> Result<Vec<Part>> {
    Ok(vec![
        gather(
            executor,
            "gather along axis 0: whole rows; 7 is out of bounds and gives zeros",
            Op::gather(0),
            &Tensor::new(&[3], vec![2, 7, 0])?,
        )?,
        gather(
            executor,
            "gather_nd: one element per pair (row, column); (3, 1) is out of bounds",
            Op::gather_nd(),
            &Tensor::new(&[3, 2], vec![0, 3, 3, 1, 2, 0])?,
        )?,
        gather(
            executor,
            "gather_elements along axis 1: in each row, by column; 4 is out of bounds",
            Op::gather_elements(1),
            &Tensor::new(&[3, 2], vec![3, 0, 1, 4, 2, 2])?,
        )?,
        scatter(executor)?,
        gather_gradient(executor)?,
        embedding_bag(executor)?,
        quantized(executor)?,
        bad_index(executor)?,
    ])
}

fn table() -> Result<Tensor<i32>> {
    let values = vec![11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34];
    Ok(Tensor::new(&[3, 4], values)?)
}

/// The title, the operands and the output of a call that the executor and the reference make.
fn part<T: Display + PartialEq>(
    executor: &Executor,
    title: &str,
    operands: Vec<Vec<String>>,
    call: impl Fn(&Executor) -> wgpu_gather::Result<Tensor<T>>,
) -> Result<Part> {
    let (output, expected) = (call(executor)?, call(&Executor::Reference)?);
    let right = output == expected;
    let verdict = match right {
        true => "",
        false => "WRONG: the reference gives another output\n",
    };
    let columns = [operands, vec![column("output", &output)]].concat();
    let text = format!("\n{title}\n{}{verdict}", side_by_side(&columns));
    Ok(Part { text, right })
}

fn gather(executor: &Executor, title: &str, op: Op, indices: &Tensor<i32>) -> Result<Part> {
    let params = table()?;
    let operands = vec![column("params", &params), column("indices", indices)];
    part(executor, title, operands, |executor| {
        executor.gather(op, &RULES, &params, indices).wait()
    })
}

fn scatter(executor: &Executor) -> Result<Part> {
    let params = Tensor::new(&[3, 2], vec![10, 10, 20, 20, 30, 30])?;
    let ids = Tensor::new(&[3], vec![2, 0, 2])?;
    let updates = Tensor::new(&[3, 2], vec![1, 2, 3, 4, 5, 6])?;
    let operands = vec![
        column("params", &params),
        column("indices", &ids),
        column("updates", &updates),
    ];
    let title =
        "scatter along axis 0, reduce = add: row 2 gets two updates, in the order of the indices";
    part(executor, title, operands, |executor| {
        let (op, reduce) = (Op::gather(0), Reduce::Add);
        executor
            .scatter(op, reduce, &RULES, &params, &ids, &updates)
            .wait()
    })
}

fn gather_gradient(executor: &Executor) -> Result<Part> {
    let ids = Tensor::new(&[3], vec![2, 0, 2])?;
    let gradient = Tensor::new(&[3, 2], vec![0.5f32, 1.0, 1.5, 2.0, 2.5, 3.0])?;
    let operands = vec![column("indices", &ids), column("grad_output", &gradient)];
    let title =
        "gather_gradient of a gather along axis 0: row 1 was not read, row 2 was read twice";
    part(executor, title, operands, |executor| {
        executor
            .gather_gradient(Op::gather(0), &RULES, &[3, 2], &ids, &gradient)
            .wait()
    })
}

fn embedding_bag(executor: &Executor) -> Result<Part> {
    let params = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 10.0, 20.0, 0.5, 0.25])?;
    let ids = Tensor::new(&[4], vec![0, 1, 1, 2])?;
    let offsets = [0, 3];
    let shown = Tensor::new(&[2], offsets.to_vec())?;
    let operands = vec![
        column("params", &params),
        column("indices", &ids),
        column("offsets", &shown),
    ];
    let title = "embedding_bag, mode = sum: the bags 0 1 1 and 2, each folded into one row";
    part(executor, title, operands, |executor| {
        let bags = Bags::offsets(BagMode::Sum, &offsets);
        executor.embedding_bag(bags, &RULES, &params, &ids).wait()
    })
}

fn quantized(executor: &Executor) -> Result<Part> {
    let codes = Tensor::new(&[2, 4], vec![0u8, 4, 8, 12, 15, 8, 9, 7])?;
    let scales = Tensor::new(&[2, 1], vec![0.5f32, 2.0])?;
    // Two codes lie in a byte, the first in the low bits.
    let packed: Vec<u8> = codes
        .data()
        .chunks(2)
        .map(|pair| pair[0] | pair[1] << 4)
        .collect();
    let scale_bytes: Vec<u8> = scales.data().iter().flat_map(|s| s.to_le_bytes()).collect();
    let format = SplitFormat {
        codes: CodeType::U4,
        scales: ScaleType::F32,
        zero_points: ZeroPoints::Middle,
        block_size: 16,
        axis: -1,
    };
    let table = QuantizedTable::new(Format::Split(format), &[2, 4], &packed, &scale_bytes, &[])?;
    let ids = Tensor::new(&[2], vec![1, 0])?;
    let operands = vec![
        column("codes", &codes),
        column("scales", &scales),
        column("indices", &ids),
    ];
    let title =
        "gather from a table of 4 bits per element: scale * (code - 8), decoded where it is read";
    part(executor, title, operands, |executor| {
        executor
            .gather(Op::gather(0), &RULES, &table.to::<f32>(), &ids)
            .wait()
    })
}

/// The same bad index under rules that make it an error, which every executor reports alike.
fn bad_index(executor: &Executor) -> Result<Part> {
    let (params, ids) = (table()?, Tensor::new(&[3], vec![2, 7, 0])?);
    let complaint = |executor: &Executor| {
        let call = executor.gather(Op::gather(0), &Rules::TORCH, &params, &ids);
        call.wait().err().map(|error| error.to_string())
    };
    let got = complaint(executor);
    let right = got.is_some() && got == complaint(&Executor::Reference);
    let shown = got.unwrap_or_else(|| "WRONG: no error".to_owned());
    let text = format!(
        "\nthe first gather again, by PyTorch's rules: a bad index is an error\n  {shown}\n"
    );
    Ok(Part { text, right })
}
