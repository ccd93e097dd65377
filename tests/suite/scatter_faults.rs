//! Faults planted in the shaders of a scatter, which a comparison with the reference must report on
//! every adapter.

use gather_conformance::Call;
use wgpu_gather::gpu::Engine;
use wgpu_gather::{DType, Executor, IndexType, Layout, Op, Reduce, Rules};

use crate::common::engines;
use crate::planted::{Change, faulty};
use gather_conformance::{Scatter, tame_values, values};

mod table;

pub(crate) use table::FAULTS;
use table::PLANTED;

/// What the shaders have of scatters of more than one tile.
const OF_MANY: [&str; 6] = [
    "fn joined",
    "pairs[geometry.output_offset + n]",
    "atomicAdd(&found",
    "fn total_of",
    "fn sum_tiles",
    "fn move_pairs",
];

/// Scatters in which the faults show that those of one tile have: equal keys far apart, all types, long runs.
fn scatters() -> Vec<Scatter> {
    let shapes: [(Op, [&[usize]; 3]); 6] = [
        (Op::gather(0), [&[30, 8], &[200], &[200, 8]]),
        (Op::gather(0), [&[40, 3], &[700], &[700, 3]]),
        (Op::gather(1), [&[2, 300, 5], &[90], &[2, 90, 5]]),
        (Op::gather_nd(), [&[7, 9, 2], &[150, 2], &[150, 2]]),
        (Op::gather_elements(0), [&[11, 13], &[70, 13], &[70, 13]]),
        (Op::gather(0), [&[9, 1300], &[20], &[20, 1300]]),
    ];
    let types = [DType::F32, DType::F16, DType::U8, DType::I16, DType::I64];
    let mut all = Vec::new();
    for (n, (op, tensors)) in shapes.into_iter().enumerate() {
        for dtype in types {
            for reduce in Reduce::ALL {
                all.push(scatter(op, tensors, dtype, reduce, n as u64));
            }
        }
    }
    // No bad index, whose pairs lie behind all others.
    let good = [&[30, 8][..], &[200], &[200, 8]];
    let mut good = scatter(Op::gather(0), good, DType::F32, Reduce::None, 8);
    good.call.indices = (0..200u32).flat_map(|n| (n % 30).to_ne_bytes()).collect();
    all.push(good);
    all
}

/// Scatters of keys with many updates.
fn of_runs() -> Vec<Scatter> {
    let mut all = Vec::new();
    // More of one key than a pass has, in sums wider than their elements.
    let long = [&[3, 2][..], &[60_000], &[60_000, 2]];
    let mut long = scatter(Op::gather(0), long, DType::BF16, Reduce::Add, 9);
    let one = half::bf16::ONE.to_ne_bytes();
    long.updates = one.repeat(long.updates.len() / 2);
    long.base.fill(0);
    all.push(long);
    // The same in all lanes, each with sums of its own.
    let long = [&[3, 4][..], &[60_000], &[60_000, 4]];
    let mut long = scatter(Op::gather(0), long, DType::BF16, Reduce::Add, 9);
    let row = [1.0, 2.0, 3.0, 4.0].map(|n| half::bf16::from_f32(n).to_ne_bytes());
    long.updates = row.concat().repeat(60_000);
    long.base.fill(0);
    all.push(long);
    // More of one row than a pass has.
    let long = [&[2, 256][..], &[50_000], &[50_000, 256]];
    let mut long = scatter(Op::gather(0), long, DType::F32, Reduce::Add, 10);
    long.base = tame_values(DType::F32, Reduce::Add, 2 * 256, 10);
    long.updates = tame_values(DType::F32, Reduce::Add, 50_000 * 256, 110);
    all.push(long);
    // Keys of some hundred updates each, none of them long, of which the pass ends within one.
    let many = [&[150, 128][..], &[40_000], &[40_000, 128]];
    let mut many = scatter(Op::gather(0), many, DType::F32, Reduce::Add, 11);
    let index = |n: u32| (n.wrapping_mul(2_654_435_761) >> 8) % 150;
    many.call.indices = (0..40_000).flat_map(|n| index(n).to_ne_bytes()).collect();
    many.base = tame_values(DType::F32, Reduce::Add, 150 * 128, 11);
    many.updates = tame_values(DType::F32, Reduce::Add, 40_000 * 128, 111);
    all.push(many);
    // Several long runs for a workgroup.
    let order = |n: u32| (n.wrapping_mul(2_654_435_761) >> 8) % 20;
    all.push(in_order(DType::F32, order, 20, 50_000));
    all
}

/// Scatters of several tiles.
fn of_many() -> Vec<Scatter> {
    let mut all = Vec::new();
    // Whole tiles, few and more: keys in any order; in order, of one digit, two and three; in order but for one, only within
    // tiles, and but for every 256th within tiles, which are greater than those that the memory of a workgroup may still
    // hold. With so many times as many lookups, a key has so many times as many of them. What is taken for two runs of a
    // key is rounded twice, and sums depend on the order.
    type Order = fn(u32, u32) -> u32;
    let orders: [(Order, usize); 9] = [
        (|n, _| n.wrapping_mul(2_654_435_761) >> 17, 32_768),
        (|n, _| (n.wrapping_mul(2_654_435_761) >> 9) % 11, 11),
        (|n, times| n / (62 * times), 100),
        (|n, times| if n == 1077 { 0 } else { n / (62 * times) }, 100),
        (|n, times| n / if n < 1024 { 25 } else { 125 * times }, 100),
        (|n, _| n % 2048 / 50, 100),
        (|n, _| 1000 + n / 2048 * 8 + n % 256 / 32, 1136),
        (|n, times| n / (7 * times), 1000),
        (|n, times| n / (2 * times) * 48, 150_000),
    ];
    for (dtype, tiles, times) in [
        (DType::BF16, 3, 1),
        (DType::F32, 3, 1),
        (DType::BF16, 17, 6),
    ] {
        for (order, extent) in orders {
            all.push(in_order(dtype, |n| order(n, times), extent, tiles * 2048));
        }
    }
    // The most that are few.
    let (order, extent) = orders[0];
    all.push(in_order(DType::BF16, |n| order(n, 1), extent, 16 * 2048));
    // Keys in several pieces, of one column and of several; 0 is less than nearly all.
    for (dtype, reduce) in [(DType::I32, Reduce::Add), (DType::U32, Reduce::Min)] {
        for columns in [1, 8] {
            let shapes = [&[11, columns][..], &[5000], &[5000, columns]];
            all.push(scatter(Op::gather(0), shapes, dtype, reduce, 6));
        }
    }
    // Tiles in all blocks whose counts are added up, nine in each.
    let order = |n: u32| n.wrapping_mul(2_654_435_761) >> 22;
    all.push(in_order(DType::BF16, order, 1024, 589_000));
    all
}

/// Sums of one column by such indices.
fn in_order(dtype: DType, order: impl Fn(u32) -> u32, extent: usize, count: usize) -> Scatter {
    let shapes = [&[extent, 1][..], &[count], &[count, 1]];
    let mut sums = scatter(Op::gather(0), shapes, dtype, Reduce::Add, 5);
    let indices = (0..count as u32).map(order);
    sums.call.indices = indices.flat_map(u32::to_ne_bytes).collect();
    sums.base = tame_values(dtype, Reduce::Add, extent, 5);
    sums.updates = tame_values(dtype, Reduce::Add, count, 105);
    sums
}

/// Indices that are bad now and then, a few of them often; each coordinate within its own extent.
pub(crate) fn scatter(
    op: Op,
    [params, indices, updates]: [&[usize]; 3],
    dtype: DType,
    reduce: Reduce,
    seed: u64,
) -> Scatter {
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let extents = match op {
        Op::GatherNd { .. } => &params[..indices[indices.len() - 1]],
        _ => {
            let axis = op.axis().unwrap_or(0) as usize;
            &params[axis..=axis]
        }
    };
    let index = |n: usize| {
        let (value, lookup) = (
            (n as u32).wrapping_mul(2_654_435_761) >> 7,
            n / extents.len(),
        );
        let extent = extents[n % extents.len()] as u32;
        match lookup % 3 {
            0 => value % (extent + extent / 8 + 1),
            _ => value % extent.min(5),
        }
    };
    let values_of_indices: Vec<u8> = (0..count(indices))
        .flat_map(|n| index(n).to_ne_bytes())
        .collect();
    Scatter {
        call: Call {
            op,
            rules: Rules::default(),
            element_bytes: dtype.bytes(),
            params: Vec::new(),
            params_layout: Layout::contiguous(params),
            index_type: IndexType::U32,
            indices: values_of_indices,
            indices_layout: Layout::contiguous(indices),
        },
        reduce,
        dtype,
        base: values(dtype, count(params), seed),
        updates: values(dtype, count(updates), seed + 100),
        updates_layout: Layout::contiguous(updates),
    }
}

/// The first scatter that reports a fault.
fn first_report(engine: &Engine, calls: [&[Scatter]; 3], fault: Change) -> Option<String> {
    let executor = Executor::Gpu(faulty(engine, engine.device().limits(), fault));
    let mut calls = calls.into_iter().flatten();
    calls.find_map(|call| call.difference(&executor))
}

#[test]
fn faults_in_scatters_are_reported_on_every_adapter() {
    let (calls, of_many, of_runs) = (scatters(), of_many(), of_runs());
    for engine in engines() {
        let label = engine.adapter().label();
        let none = first_report(engine, [&calls, &of_many, &of_runs], |s| s);
        assert_eq!(none, None, "{label}");
        let mut missed = Vec::new();
        for (&(name, part, ..), &plant) in FAULTS.iter().zip(PLANTED) {
            // Those first that are more likely to show it: each compiles pipelines.
            let calls = match part {
                "fn fold_run(" => [&of_runs[..], &of_many, &calls],
                "fn fold_two_steps" => [&of_runs[..], &calls, &of_many],
                _ if OF_MANY.contains(&part) => [&of_many[..], &calls, &of_runs],
                _ => [&calls[..], &of_many, &of_runs],
            };
            match first_report(engine, calls, plant) {
                Some(why) => assert!(!why.contains("wgpu refused"), "{label}: {name}: {why}"),
                None => missed.push(name),
            }
        }
        assert_eq!(missed, [""; 0], "{label}: not reported");
    }
}
