//! Pooled lookups from quantised tables, against sequential folds of the rows that other libraries decoded.

use std::collections::BTreeMap;

use gather_conformance::{QuantizedCase, QuantizedExpected, within_ulps};
use wgpu_gather::{BagMode, Bags, DType, Executor, Indices, Layout, Op, Result};

use crate::bag_quantized::all;
use crate::quantized_fixtures::suite;

/// The rows of a case as another library has decoded them, if they are those of a plain list of indices.
fn decoded_rows(case: &QuantizedCase) -> Option<(Vec<f32>, usize)> {
    let (axis, batch_dims) = match case.op {
        Op::Gather { axis, batch_dims } => (axis.unwrap_or(batch_dims), batch_dims),
        _ => return None,
    };
    match &case.expected {
        QuantizedExpected::Output {
            shape,
            bytes,
            fused,
        } if (axis, batch_dims, case.output) == (0, 0, DType::F32)
            && case.indices.shape.len() == 1
            && fused.as_ref().is_none_or(|fused| fused == bytes) =>
        {
            let rows: Vec<f32> = bytemuck::pod_collect_to_vec(bytes);
            // Below this, a GPU may flush.
            let is_small = |x: &f32| *x != 0.0 && x.abs() < 1e-30;
            let usable = !rows.is_empty() && !rows.iter().any(is_small);
            usable.then(|| (rows, shape[1..].iter().product()))
        }
        _ => None,
    }
}

/// What a sequential loop makes of rows `n * each..(n + 1) * each`, for every bag `n`.
fn pooled_rows(rows: &[f32], row: usize, each: usize, mode: BagMode) -> Vec<f32> {
    let mut output = Vec::new();
    for bag in rows.chunks(row * each) {
        for column in 0..row {
            let mut values = bag.iter().skip(column).step_by(row).copied();
            let count = (bag.len() / row) as f32;
            output.push(match mode {
                BagMode::Sum => values.fold(0.0, |sum, value| sum + value),
                BagMode::Mean => values.fold(0.0, |sum, value| sum + value) / count,
                _ => {
                    let first = values.next().unwrap();
                    values.fold(
                        first,
                        |most, v| if v > most || v.is_nan() { v } else { most },
                    )
                }
            });
        }
    }
    output
}

/// Bits, but every NaN is one, and means have the 2.5 ulps of a division, rounded up.
fn is_close(mode: BagMode, got: f32, expected: f32) -> bool {
    let allowed = if mode == BagMode::Mean { 3 } else { 0 };
    let [a, b] = [got, expected].map(f32::to_ne_bytes);
    within_ulps(DType::F32, &a, &b, allowed) || (got.is_nan() && expected.is_nan())
}

#[test]
fn rows_that_other_libraries_decoded_are_pooled() {
    let suites = ["ort_blocks", "numpy_blocks", "gguf_blocks", "rows_and_fp8"];
    let cases: Vec<_> = suites.iter().flat_map(|name| suite(name)).collect();
    for executor in all() {
        let mut seen = BTreeMap::new();
        for (n, case) in cases.iter().enumerate() {
            let Some((rows, row)) = decoded_rows(case) else {
                continue;
            };
            let count = seen.entry(case.table.format.clone()).or_insert(0);
            if *count >= 12 {
                continue; // enough of one format
            }
            let mode = BagMode::ALL[n % 3];
            let each = 1 + n % 4;
            let has_nan = rows.iter().any(|x| x.is_nan());
            if has_nan && mode == BagMode::Max {
                continue;
            }
            *count += 1;
            let expected = pooled_rows(&rows, row, each, mode);
            let offsets: Vec<usize> = (0..case.indices.shape[0]).step_by(each).collect();
            let got = pooled(case, Bags::offsets(mode, &offsets), &executor).unwrap();
            assert_eq!(got.len(), expected.len(), "{}", case.name);
            for (got, expected) in got.iter().zip(&expected) {
                let what = (executor.describe(), &case.name, mode);
                assert!(
                    is_close(mode, *got, *expected),
                    "{what:?}: {got}, {expected}"
                );
            }
        }
        println!("{}: {seen:?}", executor.describe());
        assert!(seen.len() >= 15, "{seen:?}");
    }
}

fn pooled(case: &QuantizedCase, bags: Bags<'_>, executor: &Executor) -> Result<Vec<f32>> {
    let (index_type, indices) = case.indices.as_indices().expect("indices");
    let layout = Layout::contiguous(&case.indices.shape);
    let indices = Indices::new(indices, index_type, layout)?;
    let made = case.with_table(|table| {
        let decoded = table.to::<f32>();
        let call = executor.embedding_bag(bags, &case.rules, &decoded, &indices);
        let elements: usize = call.output_shape()?.iter().product();
        let mut output = vec![f32::NAN; elements];
        call.into(&mut output).wait()?;
        Ok(output)
    });
    made.expect("a table")
}
