//! The number of indices decided on the device: output up to it is made, output past it stays.

use gather_conformance::{Call, builtin, call_from};
use wgpu_gather::gpu::{Buffers, DeviceTensor, Engine};
use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{Error, Op, OpKind, Rules, Tensor, wgpu};

use crate::common::{block_on, buffer_with, bytes_of, device_on, engines, fresh_adapter};

const POISON: u8 = 0xa5;

/// Runs the first `count` entries of `call`; says what is wrong, or whether there was something to run. The
/// expected bytes are those of the reference for all entries, up to the count.
fn run(engine: &Engine, call: &Call, count: u32) -> Result<bool, String> {
    let Ok(plan) = call.plan() else {
        return Ok(false);
    };
    if plan.is_empty() || plan.reports_bad_indices() {
        return Ok(false);
    }
    let Ok(per_entry) = plan.elements_per_entry() else {
        return Ok(false);
    };
    let reference = wgpu_gather::Executor::Reference;
    let expected = block_on(call.output(&reference)).map_err(|e| e.to_string())?;
    let params = buffer_with(engine, &call.params);
    let indices = buffer_with(engine, &call.indices);
    let output = buffer_with(engine, &vec![POISON; plan.output_bytes() + 20]);
    // The count is in the middle of a buffer.
    let words: Vec<u32> = (0..100)
        .map(|n| if n == 70 { count } else { 9999 })
        .collect();
    let counts = buffer_with(engine, bytemuck::cast_slice(&words));
    let buffers = Buffers {
        count: Some(counts.slice(280..)),
        ..Buffers::new(params.slice(..), indices.slice(..), output.slice(..))
    };
    let pipeline = engine.pipeline(&plan).wait().map_err(|e| e.to_string())?;
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    pipeline
        .encode(&mut encoder, &buffers)
        .map_err(|e| e.to_string())?;
    engine.queue().submit([encoder.finish()]);
    let mut got = bytes_of(engine, &output);
    got.truncate(plan.output_bytes() + 20); // behind that, the buffer has no poison
    let made = (count as usize).saturating_mul(per_entry * plan.element_bytes());
    let made = made.min(expected.len());
    if got[..made] != expected[..made] {
        return Err(format!("{made} bytes differ"));
    }
    match got[made..].iter().position(|&b| b != POISON) {
        Some(at) => Err(format!("byte {} was written, past {made}", made + at)),
        None => Ok(true),
    }
}

fn check(engine: &Engine, calls: &[Call], what: &str) {
    let mut ran = 0;
    for call in calls {
        let entries = call.indices_layout.shape().first().copied().unwrap_or(1) as u32;
        for count in [
            0,
            1,
            entries / 2,
            entries.saturating_sub(1),
            entries,
            entries + 1,
            u32::MAX,
        ] {
            match run(engine, call, count) {
                Ok(has_run) => ran += usize::from(has_run),
                Err(why) => panic!("{what}: {call:?}, {count} entries: {why}"),
            }
        }
    }
    println!("{what}: {ran} counted gathers");
    assert!(ran > 300, "{ran}");
}

fn calls(builtins: usize, most_bytes: usize) -> Vec<Call> {
    let choices = |n: u32| {
        let choice = |at: u32| {
            (n * 1009 + at)
                .wrapping_mul(2_654_435_761)
                .rotate_left(at % 31)
        };
        (0..90).map(choice).collect::<Vec<_>>()
    };
    let random = (0..60).map(|n| call_from(&choices(n)));
    let small = |call: &Call| {
        let output = call.plan().map_or(0, |plan| plan.output_bytes());
        output + call.params.len() < most_bytes
    };
    builtin()
        .into_iter()
        .step_by(builtins)
        .chain(random)
        .filter(small)
        .collect()
}

#[test]
fn output_past_a_count_keeps_its_value() {
    for engine in engines() {
        check(engine, &calls(25, 1 << 20), "one pass");
    }
}

#[test]
fn a_count_cuts_several_passes() {
    for engine in engines() {
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: 2048,
            ..wgpu::Limits::downlevel_defaults()
        };
        let (device, queue) = device_on(&fresh_adapter(engine), limits);
        let small = Engine::new(device, queue).wait().expect("an engine");
        check(&small, &calls(60, 32 << 10), "several passes");
    }
}

#[test]
fn an_earlier_dispatch_may_write_the_count() {
    for engine in engines() {
        let table = Tensor::new(&[4, 2], (0..8u32).collect::<Vec<_>>()).unwrap();
        let table = engine.upload(&table).wait().unwrap();
        let ids = engine
            .upload(&Tensor::new(&[3], vec![3i32, 9, 1]).unwrap())
            .wait();
        let ids = ids.unwrap();
        let seven = Tensor::new(&[3, 2], vec![7u32; 6]).unwrap();
        let mut rows = engine.upload(&seven).wait().unwrap();
        // The count is itself gathered: entry 1 of [3, 2, 1].
        let counts = engine
            .upload(&Tensor::new(&[3], vec![3u32, 2, 1]).unwrap())
            .wait();
        let one = engine
            .upload(&Tensor::new(&[1], vec![1u32]).unwrap())
            .wait();
        let (counts, one) = (counts.unwrap(), one.unwrap());
        let rules = Rules::TENSORFLOW_CPU;
        engine
            .batch(|batch| {
                let count = batch.gather(Op::gather(0), &rules, &counts, &one)?;
                let slice = count.share_buffer().slice(..4);
                batch.gather_counted(Op::gather(0), &rules, &table, &ids, &mut rows, slice)
            })
            .unwrap();
        let bad = engine.download(&rows).wait().unwrap_err();
        assert_eq!(
            bad.to_string(),
            "gather: indices[1] = 9 is out of bounds for params axis 0 of extent 4"
        );
        // An index past the count is not looked at.
        let mut rows: DeviceTensor<u32> = engine.upload(&seven).wait().unwrap();
        let count = buffer_with(engine, &1u32.to_ne_bytes());
        let counted = engine.gather_counted(
            Op::gather(0),
            &rules,
            &table,
            &ids,
            &mut rows,
            count.slice(..),
        );
        counted.unwrap();
        let rows = engine.download(&rows).wait().unwrap();
        assert_eq!(rows.data(), [6, 7, 7, 7, 7, 7]);
    }
}

#[test]
fn counts_that_cannot_be_are_refused() {
    for engine in engines() {
        let table = engine
            .upload(&Tensor::new(&[2, 2], vec![1.0f32; 4]).unwrap())
            .wait();
        let ids = engine
            .upload(&Tensor::new(&[2], vec![0i64, 1]).unwrap())
            .wait();
        let (table, ids) = (table.unwrap(), ids.unwrap());
        let output = Tensor::new(&[2, 2], vec![0f32; 4]).unwrap();
        let mut output = engine.upload(&output).wait().unwrap();
        let count = buffer_with(engine, &[0; 8]);
        let mut run = |axis, slice| {
            let (op, rules) = (Op::gather(axis), Rules::default());
            engine.gather_counted(op, &rules, &table, &ids, &mut output, slice)
        };
        assert_eq!(run(0, count.slice(4..)), Ok(()));
        let op = OpKind::Gather;
        assert_eq!(run(1, count.slice(..)), Err(Error::CountElsewhere { op }));
        let place = |offset| {
            Err(Error::CountPlace {
                op,
                offset,
                size: 8,
            })
        };
        assert_eq!(run(0, count.slice(2..)), place(2));
        let reads_only = engine.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 8,
            usage: wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        assert_eq!(run(0, reads_only.slice(..)), place(0));
        let codes = [1; 2 * 34];
        let codes = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &codes).unwrap();
        let codes = engine.upload(&codes).wait().unwrap();
        let mut rows = engine.zeros::<f32>(&[2, 32]).unwrap();
        let (gather, rules, slice) = (Op::gather(0), Rules::default(), count.slice(..));
        let decoded = codes.to::<f32>();
        let refused = engine.gather_counted(gather, &rules, &decoded, &ids, &mut rows, slice);
        assert_eq!(refused, Err(Error::CountOfQuantized { op }));
        assert_eq!(
            refused.unwrap_err().to_string(),
            "gather: a count on the device limits gathers from plain tensors only; this table is quantized"
        );
        assert_eq!(
            Error::CountElsewhere { op }.to_string(),
            "gather: a count on the device needs the first dim of indices to be the first of the output (gather: axis 0 or batch dims)"
        );
        assert_eq!(
            Error::CountPlace {
                op,
                offset: 2,
                size: 8
            }
            .to_string(),
            "gather: the count must be 4 bytes at a multiple of 4 in a buffer with the usage STORAGE, got byte 2 of 8"
        );
    }
}
