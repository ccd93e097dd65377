//! Pooled lookups against their definition, around the sizes at which windows, blocks of columns and parts of threads
//! end.

use super::super::vectors::tests::with_each_kind;
use crate::bag::{BagMode, Bags};
use crate::element::DType;
use crate::executor::Executor;
use crate::operand::{AnyTensor, Params};
use crate::quantized::{BlockFormat, FloatType, QuantizedTable};
use crate::rules::{Fill, OutOfBounds, Rules};
use crate::shape::Layout;
use crate::table::Table;
use crate::tensor::Tensor;

const ROWS: usize = 37;

/// Where bags end: empty ones, one row, about a window of wide rows, about a window of narrow ones, and more of no row or
/// of few than a window has.
fn ends() -> Vec<usize> {
    let lengths = [0, 1, 0, 63, 64, 65, 2, 1023, 1, 1025, 0, 7];
    let (lengths, short) = match cfg!(miri) {
        true => (&lengths[..7], 5),
        false => (&lengths[..], 1500),
    };
    let few = (0..short).map(|n| usize::from(n % 16 == 3) * (n % 5));
    let mut ends = vec![0];
    for length in lengths.iter().copied().chain(few) {
        ends.push(ends[ends.len() - 1] + length);
    }
    ends
}

/// Rows in an order that has no pattern; some are bad.
fn ids(count: usize) -> Vec<u32> {
    let id = |n: u32| n.wrapping_mul(2_654_435_761) % (ROWS as u32 + 2);
    (0..count as u32).map(id).collect()
}

/// Elements of which no sum is exact, where they are floats.
fn elements(dtype: DType, count: usize, seed: usize) -> Vec<u8> {
    let value = |n: usize| 1.0 / (1 + n * seed % 1013) as f32 - 0.1;
    let bytes = |n: usize| match dtype {
        DType::F32 | DType::C64 => value(n).to_ne_bytes().to_vec(),
        DType::BF16 => ((value(n).to_bits() >> 16) as u16).to_ne_bytes().to_vec(),
        DType::F16 => (0x3000 + (n * seed % 0x1000) as u16).to_ne_bytes().to_vec(),
        DType::F64 => f64::from(value(n)).to_ne_bytes().to_vec(),
        _ => vec![(n * seed % 251) as u8; dtype.bytes()],
    };
    let parts = if dtype == DType::C64 { 2 } else { 1 };
    (0..count * parts).flat_map(bytes).collect()
}

/// Compares both executors, with the loops for each kind of vectors.
fn assert_equal<T: Table<Output = AnyTensor, Element = u8> + Sync>(
    (bags, rules): (Bags<'_>, &Rules),
    table: &T,
    ids: &Tensor<u32>,
    weights: Option<&Params<'_>>,
) {
    let of = |executor: Executor| {
        let call = executor.embedding_bag(bags, rules, table, ids);
        let made = match weights {
            Some(weights) => call.weights(weights).wait(),
            None => call.wait(),
        };
        made.unwrap()
    };
    let expected = of(Executor::Reference);
    with_each_kind(|| {
        let got = of(Executor::Cpu);
        assert!(
            got.bytes() == expected.bytes(),
            "{bags:?} of {:?}, weights {}",
            got.shape(),
            weights.is_some()
        );
    });
}

#[test]
fn bags_of_any_length_and_width_are_those_of_the_definition() {
    let ends = ends();
    let count = ends[ends.len() - 1];
    let ids = Tensor::new(&[count], ids(count)).unwrap();
    let types = [
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::I8,
        DType::F64,
        DType::C64,
    ];
    let widths = match cfg!(miri) {
        true => &[1, 8, 33][..],
        false => &[1, 3, 8, 33, 64, 65, 457],
    };
    for (n, &columns) in widths.iter().enumerate() {
        for (k, dtype) in types.into_iter().enumerate() {
            let padding = [None, Some(3)][(n + k) % 2];
            let fill = Fill::from_bytes(&elements(dtype, 1, 5));
            let rules = [
                Rules::TORCH.with_out_of_bounds(OutOfBounds::Zero),
                Rules::TORCH.with_out_of_bounds(OutOfBounds::Fill(fill)),
            ];
            // Rows as they lie, and columns that lie apart.
            let table = elements(dtype, ROWS * columns, 7);
            let layouts = [
                Layout::contiguous(&[ROWS, columns]),
                Layout::strided(&[ROWS, columns], &[1, ROWS as isize], 0).unwrap(),
            ];
            let table = Params::new(&table, dtype, layouts[n % 2].clone()).unwrap();
            let weights = elements(dtype, 2 * count, 11);
            let apart = Layout::strided(&[count], &[2], 1).unwrap();
            let weights = [Layout::contiguous(&[count]), apart]
                .map(|layout| Params::new(&weights, dtype, layout).unwrap());
            let modes = match dtype {
                DType::C64 => &[BagMode::Sum][..],
                DType::I8 => &[BagMode::Sum, BagMode::Max],
                _ => &BagMode::ALL,
            };
            for &mode in modes {
                let mut bags = Bags::offsets_with_last(mode, &ends);
                if let Some(padding) = padding {
                    bags = bags.with_padding_index(padding);
                }
                let how = (bags, &rules[k % 2]);
                assert_equal(how, &table, &ids, None);
                if mode == BagMode::Sum && dtype != DType::I8 {
                    assert_equal(how, &table, &ids, Some(&weights[k % 2]));
                }
            }
        }
    }
}

#[test]
fn few_bags_of_many_columns_are_those_of_the_definition() {
    let columns = if cfg!(miri) { 70 } else { 3000 };
    let (bags, each) = (2, if cfg!(miri) { 3 } else { 150 });
    let ids = Tensor::new(&[bags, each], ids(bags * each)).unwrap();
    let rules = Rules::TORCH.with_out_of_bounds(OutOfBounds::Zero);
    for dtype in [DType::F32, DType::F16] {
        let table = elements(dtype, ROWS * columns, 7);
        let table = Params::new(&table, dtype, Layout::contiguous(&[ROWS, columns])).unwrap();
        for mode in BagMode::ALL {
            assert_equal((Bags::rows(mode), &rules), &table, &ids, None);
        }
    }
}

#[test]
fn bags_of_quantized_rows_are_those_of_the_definition() {
    let ends = ends();
    let count = ends[ends.len() - 1];
    let ids = Tensor::new(&[count], ids(count)).unwrap();
    let zeros = Rules::TORCH.with_out_of_bounds(OutOfBounds::Zero);
    let fill = |value: f32| OutOfBounds::Fill(Fill::from_bytes(&value.to_ne_bytes()));
    let fills = [-0.0, 2.5, f32::NEG_INFINITY, f32::NAN].map(fill);
    let fills = fills.map(|fill| Rules::TORCH.with_out_of_bounds(fill));
    let weights = elements(DType::F32, count, 11);
    let weights = Params::new(&weights, DType::F32, Layout::contiguous(&[count])).unwrap();
    let mut codes = elements(DType::U8, ROWS * (200 + 8), 7);
    for row in codes.chunks_exact_mut(200 + 8) {
        let scale = f32::from(row[0]) / 100.0;
        row[200..204].copy_from_slice(&scale.to_le_bytes());
        row[204..].copy_from_slice(&(-0.3f32).to_le_bytes());
    }
    let mut blocks = elements(DType::U8, ROWS * 3 * 34, 7);
    for block in blocks.chunks_exact_mut(34) {
        block[..2].copy_from_slice(&0x2e66u16.to_le_bytes()); // 0.1
    }
    let tables = [
        QuantizedTable::rows(&[ROWS, 200], &codes),
        QuantizedTable::blocks(BlockFormat::Q8_0, &[ROWS, 96], &blocks),
    ];
    // Two rows of bytes for each row of this one.
    let pairs = QuantizedTable::rows(&[ROWS, 2, 96], &codes);
    for table in tables.into_iter().chain([pairs]) {
        let table = table.unwrap();
        for (mode, padding) in [
            (BagMode::Sum, None),
            (BagMode::Mean, Some(3)),
            (BagMode::Max, None),
        ] {
            let mut bags = Bags::offsets_with_last(mode, &ends);
            if let Some(padding) = padding {
                bags = bags.with_padding_index(padding);
            }
            let table = table.to_type(FloatType::F32);
            for rules in fills.iter().chain([&zeros]) {
                assert_equal((bags, rules), &table, &ids, None);
                if mode == BagMode::Sum {
                    assert_equal((bags, rules), &table, &ids, Some(&weights));
                }
            }
        }
    }
}
