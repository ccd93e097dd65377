//! How much waits, what memory it holds, and what becomes of errors.

use wgpu_gather::gpu::internals::{buffer_of, waiting_gathers};
use wgpu_gather::gpu::{DeviceTensor, Engine, Options};
use wgpu_gather::{Error, Layout, Op, Rules, wgpu};

use super::{Held, N, download, expected, gather, reversed, upload, values};
use crate::common::{block_on, engine_with, engines, fresh_adapter};

#[test]
fn gathers_wait_until_there_are_32_or_256_kib() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
        for n in 1..=70 {
            gather(&engine, &table, &ids);
            assert_eq!(waiting_gathers(&engine), n % 32);
        }
        engine.flush().expect("a flush");
        assert_eq!(waiting_gathers(&engine), 0);
        // 64 KiB each.
        let ids = upload(&engine, vec![3; 16 << 10]);
        for n in 1..=9 {
            gather(&engine, &table, &ids);
            assert_eq!(waiting_gathers(&engine), n % 4);
        }
        block_on(engine.settle()).expect("all is well");
        assert_eq!(waiting_gathers(&engine), 0);
        gather(&engine, &table, &upload(&engine, vec![3; 64 << 10]));
        gather(&engine, &table, &upload(&engine, Vec::new()));
        assert_eq!(waiting_gathers(&engine), 0);
    }
}

/// Bytes that wgpu has allocated on the device; nothing, where wgpu cannot say.
fn allocated(engine: &Engine) -> Option<u64> {
    let _ = engine.device().poll(wgpu::PollType::wait_indefinitely());
    let report = engine.device().generate_allocator_report()?;
    Some(report.allocations.iter().map(|a| a.size).sum())
}

#[test]
fn memory_that_is_freed_does_not_wait() {
    const LARGE: u64 = 32 << 20;
    let mut tried = 0;
    for engine in engines() {
        for is_kept in [false, true] {
            let mut options = Options::default();
            options.max_pool_bytes = if is_kept { u64::MAX } else { 0 };
            let engine = engine_with(engine, options);
            let Some(before) = allocated(&engine) else {
                println!(
                    "SKIPPED: {}, of which no memory is known",
                    engine.adapter().label()
                );
                continue;
            };
            tried += 1;
            let table = upload(&engine, vec![9; LARGE as usize / 4]);
            let ids = upload(&engine, reversed());
            let rows = gather(&engine, &table, &ids);
            assert_eq!(waiting_gathers(&engine), 1);
            drop(table);
            if is_kept {
                engine.trim_pool();
            }
            let after = allocated(&engine).expect("a report");
            // Staging memory of the upload stays.
            assert!(after - before < LARGE, "{before} to {after} bytes");
            assert_eq!(download(&engine, &rows), [9; N]);
        }
    }
    assert!(
        tried > 0 || engines().is_empty(),
        "no adapter reports memory"
    );
}

#[test]
fn a_gather_of_several_submissions_does_not_wait() {
    for engine in engines() {
        let mut options = Options::default();
        options.max_pass_bytes = 64;
        let engine = engine_with(engine, options);
        let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
        let rows = gather(&engine, &table, &ids);
        assert_eq!(waiting_gathers(&engine), 0);
        assert_eq!(download(&engine, &rows), expected());

        // Of several gathers, as soon as they write as much.
        let mut options = Options::default();
        options.max_pass_bytes = 512;
        let engine = engine_with(&engine, options);
        let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
        for n in 1..=4 {
            gather(&engine, &table, &ids);
            assert_eq!(waiting_gathers(&engine), n % 2);
        }
    }
}

/// No caller can cause this, as the device gives out no buffer that is in use by what waits.
#[test]
fn the_next_call_reports_that_what_waited_was_not_submitted() {
    type Call = fn(&Held) -> Result<(), Error>;
    let calls: [(&str, Call); 5] = [
        ("flush", |held| held.engine.flush()),
        ("settle", |held| block_on(held.engine.settle())),
        ("download", |held| {
            held.engine.download_blocking(&held.rows).map(|_| ())
        }),
        ("batch", |held| {
            let _ = held.rows.buffer();
            held.engine.batch(|_| Ok(()))
        }),
        ("gather", |held| {
            let _ = held.rows.buffer();
            let (op, rules) = (Op::gather(0), Rules::default());
            let made = held.engine.gather(op, &rules, &held.ids, &held.ids);
            made.map(|_| ())
        }),
    ];
    for engine in engines() {
        for (name, call) in calls {
            let held = Held::on(engine);
            buffer_of(&held.table).destroy();
            let told = call(&held);
            let what = "a gather";
            assert!(
                matches!(&told, Err(Error::Gpu { what: of, .. }) if *of == what),
                "{name}: {told:?}"
            );
            assert_eq!(held.engine.flush(), Ok(()), "{name}: it is told once");
            let rows = gather(&held.engine, &held.ids, &held.ids);
            assert_eq!(download(&held.engine, &rows), (0..64).collect::<Vec<_>>());
        }
    }
}

/// A call with a buffer of the caller that wgpu refuses to submit fails alone.
#[test]
fn a_call_that_is_refused_takes_nothing_with_it() {
    let mappable = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    let mut tried = 0;
    for engine in engines() {
        let adapter = fresh_adapter(engine);
        if !adapter.features().contains(mappable) {
            println!(
                "SKIPPED: {}, which maps no tensors",
                engine.adapter().label()
            );
            continue;
        }
        tried += 1;
        let descriptor = wgpu::DeviceDescriptor {
            required_features: mappable,
            required_limits: wgpu::Limits::downlevel_defaults(),
            ..Default::default()
        };
        let (device, queue) = block_on(adapter.request_device(&descriptor)).expect("a device");
        let engine = block_on(Engine::new(device, queue)).expect("an engine");
        let (table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
        let rows = gather(&engine, &table, &ids);
        let mapped = engine.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 256,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::MAP_WRITE,
            mapped_at_creation: true,
        });
        let layout = Layout::contiguous(&[N]);
        let mapped = DeviceTensor::<u32>::wrap(mapped.slice(..), layout).expect("a tensor");
        assert_eq!(waiting_gathers(&engine), 1);
        let refused = engine.gather(Op::gather(0), &Rules::default(), &mapped, &ids);
        assert!(matches!(refused, Err(Error::Gpu { .. })), "{refused:?}");
        assert_eq!(download(&engine, &rows), expected());
    }
    assert!(tried > 0 || engines().is_empty(), "no adapter maps tensors");
}
