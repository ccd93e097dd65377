//! Dispatches whose size a count on the device decides: `shaders/indirect_args.wgsl` runs before each, and
//! writes its number of rows and workgroups.
//!
//! Used by `recorder`; knows no plan.

use crate::error::{Error, OpKind, Result};
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Dispatch, Grid};
use crate::gpu::pipeline::shader::{PipelineKey, Stage};
use crate::gpu::pipeline::{ARGUMENTS, BLOCK, COUNT};
use crate::gpu::record::launch::{dispatch, rewritten};
use crate::plan::{GeometryBlock, IndirectArgsBlock, IndirectDispatch};

/// Refuses a count that a shader cannot read.
pub(in crate::gpu) fn check(op: OpKind, count: wgpu::BufferSlice<'_>) -> Result<()> {
    let offset = count.offset();
    let size = offset + count.size();
    let readable = count.buffer().usage().contains(wgpu::BufferUsages::STORAGE);
    match count.size() >= 4 && readable && offset.is_multiple_of(4) {
        true => Ok(()),
        false => Err(Error::CountPlace { op, offset, size }),
    }
}

/// The dispatch that fits another to a count, and that other's uniform block and grid.
pub(in crate::gpu) fn limit(
    context: &Context,
    block: &GeometryBlock,
    indirect: &IndirectDispatch<'_>,
    count: wgpu::BufferSlice<'_>,
) -> Result<(Dispatch, wgpu::Buffer, Grid)> {
    let (limits, offset) = (&context.binding_limits, count.offset());
    let arguments = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT;
    let arguments = context.create_buffer("arguments", 12, arguments)?;
    let block = rewritten(context, block)?;
    let from = offset / limits.alignment * limits.alignment;
    let limit = IndirectArgsBlock::new(indirect, limits.workgroups, ((offset - from) / 4) as u32);
    let count = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer: count.buffer(),
        offset: from,
        size: wgpu::BufferSize::new(offset + 4 - from),
    });
    let bindings = [
        (COUNT, count),
        (BLOCK, block.as_entire_binding()),
        (ARGUMENTS, arguments.as_entire_binding()),
    ];
    let key = PipelineKey::new(Stage::IndirectArgs);
    let limit = dispatch(context, key, &limit, [1, 1, 1], &bindings)?;
    Ok((limit, block, Grid::Indirect(arguments)))
}
