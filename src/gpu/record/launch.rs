//! Pipelines with their uniform blocks, and dispatches with their bind groups.
//!
//! Knows no plan, and not what a block says.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::pipeline::{GEOMETRY, Pipeline};
use crate::gpu::record::commands::{Dispatch, Grid};
use crate::gpu::shader::PipelineKey;
use crate::gpu::watch::Watched;

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

/// How many uniform blocks a device keeps.
const KEPT: usize = 512;

/// Uniform buffers by what they hold. Calls of the same shapes read the same blocks, which are made once and
/// never rewritten.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Uniforms(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    buffers: HashMap<Box<[u8]>, Uniform>,
    uses: u64,
}

#[derive(Debug)]
struct Uniform {
    buffer: wgpu::Buffer,
    last_use: u64,
}

impl Uniforms {
    /// The buffer that holds these bytes.
    fn get(&self, context: &Context, bytes: &[u8]) -> Result<wgpu::Buffer> {
        if let Some(buffer) = self.lock().found(bytes) {
            return Ok(buffer);
        }
        // Made outside the lock: two threads may do so at once.
        let buffer = fresh(context, bytes, wgpu::BufferUsages::empty())?;
        self.lock().keep(bytes, &buffer);
        Ok(buffer)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn found(&mut self, bytes: &[u8]) -> Option<wgpu::Buffer> {
        self.uses += 1;
        let found = self.buffers.get_mut(bytes)?;
        found.last_use = self.uses;
        Some(found.buffer.clone())
    }

    /// Keeps a buffer, in the place of the one that was not used for longest.
    fn keep(&mut self, bytes: &[u8], buffer: &wgpu::Buffer) {
        if self.buffers.len() >= KEPT {
            let oldest = self.buffers.values().map(|u| u.last_use).min();
            self.buffers.retain(|_, u| Some(u.last_use) != oldest);
        }
        let uniform = Uniform {
            buffer: buffer.clone(),
            last_use: self.uses,
        };
        self.buffers.insert(bytes.into(), uniform);
    }
}

/// A uniform buffer that holds `block`, which is never rewritten.
pub(in crate::gpu) fn uniform(
    context: &Context,
    block: &impl bytemuck::NoUninit,
) -> Result<wgpu::Buffer> {
    context.uniforms.get(context, bytemuck::bytes_of(block))
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
