//! The passes of a pooled lookup: their dispatches, with offsets, weights, and what is left of bags that are
//! folded in parts.

use crate::error::{Error, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::Command;
use crate::gpu::pipeline::shader::PipelineKey;
use crate::gpu::pipeline::{BAGS, INDICES, OUTPUT, POOLING};
use crate::gpu::record::bag::placed::{OP, Placed, Rows};
use crate::gpu::record::checks;
use crate::gpu::record::launch::{bound, dispatch, params, uniform};
use crate::gpu::record::operation::Made;
use crate::gpu::tensor::storage::Placement;
use crate::plan::{
    BagKernel, BagParts, BagPass, BagPlaces, BagPlan, FOLD_BYTES, Segment, bag_block, bag_passes,
};

impl Placed<'_> {
    /// The commands of all passes, and those that count bad indices.
    pub(super) fn commands(&self, context: &Context, plan: &BagPlan) -> Result<Made> {
        self.check(plan)?;
        let weights = self.weights.as_ref();
        let parts = BagParts {
            params: &self.rows.params().parts,
            decoded: self.rows.room(),
            indices: &self.indices.parts,
            weights: weights.map_or(&[], |w| &w.parts),
            output: &self.output.parts,
        };
        let passes = bag_passes(plan, parts, &context.binding_limits, context.loop_steps)?;
        let folds = Folds::new(context, plan, &passes)?;
        let mut commands = Vec::new();
        for (n, pass) in passes.iter().enumerate() {
            if let (Rows::Decoded(rows), [_, ..]) = (&self.rows, &pass.params[..]) {
                commands.extend(rows.decode(context, &pass.rows(plan)?, &self.indices)?);
            }
            pool(
                context,
                plan,
                self,
                (n, pass),
                folds.as_ref(),
                &mut commands,
            )?;
        }
        if let Some(status) = self.status {
            let checks = checks::dispatches(context, &plan.lookups, &self.indices, status)?;
            commands.extend(checks.into_iter().map(Command::Dispatch));
        }
        let copies = commands.iter().any(|c| !matches!(c, Command::Dispatch(_)));
        Ok(Made {
            commands,
            scratch: self.rows.scratch(),
            copies: copies.then_some(Role::Weights),
        })
    }
}

/// Partial folds of bags that take several passes. Two buffers alternate: one is read while the other is
/// written. Layout: weights of the resumed part, then partial folds.
struct Folds {
    buffers: [wgpu::Buffer; 2],
    /// The bytes before the folds.
    at: u64,
}

impl Folds {
    /// Those of these passes; none, if each has whole bags.
    fn new(context: &Context, plan: &BagPlan, passes: &[BagPass]) -> Result<Option<Folds>> {
        let weights = passes
            .iter()
            .filter(|pass| pass.is_part())
            .map(|pass| pass.weights.map_or(0, |w| w.size.next_multiple_of(16)));
        let Some(at) = weights.max() else {
            return Ok(None);
        };
        let bytes = at + (plan.row_bytes() / plan.dtype.bytes()) as u64 * FOLD_BYTES;
        let limit = context.binding_limits.params_bytes;
        if bytes > limit {
            return Err(Error::TensorTooLarge {
                op: OP,
                role: Role::Output,
                bytes,
                limit,
            });
        }
        let buffers = [scratch(context, bytes)?, scratch(context, bytes)?];
        Ok(Some(Folds { buffers, at }))
    }
}

/// The commands of pass number `n`: the copy of its weights, if they have to lie beside something
/// else, and its dispatch.
fn pool(
    context: &Context,
    plan: &BagPlan,
    placed: &Placed<'_>,
    (n, pass): (usize, &BagPass),
    folds: Option<&Folds>,
    commands: &mut Vec<Command>,
) -> Result<()> {
    let limits = &context.binding_limits;
    let kernel = BagKernel::new(plan, pass, limits.workgroups)?;
    let weights = pass.weights.map_or(0, |w| w.size.next_multiple_of(16));
    let (read, written) = (
        folds.filter(|_| pass.resumes).map(|f| &f.buffers[n % 2]),
        folds
            .filter(|_| pass.is_partial)
            .map(|f| &f.buffers[(n + 1) % 2]),
    );
    let data = match read {
        Some(buffer) => Some(buffer.clone()),
        None => offsets(context, plan, pass, weights)?,
    };
    if let (Some(to), Some(segment), Some(from)) = (&data, pass.weights, &placed.weights) {
        commands.push(copy(from, &segment, to)?);
    }
    let fold_word = folds.map_or(0, |f| (f.at / 4) as u32);
    let places = BagPlaces {
        offsets: (weights / 4) as u32,
        folds: fold_word,
    };
    let key = PipelineKey::of_bags(&kernel, limits);
    let block = uniform(context, &bag_block(plan, pass, &kernel, places))?;
    let output = match written {
        Some(folds) => folds.as_entire_binding(),
        None => placed.output.binding(&pass.output),
    };
    let bags = match (&data, &pass.weights, &placed.weights) {
        (Some(data), ..) => data.as_entire_binding(),
        (None, Some(segment), Some(weights)) => weights.binding(segment),
        (None, ..) => context.nothing.as_entire_binding(),
    };
    let indices = bound(context, &placed.indices, pass.indices.as_ref());
    let mut bindings = vec![
        (INDICES, indices),
        (OUTPUT, output),
        (POOLING, block.as_entire_binding()),
        (BAGS, bags),
    ];
    bindings.extend(params(context, key, placed.rows.params(), &pass.params));
    let (geometry, grid) = (&kernel.geometry, kernel.workgroups);
    let pooled = dispatch(context, key, geometry, grid, &bindings)?;
    commands.push(Command::Dispatch(pooled.making(pass.bytes)));
    Ok(())
}

/// A buffer with room for so many bytes of weights and the offsets of a pass behind them; none, if it
/// needs no offsets.
fn offsets(
    context: &Context,
    plan: &BagPlan,
    pass: &BagPass,
    weights: u64,
) -> Result<Option<wgpu::Buffer>> {
    let offsets = pass.offsets(plan);
    if offsets.is_empty() {
        return Ok(None);
    }
    let mut words = vec![0; (weights / 4) as usize];
    words.extend(offsets);
    let buffer = scratch(context, words.len() as u64 * 4)?;
    context.scoped("an upload", || {
        let bytes = bytemuck::cast_slice(&words);
        context.queue.write_new_buffer(&buffer, bytes);
    })?;
    Ok(Some(buffer))
}

fn scratch(context: &Context, bytes: u64) -> Result<wgpu::Buffer> {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    context.create_buffer("bags", bytes, usage)
}

/// Copies weights to the start of a buffer.
fn copy(from: &Placement<'_>, segment: &Segment, to: &wgpu::Buffer) -> Result<Command> {
    let from = from.buffer(segment.part);
    match from.usage().contains(wgpu::BufferUsages::COPY_SRC) {
        true => Ok(Command::Copy {
            from: from.clone(),
            offset: segment.offset,
            to: to.clone(),
            to_offset: 0,
            bytes: segment.size,
        }),
        false => Err(Error::MissingUsage {
            op: Some(OP),
            role: Role::Weights,
            usage: "COPY_SRC",
        }),
    }
}
