//! The best k of each row: values at the indices that a top-k gave, as `torch.gather` along the
//! last axis, with the 64-bit indices of PyTorch.
//!
//! ```sh
//! cargo run --release --example top_k
//! ```

use std::process::ExitCode;

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Error, Op, Rules, Tensor};

mod setup;

/// Rows of logits, as a language model gives them, and how many of each are wanted.
const ROWS: usize = 4;
const VOCABULARY: usize = 32_000;
const K: usize = 5;

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device, queue).wait()?;

    // What torch.topk and torch.log_softmax would give.
    let logits = logits();
    let log_probabilities: Vec<f32> = logits.chunks(VOCABULARY).flat_map(log_softmax).collect();
    let best: Vec<i64> = logits.chunks(VOCABULARY).flat_map(top_k).collect();

    // Two tables and one set of indices: two gathers in one submission.
    let shape = [ROWS, VOCABULARY];
    let logits_there = Tensor::new(&shape, logits.clone())?;
    let logits_there = engine.upload(&logits_there).wait()?;
    let log_probabilities_there = Tensor::new(&shape, log_probabilities.clone())?;
    let log_probabilities_there = engine.upload(&log_probabilities_there).wait()?;
    let best_there = Tensor::new(&[ROWS, K], best.clone())?;
    let best_there = engine.upload(&best_there).wait()?;
    let (op, rules) = (Op::gather_elements(-1), Rules::TORCH);
    let (best_logits, best_log_probabilities) = engine.batch(|batch| {
        Ok((
            batch.gather(op, &rules, &logits_there, &best_there)?,
            batch.gather(op, &rules, &log_probabilities_there, &best_there)?,
        ))
    })?;
    let best_logits = engine.download(&best_logits).wait()?;
    let best_log_probabilities = engine.download(&best_log_probabilities).wait()?;

    println!("the best {K} of {VOCABULARY} tokens, with their probability:");
    let tokens = best.chunks(K).zip(best_log_probabilities.data().chunks(K));
    for (row, (tokens, log_probabilities)) in tokens.enumerate() {
        let token =
            |(token, log_p): (&i64, &f32)| format!("{token:>6} {:5.1}%", 100.0 * log_p.exp());
        let tokens: Vec<String> = tokens.iter().zip(log_probabilities).map(token).collect();
        println!("  row {row}:{}", tokens.join(","));
    }

    // In PyTorch an index beyond the row is an error. The gather itself goes on; whoever downloads
    // its result is told.
    let beyond = Tensor::new(&[1, 2], vec![31_999i64, 1 << 40])?;
    let beyond = engine.upload(&beyond).wait()?;
    let submitted = engine.gather(op, &rules, &logits_there, &beyond)?;
    match engine.download(&submitted).wait() {
        Err(error @ Error::IndexOutOfBounds(_)) => println!("refused: {error}"),
        other => return Err(format!("a bad index was not reported: {other:?}").into()),
    }

    // On the host: the greatest values, by sorting.
    let greatest = |row: &[f32]| {
        let mut row = row.to_vec();
        row.sort_by(|a, b| b.total_cmp(a));
        row.truncate(K);
        row
    };
    let expected: Vec<f32> = logits.chunks(VOCABULARY).flat_map(greatest).collect();
    setup::check("logits", best_logits.data(), &expected)?;
    let expected: Vec<f32> = log_probabilities
        .chunks(VOCABULARY)
        .flat_map(greatest)
        .collect();
    setup::check(
        "log probabilities",
        best_log_probabilities.data(),
        &expected,
    )
}

/// Logits with a few tokens that stand out.
fn logits() -> Vec<f32> {
    let logit = |n: u32| {
        let n = n.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
        let mixed = (n ^ (n >> 16)).wrapping_mul(0x045d_9f3b);
        let mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x045d_9f3b);
        let uniform = ((mixed ^ (mixed >> 16)) >> 8) as f32 / (1 << 24) as f32;
        -1.2 * (uniform + 1e-9).ln()
    };
    (0..(ROWS * VOCABULARY) as u32).map(logit).collect()
}

fn log_softmax(row: &[f32]) -> Vec<f32> {
    let sum: f64 = row.iter().map(|&logit| f64::from(logit).exp()).sum();
    row.iter().map(|logit| logit - sum.ln() as f32).collect()
}

/// The indices of the greatest values, the greatest first.
fn top_k(row: &[f32]) -> Vec<i64> {
    let mut order: Vec<i64> = (0..row.len() as i64).collect();
    order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
    order.truncate(K);
    order
}
