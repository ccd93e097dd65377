//! Quantized tables that stay on the device: recorded into an encoder, gathered by an engine, in buffers of
//! the caller. Bytes beside an output keep their value.

use wgpu_gather::gpu::{AnyDeviceTensor, Batch, DeviceQuantizedTable, DeviceTensor, Engine};
use wgpu_gather::quantized::{BlockFormat, FloatType, Format, QuantizedTable};
use wgpu_gather::{Error, Executor, Layout, Op, Result, Role, Rules, Tensor, wgpu};

use crate::common::{block_on, buffer_with, bytes_of, engines, failing, report};
use gather_conformance::QuantizedGather;

/// The table of a case: uploaded, or where its zero points are no bytes of their own, in buffers of the
/// caller that start with something else.
fn table_of(case: &QuantizedGather, engine: &Engine, wrapped: bool) -> DeviceQuantizedTable {
    let table = case.table();
    if !wrapped || !table.zero_points().is_empty() {
        return engine.upload(&table).wait().expect("memory");
    }
    let behind = |bytes: &[u8]| buffer_with(engine, &[&[0x5a; 12], bytes].concat());
    let (codes, scales) = (behind(table.codes()), behind(table.scales()));
    let scales = (!table.scales().is_empty()).then(|| scales.slice(12..));
    DeviceQuantizedTable::wrap(case.format, &case.shape, codes.slice(12..), scales)
        .expect("a table in buffers")
}

/// Binds a case or records it into an encoder, for an output that starts `skipped` bytes into its buffer,
/// and returns that buffer.
fn recorded(
    case: &QuantizedGather,
    engine: &Engine,
    (wrapped, bound): (bool, bool),
    skipped: usize,
) -> Result<Vec<u8>> {
    let plan = case.plan()?;
    let table = table_of(case, engine, wrapped);
    let indices = buffer_with(engine, case.indices().bytes());
    let (index_type, layout) = (case.index_type.dtype(), case.indices_layout.clone());
    let indices = AnyDeviceTensor::wrap(indices.slice(..), index_type, layout)?;
    let all = buffer_with(engine, &vec![0xa5; skipped + plan.output_bytes() + 9]);
    let (slice, layout) = (
        all.slice(skipped as u64..),
        Layout::contiguous(plan.output_shape()),
    );
    let mut output = AnyDeviceTensor::wrap(slice, case.to.dtype(), layout)?;
    let gather = |r: &mut Batch<'_>| {
        let decoded = table.to_type(case.to);
        r.gather_into(case.op, &case.rules, &decoded, &indices, &mut output)
    };
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    let binding = match bound {
        true => Some(engine.bind(gather)?),
        false => {
            engine.record(&mut encoder, gather)?;
            None
        }
    };
    drop(table);
    if let Some(binding) = &binding {
        binding.encode(&mut encoder);
    }
    engine.queue().submit([encoder.finish()]);
    let bytes = bytes_of(engine, &all);
    let looks_up = !plan.is_empty() && !plan.lookups().coordinates.is_empty();
    match binding {
        None => report(engine, &output, &case.rules)?,
        Some(binding) => match looks_up && !plan.reports_bad_indices() {
            false => failing(binding.check().wait())?,
            true => assert_eq!(binding.check().wait(), Err(Error::NotCounted)),
        },
    }
    Ok(bytes)
}

#[test]
fn what_is_recorded_is_what_the_reference_gives_and_nothing_beside_it() {
    for engine in engines() {
        for seed in 0..300 {
            let case = QuantizedGather::random(20_000 + seed);
            let skipped = case.to.bytes() * (seed as usize % 5);
            let expected = block_on(case.output(&Executor::Reference)).map(|bytes| {
                let mut all = [&vec![0xa5; skipped][..], &bytes, &[0xa5; 9]].concat();
                all.resize(all.len().next_multiple_of(4), 0);
                all
            });
            let got = recorded(&case, engine, (seed % 2 == 0, seed % 4 < 2), skipped);
            assert_eq!(got, expected, "{}: {case:?}", engine.adapter().label());
        }
    }
}

/// A table of two rows of Q8_0: 0.5 * n, and 2.0 * -n.
fn two_rows() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (scale, sign) in [(0x3800u16, 1i8), (0x4000, -1)] {
        bytes.extend(scale.to_le_bytes());
        bytes.extend((0..32).map(|n: i8| (n * sign) as u8));
    }
    bytes
}

#[test]
fn an_engine_gathers_into_tensors_of_any_float() {
    let bytes = two_rows();
    let host = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    for engine in engines() {
        let table = engine.upload(&host).wait().unwrap();
        let ids = Tensor::new(&[3], vec![1i64, -1, 0]).unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let (op, rules) = (Op::gather(0), Rules::default());
        let decoded = table.to::<f32>();
        let rows = engine.gather(op, &rules, &decoded, &ids);
        let rows = engine.download(&rows.unwrap()).wait().unwrap();
        assert_eq!(
            (rows.data()[3], rows.data()[35], rows.data()[67]),
            (-6.0, 0.0, 1.5)
        );
        let mut halves = engine
            .gather(op, &rules, &table.to::<half::f16>(), &ids)
            .unwrap();
        let swapped = Tensor::new(&[3], vec![0i64, 0, 1]).unwrap();
        let swapped = engine.upload(&swapped).wait().unwrap();
        engine
            .gather_into(op, &rules, &table.to::<half::f16>(), &swapped, &mut halves)
            .unwrap();
        let halves = engine.download(&halves).wait().unwrap();
        let at = |n: usize| halves.data()[n].to_f32();
        assert_eq!((at(3), at(35), at(67)), (1.5, 1.5, -6.0));
        // Two gathers in one submission, the second by what the first made: ids 2 and 0 of row 0.
        let rows = engine
            .batch(|batch| {
                let to = table.to_type(FloatType::BF16);
                let any = batch.gather(op, &Rules::ONNX, &to, swapped.as_ref())?;
                batch.gather(op, &Rules::ONNX, &decoded, &ids)?;
                Ok(any)
            })
            .unwrap();
        let mut bytes = vec![0; 3 * 32 * 2];
        engine.download_bytes(&rows, &mut bytes).wait().unwrap();
        assert_eq!(bytes[6..8], 0x3fc0u16.to_ne_bytes()); // 1.5
        let bad = Tensor::new(&[2], vec![0u32, 2]).unwrap();
        let bad = engine.upload(&bad).wait().unwrap();
        let rows = engine.gather(op, &Rules::ONNX, &decoded, &bad);
        let error = engine.download(&rows.unwrap()).wait().unwrap_err();
        let text = "gather: indices[1] = 2 is out of bounds for params axis 0 of extent 2";
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    for engine in engines() {
        let format = Format::Blocks(BlockFormat::Q8_0);
        let codes = buffer_with(engine, &[0; 72]);
        let wrap = |slice: wgpu::BufferSlice<'_>| {
            DeviceQuantizedTable::wrap(format, &[2, 32], slice, None).map(|_| ())
        };
        assert_eq!(wrap(codes.slice(..)), Ok(()));
        let short = wrap(codes.slice(6..)).unwrap_err();
        assert!(
            matches!(
                short,
                Error::QuantizedLength {
                    role: Role::Codes,
                    got: 66,
                    ..
                }
            ),
            "{short}"
        );
        let odd = wrap(codes.slice(1..)).unwrap_err();
        assert!(
            matches!(
                odd,
                Error::Misaligned {
                    role: Role::Codes,
                    offset: 1,
                    ..
                }
            ),
            "{odd}"
        );
        // The output may not lie among the codes.
        let table = DeviceQuantizedTable::wrap(format, &[2, 32], codes.slice(..), None).unwrap();
        let decoded = table.to::<f32>();
        let indices = engine.zeros::<u32>(&[1]).unwrap();
        let layout = Layout::contiguous(&[2, 1]);
        let mut output = DeviceTensor::wrap(codes.slice(..), layout).unwrap();
        let (op, rules) = (Op::gather(1), Rules::default());
        let shared = engine.bind(|r| r.gather_into(op, &rules, &decoded, &indices, &mut output));
        let shared = shared.unwrap_err();
        assert!(
            matches!(
                shared,
                Error::SameBuffer {
                    role: Role::Codes,
                    ..
                }
            ),
            "{shared}"
        );
    }
}
