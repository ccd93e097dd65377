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
        engine.settle().wait().expect("all is well");
        assert_eq!(waiting_gathers(&engine), 0);
        gather(&engine, &table, &upload(&engine, vec![3; 64 << 10]));
        gather(&engine, &table, &upload(&engine, Vec::new()));
        assert_eq!(waiting_gathers(&engine), 0);
    }
}

/// Says that the adapter is left out, for want of what GL lacks, and so may other APIs, but not Vulkan and
/// DX12.
fn skip(engine: &Engine, what: &str) {
    let adapter = engine.adapter();
    let always = [wgpu::Backend::Vulkan, wgpu::Backend::Dx12];
    assert!(!always.contains(&adapter.api), "{adapter:?} {what}");
    println!("SKIPPED: {}, which {what}", adapter.label());
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
    for engine in engines() {
        for is_kept in [false, true] {
            let mut options = Options::default();
            options.max_pool_bytes = if is_kept { u64::MAX } else { 0 };
            let engine = engine_with(engine, options);
            let Some(before) = allocated(&engine) else {
                skip(&engine, "does not report its memory");
                continue;
            };
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
fn who_reads_what_waited_or_flushes_is_told_that_it_was_not_submitted() {
    type Call = fn(&Held) -> Result<(), Error>;
    let told: [(&str, Call); 3] = [
        ("flush", |held| held.engine.flush()),
        ("settle", |held| held.engine.settle().wait()),
        ("download", |held| {
            held.engine.download(&held.rows).wait().map(|_| ())
        }),
    ];
    let of_others: [(&str, Call); 3] = [
        ("batch", |held| held.engine.batch(|_| Ok(()))),
        ("gather", |held| {
            let (op, rules) = (Op::gather(0), Rules::default());
            let made = held.engine.gather(op, &rules, &held.ids, &held.ids);
            made.map(|_| ())
        }),
        ("download", |held| {
            held.engine.download(&held.ids).wait().map(|_| ())
        }),
    ];
    let was_refused = |result: &Result<(), Error>| {
        matches!(
            result,
            Err(Error::Gpu {
                what: "a gather",
                ..
            })
        )
    };
    for engine in engines() {
        for (name, call) in told {
            let held = Held::on(engine);
            buffer_of(&held.table).destroy();
            let told = call(&held);
            assert!(was_refused(&told), "{name}: {told:?}");
            let rows = gather(&held.engine, &held.ids, &held.ids);
            assert_eq!(download(&held.engine, &rows), (0..64).collect::<Vec<_>>());
        }
        for (name, call) in of_others {
            let held = Held::on(engine);
            buffer_of(&held.table).destroy();
            let _ = held.rows.share_buffer();
            assert_eq!(call(&held), Ok(()), "{name}");
            // It was never written, and says so each time.
            for _ in 0..2 {
                let read = held.engine.download(&held.rows).wait().map(|_| ());
                assert!(was_refused(&read), "{name}: {read:?}");
            }
            let told = held.engine.flush();
            assert!(was_refused(&told), "{name}: {told:?}");
            assert_eq!(held.engine.flush(), Ok(()), "{name}: it is told once");
        }
    }
}

/// A call with a buffer of the caller that wgpu refuses to submit fails alone.
#[test]
fn a_call_that_is_refused_takes_nothing_with_it() {
    let mappable = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    for engine in engines() {
        let adapter = fresh_adapter(engine);
        if !adapter.features().contains(mappable) {
            skip(engine, "maps no tensors");
            continue;
        }
        let descriptor = wgpu::DeviceDescriptor {
            required_features: mappable,
            required_limits: wgpu::Limits::downlevel_defaults(),
            ..Default::default()
        };
        let (device, queue) = block_on(adapter.request_device(&descriptor)).expect("a device");
        let engine = Engine::new(device, queue).wait().expect("an engine");
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
}
