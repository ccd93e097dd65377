//! What an engine promises besides results: what it submits, keeps and starts.

use wgpu_gather::gpu::internals::polling_threads_started;
use wgpu_gather::gpu::{DeviceTensor, Options};
use wgpu_gather::wgpu::PollType;
use wgpu_gather::{Error, Executor, Layout, Op, Rules, Tensor, TensorView};

use crate::common::{block_on, buffer_with, bytes_of, engine_with, engines};

#[test]
fn a_batch_that_fails_submits_nothing() {
    for engine in engines() {
        let mut options = Options::default();
        options.max_pass_bytes = 1024; // the first gather takes many submissions
        let engine = engine_with(engine, options);
        let table: Vec<u32> = (0..4096).collect();
        let table = Tensor::new(&[4096], table).unwrap();
        let ids = engine.upload(&table).wait().unwrap();
        let buffer = buffer_with(&engine, &[0xa5; 4096 * 4]);
        let mut rows =
            DeviceTensor::<u32>::wrap(buffer.slice(..), Layout::contiguous(&[4096])).unwrap();
        let (op, rules) = (Op::gather(0), Rules::ONNX);
        let run = |rows: &mut DeviceTensor<u32>, axis| {
            engine.batch(|batch| {
                batch.gather_into(op, &rules, &ids, &ids, rows)?;
                batch.gather(Op::gather(axis), &rules, &ids, &ids)
            })
        };
        assert!(matches!(
            run(&mut rows, 7),
            Err(Error::AxisOutOfRange { .. })
        ));
        // What was not submitted counts no bad index.
        assert_eq!(engine.check(&rows).wait(), Ok(None));
        let poison = bytes_of(&engine, &buffer);
        assert!(poison.iter().all(|&b| b == 0xa5), "a part was submitted");
        assert!(run(&mut rows, 0).is_ok());
        let bytes: &[u8] = bytemuck::cast_slice(table.data());
        assert!(bytes_of(&engine, &buffer) == bytes, "it was not submitted");
    }
}

#[test]
fn no_more_is_kept_than_the_options_say() {
    assert_eq!(Options::default().max_pool_bytes, 256 << 20);
    for engine in engines() {
        let mut options = Options::default();
        options.max_pool_bytes = 5000;
        let engine = engine_with(engine, options);
        let upload = || {
            let tensor = Tensor::new(&[1024], vec![1u32; 1024]).unwrap();
            engine.upload(&tensor).wait().unwrap()
        };
        drop([upload(), upload()]);
        assert_eq!(engine.pool_bytes(), 4096);
    }
}

#[test]
fn a_transfer_starts_one_thread_at_most() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        // 24 chunks.
        let tensor = Tensor::new(&[24 << 20], vec![7u32; 24 << 20]).unwrap();
        let there = block_on(engine.upload(&tensor).into_future()).unwrap();
        let uploaded = polling_threads_started(&engine);
        assert!(uploaded <= 1, "{uploaded} threads");
        let back = block_on(engine.download(&there).into_future()).unwrap();
        let downloaded = polling_threads_started(&engine);
        assert!(downloaded <= uploaded + 1, "{downloaded} threads");
        assert!(back == tensor, "the bytes come back");
        // A thread that blocks polls itself.
        engine.download(&there).wait().unwrap();
        assert_eq!(polling_threads_started(&engine), downloaded);
    }
}

/// Downloads under way on several threads, as the device is lost. Once only: what wgpu then frees may be
/// what another thread is reading.
#[test]
fn a_lost_device_ends_all_waits() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let tensor = Tensor::new(&[8 << 20], vec![7u32; 8 << 20]).unwrap();
        let there = engine.upload(&tensor).wait().unwrap();
        std::thread::scope(|scope| {
            let downloads: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| block_on(engine.download(&there).into_future())))
                .collect();
            engine.device().destroy();
            for download in downloads {
                match download.join().expect("no panic") {
                    Ok(here) => assert!(here == tensor, "not what was uploaded"),
                    Err(Error::DeviceLost { .. }) => (),
                    Err(other) => panic!("{other:?}"),
                }
            }
        });
        let ended = block_on(engine.download(&there).into_future()).map(|_| ());
        assert!(matches!(ended, Err(Error::DeviceLost { .. })), "{ended:?}");
    }
}

/// The device is lost when the first chunk has come, and has freed the next, which are mapped.
#[test]
fn a_loss_between_chunks_is_reported() {
    let table = Tensor::new(&[1], vec![7u32]).unwrap();
    let layout = Layout::strided(&[8 << 20], &[0], 0).unwrap();
    let ids = TensorView::strided(layout, &[0u32]).unwrap();
    for shared in engines() {
        let engine = engine_with(shared, Options::default());
        let executor = Executor::Gpu(engine.clone());
        let rules = Rules::default();
        let mut chunks = 0;
        let call = executor.gather(Op::gather(0), &rules, &table, &ids);
        let ended = call.chunks::<Error, _>(1 << 20, |chunk| {
            assert!(chunk.iter().step_by(4).all(|&byte| byte == 7));
            chunks += 1;
            if chunks == 1 {
                let settle = || engine.device().poll(PollType::wait_indefinitely());
                settle().expect("the device answers");
                engine.device().destroy();
                settle().expect("it says that it is lost");
            }
            Ok(())
        });
        let ended = block_on(ended.into_future());
        assert!(matches!(ended, Err(Error::DeviceLost { .. })), "{ended:?}");
        assert!((1..32).contains(&chunks), "{chunks} of 32 chunks");
    }
}
