//! The wgpu executor: the only part of the crate that names wgpu.
//!
//! [`Engine`] holds a device and its pipelines; it is made from the caller's device and queue, or
//! headless with its own. Everything is async; on native targets each call has a blocking twin.

#![cfg_attr(
    target_arch = "wasm32",
    allow(
        clippy::arc_with_non_send_sync,
        reason = "wgpu's types stay on one thread there; elsewhere they are shared between threads"
    )
)]

mod adapter;
mod any_tensor;
mod bag_batch;
mod bag_binding;
mod bag_decode;
mod bag_quantized;
mod bag_recorder;
mod bag_shader;
mod batch;
mod batch_scatter;
mod checks;
mod commands;
mod context;
mod deferred;
mod engine;
mod flag;
mod gather_pipeline;
mod indirect;
mod launch;
mod pipeline;
mod pipeline_name;
mod placed;
#[cfg(not(target_arch = "wasm32"))]
mod poller;
mod pool;
mod quantized;
mod queue;
mod recent;
mod recorder;
mod recording;
mod reports;
pub mod requirements;
mod ring;
mod scatter;
mod scatter_pipeline;
mod scope;
pub(crate) mod shader;
mod staging;
mod status;
mod storage;
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
pub use bag_batch::BagTensors;
pub use bag_binding::BagBinding;
pub use batch::Batch;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use engine::internals;
pub(crate) use engine::select::first_usable_gpu;
pub use engine::select::{ProbedAdapter, find_adapter, probe_adapters};
pub use engine::{Engine, Options, WhenFull};
pub use gather_pipeline::{Buffers, GatherBinding, GatherPipeline};
pub use quantized::{DeviceQuantizedTable, QuantizedBuffers, QuantizedPipeline};
pub use scatter_pipeline::{ScatterBinding, ScatterBuffers, ScatterPipeline};
pub use status::Status;
pub use tensor::DeviceTensor;
pub(crate) use wait::PollMode;
