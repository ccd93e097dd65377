//! What programs have: tensors, quantized tables, engines; and how a call is made on them.

use std::sync::{Arc, Mutex};

use wgpu_gather::gpu::{AnyDeviceTensor, Batch, DeviceQuantizedTable, Engine};

use super::view::View;

/// A tensor of the program.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) tensor: AnyDeviceTensor,
    pub(super) view: View,
    pub(super) engine: usize,
    /// Whether a batch makes it that is not submitted yet.
    pub(super) is_new: bool,
    /// Whether it lies in a buffer that the program has.
    pub(super) is_wrapped: bool,
}

/// A quantized table, and what it decodes to.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) table: DeviceQuantizedTable,
    pub(super) decoded: View,
    pub(super) engine: usize,
}

/// An engine, and the errors of the program that its device's handler has heard.
#[derive(Debug, Clone)]
pub(super) struct Station {
    pub(super) engine: Engine,
    pub(super) heard: Heard,
}

pub(super) type Heard = Arc<Mutex<Vec<String>>>;

/// How a call is made: by an engine, or within a batch.
pub(super) enum Way<'a, 'b> {
    Engine(Engine, usize),
    Batch(&'a mut Batch<'b>, usize),
}

/// `engine.call(…)` or `batch.call(…)`.
macro_rules! by {
    ($way:expr, $call:ident($($given:expr),* $(,)?)) => {
        match $way {
            $crate::programs::slots::Way::Engine(engine, _) => engine.$call($($given),*),
            $crate::programs::slots::Way::Batch(batch, _) => batch.$call($($given),*),
        }
    };
}
pub(super) use by;

impl Way<'_, '_> {
    /// The engine of the call.
    pub(super) fn engine(&self) -> usize {
        match *self {
            Way::Engine(_, engine) | Way::Batch(_, engine) => engine,
        }
    }

    pub(super) fn is_batch(&self) -> bool {
        matches!(self, Way::Batch(..))
    }
}

impl Slot {
    /// Whether an engine made it. wgpu panics at a buffer of another instance, which it cannot tell.
    pub(super) fn is_the_engines(&self) -> bool {
        !self.is_wrapped
    }

    /// Whether another engine made it.
    pub(super) fn is_stray(&self, engine: usize) -> bool {
        self.engine != engine && !self.is_wrapped
    }
}
