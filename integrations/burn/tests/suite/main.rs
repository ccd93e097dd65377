//! The tests of the crate, on every API that `WGPU_GATHER_BURN_APIS` names (`vulkan,gl`).

mod bag_calls;
mod bags;
mod calls;
mod chains;
mod errors;
#[cfg(feature = "autodiff")]
mod fold_gradients;
mod fold_steps;
#[cfg(feature = "autodiff")]
mod gradients;
#[cfg(feature = "autodiff")]
mod gradients_in_memory;
mod kit;
mod pairs;
mod scatter_calls;
mod scatters;
mod steps;
mod tensors;
mod threads;
mod versions;
