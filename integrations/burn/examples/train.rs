//! A small model with an embedding, trained twice: its lookup and the gradient of that by burn's own
//! operators, and by this crate's. Both have the same losses, to the last bit.
//!
//! The model scores pairs of words by the product of their rows and learns the scores of a hidden table.
//!
//! ```sh
//! cargo run --release --example train
//! ```

use std::time::{Duration, Instant};

use burn::tensor::{Device, Int, Tensor, TensorData};
use wgpu_gather_burn::{Gathers, Op, Rules};

const WORDS: usize = 50;
const WIDTH: usize = 4;
const PAIRS: usize = 512;
const STEPS: usize = 100;
const RATE: f64 = 20.0;

/// Rows of a table by their ids.
type Lookup<'a> = &'a dyn Fn(Tensor<2>, Tensor<1, Int>) -> Tensor<2>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (device, gathers) = Gathers::init(Device::wgpu_options())?;
    println!("adapter: {}", gathers.engine().adapter().label());
    let device = device.autodiff();

    let by_burn = |table: Tensor<2>, ids| table.select(0, ids);
    let by_ours = |table, ids| -> Tensor<2> {
        let rows = gathers.gather(Op::gather(0), &Rules::TORCH, table, ids);
        rows.expect("the call is good")
    };
    // Once for the compilers of shaders; then for the clock.
    train(&by_burn, &device, 3);
    train(&by_ours, &device, 3);
    let (burns, time_of_burn) = train(&by_burn, &device, STEPS);
    let (ours, time_of_ours) = train(&by_ours, &device, STEPS);
    gathers.check()?;

    for step in [0, STEPS / 4, STEPS / 2, STEPS - 1] {
        println!(
            "step {step:>3}: loss {:<12} with burn's, {:<12} with ours",
            burns[step], ours[step]
        );
    }
    println!("{STEPS} steps: burn {time_of_burn:.2?}, ours {time_of_ours:.2?}");
    assert!(
        ours[STEPS - 1] < ours[0] / 4.0,
        "the model has learnt something"
    );
    let bits = |losses: &[f32]| losses.iter().map(|loss| loss.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&burns), bits(&ours), "both learn the same");
    println!("ok: the losses of all steps are equal, bit for bit");
    Ok(())
}

/// The losses of all steps, and the time that they took.
fn train(look_up: Lookup<'_>, device: &Device, steps: usize) -> (Vec<f32>, Duration) {
    let hidden = numbers(WORDS * WIDTH, 1);
    let start = numbers(WORDS * WIDTH, 2)
        .into_iter()
        .map(|n| 0.5 * n)
        .collect();
    let mut table =
        Tensor::<2>::from_data(TensorData::new::<f32, _>(start, [WORDS, WIDTH]), device);
    let clock = Instant::now();
    let mut losses = Vec::new();
    for step in 0..steps {
        let (left, right) = (words(2 * step as u64), words(2 * step as u64 + 1));
        let targets: Vec<f32> = left
            .iter()
            .zip(&right)
            .map(|(&l, &r)| score(&hidden, l, r))
            .collect();
        let targets = Tensor::<2>::from_data(TensorData::new(targets, [PAIRS, 1]), device);
        let ids = |ids: &[i32]| Tensor::<1, Int>::from_ints(ids, device);

        table = table.require_grad();
        let (l, r) = (
            look_up(table.clone(), ids(&left)),
            look_up(table.clone(), ids(&right)),
        );
        let loss = ((l * r).sum_dim(1) - targets).powi_scalar(2).mean();
        let gradients = loss.backward();
        let gradient = table.grad(&gradients).expect("the table is looked up");
        table = Tensor::from_inner(table.inner() - gradient * RATE / WIDTH as f64);
        losses.push(loss);
    }
    let losses = losses
        .into_iter()
        .map(|loss| loss.into_scalar::<f32>())
        .collect();
    (losses, clock.elapsed())
}

/// What the model learns: the product of two rows of the hidden table.
fn score(hidden: &[f32], left: i32, right: i32) -> f32 {
    let row = |word: i32| &hidden[word as usize * WIDTH..][..WIDTH];
    row(left).iter().zip(row(right)).map(|(l, r)| l * r).sum()
}

/// The words of a batch: most of them several times.
fn words(seed: u64) -> Vec<i32> {
    numbers(PAIRS, 100 + seed)
        .into_iter()
        .map(|n| ((n + 1.0) / 2.0 * WORDS as f32) as i32)
        .collect()
}

/// Numbers from -1 to 1 that look random.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
