//! Pipelines with their uniform blocks, and dispatches with their bind groups.
//!
//! Made by `recorder` and `indirect`. Knows no plan, and not what a block says.

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::pipeline::{GEOMETRY, Pipeline};
use crate::gpu::shader::PipelineKey;

/// A pipeline with its uniform block. It depends on where tensors start in their bindings, not on
/// their buffers.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) pipeline: Pipeline,
    /// Never rewritten, unless a count on the device decides how many rows there are.
    uniform: wgpu::Buffer,
    grid: Grid,
}

/// How many workgroups are dispatched.
#[derive(Debug, Clone)]
pub(super) enum Grid {
    Fixed([u32; 3]),
    /// What an earlier dispatch writes into this buffer.
    Indirect(wgpu::Buffer),
}

/// One dispatch, ready to be recorded.
#[derive(Debug, Clone)]
pub(super) struct Dispatch {
    launch: Launch,
    group: wgpu::BindGroup,
    output_bytes: u64,
}

impl Launch {
    pub(super) fn new(
        context: &Context,
        key: PipelineKey,
        uniform: wgpu::Buffer,
        grid: Grid,
    ) -> Result<Self> {
        Ok(Launch {
            pipeline: context.pipelines.get(&context.device, key)?,
            uniform,
            grid,
        })
    }

    pub(super) fn bind(
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
        Ok(Dispatch {
            launch: self.clone(),
            group,
            output_bytes: 0,
        })
    }
}

impl Dispatch {
    /// Says how many bytes of output it makes.
    pub(super) fn making(self, output_bytes: u64) -> Self {
        Dispatch {
            output_bytes,
            ..self
        }
    }

    /// How many bytes of output it makes.
    pub(super) fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.launch.pipeline.compute);
        pass.set_bind_group(0, &self.group, &[]);
        match &self.launch.grid {
            Grid::Fixed([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
            Grid::Indirect(arguments) => pass.dispatch_workgroups_indirect(arguments, 0),
        }
    }
}

/// A uniform buffer with a block in it, and one more usage.
pub(super) fn uniform(
    context: &Context,
    block: &impl bytemuck::NoUninit,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer> {
    let bytes = bytemuck::bytes_of(block);
    let usage = usage | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = context.create_buffer("geometry", bytes.len() as u64, usage)?;
    context.scoped("an upload", || {
        context.queue.write_buffer(&buffer, 0, bytes);
    })?;
    Ok(buffer)
}
