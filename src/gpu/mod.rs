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
mod batch;
mod chunks;
mod counted;
mod engine;
mod execute;
mod late;
mod launch;
pub mod needs;
mod pipeline;
mod pool;
mod prepared;
mod probe;
mod recorder;
mod scope;
mod select;
pub(crate) mod shader;
mod sink;
mod staging;
mod status;
mod storage;
mod stream;
mod tensor;
mod transfer;
mod wait;

pub use adapter::{AdapterSummary, adapters};
pub use batch::Batch;
pub use engine::{Engine, Options, WhenFull, binding_limits};
pub use prepared::{BoundGather, Buffers, Prepared};
pub(crate) use select::first_usable_gpu;
pub use select::{ProbedAdapter, find_adapter, probe_adapters};
#[doc(hidden)]
pub use shader::Specialisation;
pub use status::Status;
pub use tensor::DeviceTensor;
pub(crate) use wait::Drive;
