//! A gather between two shaders of a program: one makes token ids on the GPU, the gather looks up
//! a row of a table for each, the other consumes the rows. One encoder, one compute pass, one
//! submission; nothing comes to the host but the result.
//!
//! The program compares sentences. A sentence is the sum of an embedding for each of its trigrams.
//!
//! ```sh
//! cargo run --release --example embedding_pipeline
//! ```

use std::process::ExitCode;

use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{Layout, Op, Rules, Tensor, wgpu};

mod setup;

const SENTENCES: [&str; 5] = [
    "gather the rows of a table",
    "rows of the table are gathered",
    "a table is what the rows are gathered from",
    "the weather was fair in october",
    "fair weather, says the october almanac",
];
/// The most characters of a sentence.
const WIDTH: usize = 64;
/// The rows of the table, and the floats of each.
const VOCABULARY: usize = 50_000;
const DIM: usize = 128;

/// The program's own shaders, with the same three numbers.
const SHADERS: &str = "
const WIDTH = 64u;
const VOCABULARY = 50000u;
const DIM = 128u;

// One character each, zeros after the end of a sentence.
@group(0) @binding(0) var<storage, read> text: array<u32>;
@group(0) @binding(1) var<storage, read_write> ids: array<i32>;

// One workgroup for each sentence, one invocation for each trigram.
@compute @workgroup_size(WIDTH)
fn tokenise(@builtin(workgroup_id) sentence: vec3u, @builtin(local_invocation_id) at: vec3u) {
    let first = sentence.x * WIDTH + at.x;
    // Where no trigram begins, an id that is out of bounds: for it, the gather gives zeros.
    var id = -1;
    if at.x + 2 < WIDTH && text[first + 2] != 0 {
        let trigram = (text[first] << 16) | (text[first + 1] << 8) | text[first + 2];
        id = i32(((trigram * 2654435761u) >> 8) % VOCABULARY);
    }
    ids[first] = id;
}

@group(0) @binding(0) var<storage, read> rows: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;

// One workgroup for each sentence, one invocation for each column.
@compute @workgroup_size(DIM)
fn sum(@builtin(workgroup_id) sentence: vec3u, @builtin(local_invocation_id) at: vec3u) {
    var total = 0.0;
    for (var n = 0u; n < WIDTH; n += 1) {
        total += rows[(sentence.x * WIDTH + n) * DIM + at.x];
    }
    sums[sentence.x * DIM + at.x] = total;
}
";

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device.clone(), queue.clone()).wait()?;

    // What comes from the host: the table, which stays on the device, and the text.
    let embeddings = embeddings();
    let table = Tensor::new(&[VOCABULARY, DIM], embeddings.clone())?;
    let table = engine.upload(&table).wait()?;
    let text: Vec<u32> = SENTENCES.iter().flat_map(|s| characters(s)).collect();
    let text = engine.upload(&Tensor::new(&[text.len()], text)?).wait()?;

    // What stays on the device: buffers of the program, seen as tensors by the gather.
    let count = SENTENCES.len();
    let ids = setup::storage(&device, "ids", count * WIDTH * 4);
    let rows = setup::storage(&device, "rows", count * WIDTH * DIM * 4);
    let sums = setup::storage(&device, "sums", count * DIM * 4);
    let ids_shape = Layout::contiguous(&[count, WIDTH]);
    let ids_tensor = DeviceTensor::<i32>::wrap(ids.slice(..), ids_shape)?;
    let rows_shape = Layout::contiguous(&[count, WIDTH, DIM]);
    let mut rows_tensor = DeviceTensor::<f32>::wrap(rows.slice(..), rows_shape)?;

    // All three steps are compiled and bound once.
    let source = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("embedding_pipeline"),
        source: wgpu::ShaderSource::Wgsl(SHADERS.into()),
    });
    let text = text.share_buffer();
    let tokenise = setup::Shader::new(&device, &source, "tokenise", &[text, &ids]);
    let rules = Rules::TENSORFLOW_GPU; // zeros where an id is out of bounds
    let look_up = engine
        .bind(|r| r.gather_into(Op::gather(0), &rules, &table, &ids_tensor, &mut rows_tensor))?;
    let sum = setup::Shader::new(&device, &source, "sum", &[&rows, &sums]);

    // One pass: wgpu sees that each dispatch reads what the one before wrote.
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    tokenise.dispatch(&mut pass, count as u32);
    look_up.encode_in_pass(&mut pass)?;
    sum.dispatch(&mut pass, count as u32);
    drop(pass);
    queue.submit([encoder.finish()]);

    // The result.
    let sums = DeviceTensor::<f32>::wrap(sums.slice(..), Layout::contiguous(&[count, DIM]))?;
    let sums = engine.download(&sums).wait()?;
    let sums: Vec<&[f32]> = sums.data().chunks_exact(DIM).collect();
    println!("nearest to {:?}:", SENTENCES[0]);
    for (sentence, vector) in SENTENCES.iter().zip(&sums).skip(1) {
        println!("  {:5.2}  {sentence}", cosine(sums[0], vector));
    }
    let expected: Vec<f32> = SENTENCES
        .iter()
        .flat_map(|s| on_the_host(s, &embeddings))
        .collect();
    setup::check("sums of embeddings", &sums.concat(), &expected)
}

/// A table as if trained. Its values are multiples of 1/128, so that sums of them are exact in
/// any order.
fn embeddings() -> Vec<f32> {
    let value = |n: u32| {
        let mixed = (n ^ (n >> 15)).wrapping_mul(0x2c1b_3c6d);
        let mixed = (mixed ^ (mixed >> 12)).wrapping_mul(0x297a_2d39);
        ((mixed >> 24) as f32 - 128.0) / 128.0
    };
    (0..(VOCABULARY * DIM) as u32).map(value).collect()
}

fn characters(sentence: &str) -> [u32; WIDTH] {
    let mut characters = [0; WIDTH];
    for (to, byte) in characters.iter_mut().zip(sentence.bytes()) {
        *to = u32::from(byte);
    }
    characters
}

/// The sum of a sentence's embeddings, without tensors and gathers.
fn on_the_host(sentence: &str, embeddings: &[f32]) -> [f32; DIM] {
    let mut sum = [0.0; DIM];
    for trigram in sentence.as_bytes().windows(3) {
        let trigram = u32::from_be_bytes([0, trigram[0], trigram[1], trigram[2]]);
        let id = (trigram.wrapping_mul(2_654_435_761) >> 8) as usize % VOCABULARY;
        let row = &embeddings[id * DIM..][..DIM];
        sum.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += value);
    }
    sum
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
