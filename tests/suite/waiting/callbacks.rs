//! Callbacks of the program, which wgpu calls within submissions of the engine.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wgpu_gather::gpu::{Engine, Options};
use wgpu_gather::{Op, Rules, wgpu};

use super::{N, download, expected, gather, others, reversed, upload, values};
use crate::common::{engine_with, engines};

/// Ends a test that hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Has wgpu call `callback` within the next submission: not in the poll before it, out of which another
/// callback asks for this one. Nothing may be under way for that, writes of the queue neither: callbacks
/// wait for it.
fn call_in_submission(engine: &Engine, callback: impl FnOnce() + Send + 'static) {
    engine.queue().submit([]);
    let wait = wgpu::PollType::wait_indefinitely;
    engine.device().poll(wait()).expect("a poll");
    let queue = engine.queue().clone();
    let register = move || queue.clone().on_submitted_work_done(callback);
    engine.queue().on_submitted_work_done(register);
}

/// Runs a test that could hang.
fn within_limit(test: impl FnOnce() + Send + 'static) {
    let (done, waiting) = channel();
    let running = thread::spawn(move || {
        test();
        done.send(()).expect("somebody waits");
    });
    match waiting.recv_timeout(LIMIT) {
        Ok(()) => {}
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {}
    }
    running.join().expect("the test");
}

/// A callback that says that it runs, and then waits for the program.
fn stuck() -> (impl FnOnce() + Send + 'static, Receiver<()>, Sender<()>) {
    let (entered, is_in) = channel();
    let (leave, may_leave) = channel::<()>();
    let callback = move || {
        entered.send(()).expect("somebody waits");
        let _ = may_leave.recv();
    };
    (callback, is_in, leave)
}

/// One thread submits what waits, out of which the program is called back, and waits for another one,
/// which needs the results.
#[test]
fn a_callback_may_wait_for_a_thread_that_uses_the_engine() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        within_limit(move || {
            let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
            let mut counted = upload(&engine, vec![0; N]);
            for _ in 0..3 {
                let rows = gather(&engine, &table, &ids);
                // Counts go on in a status: what is done twice would show.
                let mut part = counted.slice(0, 0..2).expect("a part");
                let bad = upload(&engine, vec![1, 99]);
                let (op, rules) = (Op::gather(0), Rules::ONNX);
                engine
                    .gather_into(op, &rules, &table, &bad, &mut part)
                    .expect("a gather");
                let (callback, is_in, leave) = stuck();
                call_in_submission(&engine, callback);
                thread::scope(|scope| {
                    scope.spawn(|| engine.flush().expect("a submission"));
                    is_in.recv_timeout(LIMIT).expect("the callback");
                    assert_eq!(download(&engine, &rows), expected());
                    let bad = engine.check(&counted).wait().expect("a check");
                    assert_eq!(bad.expect("a bad index").count, 1);
                    // And the program submits, and the engine again.
                    assert_eq!(download(&engine, &gather(&engine, &rows, &ids)), values());
                    drop(leave);
                });
                let got = download(&engine, &counted);
                assert_eq!(got[..2], [1001, 0]);
                counted = upload(&engine, vec![0; N]);
            }
        });
    }
}

/// The same mutex, as a program has it that guards its state.
#[test]
fn a_callback_may_take_a_lock_under_which_the_engine_is_used() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        within_limit(move || {
            let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
            let state = Arc::new(Mutex::new(0));
            for _ in 0..20 {
                let rows = gather(&engine, &table, &ids);
                let guard = state.lock().expect("the lock");
                let (of_callback, (entered, is_in)) = (Arc::clone(&state), channel());
                call_in_submission(&engine, move || {
                    entered.send(()).expect("somebody waits");
                    *of_callback.lock().expect("the lock") += 1;
                });
                thread::scope(|scope| {
                    scope.spawn(|| engine.flush().expect("a submission"));
                    is_in.recv_timeout(LIMIT).expect("the callback");
                    assert_eq!(download(&engine, &rows), expected());
                    drop(guard);
                });
            }
            assert_eq!(*state.lock().expect("the lock"), 20);
        });
    }
}

/// A thread that takes over what another one, in a callback, has under way asks the device first what of it
/// has arrived, and may be called back out of that: before it submits what it was asked to.
#[test]
fn a_callback_before_a_submission_finds_what_is_to_be_submitted() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        within_limit(move || {
            let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
            for _ in 0..3 {
                let mut rows = upload(&engine, vec![0; N]);
                let _waits = gather(&engine, &table, &ids);
                let (callback, is_in, leave) = stuck();
                call_in_submission(&engine, callback);
                thread::scope(|scope| {
                    scope.spawn(|| engine.flush().expect("a submission"));
                    is_in.recv_timeout(LIMIT).expect("the callback");
                    let (op, rules) = (Op::gather(0), Rules::default());
                    engine
                        .gather_into(op, &rules, &table, &ids, &mut rows)
                        .expect("a gather");
                    let (made, again) = channel();
                    let (of_callback, from, at) = (engine.clone(), rows.clone(), ids.clone());
                    call_in_submission(&engine, move || {
                        let rows = gather(&of_callback, &from, &at);
                        let flushed = of_callback.flush();
                        made.send((rows, flushed)).expect("somebody waits");
                    });
                    engine.flush().expect("a submission");
                    let (again, flushed) = again.recv_timeout(LIMIT).expect("the callback");
                    flushed.expect("a submission");
                    assert_eq!(download(&engine, &again), values());
                    assert_eq!(download(&engine, &rows), expected());
                    drop(leave);
                });
            }
        });
    }
}

/// A callback submits commands of its own and does not return. Another thread, which takes over the submission
/// that the callback runs in, must not replay it after them.
#[test]
fn a_submission_is_not_replayed_after_that_of_its_callback() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        within_limit(move || {
            let (op, rules) = (Op::gather(0), Rules::default());
            let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
            let (later, mut rows) = (upload(&engine, others()), upload(&engine, vec![0; N]));
            for _ in 0..3 {
                engine
                    .gather_into(op, &rules, &table, &ids, &mut rows)
                    .expect("a gather");
                let (callback, is_in, leave) = stuck();
                let (of_callback, mut to) = (engine.clone(), rows.clone());
                let (from, at) = (later.clone(), ids.clone());
                call_in_submission(&engine, move || {
                    of_callback
                        .gather_into(Op::gather(0), &Rules::default(), &from, &at, &mut to)
                        .expect("a gather");
                    of_callback.flush().expect("a submission");
                    callback();
                });
                thread::scope(|scope| {
                    scope.spawn(|| engine.flush().expect("a submission"));
                    is_in.recv_timeout(LIMIT).expect("the callback");
                    assert_eq!(download(&engine, &rows), others());
                    drop(leave);
                });
                assert_eq!(download(&engine, &rows), others());
            }
        });
    }
}

/// What the program's handler for errors hears.
fn heard(engine: &Engine) -> Receiver<String> {
    let (sender, heard) = channel();
    let sender = Mutex::new(sender);
    let handler = move |error: wgpu::Error| {
        let sender = sender.lock().expect("the lock");
        sender.send(error.to_string()).expect("somebody listens");
    };
    engine.device().on_uncaptured_error(Arc::new(handler));
    heard
}

/// A callback that does something wrong.
fn mistake(engine: &Engine) -> impl FnOnce() + Send + 'static {
    let device = engine.device().clone();
    move || {
        let _refused = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("of the program"),
            size: 4,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
    }
}

/// The handler has heard of so many mistakes, and of nothing else.
fn assert_mistakes(heard: &Receiver<String>, count: usize) {
    let heard: Vec<String> = heard.try_iter().collect();
    assert_eq!(heard.len(), count, "{heard:?}");
    assert!(
        heard.iter().all(|e| e.contains("of the program")),
        "{heard:?}"
    );
}

/// What a callback does wrong is told to the program, not to the call out of which it was called.
#[test]
fn an_error_of_a_callback_is_one_of_the_program() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let heard = heard(&engine);
        let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
        // In the poll before a submission, and in a submission.
        let rows = gather(&engine, &table, &ids);
        engine.queue().on_submitted_work_done(mistake(&engine));
        let wait = wgpu::PollType::wait_indefinitely;
        assert_eq!(download(&engine, &rows), expected());
        engine.device().poll(wait()).expect("a poll");
        let rows = gather(&engine, &table, &ids);
        call_in_submission(&engine, mistake(&engine));
        assert_eq!(download(&engine, &rows), expected());
        assert_mistakes(&heard, 2);
    }
}

/// So is what it does wrong as a thread asks what of another one's has arrived, and the answer stays.
#[test]
fn an_error_of_a_callback_before_a_submission_repeats_nothing() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        within_limit(move || {
            let heard = heard(&engine);
            let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
            let counted = upload(&engine, vec![0; N]);
            let mut part = counted.slice(0, 0..2).expect("a part");
            let bad = upload(&engine, vec![1, 99]);
            // Counts go on in a status: what is done twice would show.
            engine
                .gather_into(Op::gather(0), &Rules::ONNX, &table, &bad, &mut part)
                .expect("a gather");
            let (callback, is_in, leave) = stuck();
            call_in_submission(&engine, callback);
            thread::scope(|scope| {
                scope.spawn(|| engine.flush().expect("a submission"));
                is_in.recv_timeout(LIMIT).expect("the callback");
                let rows = gather(&engine, &table, &ids);
                call_in_submission(&engine, mistake(&engine));
                engine.flush().expect("a submission");
                assert_mistakes(&heard, 1);
                assert_eq!(download(&engine, &rows), expected());
                let bad = engine.check(&counted).wait().expect("a check");
                assert_eq!(bad.expect("a bad index").count, 1);
                drop(leave);
            });
            assert_eq!(download(&engine, &counted)[..2], [1001, 0]);
        });
    }
}
