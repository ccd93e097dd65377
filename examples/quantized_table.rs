//! Rows of an embedding table in 8 bits (GGUF's Q8_0), decoded as they are gathered: the device's memory
//! holds the codes, a quarter of what the table takes in f32.
//!
//! ```sh
//! cargo run --release --example quantized_table
//! ```

mod setup;

use std::process::ExitCode;

use wgpu_gather::gpu::Engine;
use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{Op, Rules, Tensor};

const WORDS: usize = 20_000;
const NUMBERS: usize = 512;
const BLOCK: usize = 32;

fn main() -> ExitCode {
    setup::exit(run())
}

/// The code of a number of a word, and the scale of its block: a power of two, as f32 and as f16.
fn code(word: usize, number: usize) -> i8 {
    (word * 31 + number * 7) as i8
}

fn scale(word: usize) -> (f32, u16) {
    let exponent = (word % 8) as u16;
    (2f32.powi(i32::from(exponent) - 12), (3 + exponent) << 10)
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device, queue).wait()?;

    let mut bytes = Vec::new();
    for block in 0..WORDS * NUMBERS / BLOCK {
        let (word, first) = (block * BLOCK / NUMBERS, block * BLOCK % NUMBERS);
        bytes.extend(scale(word).1.to_le_bytes());
        bytes.extend((first..first + BLOCK).map(|n| code(word, n) as u8));
    }
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[WORDS, NUMBERS], &bytes)?;
    let table = engine.upload(&table).wait()?;
    println!(
        "{} bytes on the device, {} in f32",
        bytes.len(),
        WORDS * NUMBERS * 4
    );

    let prompt = vec![7u32, 19_999, 4_711];
    let ids = engine.upload(&Tensor::new(&[3], prompt.clone())?).wait()?;
    let rows = engine.gather(Op::gather(0), &Rules::TORCH, &table.to::<f32>(), &ids)?;
    let rows = engine.download(&rows).wait()?;

    let decoded = |&word: &u32| {
        let word = word as usize;
        (0..NUMBERS).map(move |n| f32::from(code(word, n)) * scale(word).0)
    };
    let expected: Vec<f32> = prompt.iter().flat_map(decoded).collect();
    setup::check("rows of the table", rows.data(), &expected)
}
