//! The calls of every verb between tensors on a device.

use wgpu_gather::gpu::{AnyDeviceTensor, Batch, DeviceQuantizedTable, DeviceTensor, Engine};
use wgpu_gather::quantized::FloatType;
use wgpu_gather::{Reduce, Result};

use super::host::{Host, bags, params};
use super::rows::{Kind, OFFSETS, OP, ROWS, RULES, Verb, WIDTH};

/// The tensors on a device.
pub(super) struct Device {
    pub(super) typed: DeviceTensor<f32>,
    pub(super) any: AnyDeviceTensor,
    pub(super) quantized: DeviceQuantizedTable,
    pub(super) ids: DeviceTensor<u32>,
    pub(super) updates: DeviceTensor<f32>,
}

impl Device {
    pub(super) fn new(engine: &Engine, host: &Host) -> Result<Device> {
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
pub(super) fn write(
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
pub(super) fn destination(engine: &Engine, host: &Host, verb: Verb) -> Result<AnyDeviceTensor> {
    Ok(match verb {
        Verb::Gather => engine.zeros::<f32>(&[4, WIDTH])?.into(),
        Verb::Bag => engine.zeros::<f32>(&[OFFSETS.len(), WIDTH])?.into(),
        Verb::Scatter => engine.upload(&params(&host.table)).wait()?,
        Verb::Gradient => engine.zeros::<f32>(&[ROWS, WIDTH])?.into(),
    })
}

pub(super) use verb;
