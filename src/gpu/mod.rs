//! The wgpu executor: the only part of the crate that names wgpu.
//!
//! [`Engine`] holds a device and its pipelines; it is made from the caller's device and queue, or
//! headless with its own. Everything is async; on native targets each call has a blocking twin.

mod adapter;
mod engine;
mod execute;
mod pipeline;
mod prepared;
mod range;
mod scope;
mod shader;
mod status;
mod transfer;
mod wait;

pub use adapter::{AdapterSummary, adapters};
pub use engine::Engine;
pub use prepared::{Buffers, Prepared};
pub use shader::{Specialisation, Stage};
pub use status::Status;
