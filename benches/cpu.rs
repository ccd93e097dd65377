//! The CPU path on warm tensors of a few megabytes. The speeds are of the bytes that
//! [`Traffic`] says have to move.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wgpu_gather::{Executor, IndexType, Indices, Layout, Op, Params, Plan, Rules};

/// A name, an operator, the width of an element, the shapes of params and of indices, and how many
/// neighbouring indices agree.
type Call = (
    &'static str,
    Op,
    usize,
    &'static [usize],
    &'static [usize],
    usize,
);

const CALLS: [Call; 9] = [
    ("rows of 4 KiB", Op::gather(0), 4, &[2048, 1024], &[1024], 1),
    (
        "rows of 256 B",
        Op::gather(0),
        4,
        &[32_768, 64],
        &[16_384],
        1,
    ),
    (
        "rows of 385 B",
        Op::gather(0),
        1,
        &[16_384, 385],
        &[8192],
        1,
    ),
    ("single f32", Op::gather(0), 4, &[1 << 20], &[1 << 20], 1),
    ("columns of f32", Op::gather(1), 4, &[256, 4096], &[4096], 1),
    (
        "tuples of 3",
        Op::gather_nd(),
        4,
        &[128, 128, 128],
        &[1 << 18, 3],
        1,
    ),
    (
        "elements along the last dim",
        Op::gather_elements(1),
        4,
        &[256, 4096],
        &[256, 4096],
        1,
    ),
    (
        "elements along the first dim",
        Op::gather_elements(0),
        4,
        &[1024, 1024],
        &[1024, 1024],
        1,
    ),
    (
        "elements along the first dim, expanded indices",
        Op::gather_elements(0),
        4,
        &[1024, 1024],
        &[1024, 1024],
        1024,
    ),
];

/// Indices that are spread over `extents` in turn; `alike` that follow each other agree.
fn spread(extents: &[usize], count: usize, alike: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let draw = |n: usize| {
        if n.is_multiple_of(alike) {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        let extent = extents[n % extents.len()] as u64;
        ((u64::from(state) * extent) >> 32) as i32
    };
    (0..count).map(draw).flat_map(i32::to_ne_bytes).collect()
}

fn gathers(c: &mut Criterion) {
    let mut group = c.benchmark_group("cpu");
    for (name, op, width, params_shape, indices_shape, alike) in CALLS {
        let (params_layout, indices_layout) = (
            Layout::contiguous(params_shape),
            Layout::contiguous(indices_shape),
        );
        let rules = Rules::default();
        let index = IndexType::I32;
        let plan = Plan::new(op, &rules, width, &params_layout, index, &indices_layout).unwrap();
        let coordinates = plan.geometry().coordinates.iter();
        let extents: Vec<usize> = coordinates.map(|c| c.extent).collect();
        let params = vec![0x5a; params_shape.iter().product::<usize>() * width];
        let indices = spread(&extents, indices_shape.iter().product(), alike);
        let params = Params::new(&params, width, params_layout).unwrap();
        let indices = Indices::new(indices, index, indices_layout).unwrap();
        let mut output = vec![0; plan.output_bytes()];
        group.throughput(Throughput::Bytes(output.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                Executor::Cpu
                    .gather(op, &rules, &params, &indices)
                    .into(&mut output)
                    .wait()
                    .unwrap();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, gathers);
criterion_main!(benches);
