//! Rows of an embedding table, which is uploaded once and gathered from often: the README's program.
//!
//! ```sh
//! cargo run --release --example lookup
//! ```

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Op, Result, Rules, Tensor};

fn main() -> Result<()> {
    // A device of its own; `Engine::new(device, queue)` takes yours.
    let engine = Engine::headless(None).wait()?;
    println!("adapter: {}", engine.adapter().label());

    // 50,000 words, 768 numbers each: 150 MB that stay on the device.
    let table: Vec<f32> = (0..50_000 * 768).map(|n| (n / 768) as f32).collect();
    let table = engine.upload(&Tensor::new(&[50_000, 768], table)?).wait()?;

    // There is no word 50,000: its row is zeros.
    let (first, second) = (vec![7, 49_999, 50_000], vec![11, 7]);
    for (prompt, expected) in [(first, vec![7.0, 49_999.0, 0.0]), (second, vec![11.0, 7.0])] {
        let ids = engine.upload(&Tensor::from(prompt)).wait()?;
        let rows = engine.gather(Op::gather(0), &Rules::TENSORFLOW_GPU, &table, &ids)?;
        // More gathers, or your own shaders, could go on from here without the host.
        let rows = engine.download(&rows).wait()?;
        let firsts: Vec<f32> = rows.data().iter().copied().step_by(768).collect();
        assert_eq!(firsts, expected);
        println!("ok: rows {:?} begin with {firsts:?}", rows.shape());
    }
    Ok(())
}
