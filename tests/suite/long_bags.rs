//! Bags of more lookups than a dispatch folds.

use gather_conformance::{Bag, FOLDED, Laid, tame_values};
use wgpu_gather::{BagMode, DType, Executor, IndexType, Layout, Reduce, Rules};

use crate::common::engines;

/// Indices for the test below: each row of the table once, spread over all of them; else a few rows of it.
fn long_ids(count: usize, rows: usize) -> Vec<u8> {
    let each = count / rows;
    let id = |n: usize| match n % each == each / 2 {
        true => n / each % rows,
        false => rows + n % 5,
    };
    (0..count)
        .flat_map(|n| (id(n) as u32).to_ne_bytes())
        .collect()
}

/// A table with as many columns as rows that are looked up once: each has the greatest value of a column.
fn long_table(dtype: DType, rows: usize) -> Vec<u8> {
    let width = dtype.bytes();
    let mut bytes = tame_values(dtype, Reduce::Add, (rows + 5) * rows, 3);
    let greatest: &[u8] = match dtype {
        DType::F32 => &30.0f32.to_ne_bytes(),
        DType::F16 => &0x4f80u16.to_ne_bytes(),
        DType::BF16 => &0x41f0u16.to_ne_bytes(),
        _ => &[0xff; 8],
    };
    for row in 0..rows {
        let at = (row * rows + row) * width;
        let element = &mut bytes[at..at + width];
        match dtype {
            // The sign, and all other bits.
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
                let greatest = i64::MAX >> (64 - 8 * width);
                element.copy_from_slice(&greatest.to_le_bytes()[..width]);
            }
            _ => element.copy_from_slice(&greatest[..width]),
        }
    }
    bytes
}

/// Longer than a dispatch folds: it stops and another goes on, whatever the type and the mode. Each part
/// shows: in a maximum by a row that only it has, in a sum by how much it is.
#[test]
fn long_bags_are_folded_in_parts() {
    const ROWS: usize = 24;
    let mut bags = Vec::new();
    for dtype in FOLDED {
        let is_float = matches!(dtype, DType::F32 | DType::F16 | DType::BF16);
        let mut kinds = vec![(BagMode::Sum, false), (BagMode::Max, false)];
        if is_float {
            kinds.extend([(BagMode::Mean, false), (BagMode::Sum, true)]);
        }
        for (mode, weighted) in kinds {
            let (shape, offsets) = match bags.len() % 3 {
                0 => (vec![40_001], Some((vec![0], false))),
                1 => (vec![2, 20_003], None),
                _ => (vec![40_001], Some((vec![0, 3, 39_000], true))),
            };
            let count = shape.iter().product();
            // Weighted sums have a tolerance: of positive numbers, a part is more than that.
            let reduce = if weighted { Reduce::Mul } else { Reduce::Add };
            let laid = |bytes, shape: &[usize]| Laid {
                bytes,
                layout: Layout::contiguous(shape),
            };
            let columns = if mode == BagMode::Max { ROWS } else { 3 };
            let table = match mode {
                BagMode::Max => long_table(dtype, ROWS),
                _ => tame_values(dtype, reduce, (ROWS + 5) * columns, 3),
            };
            bags.push(Bag {
                mode,
                offsets,
                padding: None,
                rules: Rules::TORCH,
                dtype,
                params: laid(table, &[ROWS + 5, columns]),
                index_type: IndexType::U32,
                indices: laid(long_ids(count, ROWS), &shape),
                weights: weighted.then(|| laid(tame_values(dtype, reduce, count, 4), &shape)),
            });
        }
    }
    assert_eq!(bags.len(), 28);
    for bag in &bags {
        let expected = bag.run(&Executor::Reference).expect("an output");
        for engine in engines() {
            let got = bag.run(&Executor::Gpu(engine.clone())).expect("an output");
            let label = engine.adapter().label();
            assert_eq!(bag.compare(&expected, &got), None, "{label}: {bag:?}");
        }
    }
}
