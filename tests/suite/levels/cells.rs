//! What a verb does at each level, compared with the definition.

use wgpu_gather::gpu::{AnyDeviceTensor, Engine, internals};
use wgpu_gather::quantized::FloatType;
use wgpu_gather::{Executor, Reduce, Result, Tensor, wgpu};

use super::device::{Device, destination, verb, write};
use super::host::{Host, bags, bits, on_the_host};
use super::rows::{Kind, OP, RULES, SHAPE, Verb, WIDTH};

/// What a cell says: yes, an error of the library, or a reason that no call can give.
pub(super) type Cell = std::result::Result<(), String>;

fn no(reason: &str) -> Cell {
    Err(reason.to_owned())
}

/// The levels, and what they are asked for.
pub(super) const COLUMNS: [&str; 11] = [
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

/// The cells of one row, in the order of `COLUMNS`.
pub(super) fn cells(engine: &Engine, host: &Host, verb: Verb, kind: Kind) -> Vec<Cell> {
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

fn submit(engine: &Engine, encoder: wgpu::CommandEncoder) {
    engine.queue().submit([encoder.finish()]);
}
