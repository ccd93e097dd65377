//! Pooled lookups from quantised tables: against the reference of pooled lookups on the decoded table, and
//! against sequential sums of rows that other libraries decoded.

use std::collections::BTreeMap;

use gather_conformance::{QuantizedCase, QuantizedExpected, SplitMix};
use wgpu_gather::gpu::{Engine, Options, WhenFull};
use wgpu_gather::quantized::{BlockFormat, Format, QuantizedTable};
use wgpu_gather::{
    BagMode, Bags, DType, Error, Executor, Indices, Layout, Op, OutOfBounds, Params,
    QuantizedBagCall, Result, Role, Rules, Tensor, TensorView,
};

use crate::bag_calls::{Bag, random_bag_of};
use crate::common::{block_on, device_on, engines, executors, fresh_adapter};
use crate::planted::{faulty, plant};
use crate::quantized::calls::Case;
use crate::quantized_fixtures::suite;
use crate::segments::limits;

/// How many random calls the CPU path makes, and each adapter.
const CALLS: [u64; 2] = [4_000, 600];

/// A table, and a pooled lookup from what it decodes to.
struct Pooled {
    case: Case,
    bag: Bag,
}

impl Pooled {
    /// Number `seed` of the random ones, of a table that `case` draws.
    fn random(case: fn(u64) -> Case, seed: u64) -> Pooled {
        let case = case(seed).tame();
        let table = case.table();
        let mut decoded = vec![0.0; table.elements()];
        table.decode(0, &mut decoded).expect("all elements");
        let mut random = SplitMix(seed);
        let bag = random_bag_of(&mut random, &case.shape, &decoded);
        Pooled { case, bag }
    }

    /// What is expected: of a plain table of f32, by the definition.
    fn expected(&self) -> Result<Vec<u8>> {
        self.bag.run(&Executor::Reference)
    }

    /// What `executor` makes of it, in a poisoned output.
    fn run(&self, executor: &Executor) -> Result<Vec<u8>> {
        self.with_call(|call| {
            let elements: usize = call.output_shape()?.iter().product();
            let mut output = vec![0xa5; elements * 4];
            block_on(executor.embedding_bag_quantized_bytes(call, &mut output))?;
            Ok(output)
        })
    }

    fn with_call<T>(&self, take: impl FnOnce(&QuantizedBagCall<'_>) -> Result<T>) -> Result<T> {
        let bag = &self.bag;
        let layout = bag.indices.layout.clone();
        let indices = Indices::new(bag.indices.bytes.as_slice(), bag.index_type, layout)?;
        let weights = bag.weights.as_ref();
        let weights = weights.map(|w| Params::new(&w.bytes, 4, w.layout.clone()));
        let weights = weights.transpose()?;
        take(&QuantizedBagCall {
            bags: bag.bags(),
            rules: &bag.rules,
            table: &self.case.table(),
            indices: &indices,
            weights: weights.as_ref(),
        })
    }

    /// What is wrong with what `executor` makes of it.
    fn difference(&self, executor: &Executor) -> Option<String> {
        match (self.expected(), self.run(executor)) {
            (Ok(expected), Ok(got)) => self.bag.compare(&expected, &got),
            (Err(expected), Err(got)) if expected == got => None,
            (expected, got) => Some(format!(
                "{:?}, expected {:?}",
                got.map(|_| "a result"),
                expected.map(|_| "a result")
            )),
        }
    }

    fn assert_right(&self, executor: &Executor) {
        if let Some(difference) = self.difference(executor) {
            let Pooled { case, bag } = self;
            let what = executor.describe();
            panic!("{what}: {difference}\n{case:?}\n{bag:?}");
        }
    }

    /// Bytes of all rows as f32.
    fn rows_bytes(&self) -> usize {
        let lookups: usize = self.bag.indices.layout.shape().iter().product();
        lookups * self.case.shape[1..].iter().product::<usize>() * 4
    }
}

/// The executors, the reference too.
fn all() -> impl Iterator<Item = Executor> {
    executors().into_iter().chain([Executor::Reference])
}

#[test]
fn random_lookups_are_those_of_the_decoded_table() {
    for executor in all() {
        let count = CALLS[usize::from(matches!(executor, Executor::Gpu(_)))];
        let (mut made, mut formats) = (0, BTreeMap::new());
        for seed in 0..count {
            let pooled = Pooled::random(Case::random, seed);
            pooled.assert_right(&executor);
            made += u64::from(pooled.expected().is_ok());
            let name = match pooled.case.format {
                Format::Split(split) => split.codes.name().to_owned(),
                other => other.to_string(),
            };
            *formats.entry(name).or_insert(0) += 1;
        }
        let what = executor.describe();
        println!("{what}: {count} calls, {made} with an output, {formats:?}");
        assert!(made > count / 2 && formats.len() == 22, "{formats:?}");
    }
}

/// Room for few rows at a time: a bag takes several parts, and a table several windows.
#[test]
fn rows_beyond_a_binding_are_decoded_in_parts() {
    for engine in engines() {
        for (binding, count, case) in [
            (2048, 60, Case::random as fn(u64) -> Case),
            (64 << 10, 10, Case::large),
        ] {
            let (device, queue) = device_on(&fresh_adapter(engine), limits(binding, 1 << 20, 4));
            let engine = Engine::with_options(device, queue, Options::default());
            let executor = Executor::Gpu(block_on(engine).expect("an engine"));
            let several = |pooled: &Pooled| {
                let parts = pooled.rows_bytes() / binding as usize;
                let windows = pooled.case.table().bytes() / binding as usize;
                parts > 1 && parts * (windows + 1) < 40
            };
            let calls = (0..).map(|seed| Pooled::random(case, 10_000 + seed));
            let mut right = 0;
            for pooled in calls.filter(several).take(count) {
                // A row may be larger than the binding, and what a bag reaches of strided indices.
                let row = pooled.case.shape[1..].iter().product::<usize>() as u64 * 4;
                match pooled.run(&executor) {
                    Err(Error::TensorTooLarge { role, .. })
                        if row > binding || matches!(role, Role::Indices | Role::Weights) => {}
                    _ => {
                        pooled.assert_right(&executor);
                        right += 1;
                    }
                }
            }
            println!("{}: {right} of {count} calls", executor.describe());
            assert!(right > count / 2);
        }
    }
}

/// Two rows of Q8_0: 0.5 * 3 and 2 * -7.
fn two_rows() -> Vec<u8> {
    let row = |scale: u16, code: u8| [&scale.to_le_bytes()[..], &[code; 32]].concat();
    [row(0x3800, 3), row(0x4000, 0xf9)].concat()
}

/// A bag longer than a dispatch folds, of more rows than there is memory for at a time.
#[test]
fn a_long_bag_takes_no_memory_for_all_rows() {
    let bytes = two_rows();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    let ids: Vec<u32> = (0..300_000u32).map(|n| u32::from(n % 3 == 0)).collect();
    let sum = ids
        .iter()
        .fold(0.0f32, |sum, &id| sum + [1.5, -14.0][id as usize]);
    let ids = Tensor::new(&[300_000], ids).unwrap();
    for engine in engines() {
        // All rows take 38 MB.
        let (device, queue) = device_on(&fresh_adapter(engine), limits(16 << 20, 20 << 20, 4));
        let mut options = Options::default();
        options.max_memory_bytes = 20 << 20;
        options.when_full = WhenFull::Fail;
        let engine = block_on(Engine::with_options(device, queue, options)).expect("an engine");
        let bags = Bags::offsets(BagMode::Sum, &[0]);
        let executor = Executor::Gpu(engine);
        let got = executor
            .embedding_bag_quantized_blocking(bags, &Rules::TORCH, &table, &ids.view(), None)
            .unwrap();
        assert_eq!((got.shape(), got.data()), (&[1, 32][..], &[sum; 32][..]));
    }
}

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

/// Bits, but every NaN is one, and means have 3 ulps.
fn is_close(mode: BagMode, got: f32, expected: f32) -> bool {
    let apart = (i64::from(got.to_bits()) - i64::from(expected.to_bits())).abs();
    let allowed = if mode == BagMode::Mean { 3 } else { 0 };
    apart <= allowed || (got.is_nan() && expected.is_nan())
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
        let call = QuantizedBagCall {
            bags,
            rules: &case.rules,
            table,
            indices: &indices,
            weights: None,
        };
        let elements: usize = call.output_shape()?.iter().product();
        let mut output = vec![f32::NAN; elements];
        let bytes = bytemuck::cast_slice_mut(&mut output);
        block_on(executor.embedding_bag_quantized_bytes(&call, bytes))?;
        Ok(output)
    });
    made.expect("a table")
}

/// Tables and weights stay on the device; a bad index is reported when the output is read.
#[test]
fn tables_stay_on_the_device() {
    let bytes = two_rows();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    for engine in engines() {
        let table = engine.upload_quantized_blocking(&table).unwrap();
        let ids = Tensor::new(&[4], vec![1u32, 0, 0, 2]).unwrap();
        let ids = engine.upload_blocking(&ids.view()).unwrap();
        let weights = Tensor::new(&[4], vec![0.5f32, 2.0, 4.0, 1.0]).unwrap();
        let weights = engine.upload_blocking(&weights.view()).unwrap();
        let bags = Bags::offsets_with_last(BagMode::Sum, &[0, 2, 3]);
        let rules = &Rules::TORCH;
        let pool = |bags, weights| {
            let made = engine.embedding_bag_quantized(bags, rules, &table, &ids, weights);
            engine.download_blocking(&made.unwrap())
        };
        let row = |a: f32, b: f32| [[a; 32], [b; 32]].concat();
        assert_eq!(pool(bags, None).unwrap().data(), row(-12.5, 1.5));
        assert_eq!(pool(bags, Some(&weights)).unwrap().data(), row(-4.0, 6.0));
        let padded = bags.with_padding_index(0);
        assert_eq!(pool(padded, None).unwrap().data(), row(-14.0, 0.0));
        // The index behind the last offset is looked at by no bag.
        let all = Bags::offsets(BagMode::Sum, &[0]);
        assert_eq!(
            pool(all, None).unwrap_err().to_string(),
            "embedding_bag: indices[3] = 2 is out of bounds for params axis 0 of extent 2"
        );
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let bytes = two_rows();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    let ids = Tensor::new(&[3], vec![0i64, 1, -1]).unwrap();
    let two = Tensor::new(&[1, 3], vec![0i64, 1, 1]).unwrap();
    let weights = Tensor::new(&[2], vec![1.0f32, 2.0]).unwrap();
    let said = |bags: Bags<'_>, ids: &Tensor<i64>, weights: Option<&TensorView<'_, f32>>| {
        let mut texts = all().map(|executor| {
            let ids = ids.view();
            let made = executor.embedding_bag_quantized_blocking(
                bags,
                &Rules::ONNX,
                &table,
                &ids,
                weights,
            );
            made.map(Tensor::into_data)
                .map_err(|error| error.to_string())
        });
        let first = texts.next().unwrap();
        assert!(texts.all(|text| text == first), "{first:?}");
        first.unwrap_err()
    };
    let (sum, mean) = (BagMode::Sum, BagMode::Mean);
    let weights = Some(weights.view());
    for (text, expected) in [
        (
            said(Bags::rows(sum), &ids, None),
            "indices has rank 1, but must have 2",
        ),
        (
            said(Bags::offsets(sum, &[0]), &two, None),
            "indices has rank 2, but must have 1",
        ),
        (
            said(Bags::offsets(sum, &[0, 4]), &ids, None),
            "offsets[1] = 4 is out of range (allowed: 0..=3)",
        ),
        (
            said(Bags::offsets(sum, &[]), &ids, None),
            "there is no offset for 3 indices (allowed: at least 1)",
        ),
        (
            said(Bags::offsets(sum, &[0]).with_padding_index(-3), &ids, None),
            "padding index -3 is out of range for params of 2 rows (allowed -2..=1)",
        ),
        (
            said(Bags::offsets(sum, &[0]), &ids, weights.as_ref()),
            "weights has shape [2], but indices [3]; they must be equal",
        ),
        (
            said(Bags::offsets(mean, &[0]), &ids, weights.as_ref()),
            "weights with mode = mean of f32 (allowed: mode = sum of floats or complex numbers)",
        ),
    ] {
        assert_eq!(text, format!("embedding_bag: {expected}"));
    }
    // Weights of another width, an output of another length, a fill value of another type.
    let indices = Indices::try_from(&ids.view()).unwrap();
    let halves = Params::new(&[0; 6], 2, Layout::contiguous(&[3])).unwrap();
    let fill = |bytes: &[u8]| OutOfBounds::Fill(wgpu_gather::Fill::from_bytes(bytes));
    let wrong_fill = Rules::ONNX.with_out_of_bounds(fill(&[0; 2]));
    for executor in all() {
        let run = |rules: &Rules, weights: Option<&Params<'_>>, length: usize| {
            let call = QuantizedBagCall {
                bags: Bags::offsets(sum, &[0]),
                rules,
                table: &table,
                indices: &indices,
                weights,
            };
            block_on(executor.embedding_bag_quantized_bytes(&call, &mut vec![0; length]))
        };
        let wide = run(&Rules::ONNX, Some(&halves), 128).unwrap_err();
        assert!(
            matches!(
                wide,
                Error::ElementWidth {
                    role: Role::Weights,
                    expected: 4,
                    got: 2,
                    ..
                }
            ),
            "{wide:?}"
        );
        let short = run(&Rules::ONNX, None, 124).unwrap_err();
        assert!(matches!(
            short,
            Error::OutputLength {
                expected: 128,
                got: 124,
                ..
            }
        ));
        let filled = run(&wrong_fill, None, 128).unwrap_err();
        assert!(matches!(filled, Error::FillWidth { .. }), "{filled:?}");
        assert_eq!(run(&Rules::ONNX, None, 128), Ok(()));
    }
}

/// The one line of the shaders that only quantised tables need, left out, is reported.
#[test]
fn a_step_from_row_to_row_left_out_is_reported() {
    let calls: Vec<_> = (0..40)
        .map(|n| Pooled::random(Case::random, 500 + n))
        .collect();
    for engine in engines() {
        for (from, is_fault) in [
            ("row_at += pooling.rows_step;", true),
            ("row_at += 0u;", false),
        ] {
            let change: fn(String) -> String = match is_fault {
                true => |s| plant(s, "fn fold_bag", "row_at += pooling.rows_step;", ""),
                false => |s| s,
            };
            let executor = Executor::Gpu(faulty(engine, engine.device().limits(), change));
            let reported = calls
                .iter()
                .any(|call| call.difference(&executor).is_some());
            assert_eq!(reported, is_fault, "{}: {from}", engine.adapter().label());
        }
    }
}

#[test]
fn halves_are_pooled_as_f32() {
    // 2048 + 1 + 1 in f16 stays 2048, in f32 it is 2050.
    let bytes: Vec<u8> = [0x6800u16, 0x3c00]
        .iter()
        .flat_map(|h| h.to_le_bytes())
        .collect();
    let table = QuantizedTable::blocks(BlockFormat::F16, &[2, 1], &bytes).unwrap();
    let ids = Tensor::new(&[1, 3], vec![0u64, 1, 1]).unwrap();
    for executor in all() {
        let bags = Bags::rows(BagMode::Sum);
        let sums = executor
            .embedding_bag_quantized_blocking(bags, &Rules::TORCH, &table, &ids.view(), None)
            .unwrap();
        assert_eq!(sums, Tensor::new(&[1, 1], vec![2050.0]).unwrap());
    }
}
