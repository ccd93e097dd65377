//! The device: adapters, its queue and memory, what is submitted, and who polls it.

pub(in crate::gpu) mod adapter;
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) mod arrival;
pub(in crate::gpu) mod commands;
pub(in crate::gpu) mod deferred;
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) mod poller;
pub(in crate::gpu) mod pool;
pub(in crate::gpu) mod queue;
pub mod requirements;
pub(in crate::gpu) mod scope;
pub(in crate::gpu) mod staging;
pub(in crate::gpu) mod turns;
pub(in crate::gpu) mod uniforms;
