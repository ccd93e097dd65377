//! The wgpu executor: the only part of the crate that names wgpu.
//!
//! [`Engine`] holds a device and its pipelines; it is made from the caller's device and queue, or
//! headless with its own. What waits for the device is a [`Waiting`](crate::Waiting): awaited, or blocked on.

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
