//! What to request a device with: what the engine needs, and what it can use.
//!
//! ```no_run
//! # async fn run(adapter: wgpu_gather::wgpu::Adapter) -> Result<(), Box<dyn std::error::Error>> {
//! use wgpu_gather::gpu::{Engine, requirements};
//! use wgpu_gather::wgpu;
//!
//! let (device, queue) = adapter
//!     .request_device(&wgpu::DeviceDescriptor {
//!         required_features: requirements::usable_features(&adapter), // and your own
//!         required_limits: requirements::usable_limits(&adapter),
//!         ..Default::default()
//!     })
//!     .await?;
//! let engine = Engine::new(device, queue).await?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Error, Result};

/// The features that the engine cannot do without: none.
pub const REQUIRED_FEATURES: wgpu::Features = wgpu::Features::empty();

/// The limits that the engine cannot do without: those of `wgpu::Limits::downlevel_defaults()`.
///
/// (It gets by with less in most of them; [`Engine::new`](crate::gpu::Engine::new) checks only what
/// it really needs.)
pub fn required_limits() -> wgpu::Limits {
    wgpu::Limits::downlevel_defaults()
}

/// The features of `adapter` that the engine or its measurements can make use of.
pub fn usable_features(adapter: &wgpu::Adapter) -> wgpu::Features {
    adapter.features() & (wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::PIPELINE_CACHE)
}

/// WebGPU's default limits, as far as `adapter` has them, with those raised to the adapter's that
/// bound the size of tensors.
pub fn usable_limits(adapter: &wgpu::Adapter) -> wgpu::Limits {
    let all = adapter.limits();
    wgpu::Limits {
        max_buffer_size: all.max_buffer_size,
        max_storage_buffer_binding_size: all.max_storage_buffer_binding_size,
        max_storage_buffers_per_shader_stage: all.max_storage_buffers_per_shader_stage,
        min_storage_buffer_offset_alignment: all.min_storage_buffer_offset_alignment,
        max_compute_workgroups_per_dimension: all.max_compute_workgroups_per_dimension,
        ..wgpu::Limits::default().or_worse_values_from(&all)
    }
}

/// Refuses a device that cannot run the shaders.
pub(in crate::gpu) fn check(limits: &wgpu::Limits) -> Result<()> {
    let block = size_of::<crate::plan::GeometryBlock>() as u64;
    let least = [
        (
            "max_uniform_buffer_binding_size",
            limits.max_uniform_buffer_binding_size,
            block,
        ),
        (
            "max_storage_buffers_per_shader_stage",
            limits.max_storage_buffers_per_shader_stage.into(),
            3,
        ),
        (
            "max_compute_invocations_per_workgroup",
            limits.max_compute_invocations_per_workgroup.into(),
            256,
        ),
        (
            "max_compute_workgroup_size_x",
            limits.max_compute_workgroup_size_x.into(),
            256,
        ),
    ];
    match least.into_iter().find(|&(_, got, needed)| got < needed) {
        None => Ok(()),
        Some((limit, got, needed)) => Err(Error::MissingLimit {
            limit: limit.to_owned(),
            needed,
            got,
        }),
    }
}
