//! What a call costs before any byte moves: from an operator on shapes to the numbers of a kernel.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wgpu_gather::{BindingLimits, Explanation, IndexType, Layout, Op, Plan, Rules};

/// A device that binds all of these tensors at once.
const LIMITS: BindingLimits = BindingLimits {
    params_bytes: 1 << 30,
    indices_bytes: 1 << 30,
    output_bytes: 1 << 30,
    segments: 6,
    alignment: 256,
    pass_bytes: 1 << 30,
    workgroups: 65_535,
};

/// Operators on shapes that need few and many loops.
fn calls() -> [(&'static str, Op, Layout, Layout); 4] {
    let layout = Layout::contiguous;
    let batched = Op::Gather {
        axis: Some(4),
        batch_dims: 2,
    };
    [
        (
            "rows",
            Op::gather(0),
            layout(&[30_522, 384]),
            layout(&[4096]),
        ),
        (
            "rank 6, batched",
            batched,
            layout(&[2, 3, 4, 5, 6, 7]),
            layout(&[2, 3, 8, 9]),
        ),
        (
            "tuples",
            Op::gather_nd(),
            layout(&[512, 512, 512]),
            layout(&[4096, 3]),
        ),
        (
            "elements",
            Op::gather_elements(0),
            layout(&[4, 5, 6]),
            layout(&[9, 5, 3]),
        ),
    ]
}

fn planning(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan");
    for (name, op, params, indices) in calls() {
        let plan = || {
            let (params, indices) = (black_box(&params), black_box(&indices));
            Plan::new(op, &Rules::ONNX, 4, params, IndexType::I64, indices).unwrap()
        };
        group.bench_function(name, |b| b.iter(plan));
        let planned = plan();
        group.bench_function(format!("{name}, passes and kernels"), |b| {
            b.iter(|| Explanation::new(black_box(&planned), &LIMITS).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, planning);
criterion_main!(benches);
