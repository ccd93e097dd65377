//! The stable sort of pairs: its memory and its dispatches.

use std::sync::Arc;

use crate::error::{Error, OpKind, Result};
use crate::gpu::context::Context;
use crate::gpu::device::commands::Dispatch;
use crate::gpu::device::pool::Owned;
use crate::gpu::pipeline::shader::{PipelineKey, Stage};
use crate::gpu::pipeline::{INDICES, OUTPUT, PARAMS};
use crate::gpu::record::launch::dispatch;
use crate::scatter::{SortPlan, SortStage};

/// Bytes of a key and the number of its lookup.
pub(in crate::gpu) const PAIR_BYTES: u64 = 8;

/// Two buffers of pairs, of which each digit takes them from one to the other, and the counts.
pub(in crate::gpu) struct Sort {
    pairs: [Arc<Owned>; 2],
    counts: Arc<Owned>,
    /// The most bytes of a binding.
    limit: u64,
}

impl Sort {
    /// Memory for the sort of up to so many pairs, of which a binding holds all.
    pub(in crate::gpu) fn new(
        context: &Context,
        op: OpKind,
        count: usize,
        greatest_key: u32,
    ) -> Result<Self> {
        let bytes = count as u64 * PAIR_BYTES;
        let counts = SortPlan::new(count as u32, greatest_key).count_words * 4;
        let limit = context.binding_limits.output_bytes;
        if counts > limit {
            return Err(Error::TooMany {
                op,
                what: "the bytes of a sort's counts",
                got: counts,
                limit,
            });
        }
        let acquire = |bytes: u64| context.acquire("sort", bytes);
        Ok(Sort {
            pairs: [acquire(bytes)?, acquire(bytes)?],
            counts: acquire(counts)?,
            limit,
        })
    }

    /// Memory for so many pairs that are sorted where they are made.
    pub(in crate::gpu) fn of_tile(context: &Context, count: usize) -> Result<Self> {
        let pairs = context.acquire("sort", count as u64 * PAIR_BYTES)?;
        Ok(Sort {
            counts: pairs.clone(),
            pairs: [pairs.clone(), pairs],
            limit: context.binding_limits.output_bytes,
        })
    }

    /// Input of the sort: the unsorted pairs.
    pub(in crate::gpu) fn unsorted(&self) -> wgpu::BindingResource<'_> {
        self.whole(&self.pairs[0])
    }

    /// Output of the sort: the buffer that its last pass writes.
    pub(in crate::gpu) fn sorted(&self, plan: &SortPlan) -> wgpu::BindingResource<'_> {
        self.whole(&self.pairs[plan.digits.len() % 2])
    }

    /// Binds scratch memory, up to the limit of a binding: buffers of the pool may be larger.
    pub(in crate::gpu) fn whole<'a>(&self, owned: &'a Owned) -> wgpu::BindingResource<'a> {
        let buffer = owned.buffer();
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: 0,
            size: wgpu::BufferSize::new(buffer.size().min(self.limit)),
        })
    }

    /// The memory, which nothing else may use before the dispatches are done.
    pub(in crate::gpu) fn scratch(self) -> Vec<Arc<Owned>> {
        let [a, b] = self.pairs;
        vec![a, b, self.counts]
    }

    pub(in crate::gpu) fn dispatches(
        &self,
        context: &Context,
        op: OpKind,
        plan: &SortPlan,
    ) -> Result<Vec<Dispatch>> {
        let mut all = Vec::new();
        for (n, steps) in plan.digits.iter().enumerate() {
            let [from, to] = [&self.pairs[n % 2], &self.pairs[(n + 1) % 2]];
            for step in steps {
                let most = context.binding_limits.workgroups;
                let grid = grid(op, u64::from(step.groups), most)?;
                let mut block = step.block;
                block.grid_x = grid[0];
                let key = PipelineKey::new(Stage::Sort(step.stage));
                let nothing = context.nothing.as_entire_binding();
                let [pairs, ends, output] = match step.stage {
                    SortStage::Count => [self.whole(from), nothing, self.whole(&self.counts)],
                    SortStage::AddUp => [nothing.clone(), nothing, self.whole(&self.counts)],
                    SortStage::Move => [self.whole(from), self.whole(&self.counts), self.whole(to)],
                };
                let bindings = [(INDICES, pairs), (PARAMS, ends), (OUTPUT, output)];
                all.push(dispatch(context, key, &block, grid, &bindings)?);
            }
        }
        Ok(all)
    }
}

/// Splits `groups` workgroups into x and y. At most `y - 1` of the dispatched workgroups are surplus.
pub(in crate::gpu) fn grid(op: OpKind, groups: u64, max_workgroups: u32) -> Result<[u32; 3]> {
    let limit = u64::from(max_workgroups.max(1));
    let y = groups.div_ceil(limit).max(1);
    let x = groups.div_ceil(y).max(1);
    match y <= limit {
        true => Ok([x as u32, y as u32, 1]),
        false => Err(Error::TooMany {
            op,
            what: "the number of workgroups",
            got: groups,
            limit: limit * limit,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::grid;
    use crate::scatter::{FoldBlock, FoldKernel, ScatterLayouts, ScatterPlan};
    use crate::{DType, IndexType, Layout, Op, Reduce, Rules};

    /// One update of a slice of so many bytes, each folded on its own.
    fn block(slice: usize) -> crate::Result<(FoldKernel, FoldBlock)> {
        let [destination, updates] =
            [[1, slice], [1, slice]].map(|shape| Layout::contiguous(&shape));
        let layouts = ScatterLayouts {
            dtype: DType::U8,
            destination: &destination,
            index_type: IndexType::U32,
            indices: &Layout::contiguous(&[1]),
            updates: &updates,
        };
        let plan = ScatterPlan::new(Op::gather(0), Reduce::Add, &Rules::default(), layouts)?;
        let kernel = FoldKernel::of(plan.op, plan.reduce, plan.dtype)?;
        Ok((kernel, FoldBlock::new(&plan, kernel)?))
    }

    #[test]
    fn invocations_of_a_fold_are_numbered_below_two_to_the_31() {
        let sizes = [
            1 << 20,
            (1 << 31) - (1 << 20) - 1,
            (1 << 31) - (1 << 20),
            (1 << 31) - 32_769,
            (1 << 31) - 32_768,
            (1 << 31) - 1,
        ];
        let (mut folded, mut refused) = (0, 0);
        for slice in sizes {
            let Ok((kernel, block)) = block(slice) else {
                refused += 1;
                continue;
            };
            let groups = kernel.groups(1, block.free_count());
            for limit in [2896, 2897, 65_535, 1 << 20, u32::MAX] {
                let Ok([x, y, _]) = grid(crate::OpKind::Scatter, groups, limit) else {
                    continue;
                };
                let invocations = u64::from(x) * u64::from(y) * 256;
                let whole = (slice as u64..=1 << 31).contains(&invocations);
                assert!(whole, "{slice} on {limit}: {invocations}");
                assert!(x <= limit && y <= limit);
                folded += 1;
            }
        }
        assert!(folded > 8 && refused > 2, "{folded} {refused}");
    }
}
