//! Dispatches with their uniform blocks and bind groups.
//!
//! Knows no plan, and not what a block says.

use smallvec::{SmallVec, smallvec};

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Dispatch, Grid};
use crate::gpu::pipeline::shader::{PipelineKey, segment_binding};
use crate::gpu::pipeline::watch::Watched;
use crate::gpu::pipeline::{GEOMETRY, PARAMS};
use crate::gpu::tensor::storage::Placement;
use crate::plan::Segment;

/// A dispatch of `workgroups` workgroups, whose uniform block is never rewritten.
pub(in crate::gpu) fn dispatch(
    context: &Context,
    key: PipelineKey,
    block: &impl bytemuck::NoUninit,
    workgroups: [u32; 3],
    bindings: &[(u32, wgpu::BindingResource<'_>)],
) -> Result<Dispatch> {
    let block = uniform(context, block)?;
    bind(context, key, &block, Grid::Fixed(workgroups), bindings)
}

/// A dispatch with its bind group.
pub(in crate::gpu) fn bind(
    context: &Context,
    key: PipelineKey,
    block: &wgpu::Buffer,
    grid: Grid,
    bindings: &[(u32, wgpu::BindingResource<'_>)],
) -> Result<Dispatch> {
    let pipeline = context.pipelines.get(&context.device, key)?;
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    let mut entries: Bindings<_> = smallvec![entry(GEOMETRY, block.as_entire_binding())];
    entries.extend(bindings.iter().map(|(n, bound)| entry(*n, bound.clone())));
    let descriptor = wgpu::BindGroupDescriptor {
        label: Some("wgpu-gather"),
        layout: &pipeline.bindings,
        entries: &entries,
    };
    let group = context.scoped("a bind group", || {
        context.device.create_bind_group(&descriptor)
    })?;
    let watch = context.watch.as_ref();
    Ok(Dispatch {
        pipeline: pipeline.compute,
        group,
        watch_group: watch.and_then(|watch| watch.dispatch(&Watched::new(key, &entries))),
        grid,
        output_bytes: 0,
    })
}

/// An item for each binding of a dispatch, in no memory of its own for most kernels.
pub(in crate::gpu) type Bindings<T> = SmallVec<[T; 6]>;

/// What is bound for a segment of a tensor; a placeholder for none.
pub(in crate::gpu) fn bound<'a>(
    context: &'a Context,
    placement: &Placement<'a>,
    segment: Option<&Segment>,
) -> wgpu::BindingResource<'a> {
    match segment {
        Some(segment) => placement.binding(segment),
        None => context.nothing.as_entire_binding(),
    }
}

/// The bindings of params for a pipeline of `key`, which may bind more segments than there are.
pub(in crate::gpu) fn params<'a>(
    context: &'a Context,
    key: PipelineKey,
    placement: &Placement<'a>,
    segments: &[Segment],
) -> impl Iterator<Item = (u32, wgpu::BindingResource<'a>)> {
    (0..key.segments.max(1)).map(move |n| {
        let binding = if n == 0 { PARAMS } else { segment_binding(n) };
        (binding, bound(context, placement, segments.get(n as usize)))
    })
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
