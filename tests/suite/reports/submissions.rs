//! Reports of calls that are submitted late or never, or asked for by futures that are dropped.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use wgpu_gather::gpu::{Options, internals};
use wgpu_gather::{Error, Executor, Reduce, Rules, Tensor};

use super::{OP, add_ones, ids, upload};
use crate::common::{engine_with, engines};

/// Polls a future so often, and drops it.
fn dropped_after<F: Future>(future: F, polls: usize) -> bool {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).any(|_| future.as_mut().poll(&mut context).is_ready())
}

#[test]
fn a_report_outlives_a_future_that_is_dropped() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        for polls in 1..40 {
            let mut to = upload(&engine, &[4], vec![0.0f32; 4]);
            add_ones(&engine, &mut to, &[4, 1]).unwrap();
            // Two statuses, which take more than one reading.
            let at = upload(&engine, &[1], vec![6u32]);
            let table = upload(&engine, &[3], vec![1.0f32; 3]);
            let inherited = engine.gather(OP, &Rules::ONNX, &table, &at).unwrap();
            let two = ids(&engine, &[2]);
            engine
                .scatter_into(OP, Reduce::Add, &Rules::ONNX, &mut to, &two, &inherited)
                .unwrap();
            let is_done = dropped_after(engine.check(&to).into_future(), polls);
            let poll = || engine.device().poll(wgpu_gather::wgpu::PollType::Poll);
            poll().unwrap();
            let found = engine.check(&to).wait().unwrap();
            // (A busy device may have answered each poll at once.)
            assert!(
                is_done || found.is_some_and(|bad| bad.count >= 1),
                "{polls} polls"
            );
            if is_done {
                break;
            }
        }
    }
}

#[test]
fn what_could_not_be_submitted_is_told_by_what_it_was_to_write() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let table = upload(&engine, &[64], vec![3u32; 64]);
        let at = ids(&engine, &[1; 64]);
        let rules = Rules::default();
        let made = engine.gather(OP, &rules, &table, &at).unwrap();
        assert_eq!(internals::waiting_gathers(&engine), 1);
        internals::buffer_of(&table).destroy();
        // A host call is none of its business, and hears nothing of it.
        let host = Tensor::new(&[3], vec![1u32, 2, 3]).unwrap();
        let host_ids = Tensor::new(&[2], vec![2u32, 0]).unwrap();
        let gpu = Executor::Gpu(engine.clone());
        let got = gpu.gather(OP, &rules, &host, &host_ids).wait();
        assert_eq!(got.unwrap().data(), [3, 1]);
        for _ in 0..2 {
            let told = engine.download(&made).wait().err();
            assert!(
                matches!(
                    told,
                    Some(Error::Gpu {
                        what: "a gather",
                        ..
                    })
                ),
                "{told:?}"
            );
        }
        assert!(matches!(
            engine.gather(OP, &rules, &made, &at),
            Err(Error::Gpu { .. })
        ));
        assert!(
            matches!(engine.flush(), Err(Error::Gpu { .. })),
            "told once"
        );
        assert_eq!(engine.flush(), Ok(()));
        // What is written over it is there.
        let other = upload(&engine, &[64], vec![5u32; 64]);
        let mut made = made;
        engine
            .gather_into(OP, &rules, &other, &at, &mut made)
            .unwrap();
        assert_eq!(engine.download(&made).wait().unwrap().data(), [5; 64]);
        engine.settle().wait().unwrap();
    }
}

/// Its status lies in memory that has served others, and is cleared when the batch is submitted.
#[test]
fn a_report_is_not_read_before_its_call_is_submitted() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let mut to = upload(&engine, &[4], vec![0.0f32; 4]);
        let (at, ones) = (
            ids(&engine, &[1, 4]),
            upload(&engine, &[2], vec![1.0f32; 2]),
        );
        let zero = ids(&engine, &[0]);
        let rules = Rules::ONNX;
        for fails in [true, false] {
            drop([0; 4].map(|_| upload(&engine, &[64], vec![7u32; 64])));
            let mut copy = None;
            let done = engine.batch(|batch| {
                batch.scatter_into(OP, Reduce::Add, &rules, &mut to, &at, &ones)?;
                assert_eq!(engine.check(&to).wait(), Ok(None));
                copy = Some(engine.gather(OP, &rules, &to, &zero)?);
                if fails { Err(Error::NoShards) } else { Ok(()) }
            });
            assert_eq!(done.is_err(), fails);
            // What was made of it meanwhile was not made of what the batch writes.
            assert_eq!(engine.check(&copy.expect("a copy")).wait(), Ok(None));
            let found = engine.check(&to).wait().unwrap();
            assert_eq!(found.map(|bad| bad.count), (!fails).then_some(1));
        }
    }
}

/// Two calls on a tensor, of which the one that is recorded first is submitted last.
#[test]
fn a_call_within_the_closure_of_a_batch_reports_apart_from_the_batch() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let mut to = upload(&engine, &[4], vec![0.0f32; 4]);
        let mut again = to.clone();
        let (at, ones) = (
            ids(&engine, &[4, 1]),
            upload(&engine, &[2], vec![1.0f32; 2]),
        );
        engine
            .batch(|batch| {
                batch.scatter_into(OP, Reduce::Add, &Rules::ONNX, &mut to, &at, &ones)?;
                add_ones(&engine, &mut again, &[7, 2, 9])
            })
            .unwrap();
        let found = engine.check(&to).wait().unwrap();
        assert_eq!(found.map(|bad| bad.count), Some(3));
        let got = engine.download(&to).wait().unwrap();
        assert_eq!(got.data(), [0.0, 1.0, 1.0, 0.0]);
    }
}
