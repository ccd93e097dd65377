//! `wgpu-gather demo`: what the operators do, and one embedding lookup, checked.

use std::time::{Duration, Instant};

use anyhow::Result;
use wgpu_gather::{Executor, Op, Rules, Tensor};

use crate::answer::Answer;
use crate::args::DemoArgs;
use crate::backend::Chosen;
use crate::text;

/// A vocabulary and a width that are common for text encoders.
const TABLE: [usize; 2] = [30_522, 384];
const IDS: usize = 4096;

/// Shows the operators, then looks up rows of a large table.
pub(crate) fn run(args: &DemoArgs) -> Result<Answer> {
    let chosen = Chosen::new(&args.backend)?;
    let mut good = true;
    let mut text = format!("Running on {}.\n{}", chosen.describe(), no_gpu(&chosen));
    for small in small_gathers()? {
        let (shown, right) = small.show(&chosen.executor)?;
        text += &shown;
        good &= right;
    }
    let (shown, right) = lookup(&chosen)?;
    text += &shown;
    good &= right;
    Ok(Answer::checked(text, good))
}

/// Says so where no GPU is used though one was wanted.
fn no_gpu(chosen: &Chosen) -> &'static str {
    match (chosen.adapter(), &chosen.reason) {
        (None, Some(_)) => "There is no GPU here that can be used, so the CPU path is.\n",
        _ => "",
    }
}

/// A gather whose tensors fit a screen.
struct Small {
    title: &'static str,
    op: Op,
    params: Tensor<i32>,
    indices: Tensor<i32>,
}

fn small_gathers() -> Result<[Small; 3]> {
    let params = Tensor::new(
        &[3, 4],
        vec![11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34],
    )?;
    Ok([
        Small {
            title: "gather along axis 0: whole rows; 7 is out of bounds and gives zeros",
            op: Op::gather(0),
            params: params.clone(),
            indices: Tensor::new(&[3], vec![2, 7, 0])?,
        },
        Small {
            title: "gather_nd: one element per pair (row, column); (3, 1) is out of bounds",
            op: Op::gather_nd(),
            params: params.clone(),
            indices: Tensor::new(&[3, 2], vec![0, 3, 3, 1, 2, 0])?,
        },
        Small {
            title: "gather_elements along axis 1: in each row, by column; 4 is out of bounds",
            op: Op::gather_elements(1),
            params,
            indices: Tensor::new(&[3, 2], vec![3, 0, 1, 4, 2, 2])?,
        },
    ])
}

impl Small {
    /// The tensors side by side, and whether the output is the reference's.
    fn show(&self, executor: &Executor) -> Result<(String, bool)> {
        let gather = |executor: &Executor| {
            let (params, indices) = (&self.params, &self.indices);
            executor
                .gather(self.op, &Rules::TENSORFLOW_GPU, params, indices)
                .wait()
        };
        let output = gather(executor)?;
        let right = output == gather(&Executor::Reference)?;
        let tensors = [
            ("params", &self.params),
            ("indices", &self.indices),
            ("output", &output),
        ];
        let columns = tensors.map(|(name, tensor)| column(name, tensor));
        let verdict = match right {
            true => "",
            false => "WRONG: the reference gives another output\n",
        };
        let text = format!("\n{}\n{}{verdict}", self.title, side_by_side(&columns));
        Ok((text, right))
    }
}

/// The name, the shape, and a grid of the values.
fn column(name: &str, tensor: &Tensor<i32>) -> Vec<String> {
    let row = tensor.shape().get(1).copied().unwrap_or(1);
    let line = |values: &[i32]| {
        let cells: Vec<String> = values.iter().map(|v| format!("{v:>2}")).collect();
        format!("  {}", cells.join(" "))
    };
    let heading = format!("{name} {:?}", tensor.shape());
    let grid = tensor.data().chunks(row).map(line);
    [heading].into_iter().chain(grid).collect()
}

fn side_by_side(columns: &[Vec<String>]) -> String {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for line in 0..height {
        let cell = |column: &Vec<String>| {
            let width = column.iter().map(String::len).max().unwrap_or(0);
            format!("{:width$}", column.get(line).map_or("", String::as_str))
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        text += &format!("  {}\n", cells.join("    ").trim_end());
    }
    text
}

/// An embedding lookup, and whether its output is the reference's.
fn lookup(chosen: &Chosen) -> Result<(String, bool)> {
    let [rows, width] = TABLE;
    // Any bits will do, those of NaNs and subnormals too: a gather only moves them.
    let table = (0..rows * width).map(|n| f32::from_bits(scrambled(n)));
    let table = Tensor::new(&TABLE, table.collect())?;
    let ids = (0..IDS).map(|n| (scrambled(n) as usize % rows) as i32);
    let ids = Tensor::new(&[IDS], ids.collect())?;

    let gather = |executor: &Executor| -> Result<(Tensor<f32>, Duration)> {
        let started = Instant::now();
        let (op, rules) = (Op::gather(0), Rules::TENSORFLOW_GPU);
        let output = executor.gather(op, &rules, &table, &ids).wait()?;
        Ok((output, started.elapsed()))
    };
    let (output, first) = gather(&chosen.executor)?;
    let (_, second) = gather(&chosen.executor)?;
    let (expected, _) = gather(&Executor::Reference)?;
    let bits = |tensor: &Tensor<f32>| -> Vec<u32> {
        tensor.data().iter().map(|value| value.to_bits()).collect()
    };
    let right = bits(&output) == bits(&expected);

    let copies = match chosen.adapter() {
        Some(_) => ", with the copies of the table to the device and of the output back",
        None => "",
    };
    let verdict = match right {
        true => "Equal to the reference, bit for bit.",
        false => "WRONG: the reference gives other bits.",
    };
    let text = format!(
        "\nAn embedding lookup: {} ids in a table of {} x {width} f32\n  \
         output {:?}, {} bytes, {} (first call {}){copies}\n  on {}\n{verdict}\n",
        text::grouped(IDS),
        text::grouped(rows),
        output.shape(),
        text::grouped(4 * output.data().len()),
        text::duration(second),
        text::duration(first),
        chosen.describe()
    );
    Ok((text, right))
}

/// Bits that look random and are the same everywhere.
fn scrambled(n: usize) -> u32 {
    let mut bits = (n as u32).wrapping_add(0x9e37_79b9);
    for factor in [0x85eb_ca6b, 0xc2b2_ae35] {
        bits = (bits ^ bits >> 15).wrapping_mul(factor);
    }
    bits ^ bits >> 16
}
