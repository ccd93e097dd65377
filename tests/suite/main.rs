//! The integration tests, as one binary: wgpu links once.
//!
//! Everything that runs on a GPU runs on every adapter of the machine. Without an adapter the
//! tests fail, unless `WGPU_GATHER_ALLOW_NO_GPU=1`. The names of long tests that need none end with
//! `on_the_host`: scripts that run the suite on several sets of adapters run those once.

mod any_tensors;
mod bad_calls;
mod bad_tensors;
mod bag_faults;
mod bag_quantized;
mod bag_quantized_calls;
mod bag_quantized_fixtures;
mod bags;
mod bindings;
mod buffers;
mod chunks;
mod common;
mod constructs;
mod counts;
mod devices;
mod documented;
mod documented_counts;
mod documents;
mod elements;
mod engines;
mod examples;
mod fallbacks;
mod faults;
mod fences;
mod fixtures;
mod flags;
mod fold_fixtures;
#[cfg(windows)]
mod hlsl;
mod huge;
mod into;
mod levels;
mod long_bags;
mod lost;
mod memory;
#[cfg(feature = "ndarray")]
mod ndarrays;
mod planted;
mod probes;
mod programs;
mod quantized;
mod quantized_chunks;
mod quantized_fixtures;
mod random;
mod records;
mod reports;
mod scatter_empty;
mod scatter_faults;
mod scatter_rows;
mod scatter_scale;
mod scatter_tensors;
mod scatter_types;
mod scatters;
mod segments;
mod shader_faults;
mod shaders;
mod shards;
mod statuses;
mod tensors;
mod views;
mod waiting;
mod wrapping;
mod writes;
mod zero_dims;
