//! Pooled lookups against the reference, against gathers that are pooled afterwards, and on the device.

use gather_conformance::SplitMix;
use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{
    BagMode, Bags, DType, Error, Executor, Indices, Layout, OpKind, Role, Rules, Tensor,
    TensorView, wgpu,
};

use crate::common::{buffer_with, bytes_of, device_on, devices, engines, executors, fresh_adapter};
use crate::segments::limits;
use gather_conformance::{Bag, FOLDED, random_bag};

/// How many random calls each executor makes: a tenth of those of the gathers, and one at least.
fn cases() -> u64 {
    let cases = std::env::var("GATHER_CASES").ok();
    let cases: u64 = cases.map_or(20_000, |c| c.parse().expect("a number"));
    cases.div_ceil(10)
}

fn assert_right(bag: &Bag, executor: &Executor, number: u64) {
    if let Some(difference) = bag.difference(executor) {
        panic!(
            "{}: call {number}: {difference}\n{bag:?}",
            executor.describe()
        );
    }
}

fn check_random(executor: &Executor, count: u64, dtypes: &[DType]) {
    let mut random = SplitMix(18);
    let mut made = 0;
    for number in 0..count {
        let bag = random_bag(&mut random, dtypes);
        assert_right(&bag, executor, number);
        made += u64::from(bag.run(&Executor::Reference).is_ok());
    }
    let what = executor.describe();
    println!("{what}: {count} calls, {made} with an output");
    assert!(count < 20 || made > count / 2, "{made} of {count}");
}

#[test]
fn random_pooled_lookups_are_those_of_the_reference_on_the_host() {
    let dtypes = [&FOLDED[..], &[DType::F64]].concat();
    check_random(&Executor::Cpu, 5 * cases(), &dtypes);
}

#[test]
fn random_pooled_lookups_are_those_of_the_reference_on_devices() {
    for device in devices() {
        check_random(&device, cases().div_ceil(2), &FOLDED);
    }
}

#[test]
fn tables_in_segments_change_no_bit() {
    for engine in engines() {
        for (binding, buffer) in [(1024, 256 << 20), (2048, 4096)] {
            let (device, queue) = device_on(&fresh_adapter(engine), limits(binding, buffer, 8));
            let small = Engine::new(device, queue).wait().expect("an engine");
            let executor = Executor::Gpu(small);
            let (mut random, mut right, mut refused) = (SplitMix(19), 0, 0);
            // Few calls may have no table that is too large.
            for number in 0..(cases() / 10).max(40) {
                let bag = random_bag(&mut random, &FOLDED);
                match bag.run(&executor) {
                    Err(Error::TensorTooLarge { op, .. }) => {
                        assert_eq!(op, OpKind::EmbeddingBag);
                        refused += 1;
                    }
                    _ => {
                        assert_right(&bag, &executor, number);
                        right += 1;
                    }
                }
            }
            println!("{binding}: {right} right, {refused} too large");
            assert!(right > 4 * refused && refused > 0, "{right} {refused}");
        }
    }
}

/// Rows of f32 that are exact in any order.
fn table(rows: usize, columns: usize) -> Tensor<f32> {
    let values = (0..rows * columns).map(|n| ((n * 37) % 101) as f32 - 50.0);
    Tensor::new(&[rows, columns], values.collect()).unwrap()
}

#[test]
fn a_pooled_lookup_is_a_gather_that_is_pooled() {
    use wgpu_gather::Op;
    let table = table(9, 5);
    let ids = Tensor::new(&[2, 6], vec![0i32, 8, -1, 9, 3, 3, 100, -9, -10, 1, 1, 2]).unwrap();
    let fill = wgpu_gather::Fill::new(7.5f32);
    for rules in [
        Rules::TENSORFLOW_GPU,
        Rules::NUMPY_WRAP,
        Rules::WEBNN,
        Rules::NUMPY.with_out_of_bounds(wgpu_gather::OutOfBounds::Fill(fill)),
    ] {
        let (params, indices) = (table.view(), ids.view());
        let rows = Executor::Reference
            .gather(Op::gather(0), &rules, &params, &indices)
            .wait();
        let rows = rows.unwrap().into_data();
        let mut sums = vec![0.0f32; 10];
        for (n, value) in rows.iter().enumerate() {
            sums[n / 30 * 5 + n % 5] += value;
        }
        for executor in executors() {
            let bags = Bags::rows(BagMode::Sum);
            let got = executor
                .embedding_bag(bags, &rules, &params, &indices)
                .wait();
            assert_eq!(got.unwrap().data(), sums, "{}", executor.describe());
        }
    }
}

#[test]
fn one_bag_with_everything_and_many_of_one() {
    let table = table(1000, 12);
    let ids: Vec<u32> = (0..100_000u32)
        .map(|n| n.wrapping_mul(2_654_435_761) % 1000)
        .collect();
    let ids = Tensor::new(&[100_000], ids).unwrap();
    let each: Vec<usize> = (0..100_000).collect();
    for offsets in [&[0][..], &each] {
        let bags = Bags::offsets(BagMode::Sum, offsets);
        let pool = |executor: &Executor| {
            let (params, indices) = (table.view(), ids.view());
            executor
                .embedding_bag(bags, &Rules::TORCH, &params, &indices)
                .wait()
                .unwrap()
        };
        let expected = pool(&Executor::Reference);
        for executor in executors() {
            let got = pool(&executor);
            let mut pairs = got.data().iter().zip(expected.data());
            let differs = pairs.position(|(got, expected)| got != expected);
            let what = (executor.describe(), offsets.len());
            assert_eq!((got.shape(), differs), (expected.shape(), None), "{what:?}");
        }
    }
}

/// What a device keeps between calls does not leak into the next, and bad indices are reported late.
#[test]
fn tensors_stay_on_the_device() {
    for engine in engines() {
        let table = engine.upload(&table(50, 8)).wait().unwrap();
        let ids = Tensor::new(&[4], vec![3u32, 3, 7, 50]).unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let weights = Tensor::new(&[4], vec![2.0f32, 1.0, 0.5, 4.0]).unwrap();
        let weights = engine.upload(&weights).wait().unwrap();
        let bags = Bags::offsets(BagMode::Sum, &[0, 3]);
        let rules = &Rules::TENSORFLOW_GPU;
        let plain = engine
            .embedding_bag(bags, rules, &table, &ids, None)
            .unwrap();
        let weighted = engine
            .embedding_bag(bags, rules, &table, &ids, Some(&weights))
            .unwrap();
        let mut into = weighted.clone();
        engine
            .embedding_bag_into(bags, rules, &table, &ids, None, &mut into)
            .unwrap();
        let host = self::table(50, 8);
        let row = |r: usize| &host.data()[r * 8..(r + 1) * 8];
        let sum = |w: [f32; 3]| -> Vec<f32> {
            let of = |c: usize| row(3)[c] * w[0] + row(3)[c] * w[1] + row(7)[c] * w[2];
            (0..8).map(of).chain([0.0; 8]).collect()
        };
        assert_eq!(
            engine.download(&plain).wait().unwrap().data(),
            sum([1.0; 3])
        );
        let got = engine.download(&into).wait().unwrap();
        assert_eq!(got.data(), sum([1.0; 3]));
        let strict = engine
            .embedding_bag(bags, &Rules::TORCH, &table, &ids, None)
            .unwrap();
        assert_eq!(
            engine.download(&strict).wait().unwrap_err().to_string(),
            "embedding_bag: indices[3] = 50 is out of bounds for params axis 0 of extent 50"
        );
        let weighted = engine
            .embedding_bag(bags, rules, &table, &ids, Some(&weights))
            .unwrap();
        let got = engine.download(&weighted).wait().unwrap();
        assert_eq!(got.data(), sum([2.0, 1.0, 0.5]));
        // An output that is read in the same batch: twice the first row, and the second, which is zeros.
        let again = Tensor::new(&[3], vec![0u32, 1, 0]).unwrap();
        let again = engine.upload(&again).wait().unwrap();
        let both = engine
            .batch(|batch| {
                let first = batch.embedding_bag(bags, rules, &table, &ids, None)?;
                let rows = Bags::offsets(BagMode::Sum, &[0]);
                batch.embedding_bag(rows, rules, &first, &again, None)
            })
            .unwrap();
        let twice: Vec<f32> = sum([1.0; 3])[..8].iter().map(|x| 2.0 * x).collect();
        assert!(twice.iter().any(|&x| x != 0.0));
        assert_eq!(engine.download(&both).wait().unwrap().data(), twice);
    }
}

#[test]
fn a_binding_is_recorded_into_the_callers_encoder() {
    for engine in engines() {
        let host = table(6, 4);
        let params = buffer_with(engine, bytemuck::cast_slice(host.data()));
        let ids = buffer_with(engine, bytemuck::cast_slice(&[5u64, 1, 2, 2, 6]));
        let weights = buffer_with(engine, bytemuck::cast_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0]));
        let output = buffer_with(engine, &[0xa5; 48 + 16]);
        let tensor = |buffer: &wgpu::Buffer, shape: &[usize]| {
            DeviceTensor::<f32>::wrap(buffer.slice(..), Layout::contiguous(shape)).unwrap()
        };
        let bags = Bags::offsets(BagMode::Sum, &[0, 1, 1]);
        let binding = engine
            .bind(|r| {
                r.embedding_bag_into(
                    bags,
                    &Rules::TORCH,
                    &tensor(&params, &[6, 4]),
                    &DeviceTensor::<u64>::wrap(ids.slice(..), Layout::contiguous(&[5]))?,
                    Some(&tensor(&weights, &[5])),
                    &mut tensor(&output, &[3, 4]),
                )
            })
            .unwrap();
        let row = |r: usize, c: usize| host.data()[r * 4 + c];
        for weight in [2.0f32, 7.0] {
            // What is in the buffers when a recording runs counts.
            engine
                .queue()
                .write_buffer(&weights, 4, bytemuck::bytes_of(&weight));
            let mut encoder = engine.device().create_command_encoder(&Default::default());
            binding.encode(&mut encoder);
            engine.queue().submit([encoder.finish()]);
            let bytes = bytes_of(engine, &output);
            let got: &[f32] = bytemuck::cast_slice(&bytes[..48]);
            for c in 0..4 {
                let last = weight * row(1, c) + 3.0 * row(2, c) + 4.0 * row(2, c);
                assert_eq!([got[c], got[4 + c], got[8 + c]], [row(5, c), 0.0, last]);
            }
            assert_eq!(bytes[48..], [0xa5; 16]);
            let said = binding.check().wait().unwrap().expect("a bad index");
            assert_eq!(
                said.to_string(),
                "embedding_bag: indices[4] = 6 is out of bounds for params axis 0 of extent 6"
            );
        }
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let table = table(4, 2);
    let ids = Tensor::new(&[3], vec![0i64, 1, 2]).unwrap();
    let two = Tensor::new(&[1, 3], vec![0i64, 1, 2]).unwrap();
    let weights = Tensor::new(&[2], vec![1.0f32, 2.0]).unwrap();
    let said = |bags: Bags<'_>, ids: &Tensor<i64>, weights: Option<&TensorView<'_, f32>>| {
        let mut texts = executors()
            .into_iter()
            .chain([Executor::Reference])
            .map(|executor| {
                let call = executor.embedding_bag(bags, &Rules::TORCH, &table, ids);
                let made = match weights {
                    Some(weights) => call.weights(weights).wait(),
                    None => call.wait(),
                };
                made.unwrap_err().to_string()
            });
        let first = texts.next().unwrap();
        assert!(texts.all(|text| text == first), "{first}");
        first
    };
    let sum = BagMode::Sum;
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
            said(Bags::offsets(sum, &[1]), &ids, None),
            "offsets[0] = 1 is out of range (allowed: 0..=0)",
        ),
        (
            said(Bags::offsets(sum, &[0, 2, 1]), &ids, None),
            "offsets[2] = 1 is out of range (allowed: 2..=3)",
        ),
        (
            said(Bags::offsets_with_last(sum, &[0, 4]), &ids, None),
            "offsets[1] = 4 is out of range (allowed: 0..=3)",
        ),
        (
            said(Bags::offsets(sum, &[]), &ids, None),
            "there is no offset for 3 indices (allowed: at least 1)",
        ),
        (
            said(Bags::offsets(sum, &[0]).with_padding_index(4), &ids, None),
            "padding index 4 is out of range for params of 4 rows (allowed -4..=3)",
        ),
        (
            said(Bags::offsets(sum, &[0]), &ids, Some(&weights.view())),
            "weights has shape [2], but indices [3]; they must be equal",
        ),
        (
            said(
                Bags::offsets(BagMode::Mean, &[0]),
                &ids,
                Some(&weights.view()),
            ),
            "weights with mode = mean of f32 (allowed: mode = sum of floats or complex numbers)",
        ),
    ] {
        assert_eq!(text, format!("embedding_bag: {expected}"));
    }
    let numbers = Tensor::new(&[2, 1], vec![1i32, 2]).unwrap();
    let bags = Bags::offsets(BagMode::Mean, &[0]);
    let made = Executor::Cpu.embedding_bag(bags, &Rules::TORCH, &numbers, &ids);
    assert_eq!(
        made.wait().unwrap_err().to_string(),
        "embedding_bag: mode = mean is not defined for i32 (allowed: sum, max)"
    );
    let negative = TensorView::new(&[2], &[0i64, -1]).unwrap();
    assert_eq!(
        Bags::read_offsets(&Indices::try_from(&negative).unwrap()).unwrap_err(),
        Error::OffsetOutOfRange {
            op: OpKind::EmbeddingBag,
            position: 1,
            value: -1,
            least: 0,
            greatest: isize::MAX as usize,
        }
    );
    assert_eq!(Role::Offsets.to_string(), "offsets");
}
