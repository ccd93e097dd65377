//! What tensors report of bad indices and of calls that failed, over several calls on one engine.

mod submissions;

use wgpu_gather::gpu::{DeviceTensor, Engine, Options, internals};
use wgpu_gather::{BadIndices, Error, Op, OpKind, OutOfBounds, Reduce, Result, Rules, Tensor};

use crate::common::{engine_with, engines};

const OP: Op = Op::Gather {
    axis: Some(0),
    batch_dims: 0,
};

fn upload<T: wgpu_gather::Element>(
    engine: &Engine,
    shape: &[usize],
    values: Vec<T>,
) -> DeviceTensor<T> {
    let tensor = Tensor::new(shape, values).unwrap();
    engine.upload(&tensor).wait().unwrap()
}

fn ids(engine: &Engine, values: &[u32]) -> DeviceTensor<u32> {
    upload(engine, &[values.len()], values.to_vec())
}

/// A scatter of as many ones as there are ids.
fn add_ones(engine: &Engine, to: &mut DeviceTensor<f32>, values: &[u32]) -> Result<()> {
    let ones = upload(engine, &[values.len()], vec![1.0f32; values.len()]);
    engine.scatter_into(
        OP,
        Reduce::Add,
        &Rules::ONNX,
        to,
        &ids(engine, values),
        &ones,
    )
}

fn scattered(position: usize, value: i128, extent: usize, count: u64) -> BadIndices {
    BadIndices {
        op: OpKind::Scatter,
        position: vec![position],
        value,
        axis: 0,
        extent,
        count,
    }
}

#[test]
fn a_failed_call_in_a_batch_leaves_nothing_recorded() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let base = upload(&engine, &[64], vec![1.0f32; 64]);
        let (good, wrong) = (vec![2.0f32; 64], upload(&engine, &[3], vec![9.0f32; 3]));
        let at = ids(&engine, &[5]);
        let one = upload(&engine, &[1], vec![7.0f32]);
        let (made, other) = engine
            .batch(|batch| {
                let before = batch.scatter(OP, Reduce::Add, &Rules::ONNX, &base, &at, &one)?;
                let failed = batch.scatter(OP, Reduce::Add, &Rules::ONNX, &base, &at, &wrong);
                assert!(
                    matches!(failed, Err(Error::UpdatesShape { .. })),
                    "{failed:?}"
                );
                let failed = batch.gather_gradient(OP, &Rules::ONNX, &[64], &at, &wrong);
                assert!(
                    matches!(failed, Err(Error::UpdatesShape { .. })),
                    "{failed:?}"
                );
                // Memory that a call that fails had taken.
                let others = [0; 3].map(|_| upload(&engine, &[64], good.clone()));
                Ok((before, others))
            })
            .unwrap();
        for other in other {
            assert_eq!(engine.download(&other).wait().unwrap().data(), good);
        }
        let mut expected = vec![1.0f32; 64];
        expected[5] = 8.0;
        assert_eq!(engine.download(&made).wait().unwrap().data(), expected);
    }
}

#[test]
fn a_batch_that_fails_leaves_no_report() {
    for engine in engines() {
        let mut to = upload(engine, &[8], vec![0.0f32; 8]);
        add_ones(engine, &mut to, &[1, 8]).unwrap();
        let (good, bad) = (ids(engine, &[0, 1]), ids(engine, &[9, 9]));
        let ones = upload(engine, &[2], vec![1.0f32; 2]);
        let rules = Rules::ONNX;
        let failed: Result<()> = engine.batch(|batch| {
            batch.scatter_into(OP, Reduce::Add, &rules, &mut to, &bad, &ones)?;
            let eight = batch.gather(OP, &rules, &to, &ids(engine, &[20; 8]))?;
            batch.gather_into(OP, &rules, &eight, &ids(engine, &[30; 8]), &mut to)?;
            batch.gather_into(OP, &rules, &eight, &good, &mut to)
        });
        assert!(
            matches!(failed, Err(Error::OutputShape { .. })),
            "{failed:?}"
        );
        // The report of what was submitted is still there, and nothing else.
        assert_eq!(engine.check(&to).wait(), Ok(Some(scattered(1, 8, 8, 1))));
        assert_eq!(engine.check(&to).wait(), Ok(None));
        add_ones(engine, &mut to, &[2]).unwrap();
        let expected = [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(engine.download(&to).wait().unwrap().data(), expected);
    }
}

#[test]
fn what_is_written_through_a_view_is_reported_by_the_tensor() {
    for engine in engines() {
        let whole = upload(engine, &[2, 4], vec![0.0f32; 8]);
        let mut row = whole.slice(0, 1..2).unwrap().reshape(&[4]).unwrap();
        add_ones(engine, &mut row, &[3, 4, 5]).unwrap();
        drop(row);
        let error = Error::IndexOutOfBounds(Box::new(scattered(1, 4, 4, 2)));
        assert_eq!(engine.download(&whole).wait().err(), Some(error));
        let expected = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(engine.download(&whole).wait().unwrap().data(), expected);
        // Through a clone, to a view that was there before.
        let view = whole.slice(1, 0..2).unwrap();
        let mut all = whole.clone().reshape(&[8]).unwrap();
        add_ones(engine, &mut all, &[9]).unwrap();
        assert_eq!(engine.check(&view).wait(), Ok(Some(scattered(0, 9, 8, 1))));
        assert_eq!(engine.check(&whole).wait(), Ok(None));
    }
}

#[test]
fn many_calls_on_one_tensor_report_as_one() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let mut to = upload(&engine, &[4], vec![0.0f32; 4]);
        // As many plans as there are numbers of ids, and more than a status has room for.
        let lengths = (1..301).chain([1; 1300]);
        let mut expected = 0.0;
        for (n, length) in lengths.enumerate() {
            let mut values = vec![0; length];
            if n == 270 || n == 900 {
                values[length / 2] = 4 + n as u32;
            }
            expected += values.iter().filter(|&&v| v == 0).count() as f32;
            add_ones(&engine, &mut to, &values).unwrap();
        }
        let shown = format!("{to:?}");
        assert!(shown.len() < 500, "{} bytes", shown.len());
        let found = engine.check(&to).wait().unwrap();
        assert_eq!(found, Some(scattered(135, 274, 4, 2)));
        let got = engine.download(&to).wait().unwrap();
        assert_eq!(got.data(), [expected, 0.0, 0.0, 0.0]);
        // After a report, it goes on.
        add_ones(&engine, &mut to, &[7]).unwrap();
        assert_eq!(engine.check(&to).wait(), Ok(Some(scattered(0, 7, 4, 1))));
    }
}

/// Pointer jumping: a tensor that is read as params and as indices has its reports but once.
#[test]
fn a_tensor_that_is_read_twice_hands_on_its_reports_once() {
    for engine in engines() {
        let mut next = ids(engine, &[1, 2, 3, 3, 9]);
        for round in 1..=12 {
            next = engine.gather(OP, &Rules::ONNX, &next, &next).unwrap();
            assert_eq!(internals::pending_statuses(&next), round);
        }
        let bad = engine.check(&next).wait().unwrap().expect("a bad index");
        assert_eq!((bad.position, bad.value, bad.count), (vec![4], 9, 1));
        let got = engine.download(&next).wait().unwrap();
        assert_eq!(got.data(), [3, 3, 3, 3, 3]);
    }
}

#[test]
fn what_overwrites_all_of_a_tensor_overwrites_its_reports() {
    for engine in engines() {
        let table = upload(engine, &[3], vec![1u32, 2, 3]);
        let mut rows = upload(engine, &[4], vec![0u32; 4]);
        let rules = Rules::ONNX;
        let bad = ids(engine, &[0, 1, 7, 0]);
        engine
            .gather_into(OP, &rules, &table, &bad, &mut rows)
            .unwrap();
        let good = ids(engine, &[2, 1, 0, 2]);
        engine
            .gather_into(OP, &rules, &table, &good, &mut rows)
            .unwrap();
        assert_eq!(engine.download(&rows).wait().unwrap().data(), [3, 2, 1, 3]);
        // A part of it does not.
        engine
            .gather_into(OP, &rules, &table, &bad, &mut rows)
            .unwrap();
        let mut part = rows.slice(0, 1..4).unwrap();
        let good = ids(engine, &[0, 1, 2]);
        engine
            .gather_into(OP, &rules, &table, &good, &mut part)
            .unwrap();
        let bad = engine.check(&rows).wait().unwrap().expect("a bad index");
        assert_eq!((bad.position, bad.value, bad.count), (vec![2], 7, 1));
        assert_eq!(engine.download(&rows).wait().unwrap().data(), [1, 1, 2, 3]);
    }
}

#[test]
fn what_nobody_counted_is_no_all_is_well() {
    for engine in engines() {
        let table = upload(engine, &[3], vec![1u32, 2, 3]);
        assert_eq!(
            engine.check(&table).wait(),
            Ok(None),
            "nothing was looked up"
        );
        let bad = ids(engine, &[0, 7]);
        let zeros = Rules::ONNX.with_out_of_bounds(OutOfBounds::Zero);
        let mut rows = engine.gather(OP, &zeros, &table, &bad).unwrap();
        assert_eq!(engine.check(&rows).wait(), Err(Error::NotCounted));
        assert_eq!(engine.download(&rows).wait().unwrap().data(), [1, 0]);
        engine
            .gather_into(OP, &Rules::ONNX, &table, &bad, &mut rows)
            .unwrap();
        let bad = engine.check(&rows).wait().unwrap().expect("a bad index");
        assert_eq!((bad.position, bad.count), (vec![1], 1));
    }
}

/// What a scatter copies, and what is packed, the engine looks up for itself.
#[test]
fn a_copy_is_no_lookup() {
    let rules = &Rules::ONNX;
    for engine in engines() {
        let base = upload(engine, &[2, 2], vec![1u32, 2, 3, 4]);
        let rows = upload(engine, &[1, 2], vec![5u32, 6]);
        let turned = base.permute(&[1, 0]).unwrap();
        let (good, bad) = (ids(engine, &[1]), ids(engine, &[2]));
        for (base, expected) in [(&base, [1, 2, 5, 6]), (&turned, [1, 3, 5, 6])] {
            let scatter = |ids| engine.scatter(OP, Reduce::None, rules, base, ids, &rows);
            let made = scatter(&good).unwrap();
            assert_eq!(engine.check(&made).wait(), Ok(None));
            assert_eq!(engine.download(&made).wait().unwrap().data(), expected);
            let found = engine.check(&scatter(&bad).unwrap()).wait().unwrap();
            assert_eq!(found.map(|bad| (bad.value, bad.count)), Some((2, 1)));
            let whole = engine.contiguous(base).unwrap();
            assert_eq!(engine.check(&whole).wait(), Ok(None));
            let binding = engine.bind(|r| {
                r.scatter(OP, Reduce::None, rules, base, &good, &rows)?;
                Ok(())
            });
            let binding = binding.unwrap();
            let mut encoder = engine.device().create_command_encoder(&Default::default());
            binding.encode(&mut encoder);
            engine.queue().submit([encoder.finish()]);
            assert_eq!(binding.check().wait(), Ok(None));
        }
    }
}
