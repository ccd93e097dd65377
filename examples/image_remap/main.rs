//! Remaps a picture: every pixel of the output says which pixel of the input it shows, and
//! `gather_nd` fetches it. Here a swirl seen through a lens. Where the lens looks past the edge of
//! the picture, indices are out of bounds, and the gather gives zeros: black.
//!
//! Writes the picture before and after, side by side, as PNG.
//!
//! ```sh
//! cargo run --release --example image_remap [FILE.png]
//! ```

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Op, Rules, Tensor};

mod picture;
#[path = "../setup/mod.rs"]
mod setup;

type Rgb = [u8; 3];

/// Width and height of a picture; columns between the two.
const SIZE: usize = 540;
const GAP: usize = 16;
/// A gather moves pixels and mixes none. So that edges are smooth, every pixel is 3 by 3 samples,
/// which are averaged when all is done.
const SAMPLES: usize = 3;
const FINE: usize = SIZE * SAMPLES;

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device, queue).wait()?;

    let sample = |n| picture::colour(coordinate(n % FINE), coordinate(n / FINE));
    let picture: Vec<Rgb> = (0..FINE * FINE).map(sample).collect();
    let sources: Vec<i32> = (0..FINE * FINE).flat_map(source).collect();

    // Params: rows and columns of pixels, an element being a pixel of three bytes.
    // Indices: for every sample of the output, the row and the column of its source.
    let pixels = Tensor::new(&[FINE, FINE], picture.clone())?;
    let pixels = engine.upload(&pixels).wait()?;
    let lookups = Tensor::new(&[FINE, FINE, 2], sources.clone())?;
    let lookups = engine.upload(&lookups).wait()?;
    let remapped = engine.gather(Op::gather_nd(), &Rules::TENSORFLOW_GPU, &pixels, &lookups)?;
    let remapped = engine.download(&remapped).wait()?;

    let path = std::env::args_os().nth(1);
    let path = path.map_or_else(|| PathBuf::from("target/image_remap.png"), PathBuf::from);
    write(&path, &[averaged(&picture), averaged(remapped.data())])?;
    println!("wrote {}", path.display());

    // On the host: one pixel after the other.
    let pixel = |at: &[i32]| match at.iter().all(|n| (0..FINE as i32).contains(n)) {
        true => picture[at[0] as usize * FINE + at[1] as usize],
        false => [0; 3],
    };
    let expected: Vec<Rgb> = sources.chunks_exact(2).map(pixel).collect();
    setup::check("remapped picture", remapped.data(), &expected)
}

/// The middle of a row or column of samples, from -1 to 1.
fn coordinate(sample: usize) -> f32 {
    (2 * sample + 1) as f32 / FINE as f32 - 1.0
}

/// The row and the column that sample `n` of the output shows; beyond the picture near the edges.
fn source(n: usize) -> [i32; 2] {
    let (x, y) = (coordinate(n % FINE), coordinate(n / FINE));
    let radius = x.hypot(y);
    let turn = 3.2 * (1.0 - radius / 0.85).max(0.0).powi(2);
    let (sin, cos) = turn.sin_cos();
    let lens = 0.70 + 0.42 * radius * radius;
    let sample = |c: f32| ((c * lens + 1.0) / 2.0 * FINE as f32).floor() as i32;
    [sample(x * sin + y * cos), sample(x * cos - y * sin)]
}

/// Pixels from samples.
fn averaged(samples: &[Rgb]) -> Vec<Rgb> {
    let pixel = |n: usize| {
        let first = n / SIZE * SAMPLES * FINE + n % SIZE * SAMPLES;
        let block = (0..SAMPLES * SAMPLES).map(|s| first + s / SAMPLES * FINE + s % SAMPLES);
        let sum = |channel| {
            block
                .clone()
                .map(|at| usize::from(samples[at][channel]))
                .sum::<usize>()
        };
        [0, 1, 2].map(|channel| (sum(channel) / (SAMPLES * SAMPLES)) as u8)
    };
    (0..SIZE * SIZE).map(pixel).collect()
}

/// Writes two pictures side by side, black between them.
fn write(path: &Path, [left, right]: &[Vec<Rgb>; 2]) -> setup::Result<()> {
    let mut data = Vec::new();
    for (left, right) in left.chunks(SIZE).zip(right.chunks(SIZE)) {
        data.extend_from_slice(left);
        data.extend_from_slice(&[[0; 3]; GAP]);
        data.extend_from_slice(right);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = BufWriter::new(std::fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, (2 * SIZE + GAP) as u32, SIZE as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(data.as_flattened())?;
    Ok(writer.finish()?)
}
