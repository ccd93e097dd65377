//! The calls of every verb between host tensors.

use wgpu_gather::quantized::{BlockFormat, DecodedAs, FloatType, QuantizedTable};
use wgpu_gather::{
    AnyTensor, BagMode, Bags, DType, Executor, Layout, Params, Reduce, Result, Tensor,
};

use super::rows::{Kind, OFFSETS, OP, ROWS, RULES, SHAPE, Verb, WIDTH};

/// The tensors of the calls, on the host.
pub(super) struct Host {
    pub(super) table: Tensor<f32>,
    pub(super) codes: Vec<u8>,
    pub(super) ids: Tensor<u32>,
    /// In the shape of the gather's output.
    pub(super) updates: Tensor<f32>,
}

impl Host {
    pub(super) fn new() -> Host {
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

    pub(super) fn quantized(&self) -> QuantizedTable<'_> {
        let format = BlockFormat::Q8_0;
        QuantizedTable::blocks(format, &[ROWS, WIDTH], &self.codes).unwrap()
    }
}

pub(super) fn params(tensor: &Tensor<f32>) -> Params<'_> {
    let bytes = bytemuck::cast_slice(tensor.data());
    Params::new(bytes, DType::F32, Layout::contiguous(tensor.shape())).unwrap()
}

pub(super) fn bags() -> Bags<'static> {
    Bags::offsets(BagMode::Sum, OFFSETS)
}

/// The bits of an output.
pub(super) fn bits(any: &AnyTensor) -> Vec<u8> {
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
pub(super) fn on_the_host(
    host: &Host,
    ex: &Executor,
    verb: Verb,
    kind: Kind,
    into: bool,
) -> Result<Vec<u8>> {
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
