//! Calls whose loops are as long as the library lets them be: all updates of one key, all indices of one
//! bag. What they touch is too much to record; their steps are counted.

use gather_conformance::{Bag, Call, Laid, Outcome, Scatter};
use wgpu_gather::{BagMode, DType, IndexType, Layout, Op, Reduce, Rules};

use crate::bench::{Bench, Tally};

/// More than an invocation folds in a dispatch.
const LOOKUPS: usize = 40_000;

/// More than an invocation folds in a dispatch that has two fours of each row.
const LONG_ROWS: usize = 20_000;

/// Runs them; of the rest of their accesses, nothing is recorded.
pub(crate) fn run(bench: &Bench, tally: &mut Tally) {
    bench.recorder.record_accesses(false);
    // Elements, also such that do not hold a sum; fours of a row; two fours of each.
    for (lookups, columns, dtype) in [
        (LOOKUPS, 1, DType::F32),
        (LOOKUPS, 1, DType::BF16),
        (LOOKUPS, 4, DType::I32),
        (LONG_ROWS, 1024, DType::F32),
    ] {
        let scatter = scatter(lookups, columns, dtype);
        let name = format!("a scatter of {lookups} rows of {columns} {dtype} to one");
        bench.run(tally, &name, |bench| {
            outcome(scatter.difference(&bench.executor()))
        });
    }
    for columns in [1, 4] {
        for dtype in [DType::F32, DType::I8] {
            let bag = bag(columns, dtype);
            let name = format!("a bag of {LOOKUPS} rows of {columns} {dtype}");
            bench.run(tally, &name, |bench| {
                outcome(bag.difference(&bench.executor()))
            });
        }
    }
    bench.recorder.record_accesses(true);
}

fn outcome(difference: Option<String>) -> Outcome {
    difference.map_or(Outcome::Passed, Outcome::Failed)
}

/// The greatest of rows that are all the same one.
fn scatter(lookups: usize, columns: usize, dtype: DType) -> Scatter {
    let width = dtype.bytes();
    let updates = (0..columns * width).map(|n| (n % 50) as u8).collect();
    Scatter {
        call: Call {
            op: Op::gather(0),
            rules: Rules::TORCH,
            element_bytes: width,
            params: Vec::new(),
            params_layout: Layout::contiguous(&[2, columns]),
            index_type: IndexType::U32,
            indices: [1, 0, 0, 0].repeat(lookups),
            indices_layout: Layout::contiguous(&[lookups]),
        },
        reduce: Reduce::Max,
        dtype,
        base: vec![0; 2 * columns * width],
        updates,
        updates_layout: Layout::strided(&[lookups, columns], &[0, 1], 0).expect("a layout"),
    }
}

/// The greatest of rows that are all the same one.
fn bag(columns: usize, dtype: DType) -> Bag {
    Bag {
        mode: BagMode::Max,
        offsets: Some((vec![0], false)),
        padding: None,
        rules: Rules::TORCH,
        dtype,
        params: Laid {
            bytes: (0..2 * columns * dtype.bytes())
                .map(|n| (n % 50) as u8)
                .collect(),
            layout: Layout::contiguous(&[2, columns]),
        },
        index_type: IndexType::U32,
        indices: Laid {
            bytes: [1, 0, 0, 0].repeat(LOOKUPS),
            layout: Layout::contiguous(&[LOOKUPS]),
        },
        weights: None,
    }
}
