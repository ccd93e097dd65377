//! Dispatches whose size a count on the device decides: `shaders/limit.wgsl` runs before each, and
//! writes its number of rows and workgroups.

use crate::error::{Error, OpKind, Result};
use crate::gpu::engine::Engine;
use crate::gpu::launch::{Dispatch, Grid, Launch, uniform};
use crate::gpu::pipeline::{ARGUMENTS, BLOCK, COUNT};
use crate::gpu::shader::{Specialisation, Stage};
use crate::plan::{GeometryBlock, LimitBlock, Limited};

/// A count on the device: a word of a buffer.
pub(super) type Count<'a> = (&'a wgpu::Buffer, u64);

/// Refuses a count that a shader cannot read.
pub(super) fn check(op: OpKind, (buffer, offset): Count<'_>) -> Result<()> {
    let size = buffer.size();
    let lies_within = offset.checked_add(4).is_some_and(|end| end <= size);
    let readable = buffer.usage().contains(wgpu::BufferUsages::STORAGE);
    match lies_within && readable && offset.is_multiple_of(4) {
        true => Ok(()),
        false => Err(Error::CountPlace { op, offset, size }),
    }
}

/// The dispatch that fits another to a count, and that other's launch.
pub(super) fn launch(
    engine: &Engine,
    specialisation: Specialisation,
    block: &GeometryBlock,
    limited: &Limited<'_>,
    (buffer, offset): Count<'_>,
) -> Result<(Dispatch, Launch)> {
    let bounds = engine.binding_limits();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT;
    let arguments = engine.create_buffer("arguments", 12, usage)?;
    let launch = Launch {
        pipeline: engine.pipelines().get(engine.device(), specialisation)?,
        uniform: uniform(engine, block, wgpu::BufferUsages::STORAGE)?,
        grid: Grid::Counted(arguments.clone()),
    };
    let from = offset / bounds.alignment * bounds.alignment;
    let limit = LimitBlock::new(limited, bounds.workgroups, ((offset - from) / 4) as u32);
    let limit = Launch::new(engine, Specialisation::limit(), &limit, [1, 1, 1])?;
    let count = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: from,
        size: wgpu::BufferSize::new(offset + 4 - from),
    });
    let bindings = [
        (COUNT, count),
        (BLOCK, launch.uniform.as_entire_binding()),
        (ARGUMENTS, arguments.as_entire_binding()),
    ];
    Ok((limit.bind(engine, &bindings)?, launch))
}

impl Specialisation {
    /// The one that fits others to a count.
    fn limit() -> Self {
        Specialisation {
            stage: Stage::Limit,
            index_words: 1,
            segments: 0,
        }
    }
}
