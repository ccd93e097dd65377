//! Scatters of rows that are folded four words at a time, and of rows that nearly are, on every executor
//! and in windows of small bindings.

use wgpu_gather::gpu::{Engine, Options};
use wgpu_gather::{DType, Executor, Layout, Op, Reduce};

use crate::common::{block_on, executors, fresh_device};
use crate::scatter_calls::{Scatter, values};
use crate::scatter_faults::scatter;
use crate::segments;

/// Rows that a workgroup shares with others, has to itself, and shares among several; and one element
/// more than fours.
const WIDTHS: [usize; 7] = [4, 60, 128, 132, 133, 1024, 1300];

/// The types with arithmetic on words, and some that are moved as words.
const TYPES: [DType; 7] = [
    DType::F32,
    DType::I32,
    DType::U32,
    DType::BF16,
    DType::U8,
    DType::F64,
    DType::C128,
];

/// Rows of the updates side by side, with four elements between them, and with one before them.
fn layouts(rows: usize, width: usize) -> [(Layout, usize); 3] {
    let strided = |step: usize, offset: usize| {
        let layout = Layout::strided(&[rows, width], &[step as isize, 1], offset);
        (layout.unwrap(), offset + rows * step)
    };
    [strided(width, 0), strided(width + 4, 0), strided(width, 1)]
}

fn scatters() -> Vec<Scatter> {
    let mut all = Vec::new();
    for width in WIDTHS {
        for dtype in TYPES {
            for reduce in Reduce::ALL {
                let moved_only = dtype.bytes() != 4;
                if moved_only && reduce != Reduce::None {
                    continue;
                }
                let shapes = [&[13, width][..], &[40], &[40, width]];
                for (layout, count) in layouts(40, width) {
                    let seed = width as u64;
                    let mut call = scatter(Op::gather(0), shapes, dtype, reduce, seed);
                    call.updates = values(dtype, count, seed + 1);
                    call.updates_layout = layout;
                    all.push(call);
                }
            }
        }
    }
    all
}

fn check(executor: &Executor, calls: &[Scatter], label: &str) {
    for call in calls {
        let shape = call.updates_layout.shape();
        let which = || format!("{label}: {:?} {} {shape:?}", call.dtype, call.reduce);
        assert_eq!(call.difference(executor), None, "{}", which());
    }
}

#[test]
fn rows_in_fours_on_every_executor() {
    let calls = scatters();
    for executor in executors() {
        check(&executor, &calls, &executor.describe());
        let Executor::Gpu(engine) = &executor else {
            continue;
        };
        // Rows of 1,300 words fill most of a binding, so that windows end within rows.
        let (device, queue) = fresh_device(engine, segments::limits(8 << 10, 256 << 20, 4));
        let small = block_on(Engine::with_options(device, queue, Options::default()));
        let small = Executor::Gpu(small.expect("an engine"));
        check(&small, &calls, &format!("{}, windows", executor.describe()));
    }
}

/// More updates of one row than a pass has, so that the next goes on with it: in the midst of three rows,
/// and where each invocation takes all of its steps.
#[test]
fn a_row_that_passes_go_on_with() {
    let calls = [(3, 128, 40_000), (1, 1024, 20_000)].map(|(rows, width, updates)| {
        let shapes = [&[rows, width][..], &[updates], &[updates, width]];
        scatter(Op::gather(0), shapes, DType::U32, Reduce::Add, 8)
    });
    for executor in executors() {
        check(&executor, &calls, &executor.describe());
    }
}
