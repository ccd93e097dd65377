//! The table in `docs/levels.md`: what each verb supports at each level, found out by doing it.
//!
//! `GATHER_RENEW=1` writes it anew. A cell is a tick where the call gave the definition's bits, or the error
//! that the library gave in its place, with a number below the table.

use std::fmt::Write;

use wgpu_gather::gpu::{
    AnyDeviceTensor, Batch, DeviceQuantizedTable, DeviceTensor, Engine, internals,
};
use wgpu_gather::quantized::{DecodedAs, FloatType, QuantizedTable};
use wgpu_gather::{
    AnyTensor, BagMode, Bags, DType, Executor, Layout, Op, Params, Reduce, Result, Rules, Tensor,
    wgpu,
};

use crate::common::engines;
use crate::documents::{path, read};

const DOCUMENT: &str = "docs/levels.md";
const ROWS: usize = 6;
const WIDTH: usize = 32;
const SHAPE: &[usize] = &[ROWS, WIDTH];
const OP: Op = Op::gather(0);
const RULES: &Rules = &Rules::TORCH;
const OFFSETS: &[usize] = &[0, 2];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Gather,
    Scatter,
    Gradient,
    Bag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Typed,
    AtRunTime,
    Quantized,
}

const ROWS_OF_TABLE: [(&str, Verb, Kind); 12] = [
    ("`gather`", Verb::Gather, Kind::Typed),
    ("`gather`, type at run time", Verb::Gather, Kind::AtRunTime),
    ("`gather`, quantized", Verb::Gather, Kind::Quantized),
    ("`scatter`", Verb::Scatter, Kind::Typed),
    (
        "`scatter`, type at run time",
        Verb::Scatter,
        Kind::AtRunTime,
    ),
    ("`scatter`, quantized", Verb::Scatter, Kind::Quantized),
    ("`gather_gradient`", Verb::Gradient, Kind::Typed),
    (
        "`gather_gradient`, type at run time",
        Verb::Gradient,
        Kind::AtRunTime,
    ),
    (
        "`gather_gradient`, quantized",
        Verb::Gradient,
        Kind::Quantized,
    ),
    ("`embedding_bag`", Verb::Bag, Kind::Typed),
    (
        "`embedding_bag`, type at run time",
        Verb::Bag,
        Kind::AtRunTime,
    ),
    ("`embedding_bag`, quantized", Verb::Bag, Kind::Quantized),
];

/// What a cell says: yes, an error of the library, or a reason that no call can give.
type Cell = std::result::Result<(), String>;

fn no(reason: &str) -> Cell {
    Err(reason.to_owned())
}

/// The tensors of the calls, on the host.
struct Host {
    table: Tensor<f32>,
    codes: Vec<u8>,
    ids: Tensor<u32>,
    /// In the shape of the gather's output.
    updates: Tensor<f32>,
}

impl Host {
    fn new() -> Host {
        let numbers = |count: usize, step: usize| -> Vec<f32> {
            (0..count).map(|n| (n * step % 17) as f32 - 8.0).collect()
        };
        let block = |row: usize| {
            // Q8_0: a scale of 0.5 as f16, then 32 codes.
            let codes = (0..WIDTH).map(move |n| (row * 7 + n) as u8);
            [0x00, 0x38].into_iter().chain(codes)
        };
        Host {
            table: Tensor::new(&[ROWS, WIDTH], numbers(ROWS * WIDTH, 5)).unwrap(),
            codes: (0..ROWS).flat_map(block).collect(),
            ids: Tensor::new(&[4], vec![5, 0, 5, 2]).unwrap(),
            updates: Tensor::new(&[4, WIDTH], numbers(4 * WIDTH, 3)).unwrap(),
        }
    }

    fn quantized(&self) -> QuantizedTable<'_> {
        let format = wgpu_gather::quantized::BlockFormat::Q8_0;
        QuantizedTable::blocks(format, &[ROWS, WIDTH], &self.codes).unwrap()
    }
}

fn params(tensor: &Tensor<f32>) -> Params<'_> {
    let bytes = bytemuck::cast_slice(tensor.data());
    Params::new(bytes, DType::F32, Layout::contiguous(tensor.shape())).unwrap()
}

fn bags() -> Bags<'static> {
    Bags::offsets(BagMode::Sum, OFFSETS)
}

/// The bits of an output.
fn bits(any: &AnyTensor) -> Vec<u8> {
    any.bytes().to_vec()
}

/// What the host's call of a verb gives, by run-time types.
fn made(
    host: &Host,
    decoded: &DecodedAs<'_, QuantizedTable<'_>>,
    ex: &Executor,
    verb: Verb,
    kind: Kind,
) -> Result<AnyTensor> {
    let (table, updates) = (params(&host.table), params(&host.updates));
    let ids = &host.ids;
    match (verb, kind) {
        (Verb::Gather, Kind::Quantized) => ex.gather(OP, RULES, decoded, ids).wait(),
        (Verb::Gather, _) => ex.gather(OP, RULES, &table, ids).wait(),
        (Verb::Bag, Kind::Quantized) => ex.embedding_bag(bags(), RULES, decoded, ids).wait(),
        (Verb::Bag, _) => ex.embedding_bag(bags(), RULES, &table, ids).wait(),
        (Verb::Scatter, _) => ex
            .scatter(OP, Reduce::Add, RULES, &table, ids, &updates)
            .wait(),
        (Verb::Gradient, _) => ex.gather_gradient(OP, RULES, SHAPE, ids, &updates).wait(),
    }
}

/// The same, written to `out`.
fn written(
    host: &Host,
    decoded: &DecodedAs<'_, QuantizedTable<'_>>,
    ex: &Executor,
    verb: Verb,
    kind: Kind,
    out: &mut [u8],
) -> Result<()> {
    let (table, updates) = (params(&host.table), params(&host.updates));
    let ids = &host.ids;
    match (verb, kind) {
        (Verb::Gather, Kind::Quantized) => ex.gather(OP, RULES, decoded, ids).into(out).wait(),
        (Verb::Gather, _) => ex.gather(OP, RULES, &table, ids).into(out).wait(),
        (Verb::Bag, Kind::Quantized) => {
            let call = ex.embedding_bag(bags(), RULES, decoded, ids);
            call.into(out).wait()
        }
        (Verb::Bag, _) => {
            let call = ex.embedding_bag(bags(), RULES, &table, ids);
            call.into(out).wait()
        }
        (Verb::Scatter, _) => ex
            .scatter_into(OP, Reduce::Add, RULES, SHAPE, out, ids, &updates)
            .wait(),
        (Verb::Gradient, _) => {
            let call = ex.gather_gradient(OP, RULES, SHAPE, ids, &updates);
            call.into(out).wait()
        }
    }
}

/// A host call's bits: what `wait` gives, or what is written `into` memory.
fn on_the_host(host: &Host, ex: &Executor, verb: Verb, kind: Kind, into: bool) -> Result<Vec<u8>> {
    let quantized = host.quantized();
    let decoded = quantized.to_type(FloatType::F32);
    if !into {
        return made(host, &decoded, ex, verb, kind).map(|any| bits(&any));
    }
    let mut out = match verb {
        Verb::Gather => vec![0xa5; 4 * WIDTH * 4],
        Verb::Bag => vec![0xa5; OFFSETS.len() * WIDTH * 4],
        Verb::Scatter => params(&host.table).bytes().to_vec(),
        Verb::Gradient => vec![0xa5; ROWS * WIDTH * 4],
    };
    written(host, &decoded, ex, verb, kind, &mut out).map(|()| out)
}

/// The tensors on a device.
struct Device {
    typed: DeviceTensor<f32>,
    any: AnyDeviceTensor,
    quantized: DeviceQuantizedTable,
    ids: DeviceTensor<u32>,
    updates: DeviceTensor<f32>,
}

impl Device {
    fn new(engine: &Engine, host: &Host) -> Result<Device> {
        Ok(Device {
            typed: engine.upload(&host.table).wait()?,
            any: engine.upload(&params(&host.table)).wait()?,
            quantized: engine.upload(&host.quantized()).wait()?,
            ids: engine.upload(&host.ids).wait()?,
            updates: engine.upload(&host.updates).wait()?,
        })
    }
}

/// A verb that makes a tensor, of an engine or of a batch.
macro_rules! verb {
    ($on:expr, $device:expr, $verb:expr, $kind:expr) => {{
        let (d, any_updates) = ($device, AnyDeviceTensor::from($device.updates.clone()));
        match ($verb, $kind) {
            (Verb::Gather, Kind::Typed) => $on
                .gather(OP, RULES, &d.typed, &d.ids)
                .map(AnyDeviceTensor::from),
            (Verb::Gather, Kind::AtRunTime) => $on.gather(OP, RULES, &d.any, &d.ids),
            (Verb::Gather, Kind::Quantized) => {
                $on.gather(OP, RULES, &d.quantized.to_type(FloatType::F32), &d.ids)
            }
            (Verb::Bag, Kind::Typed) => $on
                .embedding_bag(bags(), RULES, &d.typed, &d.ids, None)
                .map(AnyDeviceTensor::from),
            (Verb::Bag, Kind::AtRunTime) => $on.embedding_bag(bags(), RULES, &d.any, &d.ids, None),
            (Verb::Bag, Kind::Quantized) => $on.embedding_bag(
                bags(),
                RULES,
                &d.quantized.to_type(FloatType::F32),
                &d.ids,
                None,
            ),
            (Verb::Scatter, Kind::Typed) => $on
                .scatter(OP, Reduce::Add, RULES, &d.typed, &d.ids, &d.updates)
                .map(AnyDeviceTensor::from),
            (Verb::Scatter, _) => $on.scatter(OP, Reduce::Add, RULES, &d.any, &d.ids, &any_updates),
            (Verb::Gradient, Kind::Typed) => $on
                .gather_gradient(OP, RULES, SHAPE, &d.ids, &d.updates)
                .map(AnyDeviceTensor::from),
            (Verb::Gradient, _) => $on.gather_gradient(OP, RULES, SHAPE, &d.ids, &any_updates),
        }
    }};
}

/// A verb that writes to a tensor that is there, in a batch.
fn write(
    batch: &mut Batch<'_>,
    d: &Device,
    verb: Verb,
    kind: Kind,
    to: &AnyDeviceTensor,
) -> Result<()> {
    let mut any = to.clone();
    let mut typed = DeviceTensor::<f32>::try_from(to.clone())?;
    let updates = AnyDeviceTensor::from(d.updates.clone());
    let decoded = d.quantized.to_type(FloatType::F32);
    match (verb, kind) {
        (Verb::Gather, Kind::Typed) => batch.gather_into(OP, RULES, &d.typed, &d.ids, &mut typed),
        (Verb::Gather, Kind::AtRunTime) => batch.gather_into(OP, RULES, &d.any, &d.ids, &mut any),
        (Verb::Gather, Kind::Quantized) => batch.gather_into(OP, RULES, &decoded, &d.ids, &mut any),
        (Verb::Bag, Kind::Typed) => {
            batch.embedding_bag_into(bags(), RULES, &d.typed, &d.ids, None, &mut typed)
        }
        (Verb::Bag, Kind::AtRunTime) => {
            batch.embedding_bag_into(bags(), RULES, &d.any, &d.ids, None, &mut any)
        }
        (Verb::Bag, Kind::Quantized) => {
            batch.embedding_bag_into(bags(), RULES, &decoded, &d.ids, None, &mut any)
        }
        (Verb::Scatter | Verb::Gradient, Kind::Typed) => {
            batch.scatter_into(OP, Reduce::Add, RULES, &mut typed, &d.ids, &d.updates)
        }
        (Verb::Scatter | Verb::Gradient, _) => {
            batch.scatter_into(OP, Reduce::Add, RULES, &mut any, &d.ids, &updates)
        }
    }
}

/// A tensor that `write` writes to: the output, or what a scatter starts from.
fn destination(engine: &Engine, host: &Host, verb: Verb) -> Result<AnyDeviceTensor> {
    Ok(match verb {
        Verb::Gather => engine.zeros::<f32>(&[4, WIDTH])?.into(),
        Verb::Bag => engine.zeros::<f32>(&[OFFSETS.len(), WIDTH])?.into(),
        Verb::Scatter => engine.upload(&params(&host.table)).wait()?,
        Verb::Gradient => engine.zeros::<f32>(&[ROWS, WIDTH])?.into(),
    })
}

fn submit(engine: &Engine, encoder: wgpu::CommandEncoder) {
    engine.queue().submit([encoder.finish()]);
}

/// The cells of one row, in the order of `COLUMNS`.
fn cells(engine: &Engine, host: &Host, verb: Verb, kind: Kind) -> Vec<Cell> {
    if kind == Kind::Quantized && matches!(verb, Verb::Scatter | Verb::Gradient) {
        return vec![
            no("codes of a quantized table are not numbers that can be added to");
            COLUMNS.len()
        ];
    }
    let expected = on_the_host(host, &Executor::Reference, verb, kind, false).unwrap();
    let same = |got: Result<Vec<u8>>| match got {
        Ok(got) => {
            assert!(
                got == expected,
                "{verb:?} {kind:?}: other bits than the definition's"
            );
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    };
    let download = |made: &AnyDeviceTensor| engine.download(made).wait().map(|any| bits(&any));
    let gpu = Executor::Gpu(engine.clone());
    let d = Device::new(engine, host).unwrap();
    let on_all = |into| {
        let all = [Executor::Reference, Executor::Cpu, gpu.clone()];
        all.iter()
            .try_for_each(|ex| same(on_the_host(host, ex, verb, kind, into)))
    };
    let chunks = match verb {
        Verb::Gather => {
            let mut got = Vec::new();
            let quantized = host.quantized();
            let take = |chunk: &[u8]| -> Result<()> {
                got.extend_from_slice(chunk);
                Ok(())
            };
            let made = match kind {
                Kind::Quantized => gpu
                    .gather(OP, RULES, &quantized.to::<f32>(), &host.ids)
                    .chunks(64, take)
                    .wait(),
                _ => gpu
                    .gather(OP, RULES, &host.table, &host.ids)
                    .chunks(64, take)
                    .wait(),
            };
            same(made.map(|()| got))
        }
        Verb::Bag => no("an output of bags is small: it has a row for each bag"),
        _ => no("every element of the destination may change until the last update is folded"),
    };
    let plain = verb!(engine, &d, verb, kind).and_then(|made| download(&made));
    engine.flush().unwrap();
    let made = verb!(engine, &d, verb, kind).unwrap();
    let held = match internals::waiting_gathers(engine) {
        0 => no("submitted at once"),
        _ => same(download(&made)),
    };
    let batch = engine
        .batch(|batch| verb!(batch, &d, verb, kind))
        .and_then(|made| download(&made));
    let into = || -> Cell {
        if verb == Verb::Gradient {
            return no("it is `scatter_into` with `Reduce::Add`, over zeros or another gradient");
        }
        let to = destination(engine, host, verb).unwrap();
        let written = engine.batch(|batch| write(batch, &d, verb, kind, &to));
        same(written.and_then(|()| download(&to)))
    };
    let encoder = || {
        engine
            .device()
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    };
    let record = || -> Result<Vec<u8>> {
        let mut encoder = encoder();
        let made = engine.record(&mut encoder, |r| verb!(r, &d, verb, kind))?;
        submit(engine, encoder);
        download(&made)
    };
    let bind = |in_pass: bool| -> Result<Vec<u8>> {
        let mut to = destination(engine, host, verb)?;
        let binding = engine.bind(|r| match verb {
            Verb::Gradient => verb!(r, &d, verb, kind).map(|made| to = made),
            _ => write(r, &d, verb, kind, &to),
        })?;
        let mut encoder = encoder();
        match in_pass {
            true => binding.encode_in_pass(&mut encoder.begin_compute_pass(&Default::default()))?,
            false => binding.encode(&mut encoder),
        }
        submit(engine, encoder);
        assert_eq!(binding.check().wait()?, None);
        download(&to)
    };
    let count = match (verb, kind) {
        (Verb::Gather, Kind::Quantized) => {
            let mut to = engine.zeros::<f32>(&[4, WIDTH]).unwrap();
            let counter = engine.zeros::<u32>(&[1]).unwrap();
            let slice = counter.share_slice();
            let made =
                engine.gather_counted(OP, RULES, &d.quantized.to::<f32>(), &d.ids, &mut to, slice);
            made.map_err(|error| error.to_string())
        }
        (Verb::Gather, _) => {
            let mut to = engine.zeros::<f32>(&[4, WIDTH]).unwrap();
            let counter = engine
                .upload(&Tensor::new(&[1], vec![4u32]).unwrap())
                .wait()
                .unwrap();
            let slice = counter.share_slice();
            let made = engine.gather_counted(OP, RULES, &d.typed, &d.ids, &mut to, slice);
            same(made.and_then(|()| download(&to.clone().into())))
        }
        (Verb::Bag, _) => no("the host checks the offsets of bags, so it knows how many there are"),
        _ => no("a sort of an unknown number of updates would take all passes of the largest"),
    };
    vec![
        on_all(false),
        on_all(true),
        chunks,
        same(plain),
        into(),
        held,
        same(batch),
        same(record()),
        same(bind(false)),
        same(bind(true)),
        count,
    ]
}

const COLUMNS: [&str; 11] = [
    "host",
    "host, into the caller's memory",
    "host, in chunks",
    "device",
    "device, `_into`",
    "held back for more",
    "`batch`",
    "`record`",
    "`bind`",
    "`bind`, in a pass",
    "as many as a count on the device",
];

/// The table, with the reasons of its holes.
fn table(engine: &Engine) -> String {
    let host = Host::new();
    let (mut text, mut reasons) = (String::from("| |"), Vec::<String>::new());
    COLUMNS
        .iter()
        .for_each(|column| write!(text, " {column} |").unwrap());
    text.push_str("\n|---|");
    COLUMNS.iter().for_each(|_| text.push_str("---|"));
    for (name, verb, kind) in ROWS_OF_TABLE {
        write!(text, "\n| {name} |").unwrap();
        for cell in cells(engine, &host, verb, kind) {
            match cell {
                Ok(()) => text.push_str(" ✓ |"),
                Err(reason) => {
                    let known = reasons.iter().position(|r| *r == reason);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    write!(text, " {} |", number + 1).unwrap();
                }
            }
        }
    }
    text.push_str("\n\n");
    for (n, reason) in reasons.iter().enumerate() {
        writeln!(text, "{}. {reason}", n + 1).unwrap();
    }
    text
}

#[test]
fn the_table_of_levels_is_what_calls_do() {
    for engine in engines() {
        let (before, after) = ("<!-- by tests/suite/levels.rs -->\n", "<!-- end -->\n");
        let document = read(DOCUMENT);
        let (head, rest) = document.split_once(before).expect("a place for the table");
        let (there, tail) = rest.split_once(after).expect("an end of the table");
        let found = table(engine);
        if std::env::var_os("GATHER_RENEW").is_some() {
            let text = format!("{head}{before}{found}{after}{tail}");
            std::fs::write(path(DOCUMENT), text).unwrap();
        } else {
            assert_eq!(
                there,
                found,
                "on {}; GATHER_RENEW=1 writes it anew",
                engine.adapter().label()
            );
        }
    }
}
