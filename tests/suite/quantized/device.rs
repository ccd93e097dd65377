//! Quantized tables that stay on the device: recorded into an encoder, gathered by an engine, in buffers of
//! the caller. Bytes beside an output keep their value.

use wgpu_gather::gpu::{DeviceQuantizedTable, Engine, QuantizedBuffers};
use wgpu_gather::quantized::{BlockFormat, FloatType, Format, QuantizedTable};
use wgpu_gather::{Error, Executor, IndexType, Layout, Op, Result, Role, Rules, Tensor, wgpu};

use crate::common::{block_on, buffer_with, bytes_of, engines, read_status};
use gather_conformance::QuantizedGather;

/// The table of a case: uploaded, or where its zero points are no bytes of their own, in buffers of the
/// caller that start with something else.
fn table_of(case: &QuantizedGather, engine: &Engine, wrapped: bool) -> DeviceQuantizedTable {
    let table = case.table();
    if !wrapped || !table.zero_points().is_empty() {
        return engine.upload_quantized_blocking(&table).expect("memory");
    }
    let behind = |bytes: &[u8]| buffer_with(engine, &[&[0x5a; 12], bytes].concat());
    let (codes, scales) = (behind(table.codes()), behind(table.scales()));
    let scales = (!table.scales().is_empty()).then(|| scales.slice(12..));
    DeviceQuantizedTable::wrap(case.format, &case.shape, codes.slice(12..), scales)
        .expect("a table in buffers")
}

/// Records a case into an encoder, for an output that starts `skipped` bytes into its buffer, and returns
/// that buffer.
fn recorded(
    case: &QuantizedGather,
    engine: &Engine,
    wrapped: bool,
    skipped: usize,
) -> Result<Vec<u8>> {
    let table = table_of(case, engine, wrapped);
    let (indices, layout) = (case.indices(), &case.indices_layout);
    let pipeline = block_on(engine.quantized_pipeline(
        case.op,
        &case.rules,
        &table,
        case.index_type,
        layout,
        case.to,
    ))?;
    drop(table);
    let status = match pipeline.plan().reports_bad_indices() {
        true => Some(pipeline.status()?),
        false => None,
    };
    let indices = buffer_with(engine, indices.bytes());
    let bytes = pipeline.plan().output_bytes();
    let output = buffer_with(engine, &vec![0xa5; skipped + bytes + 9]);
    let buffers = QuantizedBuffers {
        indices: indices.slice(..),
        output: output.slice(skipped as u64..),
        status: status.as_ref(),
        flag: false,
    };
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    pipeline.encode(&mut encoder, &buffers)?;
    engine.queue().submit([encoder.finish()]);
    let all = bytes_of(engine, &output);
    if let Some(status) = status {
        read_status(&status)?;
    }
    Ok(all)
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
            let got = recorded(&case, engine, seed % 2 == 0, skipped);
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
        let table = engine.upload_quantized_blocking(&host).unwrap();
        let ids = Tensor::new(&[3], vec![1i64, -1, 0]).unwrap();
        let ids = engine.upload_indices_blocking(&ids.view()).unwrap();
        let (op, rules) = (Op::gather(0), Rules::default());
        let rows = engine.gather_quantized::<f32, _>(op, &rules, &table, &ids);
        let rows = engine.download_blocking(&rows.unwrap()).unwrap();
        assert_eq!(
            (rows.data()[3], rows.data()[35], rows.data()[67]),
            (-6.0, 0.0, 1.5)
        );
        let mut halves = engine
            .gather_quantized::<half::f16, _>(op, &rules, &table, &ids)
            .unwrap();
        let swapped = Tensor::new(&[3], vec![0i64, 0, 1]).unwrap();
        let swapped = engine.upload_indices_blocking(&swapped.view()).unwrap();
        engine
            .gather_quantized_into(op, &rules, &table, &swapped, &mut halves)
            .unwrap();
        let halves = engine.download_blocking(&halves).unwrap();
        let at = |n: usize| halves.data()[n].to_f32();
        assert_eq!((at(3), at(35), at(67)), (1.5, 1.5, -6.0));
        // Two gathers in one submission, the second by what the first made: ids 2 and 0 of row 0.
        let rows = engine
            .batch(|batch| {
                let any = batch.gather_quantized_any(
                    op,
                    &Rules::ONNX,
                    &table,
                    swapped.as_ref(),
                    IndexType::I64,
                    FloatType::BF16,
                )?;
                batch.gather_quantized::<f32, _>(op, &Rules::ONNX, &table, &ids)?;
                Ok(any)
            })
            .unwrap();
        let mut bytes = vec![0; 3 * 32 * 2];
        block_on(engine.download_bytes(&rows, &mut bytes)).unwrap();
        assert_eq!(bytes[6..8], 0x3fc0u16.to_ne_bytes()); // 1.5
        let bad = Tensor::new(&[2], vec![0u32, 2]).unwrap();
        let bad = engine.upload_indices_blocking(&bad.view()).unwrap();
        let rows = engine.gather_quantized::<f32, _>(op, &Rules::ONNX, &table, &bad);
        let error = engine.download_blocking(&rows.unwrap()).unwrap_err();
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
        let layout = Layout::contiguous(&[1]);
        let pipeline = block_on(engine.quantized_pipeline(
            Op::gather(1),
            &Rules::default(),
            &table,
            IndexType::U32,
            &layout,
            FloatType::F32,
        ));
        let indices = buffer_with(engine, &[0; 4]);
        let buffers = QuantizedBuffers {
            indices: indices.slice(..),
            output: codes.slice(..),
            status: None,
            flag: false,
        };
        let shared = pipeline.unwrap().bind(&buffers).unwrap_err();
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
