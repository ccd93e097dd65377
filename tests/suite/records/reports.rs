//! What recorded calls report of bad indices: once the encoder is submitted, and what calls of the engine on
//! the same tensors do to that.

use wgpu_gather::gpu::{DeviceTensor, Engine, Options};
use wgpu_gather::{BadIndices, Error, Op, OpKind, Reduce, Result, Rules, Tensor};

use super::{OP, ZERO, down, encoder, floats, ids, submit};
use crate::common::{engine_with, engines};

fn bad(op: OpKind, position: usize, value: i128, count: u64) -> BadIndices {
    BadIndices {
        op,
        position: vec![position],
        value,
        axis: 0,
        extent: 4,
        count,
    }
}

#[test]
fn bad_indices_are_reported_by_the_tensor_once_the_encoder_is_submitted() {
    let rules = &Rules::ONNX;
    for engine in engines() {
        let table = floats(engine, &[1.0, 2.0, 3.0, 4.0]);
        let wrong = ids(engine, &[1, 9, 7]);
        let mut encoder = encoder(engine);
        let rows = engine.record(&mut encoder, |r| r.gather(OP, rules, &table, &wrong));
        let rows = rows.unwrap();
        assert_eq!(engine.check(&rows).wait(), Ok(None), "not submitted");
        submit(engine, encoder);
        let found = bad(OpKind::Gather, 1, 9, 2);
        assert_eq!(engine.check(&rows).wait(), Ok(Some(found.clone())));
        assert_eq!(engine.check(&rows).wait(), Ok(None), "told once");
        assert_eq!(down(engine, &rows), [2.0, 0.0, 0.0]);

        // What is made of it inherits the report, in the same encoder and by the engine.
        let mut encoder = super::encoder(engine);
        let good = ids(engine, &[0, 0, 2]);
        let made = engine.record(&mut encoder, |r| {
            let rows = r.gather(OP, rules, &table, &wrong)?;
            r.gather(OP, rules, &rows, &good)
        });
        let made = made.unwrap();
        submit(engine, encoder);
        let next = engine.gather(OP, rules, &made, &good).unwrap();
        let told = Error::IndexOutOfBounds(Box::new(found));
        assert_eq!(engine.download(&next).wait().unwrap_err(), told);
        assert_eq!(engine.check(&made).wait(), Ok(None), "told once");
    }
}

#[test]
fn an_encoder_that_is_never_submitted_reports_nothing() {
    let rules = &Rules::ONNX;
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        // Memory that holds something.
        drop([0; 4].map(|_| floats(&engine, &[7.0; 64])));
        let (table, wrong) = (floats(&engine, &[1.0; 4]), ids(&engine, &[4, 9]));
        let mut to = floats(&engine, &[0.0; 2]);
        let mut encoder = encoder(&engine);
        let rows = engine.record(&mut encoder, |r| {
            r.gather_into(OP, rules, &table, &wrong, &mut to)?;
            r.gather(OP, rules, &table, &wrong)
        });
        let rows = rows.unwrap();
        drop(encoder);
        for tensor in [&rows, &to] {
            assert_eq!(engine.check(tensor).wait(), Ok(None));
            assert!(engine.download(tensor).wait().is_ok());
        }
        // Nor does it when the engine writes there.
        engine
            .gather_into(OP, rules, &table, &ids(&engine, &[0, 1]), &mut to)
            .unwrap();
        assert_eq!(engine.check(&to).wait(), Ok(None));
        assert_eq!(down(&engine, &to), [1.0, 1.0]);
        let next = engine.gather(OP, rules, &to, &ids(&engine, &[1])).unwrap();
        assert_eq!(engine.check(&next).wait(), Ok(None));
    }
}

/// How the engine writes to a tensor that a recording writes to as well.
type Write = fn(&Engine, &mut DeviceTensor<f32>) -> Result<()>;

const WRITES: [(&str, u64, Write); 5] = [
    ("a part by good indices", 0, |engine, to| {
        let rules = Rules::ONNX;
        let ones = floats(engine, &[1.0]);
        engine.scatter_into(OP, Reduce::Add, &rules, to, &ids(engine, &[2]), &ones)
    }),
    ("a part by bad indices", 1, |engine, to| {
        let (rules, ones) = (Rules::ONNX, floats(engine, &[1.0; 2]));
        engine.scatter_into(OP, Reduce::Add, &rules, to, &ids(engine, &[2, 8]), &ones)
    }),
    ("all by good indices", 0, |engine, to| {
        let table = floats(engine, &[1.0; 4]);
        engine.gather_into(OP, &Rules::ONNX, &table, &ids(engine, &[0; 4]), to)
    }),
    ("all by bad indices", 1, |engine, to| {
        let table = floats(engine, &[1.0; 4]);
        engine.gather_into(OP, &Rules::ONNX, &table, &ids(engine, &[0, 0, 4, 0]), to)
    }),
    ("data of the host", 0, |engine, to| {
        let data = Tensor::new(&[4], vec![1.0f32; 4])?;
        engine.write(to, &data).wait()
    }),
];

/// Before the encoder is submitted, and after.
#[test]
fn a_report_outlives_a_call_of_the_engine_on_the_same_tensor() {
    for engine in engines() {
        for (what, of_write, write) in WRITES {
            for is_read in [false, true] {
                let mut to = floats(engine, &[0.0; 4]);
                let (wrong, ones) = (ids(engine, &[9, 3]), floats(engine, &[1.0; 2]));
                let mut encoder = encoder(engine);
                let recorded = engine.record(&mut encoder, |r| {
                    let (add, rules) = (Reduce::Add, Rules::ONNX);
                    r.scatter_into(OP, add, &rules, &mut to, &wrong, &ones)
                });
                recorded.unwrap();
                write(engine, &mut to).expect(what);
                let mut left = of_write;
                if is_read {
                    let found = engine.check(&to).wait().expect(what);
                    assert_eq!(found.map_or(0, |bad| bad.count), of_write, "{what}");
                    left = 0;
                }
                submit(engine, encoder);
                let found = engine.check(&to).wait().expect(what);
                assert_eq!(found.map_or(0, |bad| bad.count), left + 1, "{what}");
                assert_eq!(engine.check(&to).wait(), Ok(None), "{what}: told once");
            }
        }
    }
}

/// A status begins in memory that held something, and counts calls of fewer and of more coordinates.
#[test]
fn calls_of_several_coordinates_count_where_a_recorded_one_does() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        drop([0; 4].map(|_| floats(&engine, &[7.0; 64])));
        let table = floats(&engine, &[1.0, 2.0, 3.0, 4.0]);
        let mut to = engine.zeros::<f32>(&[4]).unwrap();
        let all = ids(&engine, &[0, 1, 2, 3]);
        let mut encoder = encoder(&engine);
        let recorded = engine.record(&mut encoder, |r| {
            r.gather_into(OP, &Rules::ONNX, &table, &all, &mut to)
        });
        recorded.unwrap();
        let square = table.reshape(&[2, 2]).unwrap();
        let pairs = ids(&engine, &[0, 1, 0, 0]).reshape(&[2, 2]).unwrap();
        let mut part = to.slice(0, 0..2).unwrap();
        let (op, rules) = (Op::gather_nd(), &Rules::ONNX);
        engine
            .gather_into(op, rules, &square, &pairs, &mut part)
            .unwrap();
        assert_eq!(engine.check(&to).wait(), Ok(None));
        submit(&engine, encoder);
        assert_eq!(engine.check(&to).wait(), Ok(None));
        assert_eq!(down(&engine, &to), [1.0, 2.0, 3.0, 4.0]);
    }
}

/// What a recorded call made of data with bad indices is no better, whatever the engine writes meanwhile.
#[test]
fn what_is_inherited_outlives_a_call_of_the_engine() {
    for engine in engines() {
        for (what, of_write, write) in WRITES {
            let table = floats(engine, &[1.0; 4]);
            let wrong = ids(engine, &[0, 5, 0, 0]);
            let rows = engine.gather(OP, &Rules::ONNX, &table, &wrong).unwrap();
            let mut to = floats(engine, &[0.0; 4]);
            let all = ids(engine, &[0, 1, 2, 3]);
            let mut encoder = encoder(engine);
            let recorded = engine.record(&mut encoder, |r| {
                r.gather_into(OP, &ZERO, &rows, &all, &mut to)
            });
            recorded.unwrap();
            write(engine, &mut to).expect(what);
            submit(engine, encoder);
            let found = engine.check(&to).wait().expect(what);
            assert_eq!(found.map_or(0, |bad| bad.count), 1 + of_write, "{what}");
        }
    }
}
