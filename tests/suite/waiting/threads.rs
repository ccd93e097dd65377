//! Small gathers that wait, with several threads and with callbacks: none overtakes another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use wgpu_gather::gpu::Options;
use wgpu_gather::gpu::internals::waiting_gathers;

use super::{N, gather, reversed, upload};
use crate::common::{bytes_of, engine_with, engines};

/// One thread submits what waits, as another takes the buffer of an output and reads it.
#[test]
fn a_buffer_is_handed_out_after_a_submission_under_way() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let ids = upload(&engine, vec![1; N]);
        for round in 0..200 {
            // A value that no buffer has from the round before.
            let table = upload(&engine, vec![round; N]);
            let rows = gather(&engine, &table, &ids);
            (0..30).for_each(|_| drop(gather(&engine, &table, &ids)));
            assert_eq!(waiting_gathers(&engine), 31);
            let start = Barrier::new(2);
            let read = thread::scope(|scope| {
                scope.spawn(|| {
                    start.wait();
                    gather(&engine, &table, &ids)
                });
                start.wait();
                while waiting_gathers(&engine) == 31 {
                    std::hint::spin_loop();
                }
                bytes_of(&engine, rows.share_buffer())
            });
            let rows: &[u32] = &bytemuck::pod_collect_to_vec(&read);
            assert_eq!(rows, [round; N]);
        }
    }
}

/// One thread gathers from a table as another takes its buffer, and overwrites it once the gather
/// has returned.
#[test]
fn a_buffer_that_is_handed_out_meanwhile_is_not_overwritten_too_early() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let ids = upload(&engine, vec![1; N]);
        for round in 0..2000 {
            let table = upload(&engine, vec![5; N]);
            let start = Barrier::new(2);
            let rows = thread::scope(|scope| {
                let gathered = scope.spawn(|| {
                    start.wait();
                    gather(&engine, &table, &ids)
                });
                start.wait();
                // Somewhere in the course of the gather.
                (0..round * 10).for_each(|_| std::hint::spin_loop());
                let buffer = table.share_buffer();
                let rows = gathered.join().expect("no panic");
                let other = bytemuck::cast_slice(&[6u32; N]);
                engine.queue().write_buffer(buffer, 0, other);
                rows
            });
            let rows = engine.download(&rows).wait().expect("a download");
            assert_eq!(rows.data(), [5; N], "round {round}");
        }
    }
}

#[test]
fn threads_share_an_engine() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let ids = upload(&engine, reversed());
        thread::scope(|scope| {
            for k in 0..4u32 {
                let (engine, ids) = (engine.clone(), ids.clone());
                scope.spawn(move || {
                    let values: Vec<u32> = (0..N as u32).map(|n| k * 100 + n).collect();
                    let mut rows = upload(&engine, values.clone());
                    for n in 1..=120 {
                        rows = gather(&engine, &rows, &ids);
                        if n % (7 + k) != 0 {
                            continue;
                        }
                        let got = engine.download(&rows).wait().expect("a download");
                        let mut expected = values.clone();
                        if n % 2 == 1 {
                            expected.reverse();
                        }
                        assert_eq!(got.data(), expected, "thread {k}, gather {n}");
                    }
                });
            }
        });
    }
}

/// wgpu calls back in the course of any submission; the engine may be called from there.
#[test]
fn a_callback_within_a_submission_may_gather() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let (done, ended) = channel();
        thread::spawn(move || {
            let table = upload(&engine, vec![5; N]);
            let ids = upload(&engine, vec![1; N]);
            engine.queue().submit([]);
            let called = Arc::new(AtomicBool::new(false));
            engine.queue().on_submitted_work_done({
                let (engine, table, ids) = (engine.clone(), table.clone(), ids.clone());
                let called = Arc::clone(&called);
                move || {
                    let rows = gather(&engine, &table, &ids);
                    let _ = rows.share_buffer();
                    called.store(true, Ordering::Relaxed);
                }
            });
            // Until a submission finds that the device is done with the first.
            let rows = loop {
                let rows = gather(&engine, &table, &ids);
                assert!(!called.load(Ordering::Relaxed));
                engine.flush().expect("a flush");
                if called.load(Ordering::Relaxed) {
                    break rows;
                }
            };
            let rows = engine.download(&rows).wait().expect("a download");
            done.send(rows.data().to_vec()).expect("sent");
        });
        // As long as no deadlock takes.
        let ended = ended.recv_timeout(Duration::from_secs(60));
        assert_eq!(ended, Ok(vec![5; N]));
    }
}
