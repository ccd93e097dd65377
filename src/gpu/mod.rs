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

mod adapter;
mod any_tensor;
mod bag_shader;
mod batch;
mod binding;
mod context;
mod deferred;
mod engine;
mod gather_pipeline;
mod pipeline;
mod pipeline_name;
#[cfg(not(target_arch = "wasm32"))]
mod poller;
mod pool;
mod quantized_table;
mod queue;
mod record;
mod reports;
pub mod requirements;
mod ring;
mod scope;
pub(crate) mod shader;
mod staging;
mod status;
mod storage;
mod table;
mod tensor;
mod transfer;
mod turns;
mod wait;
#[cfg_attr(
    not(feature = "internals"),
    expect(
        dead_code,
        unreachable_pub,
        reason = "tests reach it through `internals`"
    )
)]
mod watch;
mod writer;

pub use adapter::{AdapterSummary, adapters};
pub use any_tensor::AnyDeviceTensor;
pub use batch::Batch;
pub use binding::Binding;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use engine::internals;
pub(crate) use engine::select::first_usable_gpu;
pub use engine::select::{ProbedAdapter, find_adapter, probe_adapters};
pub use engine::{Engine, Fallbacks, Options, Upload, WhenFull};
pub use gather_pipeline::{Buffers, GatherBinding, GatherPipeline};
pub use quantized_table::DeviceQuantizedTable;
pub use status::Status;
pub use table::{DeviceOperand, IndexTensor, Table, Values};
pub use tensor::DeviceTensor;
pub(crate) use writer::{Chunks, Stopped, Whole};
