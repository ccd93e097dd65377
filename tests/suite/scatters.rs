//! Scatters on every executor against the sequential loop of the reference.
//!
//! `SCATTER_CASES` sets how many random ones there are.

use gather_conformance::{FOLDED, SplitMix};
use wgpu_gather::gpu::{Engine, Options};
use wgpu_gather::{DType, Error, Executor, Layout, Op, OutOfBounds, Reduce, Rules, Tensor};

use crate::common::{block_on, engines, executors, fresh_device};
use crate::segments;
use gather_conformance::{random_scatter, values};

fn cases(default: usize) -> usize {
    let given = std::env::var("SCATTER_CASES").ok();
    given.map_or(default, |n| n.parse().expect("a number"))
}

/// Runs so many random scatters; says which differ. Enough of many change something.
fn differences(executor: &Executor, count: usize, seed: u64, dtypes: &[DType]) -> Vec<String> {
    let mut random = SplitMix(seed);
    let (mut found, mut ran, mut changed) = (Vec::new(), 0, 0);
    while ran < count {
        let Some(scatter) = random_scatter(&mut random, dtypes) else {
            continue;
        };
        ran += 1;
        if let Some(difference) = scatter.difference(executor) {
            found.push(format!("{difference}: {scatter:?}"));
        }
        let defined = scatter.run(&Executor::Reference);
        changed += usize::from(defined.is_ok_and(|defined| defined != scatter.base));
    }
    println!(
        "{}: {ran} scatters, {changed} change something",
        executor.describe()
    );
    assert!(
        count < 300 || changed * 100 >= count * 40,
        "{changed} of {count}"
    );
    found
}

#[test]
fn random_scatters_agree_with_the_reference_on_the_host() {
    let found = differences(&Executor::Cpu, cases(16_500), 1, &DType::ALL);
    assert!(found.is_empty(), "{}: {}", found.len(), found[0]);
}

#[test]
fn random_scatters_agree_with_the_reference_on_devices() {
    for engine in engines() {
        let executor = Executor::Gpu(engine.clone());
        let found = differences(&executor, cases(1000), 2, &FOLDED);
        let label = executor.describe();
        assert!(found.is_empty(), "{label}: {}: {}", found.len(), found[0]);
    }
}

#[test]
fn a_scatter_is_the_transpose_of_the_gather_in_exact_integers() {
    for executor in executors() {
        let mut random = SplitMix(3);
        let (mut ran, mut tried) = (0, 0);
        while ran < cases(400) {
            let Some(mut scatter) = random_scatter(&mut random, &[DType::I64]) else {
                continue;
            };
            tried += 1;
            assert!(
                tried <= 10 + 3 * cases(400),
                "{ran} of {tried} calls give something"
            );
            // A fill value is no multiple of params.
            if let OutOfBounds::Fill(_) = scatter.call.rules.out_of_bounds {
                scatter.call.rules.out_of_bounds = OutOfBounds::Zero;
            }
            scatter.reduce = Reduce::Add;
            scatter.base.fill(0);
            scatter.call.params = values(DType::I64, scatter.base.len() / 8, ran as u64);
            let scattered = scatter.run(&executor);
            let gathered = block_on(scatter.call.output(&executor));
            let (Ok(scattered), Ok(gathered)) = (scattered, gathered) else {
                continue;
            };
            ran += 1;
            let usual = Layout::contiguous(scatter.updates_layout.shape());
            let updates = scatter.updates_layout.clone();
            let of_updates = dot(&scatter.updates, &updates, &gathered, &usual);
            let of_params = Layout::contiguous(&[scattered.len() / 8]);
            let of_params = dot(&scattered, &of_params, &scatter.call.params, &of_params);
            assert_eq!(
                of_updates,
                of_params,
                "{}: {scatter:?}",
                executor.describe()
            );
        }
    }
}

/// The sum of the products of two tensors of 64-bit integers of one shape.
fn dot(a: &[u8], a_layout: &Layout, b: &[u8], b_layout: &Layout) -> i64 {
    let value = |bytes: &[u8], at: usize| {
        i64::from_ne_bytes(bytes[at * 8..][..8].try_into().expect("eight bytes"))
    };
    let shape = a_layout.shape();
    let count: usize = shape.iter().product();
    (0..count).fold(0, |sum: i64, mut n| {
        let mut position = vec![0; shape.len()];
        for (p, extent) in position.iter_mut().zip(shape).rev() {
            (*p, n) = (n % extent, n / extent);
        }
        let [x, y] = [(a, a_layout), (b, b_layout)].map(|(t, l)| value(t, l.position(&position)));
        sum.wrapping_add(x.wrapping_mul(y))
    })
}

#[test]
fn windows_of_small_bindings_fold_in_the_same_order() {
    let types = [DType::F32, DType::U8, DType::I64, DType::U16];
    for engine in engines() {
        let (device, queue) = fresh_device(engine, segments::limits(2048, 256 << 20, 4));
        let small = Engine::with_options(device, queue, Options::default()).wait();
        let executor = Executor::Gpu(small.expect("an engine"));
        let mut random = SplitMix(4);
        let (mut ran, mut refused) = (0, 0);
        while ran < cases(300) {
            let Some(scatter) = random_scatter(&mut random, &types) else {
                continue;
            };
            ran += 1;
            match scatter.run(&executor) {
                // Updates in another order than their lookups, or a tuple larger than a binding.
                Err(Error::TensorTooLarge { .. }) => refused += 1,
                got => assert_eq!(scatter.compare(got), None, "{scatter:?}"),
            }
        }
        println!("{refused} of {ran} refused");
        assert!(refused * 5 < ran + 5, "{refused} of {ran}");
    }
}

/// Far more lookups than are sorted at once, most of them equal, in floats of which no sum is exact.
#[test]
fn more_lookups_than_are_sorted_at_once() {
    let (count, kinds) = (4_400_000, 700);
    let ids: Vec<u32> = (0..count as u32)
        .map(|n| {
            let spread = n.wrapping_mul(2_654_435_761) >> 9;
            (spread % kinds) / (1 + spread % 13)
        })
        .collect();
    let updates: Vec<f32> = (0..count).map(|n| 1.0 / (1 + n % 1019) as f32).collect();
    let mut expected = vec![1.0f32; kinds as usize];
    for (&id, update) in ids.iter().zip(&updates) {
        expected[id as usize] += update;
    }
    let (ids, updates) = (Tensor::new(&[count], ids), Tensor::new(&[count], updates));
    let (ids, updates) = (ids.unwrap(), updates.unwrap());
    for executor in executors() {
        let mut sums = vec![1.0f32; kinds as usize];
        let (op, rules) = (Op::gather(0), Rules::TORCH);
        let (ids, updates) = (ids.view(), updates.view());
        let shape = [kinds as usize];
        let made = executor
            .scatter_into(op, Reduce::Add, &rules, &shape, &mut sums, &ids, &updates)
            .wait();
        made.unwrap();
        let same = sums
            .iter()
            .zip(&expected)
            .all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{}", executor.describe());
    }
}
