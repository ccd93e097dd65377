//! The tests of the crate, on every API that `WGPU_GATHER_BURN_APIS` names (`vulkan,gl`).

mod calls;
mod chains;
mod errors;
#[cfg(feature = "autodiff")]
mod gradients;
mod kit;
mod steps;
mod threads;
mod versions;
