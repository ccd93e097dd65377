//! Calls that are recorded into an encoder of the program, which submits it later, or never.

mod reports;

use wgpu_gather::gpu::{AnyDeviceTensor, DeviceTensor, Engine, Options, internals};
use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{BagMode, Bags, Error, Executor, Op, Reduce, Result, Rules, Tensor, wgpu};

use crate::common::{engine_with, engines};

const OP: Op = Op::Gather {
    axis: Some(0),
    batch_dims: 0,
};
const ZERO: Rules = Rules::TENSORFLOW_GPU;

fn encoder(engine: &Engine) -> wgpu::CommandEncoder {
    engine.device().create_command_encoder(&Default::default())
}

fn submit(engine: &Engine, encoder: wgpu::CommandEncoder) {
    engine.queue().submit([encoder.finish()]);
}

fn floats(engine: &Engine, values: &[f32]) -> DeviceTensor<f32> {
    let tensor = Tensor::new(&[values.len()], values.to_vec()).expect("a tensor");
    engine.upload(&tensor).wait().expect("memory")
}

fn ids(engine: &Engine, values: &[u32]) -> DeviceTensor<u32> {
    let tensor = Tensor::new(&[values.len()], values.to_vec()).expect("a tensor");
    engine.upload(&tensor).wait().expect("memory")
}

fn down(engine: &Engine, tensor: &DeviceTensor<f32>) -> Vec<f32> {
    let tensor = engine.download(tensor).wait().expect("a download");
    tensor.into_data()
}

/// Each verb, in one encoder, some of them on what others make; as the reference has it.
#[test]
fn every_verb_is_recorded() {
    let table = Tensor::new(&[4, 2], (0..8).map(|n| n as f32 / 3.0).collect()).unwrap();
    let at = Tensor::new(&[3], vec![3u32, 1, 3]).unwrap();
    let rows = Tensor::new(&[3, 2], (0..6).map(|n| n as f32 * 1.5).collect()).unwrap();
    let codes: Vec<u8> = [0x00, 0x3c].into_iter().chain(1..33).collect();
    let codes = codes.repeat(4);
    let codes = QuantizedTable::blocks(BlockFormat::Q8_0, &[4, 32], &codes).unwrap();
    let (bags, rules) = (Bags::offsets(BagMode::Sum, &[0, 2]), &ZERO);
    let host = Executor::Reference;
    let taken = host.gather(OP, rules, &table, &at).wait().unwrap();
    let added = host.scatter(OP, Reduce::Add, rules, &table, &at, &rows);
    let added = added.wait().unwrap();
    let gradient = host.gather_gradient(OP, rules, &[4, 2], &at, &rows);
    let gradient = gradient.wait().unwrap();
    let pooled = host.embedding_bag(bags, rules, &table, &at).wait().unwrap();
    let of_codes = codes.to::<f32>();
    let decoded = host.gather(OP, rules, &of_codes, &at).wait().unwrap();
    let sums = host.embedding_bag(bags, rules, &of_codes, &at);
    let sums = sums.wait().unwrap();
    let taken_again = host.gather(OP, rules, &added, &at).wait().unwrap();
    for engine in engines() {
        let on = engine.upload(&table).wait().unwrap();
        let (at, rows) = (
            engine.upload(&at).wait().unwrap(),
            engine.upload(&rows).wait().unwrap(),
        );
        let codes = engine.upload(&codes).wait().unwrap();
        let mut in_place = engine.upload(&table).wait().unwrap();
        let mut into = engine.zeros::<f32>(&[3, 2]).unwrap();
        let mut counted = engine.zeros::<f32>(&[3, 2]).unwrap();
        let mut bags_into = engine.zeros::<f32>(&[2, 2]).unwrap();
        let one = ids(engine, &[1]);
        let mut encoder = encoder(engine);
        let made = engine.record(&mut encoder, |r| {
            let codes = codes.to::<f32>();
            let add = Reduce::Add;
            r.scatter_into(OP, add, rules, &mut in_place, &at, &rows)?;
            r.gather_into(OP, rules, &in_place, &at, &mut into)?;
            let count = one.share_slice();
            r.gather_counted(OP, rules, &on, &at, &mut counted, count)?;
            r.embedding_bag_into(bags, rules, &on, &at, None, &mut bags_into)?;
            Ok([
                r.gather(OP, rules, &on, &at)?,
                r.scatter(OP, add, rules, &on, &at, &rows)?,
                r.gather_gradient(OP, rules, &[4, 2], &at, &rows)?,
                r.embedding_bag(bags, rules, &on, &at, None)?,
                r.gather(OP, rules, &codes, &at)?,
                r.embedding_bag(bags, rules, &codes, &at, None)?,
            ])
        });
        let made = made.unwrap();
        submit(engine, encoder);
        let all = [&taken, &added, &gradient, &pooled, &decoded, &sums];
        for (n, (made, expected)) in made.iter().zip(all).enumerate() {
            assert_eq!(engine.download(made).wait().unwrap(), *expected, "{n}");
        }
        let down = |tensor| engine.download(tensor).wait().unwrap();
        assert_eq!(down(&in_place), added);
        assert_eq!(down(&into), taken_again);
        assert_eq!(down(&bags_into), pooled);
        let first = [&taken.data()[..2], &[0.0; 4]].concat();
        assert_eq!(down(&counted).data(), first);
        assert_eq!(down(&on), table, "the base stays");
    }
}

/// Calls of the engine that wait are submitted before, and calls that follow come after what was submitted.
#[test]
fn what_is_recorded_reads_what_the_engine_was_asked_for_before() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let table = floats(&engine, &[1.0, 2.0, 3.0, 4.0]);
        let turned = ids(&engine, &[3, 2, 1, 0]);
        let before = engine.gather(OP, &ZERO, &table, &turned).unwrap();
        assert_eq!(internals::waiting_gathers(&engine), 1);
        let mut encoder = encoder(&engine);
        let back = engine.record(&mut encoder, |r| r.gather(OP, &ZERO, &before, &turned));
        let back = back.unwrap();
        submit(&engine, encoder);
        let again = engine.gather(OP, &ZERO, &back, &turned).unwrap();
        assert_eq!(down(&engine, &back), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(down(&engine, &again), [4.0, 3.0, 2.0, 1.0]);
    }
}

/// An encoder that is submitted when all tensors of its calls are gone writes to nothing that others have.
#[test]
fn tensors_that_are_dropped_before_the_encoder_is_submitted_serve_no_other() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let mut encoder = encoder(&engine);
        {
            let table = floats(&engine, &[9.0; 64]);
            let (at, ones) = (ids(&engine, &[5; 64]), floats(&engine, &[1.0; 64]));
            let made = engine.record(&mut encoder, |r| {
                r.scatter(OP, Reduce::Add, &Rules::ONNX, &table, &at, &ones)?;
                r.gather(OP, &Rules::ONNX, &table, &at)
            });
            made.unwrap();
        }
        assert_eq!(engine.pool_bytes(), 0);
        let others: Vec<_> = (0..20).map(|n| floats(&engine, &[n as f32; 64])).collect();
        submit(&engine, encoder);
        for (n, other) in others.iter().enumerate() {
            assert_eq!(down(&engine, other), [n as f32; 64]);
        }
    }
}

#[test]
fn a_recording_that_fails_leaves_nothing_in_the_encoder() {
    for engine in engines() {
        let mut to = floats(engine, &[0.0; 4]);
        let (wrong, ones) = (ids(engine, &[9, 3]), floats(engine, &[1.0; 2]));
        let mut encoder = encoder(engine);
        let failed: Result<()> = engine.record(&mut encoder, |r| {
            r.scatter_into(OP, Reduce::Add, &Rules::ONNX, &mut to, &wrong, &ones)?;
            r.gather(Op::gather(7), &ZERO, &to, &wrong).map(drop)
        });
        assert!(
            matches!(failed, Err(Error::AxisOutOfRange { .. })),
            "{failed:?}"
        );
        // One that goes on after a call that failed has the rest.
        let recorded = engine.record(&mut encoder, |r| {
            let failed = r.gather(Op::gather(7), &ZERO, &to, &wrong);
            assert!(matches!(failed, Err(Error::AxisOutOfRange { .. })));
            let place = ids(engine, &[1]);
            let one = floats(engine, &[5.0]);
            r.scatter_into(OP, Reduce::Add, &ZERO, &mut to, &place, &one)
        });
        recorded.unwrap();
        submit(engine, encoder);
        assert_eq!(down(engine, &to), [0.0, 5.0, 0.0, 0.0]);
    }
}

#[test]
fn tensors_of_another_engine_are_refused() {
    for engine in engines() {
        let other = engine_with(engine, Options::default());
        let (table, at) = (floats(&other, &[1.0]), ids(engine, &[0]));
        let mut encoder = encoder(engine);
        let refused = engine.record(&mut encoder, |r| r.gather(OP, &ZERO, &table, &at));
        assert!(
            matches!(refused, Err(Error::OtherEngine { .. })),
            "{refused:?}"
        );
        submit(engine, encoder);
    }
}

/// Recorded calls and the engine's wait for each other as the program has submitted them: a chain of both.
#[test]
fn recordings_and_calls_take_turns() {
    for engine in engines() {
        let turned = ids(engine, &[1, 2, 3, 0]);
        let mut rows = floats(engine, &[1.0, 2.0, 3.0, 4.0]);
        for round in 0..12 {
            rows = match round % 3 {
                0 => engine.gather(OP, &ZERO, &rows, &turned).unwrap(),
                1 => {
                    let mut encoder = encoder(engine);
                    let made = engine.record(&mut encoder, |r| r.gather(OP, &ZERO, &rows, &turned));
                    submit(engine, encoder);
                    made.unwrap()
                }
                _ => {
                    let made = engine.batch(|batch| batch.gather(OP, &ZERO, &rows, &turned));
                    made.unwrap()
                }
            };
        }
        assert_eq!(down(engine, &rows), [1.0, 2.0, 3.0, 4.0]);
        let any = AnyDeviceTensor::from(rows);
        assert_eq!(engine.check(&any).wait(), Err(Error::NotCounted));
    }
}
