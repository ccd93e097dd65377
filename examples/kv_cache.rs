//! A key/value cache written in place: each step puts the rows of new tokens where they belong, on the
//! device, and reads the rows that the tokens attend to. Both are bound once, and no other row of the cache
//! is moved.
//!
//! ```sh
//! cargo run --release --example kv_cache
//! ```

mod setup;

use std::process::ExitCode;

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Op, Reduce, Rules, TensorView};

const SEQUENCES: usize = 3;
const PLACES: usize = 16;
const WIDTH: usize = 64;
/// How many tokens a new one attends to: itself and those before it.
const WINDOW: usize = 4;

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device.clone(), queue.clone()).wait()?;

    let mut cache = engine.zeros::<f32>(&[SEQUENCES, PLACES, WIDTH])?;
    // A place of the cache is a sequence and a position in it: index tuples of two.
    let mut places = engine.zeros::<i32>(&[SEQUENCES, 2])?;
    let mut window = engine.zeros::<i32>(&[SEQUENCES, WINDOW, 2])?;
    let mut rows = engine.zeros::<f32>(&[SEQUENCES, WIDTH])?;
    let mut attended = engine.zeros::<f32>(&[SEQUENCES, WINDOW, WIDTH])?;

    // A place beyond the cache is an error; positions before the first token read zeros.
    let (op, write, read) = (Op::gather_nd(), Rules::ONNX, Rules::TENSORFLOW_GPU);
    let token = engine.bind(|r| {
        r.scatter_into(op, Reduce::None, &write, &mut cache, &places, &rows)?;
        r.gather_into(op, &read, &cache, &window, &mut attended)
    })?;

    let mut on_host = vec![0.0f32; SEQUENCES * PLACES * WIDTH];
    let mut lengths = [0, 5, 2];
    let mut expected = Vec::new();
    for step in 0..8 {
        let place =
            |sequence: usize, back: usize| [sequence as i32, lengths[sequence] - back as i32];
        let new_places: Vec<[i32; 2]> = (0..SEQUENCES).map(|n| place(n, 0)).collect();
        let seen: Vec<[i32; 2]> = (0..SEQUENCES * WINDOW)
            .map(|n| place(n / WINDOW, n % WINDOW))
            .collect();
        let new_rows: Vec<f32> = (0..SEQUENCES * WIDTH)
            .map(|n| (step * 1000 + n) as f32)
            .collect();

        // In a model, shaders write these three, and they never leave the device.
        let data = TensorView::new(places.shape(), new_places.as_flattened())?;
        engine.write(&mut places, &data).wait()?;
        let data = TensorView::new(window.shape(), seen.as_flattened())?;
        engine.write(&mut window, &data).wait()?;
        let data = TensorView::new(rows.shape(), &new_rows)?;
        engine.write(&mut rows, &data).wait()?;

        let mut encoder = device.create_command_encoder(&Default::default());
        token.encode(&mut encoder);
        queue.submit([encoder.finish()]);

        let start = |[sequence, position]: [i32; 2]| {
            (sequence as usize * PLACES + position as usize) * WIDTH
        };
        for (place, row) in new_places.iter().zip(new_rows.chunks(WIDTH)) {
            on_host[start(*place)..][..WIDTH].copy_from_slice(row);
        }
        expected = Vec::new();
        for place in seen {
            match place[1] < 0 {
                true => expected.extend([0.0; WIDTH]),
                false => expected.extend(&on_host[start(place)..][..WIDTH]),
            }
        }
        lengths.iter_mut().for_each(|length| *length += 1);
    }
    if let Some(bad) = token.check().wait()? {
        return Err(format!("{} places beyond the cache", bad.count).into());
    }
    let attended = engine.download(&attended).wait()?;
    setup::check("rows attended to", attended.data(), &expected)?;
    setup::check(
        "the cache",
        engine.download(&cache).wait()?.data(),
        &on_host,
    )
}
