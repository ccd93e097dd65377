//! A key/value cache written in place: each step puts the rows of new tokens where they belong, on the
//! device, and no other row of the cache is moved.
//!
//! ```sh
//! cargo run --release --example kv_cache
//! ```

mod setup;

use std::process::ExitCode;

use pollster::block_on;
use wgpu_gather::gpu::Engine;
use wgpu_gather::{Op, Reduce, Rules, Tensor};

const SEQUENCES: usize = 3;
const PLACES: usize = 16;
const WIDTH: usize = 64;

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = block_on(Engine::new(device, queue))?;

    let shape = [SEQUENCES, PLACES, WIDTH];
    let mut on_host = vec![0.0f32; SEQUENCES * PLACES * WIDTH];
    let mut cache = engine.upload_blocking(&Tensor::new(&shape, on_host.clone())?.view())?;

    // A place of the cache is a sequence and a position in it: index tuples of two.
    let op = Op::gather_nd();
    let mut lengths = [0, 5, 2];
    for step in 0..8 {
        let places: Vec<u32> = (0..SEQUENCES as u32)
            .flat_map(|sequence| [sequence, lengths[sequence as usize]])
            .collect();
        let rows: Vec<f32> = (0..SEQUENCES * WIDTH)
            .map(|n| (step * 1000 + n) as f32)
            .collect();
        for (tuple, row) in places.chunks(2).zip(rows.chunks(WIDTH)) {
            let at = (tuple[0] as usize * PLACES + tuple[1] as usize) * WIDTH;
            on_host[at..at + WIDTH].copy_from_slice(row);
        }
        // In a model, both are outputs of shaders and never leave the device.
        let places = engine.upload_blocking(&Tensor::new(&[SEQUENCES, 2], places)?.view())?;
        let rows = engine.upload_blocking(&Tensor::new(&[SEQUENCES, WIDTH], rows)?.view())?;
        engine.scatter_into(op, Reduce::None, &Rules::ONNX, &mut cache, &places, &rows)?;
        lengths.iter_mut().for_each(|length| *length += 1);
    }
    setup::check(
        "the cache",
        engine.download_blocking(&cache)?.data(),
        &on_host,
    )
}
