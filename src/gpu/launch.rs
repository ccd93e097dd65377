//! Pipelines with their uniform blocks, and dispatches with their bind groups.

use crate::error::Result;
use crate::gpu::engine::Engine;
use crate::gpu::pipeline::{GEOMETRY, Pipeline};
use crate::gpu::shader::Specialisation;

/// A pipeline with its uniform block. It depends on where tensors start in their bindings, not on
/// their buffers.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) pipeline: Pipeline,
    /// Never rewritten, unless a count on the device decides how many rows there are.
    pub(super) uniform: wgpu::Buffer,
    pub(super) grid: Grid,
}

/// How many workgroups are dispatched.
#[derive(Debug, Clone)]
pub(super) enum Grid {
    Fixed([u32; 3]),
    /// What an earlier dispatch writes into this buffer.
    Counted(wgpu::Buffer),
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
        engine: &Engine,
        specialisation: Specialisation,
        block: &impl bytemuck::NoUninit,
        workgroups: [u32; 3],
    ) -> Result<Self> {
        let usage = wgpu::BufferUsages::empty();
        Ok(Launch {
            pipeline: engine.pipelines().get(engine.device(), specialisation)?,
            uniform: uniform(engine, block, usage)?,
            grid: Grid::Fixed(workgroups),
        })
    }

    pub(super) fn bind(
        &self,
        engine: &Engine,
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
        let group = engine.scoped("a bind group", || {
            engine.device().create_bind_group(&descriptor)
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
            Grid::Counted(arguments) => pass.dispatch_workgroups_indirect(arguments, 0),
        }
    }
}

/// A uniform buffer with a block in it, and one more usage.
pub(super) fn uniform(
    engine: &Engine,
    block: &impl bytemuck::NoUninit,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer> {
    let bytes = bytemuck::bytes_of(block);
    let usage = usage | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = engine.create_buffer("geometry", bytes.len() as u64, usage)?;
    engine.scoped("an upload", || {
        engine.queue().write_buffer(&buffer, 0, bytes);
    })?;
    Ok(buffer)
}
