//! Pooled lookups from quantised tables, against the reference of pooled lookups on the decoded table.

use std::collections::BTreeMap;

use gather_conformance::{SplitMix, difference};
use wgpu_gather::gpu::{DeviceTensor, Engine, Options, WhenFull};
use wgpu_gather::quantized::{BlockFormat, FloatType, Format, QuantizedTable};
use wgpu_gather::{
    BagMode, Bags, DType, Error, Executor, Indices, Layout, OpKind, Result, Role, Rules, Tensor,
};

use crate::common::{buffer_with, bytes_of, device_on, devices, engines, executors, fresh_adapter};
use crate::planted::{faulty, plant};
use crate::segments::limits;
use gather_conformance::QuantizedGather;
use gather_conformance::{Bag, random_bag_of};

/// How many random calls are made on the host, by the reference, which decodes a block for each element, and on each
/// adapter.
const CALLS: [u64; 3] = [4_000, 1_000, 600];

/// A table, and a pooled lookup from what it decodes to.
struct Pooled {
    case: QuantizedGather,
    bag: Bag,
}

impl Pooled {
    /// Number `seed` of the random ones, of a table that `case` draws.
    fn random(case: fn(u64) -> QuantizedGather, seed: u64) -> Pooled {
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
        let bag = &self.bag;
        let layout = bag.indices.layout.clone();
        let indices = Indices::new(bag.indices.bytes.as_slice(), bag.index_type, layout)?;
        let weights = bag.weights.as_ref();
        let weights = weights.map(|w| w.as_params(DType::F32)).transpose()?;
        let table = self.case.table();
        let decoded = table.to_type(FloatType::F32);
        let mut call = executor.embedding_bag(bag.bags(), &bag.rules, &decoded, &indices);
        if let Some(weights) = &weights {
            call = call.weights(weights);
        }
        let elements: usize = call.output_shape()?.iter().product();
        let mut output = vec![0xa5; elements * 4];
        call.into(&mut output).wait()?;
        Ok(output)
    }

    /// What is wrong with what `executor` makes of it.
    fn difference(&self, executor: &Executor) -> Option<String> {
        self.compare(self.expected(), executor)
    }

    fn compare(&self, expected: Result<Vec<u8>>, executor: &Executor) -> Option<String> {
        difference(expected, self.run(executor), |expected, got| {
            self.bag.compare(expected, got)
        })
    }

    /// Fails if something is wrong with it; returns whether there is an output, not an error.
    fn assert_right(&self, executor: &Executor) -> bool {
        let expected = self.expected();
        let made = expected.is_ok();
        if let Some(difference) = self.compare(expected, executor) {
            let Pooled { case, bag } = self;
            let what = executor.describe();
            panic!("{what}: {difference}\n{case:?}\n{bag:?}");
        }
        made
    }

    /// Bytes of all rows as f32.
    fn rows_bytes(&self) -> usize {
        let lookups: usize = self.bag.indices.layout.shape().iter().product();
        lookups * self.case.shape[1..].iter().product::<usize>() * 4
    }
}

/// The executors, the reference too.
pub(crate) fn all() -> impl Iterator<Item = Executor> {
    executors().into_iter().chain([Executor::Reference])
}

fn check_random(executor: &Executor, count: u64) {
    let (mut made, mut formats) = (0, BTreeMap::new());
    for seed in 0..count {
        let pooled = Pooled::random(QuantizedGather::random, seed);
        made += u64::from(pooled.assert_right(executor));
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

#[test]
fn random_lookups_are_those_of_the_decoded_table_on_the_host() {
    check_random(&Executor::Cpu, CALLS[0]);
}

#[test]
fn random_lookups_are_those_of_the_decoded_table_by_the_reference_on_the_host() {
    check_random(&Executor::Reference, CALLS[1]);
}

#[test]
fn random_lookups_are_those_of_the_decoded_table_on_devices() {
    for device in devices() {
        check_random(&device, CALLS[2]);
    }
}

/// Room for few rows at a time: a bag takes several parts, and a table several windows.
#[test]
fn rows_beyond_a_binding_are_decoded_in_parts() {
    for engine in engines() {
        for (binding, count, case) in [
            (
                2048,
                60,
                QuantizedGather::random as fn(u64) -> QuantizedGather,
            ),
            (16 << 10, 30, QuantizedGather::random),
            (64 << 10, 10, QuantizedGather::large),
        ] {
            let (device, queue) = device_on(&fresh_adapter(engine), limits(binding, 1 << 20, 4));
            let engine = Engine::with_options(device, queue, Options::default());
            let executor = Executor::Gpu(engine.wait().expect("an engine"));
            let several = |pooled: &Pooled| {
                let parts = pooled.rows_bytes() / binding as usize;
                let windows = pooled.case.table().bytes() / binding as usize;
                parts > 1 && parts * (windows + 1) < 40
            };
            let calls = (0..).map(|seed| Pooled::random(case, 10_000 + seed));
            let mut right = 0;
            for pooled in calls.filter(several).take(count) {
                // What is refused: a row whose fold, of 32 bytes for each column, is larger than the
                // binding with the weights of the bag, and what a bag reaches of strided indices.
                let columns: usize = pooled.case.shape[1..].iter().product();
                let is_wide = columns as u64 * 32 + 1024 > binding;
                match pooled.run(&executor) {
                    Err(Error::TensorTooLarge { role, .. })
                        if is_wide || matches!(role, Role::Indices | Role::Weights) => {}
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
pub(crate) fn two_rows() -> Vec<u8> {
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
        let engine = Engine::with_options(device, queue, options)
            .wait()
            .expect("an engine");
        let bags = Bags::offsets(BagMode::Sum, &[0]);
        let executor = Executor::Gpu(engine);
        let got = executor
            .embedding_bag(bags, &Rules::TORCH, &table.to::<f32>(), &ids)
            .wait()
            .unwrap();
        assert_eq!((got.shape(), got.data()), (&[1, 32][..], &[sum; 32][..]));
    }
}

/// The one line of the shaders that only quantised tables need, left out, is reported.
#[test]
fn a_step_from_row_to_row_left_out_is_reported() {
    let calls: Vec<_> = (0..40)
        .map(|n| Pooled::random(QuantizedGather::random, 500 + n))
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
            let why = calls.iter().find_map(|call| call.difference(&executor));
            let what = format!("{}: {from}: {why:?}", engine.adapter().label());
            assert_eq!(why.is_some(), is_fault, "{what}");
            assert!(
                !why.is_some_and(|why| why.contains("wgpu refused")),
                "{what}"
            );
        }
    }
}

/// Into a tensor of the caller, and recorded into the caller's encoder and pass: what is in the buffers
/// when a recording runs counts.
#[test]
fn rows_are_pooled_into_the_callers_buffer_and_recorded() {
    let bytes = two_rows();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    let (bags, weighted) = (
        Bags::rows(BagMode::Sum),
        Bags::offsets(BagMode::Sum, &[0, 2]),
    );
    let rules = Rules::TORCH;
    for engine in engines() {
        let table = engine.upload(&table).wait().unwrap();
        let ids = buffer_with(engine, bytemuck::cast_slice(&[0u32, 1, 1, 1]));
        let wrap = |shape: &[usize]| {
            DeviceTensor::<u32>::wrap(ids.slice(..), Layout::contiguous(shape)).unwrap()
        };
        let output = buffer_with(engine, &[0xa5; 2 * 32 * 4 + 16]);
        let layout = Layout::contiguous(&[2, 32]);
        let mut sums = DeviceTensor::<f32>::wrap(output.slice(..), layout).unwrap();
        let check = |expected: [f32; 2]| {
            let bytes = bytes_of(engine, &output);
            let got: &[f32] = bytemuck::cast_slice(&bytes[..256]);
            assert_eq!(
                (&got[..32], &got[32..]),
                (&[expected[0]; 32][..], &[expected[1]; 32][..])
            );
            assert_eq!(bytes[256..], [0xa5; 16]);
        };
        let ids_of_rows = wrap(&[2, 2]);
        let decoded = table.to::<f32>();
        engine
            .embedding_bag_into(bags, &rules, &decoded, &ids_of_rows, None, &mut sums)
            .unwrap();
        engine.flush().unwrap();
        check([-12.5, -28.0]);

        let mut bind = |ids: &DeviceTensor<u32>| {
            engine.bind(|r| r.embedding_bag_into(bags, &rules, &decoded, ids, None, &mut sums))
        };
        let few = bind(&wrap(&[1, 2]));
        assert!(matches!(few, Err(Error::OutputShape { .. })), "{few:?}");
        let binding = bind(&ids_of_rows).unwrap();
        for (first, in_pass, expected) in [(1u32, false, -28.0), (0, true, -12.5)] {
            let id = bytemuck::bytes_of(&first);
            engine.queue().write_buffer(&ids, 0, id);
            let mut encoder = engine.device().create_command_encoder(&Default::default());
            match in_pass {
                true => {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    binding.encode_in_pass(&mut pass).unwrap();
                }
                false => binding.encode(&mut encoder),
            }
            engine.queue().submit([encoder.finish()]);
            check([expected, -28.0]);
        }

        let weights = Tensor::new(&[4], vec![2.0f32, 1.0, 1.0, 0.5]).unwrap();
        let weights = engine.upload(&weights).wait().unwrap();
        let ids = wrap(&[4]);
        let weights = Some(&weights);
        let binding = engine
            .bind(|r| r.embedding_bag_into(weighted, &rules, &decoded, &ids, weights, &mut sums))
            .unwrap();
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let refused = binding.encode_in_pass(&mut pass);
        let role = Role::Weights;
        let op = OpKind::EmbeddingBag;
        assert_eq!(refused, Err(Error::CopyInPass { op, role }));
        drop(pass);
        binding.encode(&mut encoder);
        engine.queue().submit([encoder.finish()]);
        check([2.0 * 1.5 - 14.0, -14.0 - 7.0]);
    }
}
