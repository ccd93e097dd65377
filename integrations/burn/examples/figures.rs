//! burn's own operators and this crate's on one device of burn: the median time of a call, one call and
//! the wait for it, taken in turns.
//!
//! ```sh
//! cargo run --release --example figures            # --no-default-features: without fusion and autotune
//! ```

use std::time::{Duration, Instant};

use burn::tensor::{Device, Distribution, IndexingUpdateOp, Int, Tensor};
use wgpu_gather_burn::{BagMode, Bags, Gathers, Op, Reduce, Rules};

/// Calls of each, after those that compile shaders.
const CALLS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (device, gathers) = Gathers::init(Device::wgpu_options())?;
    println!("adapter: {}", gathers.engine().adapter().label());
    let rules = Rules::default();
    let random = |shape| Tensor::<2>::random(shape, Distribution::Default, &device);
    let numbers = |n: usize, below: usize| -> Vec<i32> {
        (0..n)
            .map(|i| (i.wrapping_mul(2_654_435_761) % below) as i32)
            .collect()
    };

    let table = random([30_000, 768]);
    let ids = Tensor::<1, Int>::from_ints(numbers(8192, 30_000).as_slice(), &device);
    race(
        "8,192 rows of 768 f32",
        &device,
        || table.clone().select(0, ids.clone()),
        || -> Tensor<2> {
            gathers
                .gather(Op::gather(0), &rules, table.clone(), ids.clone())
                .expect("the call is good")
        },
    );

    let few = Tensor::<1, Int>::from_ints(numbers(16, 30_000).as_slice(), &device);
    race(
        "16 rows of 768 f32",
        &device,
        || table.clone().select(0, few.clone()),
        || -> Tensor<2> {
            gathers
                .gather(Op::gather(0), &rules, table.clone(), few.clone())
                .expect("the call is good")
        },
    );

    let scores = random([4096, 1024]);
    let order: Tensor<2, Int> = Tensor::from_data(
        burn::tensor::TensorData::new(numbers(4096 * 256, 1024), [4096, 256]),
        &device,
    );
    race(
        "4,096 x 256 of 1,024 f32, elements",
        &device,
        || scores.clone().gather(1, order.clone()),
        || -> Tensor<2> {
            gathers
                .gather(
                    Op::gather_elements(1),
                    &rules,
                    scores.clone(),
                    order.clone(),
                )
                .expect("the call is good")
        },
    );

    let pixels = random([1024 * 1024, 4]).reshape([1024, 1024, 4]);
    let places: Tensor<3, Int> = Tensor::from_data(
        burn::tensor::TensorData::new(numbers(1024 * 1024 * 2, 1024), [1024, 1024, 2]),
        &device,
    );
    race(
        "1,024 x 1,024 pixels of 4 f32, nd",
        &device,
        || pixels.clone().gather_nd(places.clone()),
        || -> Tensor<3> {
            gathers
                .gather(Op::gather_nd(), &rules, pixels.clone(), places.clone())
                .expect("the call is good")
        },
    );

    let updates = random([32_768, 768]);
    for rows in [32_768, 1_000] {
        let base = random([rows, 768]);
        let ids = Tensor::<1, Int>::from_ints(numbers(32_768, rows).as_slice(), &device);
        let add = IndexingUpdateOp::Add;
        let base = || base.clone();
        race(
            &format!("32,768 rows of 768 f32 into {rows}"),
            &device,
            || base().select_assign(0, ids.clone(), updates.clone(), add),
            || {
                let (op, updates) = (Op::gather(0), updates.clone());
                gathers
                    .scatter(op, Reduce::Add, &rules, base(), ids.clone(), updates)
                    .expect("the call is good")
            },
        );
    }

    let ids = Tensor::<1, Int>::from_ints(numbers(8192, 30_000).as_slice(), &device);
    race(
        "512 bags of 16 rows of 768 f32, sums",
        &device,
        || -> Tensor<2> {
            let rows = table.clone().select(0, ids.clone());
            rows.reshape([512, 16, 768]).sum_dim(1).squeeze_dim(1)
        },
        || {
            let (bags, ids) = (Bags::rows(BagMode::Sum), ids.clone().reshape([512, 16]));
            gathers
                .embedding_bag(bags, &rules, table.clone(), ids)
                .expect("the call is good")
        },
    );
    gathers.check()?;
    Ok(())
}

/// Times both in turns.
fn race<const D: usize>(
    name: &str,
    device: &Device,
    burns: impl Fn() -> Tensor<D>,
    ours: impl Fn() -> Tensor<D>,
) {
    let time = |call: &dyn Fn() -> Tensor<D>| {
        let start = Instant::now();
        // Fusion makes nothing that is dropped before it is needed.
        let output = call();
        device.sync().expect("burn's device");
        let time = start.elapsed();
        drop(output);
        time
    };
    // burn measures variants of kernels in its first calls.
    for _ in 0..5 {
        time(&burns);
        time(&ours);
    }
    let (mut of_burn, mut of_ours): (Vec<_>, Vec<_>) =
        (0..CALLS).map(|_| (time(&burns), time(&ours))).unzip();
    let (of_burn, of_ours) = (median(&mut of_burn), median(&mut of_ours));
    let ratio = of_burn.as_secs_f64() / of_ours.as_secs_f64();
    println!("{name:36} burn {of_burn:>10.2?}   ours {of_ours:>10.2?}   {ratio:.2} times");
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}
