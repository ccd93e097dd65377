//! The verbs on tensors that stay on a device.
//!
//! Start with an [`Engine`]: on a device and queue of yours ([`Engine::new`]; [`requirements`] says what to
//! request) or on a device of its own ([`Engine::headless`]). [`Engine::upload`] makes a [`DeviceTensor`] of host
//! data, [`DeviceTensor::wrap`] of a buffer of yours. Calls that wait for the device return a
//! [`Waiting`](crate::Waiting), to be awaited or blocked on. The [guide](crate::guide) compares the levels.

#![cfg_attr(
    target_arch = "wasm32",
    allow(
        clippy::arc_with_non_send_sync,
        reason = "wgpu's types stay on one thread there; elsewhere they are shared between threads"
    )
)]

mod batch;
mod binding;
mod context;
mod device;
mod engine;
mod gather_pipeline;
pub(crate) mod pipeline;
mod record;
mod tensor;
mod transfer;

pub use batch::Batch;
pub use binding::Binding;
pub use device::adapter::{AdapterSummary, adapters};
pub use device::requirements;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use engine::internals;
pub(crate) use engine::select::first_usable_gpu;
pub use engine::select::{ProbedAdapter, find_adapter, probe_adapters};
pub use engine::{Engine, Fallbacks, Options, Upload, WhenFull};
pub use gather_pipeline::{Buffers, GatherBinding, GatherPipeline};
pub use tensor::any::AnyDeviceTensor;
pub use tensor::quantized::DeviceQuantizedTable;
pub use tensor::status::Status;
pub use tensor::table::{DeviceOperand, IndexTensor, Table, Values};
pub use tensor::typed::DeviceTensor;
