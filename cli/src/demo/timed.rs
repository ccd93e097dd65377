//! A lookup, a scatter and a bag on a table of a usual size, timed and checked.

use std::time::{Duration, Instant};

use anyhow::Result;
use wgpu_gather::{BagMode, Bags, Executor, Op, Reduce, Rules, Tensor};

use crate::backend::Chosen;
use crate::demo::Part;
use crate::text;

/// A vocabulary and a width that are common for text encoders.
const TABLE: [usize; 2] = [30_522, 384];
const IDS: usize = 4096;
const BAGS: usize = 512;

const RULES: Rules = Rules::TENSORFLOW_GPU;

/// The three calls.
pub(super) fn parts(chosen: &Chosen) -> Result<Vec<Part>> {
    let [rows, width] = TABLE;
    // Whole numbers, whose sums are exact.
    let numbers = |count: usize| (0..count).map(|n| (scrambled(n) % 1024) as f32).collect();
    let table = Tensor::new(&TABLE, numbers(rows * width))?;
    let ids = (0..IDS).map(|n| (scrambled(n) as usize % rows) as i32);
    let ids = Tensor::new(&[IDS], ids.collect())?;
    let updates = Tensor::new(&[IDS, width], numbers(IDS * width))?;
    let in_bags = Tensor::new(&[BAGS, IDS / BAGS], ids.data().to_vec())?;

    let (count, bags) = (text::grouped(IDS), text::grouped(BAGS));
    let of_table = format!("a table of {} x {width} f32", text::grouped(rows));
    Ok(vec![
        timed(
            chosen,
            &format!("An embedding lookup: {count} ids in {of_table}"),
            |executor| executor.gather(Op::gather(0), &RULES, &table, &ids).wait(),
        )?,
        timed(
            chosen,
            &format!("A scatter: {count} rows added to {of_table}"),
            |executor| {
                let (op, reduce) = (Op::gather(0), Reduce::Add);
                executor
                    .scatter(op, reduce, &RULES, &table, &ids, &updates)
                    .wait()
            },
        )?,
        timed(
            chosen,
            &format!(
                "Pooled lookups: {bags} bags of {} ids in {of_table}",
                IDS / BAGS
            ),
            |executor| {
                let bags = Bags::rows(BagMode::Sum);
                executor
                    .embedding_bag(bags, &RULES, &table, &in_bags)
                    .wait()
            },
        )?,
    ])
}

/// How long a call takes, and whether its output is the reference's.
fn timed(
    chosen: &Chosen,
    title: &str,
    call: impl Fn(&Executor) -> wgpu_gather::Result<Tensor<f32>>,
) -> Result<Part> {
    let call = |executor: &Executor| -> Result<(Tensor<f32>, Duration)> {
        let started = Instant::now();
        let output = call(executor)?;
        Ok((output, started.elapsed()))
    };
    let (output, first) = call(&chosen.executor)?;
    let (_, second) = call(&chosen.executor)?;
    let (expected, _) = call(&Executor::Reference)?;
    let bits = |tensor: &Tensor<f32>| -> Vec<u32> {
        tensor.data().iter().map(|value| value.to_bits()).collect()
    };
    let right = bits(&output) == bits(&expected);
    let copies = match chosen.adapter() {
        Some(_) => ", with the copies to the device and back",
        None => "",
    };
    let verdict = match right {
        true => "",
        false => "WRONG: the reference gives other bits\n",
    };
    let text = format!(
        "\n{title}\n  output {:?}, {} bytes, {} (first call {}){copies}\n{verdict}",
        output.shape(),
        text::grouped(4 * output.data().len()),
        text::duration(second),
        text::duration(first),
    );
    Ok(Part { text, right })
}

/// Bits that look random and are the same everywhere.
fn scrambled(n: usize) -> u32 {
    let mut bits = (n as u32).wrapping_add(0x9e37_79b9);
    for factor in [0x85eb_ca6b, 0xc2b2_ae35] {
        bits = (bits ^ bits >> 15).wrapping_mul(factor);
    }
    bits ^ bits >> 16
}
