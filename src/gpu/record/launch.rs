//! Pipelines with their uniform blocks, and dispatches with their bind groups.
//!
//! Knows no plan, and not what a block says.

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Dispatch, Grid};
use crate::gpu::pipeline::shader::PipelineKey;
use crate::gpu::pipeline::watch::Watched;
use crate::gpu::pipeline::{GEOMETRY, Pipeline};

/// A pipeline with its uniform block. It depends on where tensors start in their bindings, not on
/// their buffers.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Launch {
    pub(in crate::gpu) pipeline: Pipeline,
    key: PipelineKey,
    /// Never rewritten, unless a count on the device decides how many rows there are.
    uniform: wgpu::Buffer,
    grid: Grid,
}

impl Launch {
    pub(in crate::gpu) fn new(
        context: &Context,
        key: PipelineKey,
        uniform: wgpu::Buffer,
        grid: Grid,
    ) -> Result<Self> {
        Ok(Launch {
            pipeline: context.pipelines.get(&context.device, key)?,
            key,
            uniform,
            grid,
        })
    }

    pub(in crate::gpu) fn bind(
        &self,
        context: &Context,
        bindings: &[(u32, wgpu::BindingResource<'_>)],
    ) -> Result<Dispatch> {
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let mut entries = vec![entry(GEOMETRY, self.uniform.as_entire_binding())];
        let bound = bindings.iter().map(|(n, bound)| entry(*n, bound.clone()));
        entries.extend(bound);
        let descriptor = wgpu::BindGroupDescriptor {
            label: Some("wgpu-gather"),
            layout: &self.pipeline.bindings,
            entries: &entries,
        };
        let group = context.scoped("a bind group", || {
            context.device.create_bind_group(&descriptor)
        })?;
        let watch = context.watch.as_ref();
        Ok(Dispatch {
            pipeline: self.pipeline.compute.clone(),
            group,
            watch_group: watch.and_then(|watch| watch.dispatch(&Watched::new(self.key, &entries))),
            grid: self.grid.clone(),
            output_bytes: 0,
        })
    }
}

/// A uniform buffer that holds `block`, which is never rewritten.
pub(in crate::gpu) fn uniform(
    context: &Context,
    block: &impl bytemuck::NoUninit,
) -> Result<wgpu::Buffer> {
    let bytes = bytemuck::bytes_of(block);
    context
        .uniforms
        .get(bytes, || fresh(context, bytes, wgpu::BufferUsages::empty()))
}

/// A uniform buffer that holds `block` until a shader rewrites it.
pub(in crate::gpu) fn rewritten(
    context: &Context,
    block: &impl bytemuck::NoUninit,
) -> Result<wgpu::Buffer> {
    fresh(
        context,
        bytemuck::bytes_of(block),
        wgpu::BufferUsages::STORAGE,
    )
}

fn fresh(context: &Context, bytes: &[u8], usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
    let usage = usage | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = context.create_buffer("geometry", bytes.len() as u64, usage)?;
    context.scoped("an upload", || {
        context.queue.write_new_buffer(&buffer, bytes);
    })?;
    Ok(buffer)
}
