//! The folds of a scatter whose pairs are sorted: passes over pairs, and over the pieces of keys that are cut.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::device::commands::Dispatch;
use crate::gpu::device::pool::Owned;
use crate::gpu::pipeline::shader::{PipelineKey, Stage};
use crate::gpu::pipeline::{CARRY, INDICES, OUTPUT, PARAMS};
use crate::gpu::record::launch::dispatch;
use crate::gpu::record::sort::{self, Sort};
use crate::gpu::record::windows::Windows;
use crate::gpu::tensor::storage::Placement;
use crate::scatter::{FoldBlock, FoldKernel, ScatterPlan};

/// The most invocations of a fold, which are numbered below 2^31.
const MOST_INVOCATIONS: u64 = i32::MAX as u64 / 2;

/// Bytes of a sum that a free step leaves for a later pass, as in `shaders/fold_carry.wgsl`.
const SUM_BYTES: u64 = 16;

/// Partial sums that folds leave for later passes.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) carry: Arc<Owned>,
    /// The pairs of a piece, if keys are cut.
    piece: Option<u32>,
}

/// The folds of one recording.
pub(super) struct Folds<'a> {
    context: &'a Context,
    plan: &'a ScatterPlan,
    destination: &'a Placement<'a>,
    updates: &'a Placement<'a>,
    windows: Windows,
    pub(super) kernel: FoldKernel,
    pub(super) block: FoldBlock,
}

impl<'a> Folds<'a> {
    /// # Errors
    ///
    /// Tensors that exceed the bindings or the counters of the device.
    pub(super) fn new(
        context: &'a Context,
        plan: &'a ScatterPlan,
        kernel: FoldKernel,
        destination: &'a Placement<'a>,
        updates: &'a Placement<'a>,
    ) -> Result<Self> {
        Ok(Folds {
            context,
            plan,
            destination,
            updates,
            windows: Windows::new(context, plan, kernel, destination, updates)?,
            kernel,
            block: FoldBlock::new(plan, kernel)?,
        })
    }

    /// Allocates the partial sums for `count` lookups at once: one for each piece, if a binding holds them; two for
    /// each free step, if a sum is wider than an element.
    pub(super) fn sums(&self, count: usize) -> Result<Sums> {
        let free = u64::from(self.block.free_count());
        let limit = self.context.binding_limits.output_bytes;
        let pieces = |piece: u32| count.div_ceil(piece as usize) as u64;
        let bytes = |sums: u64| sums.saturating_mul(free * SUM_BYTES);
        let piece = self
            .block
            .piece(self.plan, self.kernel, count, self.context.loop_steps);
        let piece = piece.filter(|&piece| {
            self.windows.bind_all_updates()
                && piece as usize <= self.most(true)
                && bytes(pieces(piece)) <= limit
        });
        let bytes = match piece {
            Some(piece) => bytes(pieces(piece)),
            None if self.kernel.resumes() => SUM_BYTES,
            None => bytes(2),
        };
        if bytes > limit {
            let elements = self.kernel.elements();
            return Err(Error::TooMany {
                op: self.plan.op,
                what: "the elements of a slice of 16-bit floats",
                got: free * elements,
                limit: limit / (2 * SUM_BYTES) * elements,
            });
        }
        Ok(Sums {
            carry: self.context.acquire("carry", bytes)?,
            piece,
        })
    }

    /// The folds of a chunk whose pairs are sorted.
    pub(super) fn dispatches(
        &self,
        count: usize,
        sort: &Sort,
        sorted: wgpu::BindingResource<'_>,
        sums: &Sums,
    ) -> Result<Vec<Dispatch>> {
        let mut all = Vec::new();
        for (destination, updates) in self.windows.pairs() {
            let block = self.block.over(destination.window, updates.window);
            let bindings = [
                (INDICES, sorted.clone()),
                (PARAMS, self.updates.binding(&updates.segment)),
                (OUTPUT, self.destination.binding(&destination.segment)),
                (CARRY, sort.whole(&sums.carry)),
            ];
            match sums.piece {
                None => {
                    all.extend(self.passes(block, count, count, self.most(false), &bindings)?);
                }
                Some(piece) => {
                    let most = self.most(true) / piece as usize * piece as usize;
                    let folds = block.in_pieces(piece, false);
                    all.extend(self.passes(folds, count, count, most, &bindings)?);
                    let joins = block.in_pieces(piece, true);
                    let pieces = count.div_ceil(piece as usize) - 1;
                    all.extend(self.passes(joins, pieces, count, self.most(true), &bindings)?);
                }
            }
        }
        Ok(all)
    }

    /// The most pairs that a dispatch folds, if keys are cut or not.
    fn most(&self, is_cut: bool) -> usize {
        let free = u64::from(self.block.free_count().max(1));
        let of_pass =
            self.context.binding_limits.pass_bytes / (free * self.kernel.unit_bytes as u64);
        of_pass
            .min(MOST_INVOCATIONS / free)
            .min(u64::from(self.block.most_pairs(
                self.kernel,
                is_cut,
                self.context.loop_steps,
            )))
            .max(1) as usize
    }

    /// The dispatches over `numbers` pairs, or pieces, of `count` pairs; at most so many in each.
    fn passes(
        &self,
        block: FoldBlock,
        numbers: usize,
        count: usize,
        most: usize,
        bindings: &[(u32, wgpu::BindingResource<'_>)],
    ) -> Result<Vec<Dispatch>> {
        let free = self.block.free_count().max(1);
        let most_workgroups = self.context.binding_limits.workgroups;
        // Another window of updates goes on with what this one has folded: only a dispatch that binds all takes runs.
        let runs = self.kernel.of_runs(self.plan.reduce, count);
        let runs = runs.filter(|_| self.windows.bind_all_updates());
        let block = match runs {
            Some(_) => block.without_long_runs(),
            None => block,
        };
        let mut all = Vec::new();
        for (turn, first) in (0..numbers).step_by(most).enumerate() {
            let of_pass = most.min(numbers - first);
            let groups = self.kernel.groups(of_pass as u64, free);
            let grid = sort::grid(self.plan.op, groups, most_workgroups)?;
            let range = [first, of_pass, count].map(|n| n as u32);
            let block = block.of_pairs(range, turn as u32 % 2, grid[0]);
            let key = PipelineKey::new(Stage::Fold(self.kernel));
            let made = of_pass as u64 * u64::from(free) * self.kernel.unit_bytes as u64;
            all.push(dispatch(self.context, key, &block, grid, bindings)?.making(made));
            if let Some(runs) = runs {
                let groups = FoldKernel::groups_of_runs(of_pass as u64, free);
                let grid = sort::grid(self.plan.op, groups, most_workgroups)?;
                let block = block.of_pairs(range, turn as u32 % 2, grid[0]);
                let key = PipelineKey::new(Stage::FoldRuns(runs));
                all.push(dispatch(self.context, key, &block, grid, bindings)?);
            }
        }
        Ok(all)
    }
}
