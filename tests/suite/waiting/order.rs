//! What a gather that waits reads and writes is what it would read and write at once.

use wgpu_gather::gpu::internals::waiting_gathers;
use wgpu_gather::gpu::{Buffers, DeviceTensor, Engine, Options};
use wgpu_gather::{BadIndices, IndexType, Layout, Op, OpKind, Plan, Rules, wgpu};

use super::{Held, N, download, expected, gather, others, reversed, upload, values};
use crate::common::{buffer_with, bytes_of, engine_with, engines};

/// What a buffer holds, read by a submission of the caller.
fn read(engine: &Engine, buffer: &wgpu::Buffer) -> Vec<u32> {
    let bytes = bytes_of(engine, buffer);
    bytemuck::pod_collect_to_vec(&bytes)[..N].to_vec()
}

fn write(engine: &Engine, buffer: &wgpu::Buffer, values: &[u32]) {
    let bytes = bytemuck::cast_slice(values);
    engine.queue().write_buffer(buffer, 0, bytes);
}

#[test]
fn a_chain_is_gathered_in_order() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let ids = upload(&engine, reversed());
        let mut rows = upload(&engine, values());
        // Across a full queue; each output is dropped while the next gather waits.
        for _ in 0..75 {
            rows = gather(&engine, &rows, &ids);
        }
        assert_eq!(download(&engine, &rows), expected());
        for _ in 0..3 {
            rows = gather(&engine, &rows, &ids);
        }
        assert_eq!(waiting_gathers(&engine), 3);
        assert_eq!(download(&engine, &rows), values());
    }
}

#[test]
fn a_buffer_that_is_handed_out_holds_the_output() {
    for engine in engines() {
        let held = Held::on(engine);
        assert_eq!(read(&held.engine, held.rows.share_buffer()), expected());
        let held = Held::on(engine);
        assert_eq!(
            read(&held.engine, held.rows.share_slice().buffer()),
            expected()
        );
        let held = Held::on(engine);
        let part = held.rows.share_parts().next().expect("a part");
        assert_eq!(read(&held.engine, part.buffer()), expected());
    }
}

#[test]
fn a_buffer_that_is_handed_out_can_be_overwritten() {
    for engine in engines() {
        for of in [
            |held: &Held| held.table.clone(),
            |held: &Held| held.ids.clone(),
        ] {
            let held = Held::on(engine);
            write(&held.engine, of(&held).share_buffer(), &others());
            assert_eq!(download(&held.engine, &held.rows), expected());
        }
    }
}

/// Whoever has a buffer from before the gather sees that the gather is done when it returns.
#[test]
fn nothing_waits_that_uses_a_buffer_of_the_caller() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let own = |values: Vec<u32>| buffer_with(&engine, bytemuck::cast_slice(&values));
        let wrap = |buffer: &wgpu::Buffer| {
            DeviceTensor::<u32>::wrap(buffer.slice(..), Layout::contiguous(&[N])).expect("a tensor")
        };
        let taken = |values| {
            let tensor = upload(&engine, values);
            (tensor.share_buffer().clone(), tensor)
        };
        let wrapped = |values| {
            let buffer = own(values);
            (buffer.clone(), wrap(&buffer))
        };
        let (op, rules) = (Op::gather(0), Rules::default());
        for tensor in [
            &taken as &dyn Fn(Vec<u32>) -> (wgpu::Buffer, DeviceTensor<u32>),
            &wrapped,
        ] {
            let ((buffer, table), ids) = (tensor(values()), upload(&engine, reversed()));
            let rows = gather(&engine, &table, &ids);
            write(&engine, &buffer, &others());
            assert_eq!(download(&engine, &rows), expected());

            let (table, (buffer, ids)) = (upload(&engine, values()), tensor(reversed()));
            let rows = gather(&engine, &table, &ids);
            write(&engine, &buffer, &others());
            assert_eq!(download(&engine, &rows), expected());

            let ids = upload(&engine, reversed());
            let (buffer, mut rows) = tensor(others());
            engine
                .gather_into(op, &rules, &table, &ids, &mut rows)
                .expect("a gather");
            assert_eq!(read(&engine, &buffer), expected());

            let (count, mut rows) = (own(vec![64]), upload(&engine, others()));
            engine
                .gather_counted(op, &rules, &table, &ids, &mut rows, count.slice(..))
                .expect("a gather");
            write(&engine, &count, &[0]);
            assert_eq!(download(&engine, &rows), expected());
        }
    }
}

#[test]
fn what_is_submitted_at_once_comes_after_what_waits() {
    for engine in engines() {
        let (op, rules) = (Op::gather(0), Rules::default());
        // The reverse of the reversed table, into a buffer of the caller.
        let held = Held::on(engine);
        let buffer = buffer_with(&held.engine, &[0; N * 4]);
        let mut back =
            DeviceTensor::wrap(buffer.slice(..), Layout::contiguous(&[N])).expect("a tensor");
        held.engine
            .gather_into(op, &rules, &held.rows, &held.ids, &mut back)
            .expect("a gather");
        assert_eq!(read(&held.engine, &buffer), values());

        let held = Held::on(engine);
        let back = held
            .engine
            .batch(|batch| batch.gather(op, &rules, &held.rows, &held.ids))
            .expect("a batch");
        assert_eq!(waiting_gathers(&held.engine), 0);
        assert_eq!(download(&held.engine, &back), values());

        let held = Held::on(engine);
        assert_eq!(download(&held.engine, &held.rows), expected());
    }
}

/// A write by the queue lands before the commands of the next submission.
#[test]
fn an_upload_into_a_recycled_buffer_comes_after_what_waits() {
    for engine in engines() {
        let Held {
            engine, rows, ids, ..
        } = Held::on(engine);
        let before = engine.pool_bytes();
        drop(ids);
        assert_eq!(engine.pool_bytes(), before + 256);
        let recycled = upload(&engine, others());
        assert_eq!(engine.pool_bytes(), before, "the same buffer");
        assert_eq!(download(&engine, &rows), expected());
        assert_eq!(download(&engine, &recycled), others());

        // In chunks, as it is larger: the table, of which a few rows are gathered.
        let table = upload(&engine, (0..200_000).collect());
        let before = engine.pool_bytes();
        let ids = upload(&engine, vec![199_999, 0, 70_000]);
        let rows = gather(&engine, &table, &ids);
        assert_eq!(waiting_gathers(&engine), 1);
        drop(table);
        let recycled = upload(&engine, vec![5; 200_000]);
        assert!(engine.pool_bytes() <= before, "the same buffer");
        assert_eq!(download(&engine, &rows), [199_999, 0, 70_000]);
        assert_eq!(download(&engine, &recycled)[199_999], 5);
    }
}

/// A status of the caller, in the buffer of an output that was dropped as it waited.
#[test]
fn a_recorded_gather_counts_in_a_buffer_that_nothing_else_writes() {
    let plan = Plan::new(
        Op::gather(0),
        &Rules::ONNX,
        4,
        &Layout::contiguous(&[N]),
        IndexType::U32,
        &Layout::contiguous(&[N]),
    )
    .expect("a plan");
    for engine in engines() {
        let Held {
            engine,
            table,
            ids,
            rows,
        } = Held::on(engine);
        let output = buffer_with(&engine, &[0; N * 4]);
        let pipeline = engine.pipeline(&plan).wait().expect("a pipeline");
        let before = engine.pool_bytes();
        drop(rows);
        assert_eq!(engine.pool_bytes(), before + 256);
        let status = pipeline.status().expect("a status");
        assert_eq!(engine.pool_bytes(), before, "the same buffer");
        let mut encoder = engine.device().create_command_encoder(&Default::default());
        let buffers = Buffers {
            status: Some(&status),
            ..Buffers::new(table.share_slice(), ids.share_slice(), output.slice(..))
        };
        pipeline.encode(&mut encoder, &buffers).expect("a gather");
        engine.queue().submit([encoder.finish()]);
        assert_eq!(status.read().wait(), Ok(None));
    }
}

#[test]
fn a_bad_index_of_a_gather_that_waited_is_reported() {
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let (good, bad) = (
            upload(&engine, reversed()),
            upload(&engine, vec![1, 64, 65]),
        );
        let table = upload(&engine, values());
        // Outputs that were dropped as they waited: the first gather counts in the buffer of one.
        drop([(); 2].map(|()| gather(&engine, &table, &good)));
        let made: Vec<_> = [&good, &bad, &good]
            .map(|ids| engine.gather(Op::gather(0), &Rules::ONNX, &table, ids))
            .into_iter()
            .collect::<Result<_, _>>()
            .expect("gathers");
        assert_eq!(waiting_gathers(&engine), 5);
        assert_eq!(engine.check(&made[0]).wait(), Ok(None));
        let report = BadIndices {
            op: OpKind::Gather,
            position: vec![1],
            value: 64,
            axis: 0,
            extent: 64,
            count: 2,
        };
        assert_eq!(engine.check(&made[1]).wait(), Ok(Some(report)));
        assert_eq!(download(&engine, &made[2]), expected());
    }
}

#[test]
fn a_tensor_outlives_its_engine() {
    for engine in engines() {
        let Held { engine, rows, .. } = Held::on(engine);
        let (device, queue) = (engine.device().clone(), engine.queue().clone());
        drop(engine);
        let other = Engine::new(device, queue).wait().expect("an engine");
        assert_eq!(read(&other, rows.share_buffer()), expected());
    }
}
