//! Training on the device: an embedding and a linear layer learn which letter follows which. Each step
//! gathers the rows of the table, runs three shaders of the program, and scatters the gradient back into
//! the table in place; rows of letters that occur often receive many updates. The same steps on the CPU
//! end with the same bits.
//!
//! ```sh
//! cargo run --release --example train_embedding
//! ```

mod setup;

use std::process::ExitCode;

use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{Executor, Layout, Op, Reduce, Rules, Tensor, TensorView, wgpu};

const TEXT: &str = "the quick brown fox jumps over the lazy dog and quits the queue ";
/// A letter and the one that follows it, for each but the last.
const TOKENS: usize = TEXT.len() - 1;
/// The letters and the space.
const LETTERS: usize = 27;
const WIDTH: usize = 16;
const STEPS: usize = 100;
/// The learning rate; a product with a power of two is exact.
const RATE: f32 = 0.0625;

/// The dense layer. Factors are cut to 8 significant bits, so that products are exact in f32: a compiler
/// that fuses them with the addition gives the bits of one that does not.
const SHADERS: &str = "
const TOKENS = 63u;
const LETTERS = 27u;
const WIDTH = 16u;
const RATE = 0.0625;

fn cut(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) & 0xffff0000u);
}

@group(0) @binding(0) var<storage, read> rows: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read> next: array<u32>;
@group(0) @binding(3) var<storage, read_write> errors: array<f32>;

// One workgroup for each token, one invocation for each letter: its score less what it should be.
@compute @workgroup_size(LETTERS)
fn forward(@builtin(workgroup_id) token: vec3u, @builtin(local_invocation_id) letter: vec3u) {
    var score = 0.0;
    for (var n = 0u; n < WIDTH; n += 1) {
        score += cut(rows[token.x * WIDTH + n]) * cut(weights[letter.x * WIDTH + n]);
    }
    errors[token.x * LETTERS + letter.x] = score - select(0.0, 1.0, next[token.x] == letter.x);
}

@group(0) @binding(0) var<storage, read> made_errors: array<f32>;
@group(0) @binding(1) var<storage, read> old_weights: array<f32>;
@group(0) @binding(2) var<storage, read_write> updates: array<f32>;

// One workgroup for each token, one invocation for each column: what its row of the table receives.
@compute @workgroup_size(WIDTH)
fn backward(@builtin(workgroup_id) token: vec3u, @builtin(local_invocation_id) column: vec3u) {
    var gradient = 0.0;
    for (var n = 0u; n < LETTERS; n += 1) {
        gradient += cut(made_errors[token.x * LETTERS + n]) * cut(old_weights[n * WIDTH + column.x]);
    }
    updates[token.x * WIDTH + column.x] = -RATE * gradient;
}

@group(0) @binding(1) var<storage, read> old_rows: array<f32>;
@group(0) @binding(2) var<storage, read_write> new_weights: array<f32>;

// One workgroup for each letter, one invocation for each column: the weights of the linear layer.
@compute @workgroup_size(WIDTH)
fn learn(@builtin(workgroup_id) letter: vec3u, @builtin(local_invocation_id) column: vec3u) {
    var gradient = 0.0;
    for (var n = 0u; n < TOKENS; n += 1) {
        gradient += cut(made_errors[n * LETTERS + letter.x]) * cut(old_rows[n * WIDTH + column.x]);
    }
    new_weights[letter.x * WIDTH + column.x] -= RATE * gradient;
}
";

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device, queue).wait()?;
    let on_device = train_on_device(&engine)?;
    for (step, loss) in on_device.losses.iter().enumerate() {
        if step % 20 == 0 || step == STEPS - 1 {
            println!("step {step:3}: loss {loss:.4}");
        }
    }
    let (first, last) = (on_device.losses[0], on_device.losses[STEPS - 1]);
    if last.is_nan() || last > first / 2.0 {
        return Err(format!("the loss was {first} and is {last}").into());
    }
    let on_host = train_on_host()?;
    let check =
        |what, got: &[f32], expected: &[f32]| setup::check(what, &bits(got), &bits(expected));
    check("losses", &on_device.losses, &on_host.losses)?;
    check("weights", &on_device.weights, &on_host.weights)?;
    check("the table", &on_device.table, &on_host.table)
}

/// What training ends with, and the loss of each step.
struct Trained {
    table: Vec<f32>,
    weights: Vec<f32>,
    losses: Vec<f32>,
}

fn train_on_device(engine: &Engine) -> setup::Result<Trained> {
    let device = engine.device();
    let upload = |data| {
        let tensor = Tensor::new(&[LETTERS, WIDTH], data)?;
        engine.upload(&tensor).wait()
    };
    let (mut table, weights) = (upload(start(1))?, upload(start(2))?);
    let (ids, next) = letters();
    let ids = engine.upload(&Tensor::new(&[TOKENS], ids)?).wait()?;
    let next = engine.upload(&Tensor::new(&[TOKENS], next)?).wait()?;

    // Buffers of the program, which the gather and the scatter see as tensors.
    let rows = setup::storage(device, "rows", TOKENS * WIDTH * 4);
    let errors = setup::storage(device, "errors", TOKENS * LETTERS * 4);
    let updates = setup::storage(device, "updates", TOKENS * WIDTH * 4);
    let dense = Dense::new(
        device,
        &rows,
        weights.share_buffer(),
        next.share_buffer(),
        &errors,
        &updates,
    );
    let tensor = |buffer: &wgpu::Buffer, width| {
        DeviceTensor::<f32>::wrap(buffer.slice(..), Layout::contiguous(&[TOKENS, width]))
    };
    let mut rows = tensor(&rows, WIDTH)?;
    let (errors, updates) = (tensor(&errors, LETTERS)?, tensor(&updates, WIDTH)?);

    let (op, rules) = (Op::gather(0), Rules::TORCH);
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        // A step is one submission, of the program's own encoder.
        let mut encoder = device.create_command_encoder(&Default::default());
        engine.record(&mut encoder, |r| {
            r.gather_into(op, &rules, &table, &ids, &mut rows)
        })?;
        dense.encode(&mut encoder);
        // The gradient of the gather, times the rate, is added to the table where it lies.
        engine.record(&mut encoder, |r| {
            r.scatter_into(op, Reduce::Add, &rules, &mut table, &ids, &updates)
        })?;
        engine.queue().submit([encoder.finish()]);
        losses.push(loss(engine.download(&errors).wait()?.data()));
    }
    Ok(Trained {
        table: engine.download(&table).wait()?.into_data(),
        weights: engine.download(&weights).wait()?.into_data(),
        losses,
    })
}

/// The linear layer on the device.
struct Dense {
    forward: setup::Shader,
    backward: setup::Shader,
    learn: setup::Shader,
}

impl Dense {
    fn new(
        device: &wgpu::Device,
        rows: &wgpu::Buffer,
        weights: &wgpu::Buffer,
        next: &wgpu::Buffer,
        errors: &wgpu::Buffer,
        updates: &wgpu::Buffer,
    ) -> Self {
        let source = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("train_embedding"),
            source: wgpu::ShaderSource::Wgsl(SHADERS.into()),
        });
        let shader = |name, buffers: &[&_]| setup::Shader::new(device, &source, name, buffers);
        Dense {
            forward: shader("forward", &[rows, weights, next, errors]),
            backward: shader("backward", &[errors, weights, updates]),
            learn: shader("learn", &[errors, rows, weights]),
        }
    }

    /// What rows of the table receive, and new weights.
    fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.forward.dispatch(&mut pass, TOKENS as u32);
        self.backward.dispatch(&mut pass, TOKENS as u32);
        self.learn.dispatch(&mut pass, LETTERS as u32);
    }
}

/// The same steps on the CPU path.
fn train_on_host() -> setup::Result<Trained> {
    let (mut table, mut weights) = (start(1), start(2));
    let (ids, next) = letters();
    let ids = Tensor::new(&[TOKENS], ids)?;
    let (op, rules, shape) = (Op::gather(0), Rules::TORCH, [LETTERS, WIDTH]);
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        let params = TensorView::new(&shape, &table)?;
        let rows = Executor::Cpu.gather(op, &rules, &params, &ids).wait()?;
        let (errors, updates) = dense_on_host(rows.data(), &mut weights, &next);
        let updates = Tensor::new(&[TOKENS, WIDTH], updates)?;
        Executor::Cpu
            .scatter_into(op, Reduce::Add, &rules, &shape, &mut table, &ids, &updates)
            .wait()?;
        losses.push(loss(&errors));
    }
    Ok(Trained {
        table,
        weights,
        losses,
    })
}

/// The shaders' loops in Rust: errors and updates.
fn dense_on_host(rows: &[f32], weights: &mut [f32], next: &[u32]) -> (Vec<f32>, Vec<f32>) {
    let row = |token: usize, n: usize| rows[token * WIDTH + n];
    let old_weights = weights.to_vec();
    let weight = |letter: usize, n: usize| old_weights[letter * WIDTH + n];

    let mut errors = products([TOKENS, LETTERS, WIDTH], row, weight);
    for (errors, &next) in errors.chunks_mut(LETTERS).zip(next) {
        errors[next as usize] -= 1.0;
    }
    let error = |token: usize, letter: usize| errors[token * LETTERS + letter];
    let mut updates = products([TOKENS, WIDTH, LETTERS], error, |column, n| {
        weight(n, column)
    });
    updates.iter_mut().for_each(|update| *update *= -RATE);
    let gradient = products(
        [LETTERS, WIDTH, TOKENS],
        |letter, n| error(n, letter),
        |column, n| row(n, column),
    );
    for (weight, gradient) in weights.iter_mut().zip(gradient) {
        *weight -= RATE * gradient;
    }
    (errors, updates)
}

/// `rows × columns` sums of `terms` products each, in their order.
fn products(
    [rows, columns, terms]: [usize; 3],
    a: impl Fn(usize, usize) -> f32,
    b: impl Fn(usize, usize) -> f32,
) -> Vec<f32> {
    let cut = |value: f32| f32::from_bits(value.to_bits() & 0xffff_0000);
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let sum =
        |(row, column)| (0..terms).fold(0.0, |sum, n| sum + cut(a(row, n)) * cut(b(column, n)));
    places.map(sum).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Half the squared errors of a token, in the mean.
fn loss(errors: &[f32]) -> f32 {
    errors.iter().map(|e| e * e / 2.0).sum::<f32>() / TOKENS as f32
}

/// The letters of the text as numbers, and those that follow.
fn letters() -> (Vec<u32>, Vec<u32>) {
    let number = |byte: u8| match byte {
        b' ' => 26,
        letter => u32::from(letter - b'a'),
    };
    let all: Vec<u32> = TEXT.bytes().map(number).collect();
    (all[..TOKENS].to_vec(), all[1..].to_vec())
}

/// Values to start from, between -1/2 and 1/2.
fn start(seed: u32) -> Vec<f32> {
    let value = |n: u32| {
        let mixed = (n ^ (seed << 16) ^ (n << 7)).wrapping_mul(0x2c1b_3c6d);
        let mixed = (mixed ^ (mixed >> 12)).wrapping_mul(0x297a_2d39);
        ((mixed >> 24) as f32 - 128.0) / 256.0
    };
    (0..(LETTERS * WIDTH) as u32).map(value).collect()
}
