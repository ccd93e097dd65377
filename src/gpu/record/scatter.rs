//! Scatters: keys of the lookups, a stable sort of them, a fold.

use std::ops::Range;
use std::sync::Arc;

use crate::call::dtype_of;
use crate::error::{Error, OpKind, Result, Role};
use crate::fold::Reduce;
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Dispatch, Grid};
use crate::gpu::device::pool::Owned;
use crate::gpu::pipeline::shader::{PipelineKey, Stage};
use crate::gpu::pipeline::{CARRY, INDICES, OUTPUT, PARAMS};
use crate::gpu::record::checks;
use crate::gpu::record::launch::{Launch, uniform};
use crate::gpu::record::operation::{Made, Operation, Read};
use crate::gpu::record::sort::{self, PAIR_BYTES, Sort};
use crate::gpu::record::windows::Windows;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::Placement;
use crate::gpu::tensor::table::{check_values, index_type};
use crate::op::Op;
use crate::plan::{Kernel, LookupPass, Plan, lookup_passes};
use crate::rules::Rules;
use crate::scatter::{
    FoldBlock, FoldKernel, MOST_LOOKUPS, MOST_PAIRS, ScatterLayouts, ScatterPlan, SortPlan,
};

/// The most invocations of a fold, which are numbered below 2^31.
const MOST_INVOCATIONS: u64 = i32::MAX as u64 / 2;

/// A scatter of tensors on the device, into its output.
#[derive(Debug)]
pub(in crate::gpu) struct Scatter<'a> {
    plan: ScatterPlan,
    indices: &'a AnyDeviceTensor,
    updates: &'a AnyDeviceTensor,
}

impl<'a> Scatter<'a> {
    /// Checks the call, and plans it for this destination.
    pub(in crate::gpu) fn new(
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &AnyDeviceTensor,
        indices: &'a AnyDeviceTensor,
        updates: &'a AnyDeviceTensor,
    ) -> Result<Self> {
        let kind = op.transposed_kind();
        let dtype = dtype_of(kind, Role::Updates, updates.element_type())?;
        let index_type = index_type(kind, indices)?;
        for (role, tensor) in [(Role::Params, destination), (Role::Updates, updates)] {
            check_values(kind, role, tensor, dtype)?;
        }
        let tensors = ScatterLayouts {
            dtype,
            destination: &destination.reached().0,
            index_type,
            indices: &indices.reached().0,
            updates: &updates.reached().0,
        };
        let plan = ScatterPlan::new(op, reduce, rules, tensors)?;
        if plan.destination.may_overlap() {
            return Err(Error::OverlappingDestination {
                op: kind,
                shape: plan.destination.shape().to_vec(),
                strides: plan.destination.strides().to_vec(),
            });
        }
        Ok(Scatter {
            plan,
            indices,
            updates,
        })
    }
}

impl Operation for Scatter<'_> {
    fn op(&self) -> OpKind {
        self.plan.op
    }

    fn is_empty(&self) -> bool {
        self.plan.keys.is_none()
    }

    fn reads(&self) -> Vec<Read<'_>> {
        vec![
            Read::Tensor(Role::Indices, self.indices),
            Read::Tensor(Role::Updates, self.updates),
        ]
    }

    fn lookups(&self) -> Option<&Plan> {
        self.plan.keys.as_ref()
    }

    fn replaces(&self) -> bool {
        false
    }

    fn commands(
        &self,
        context: &Context,
        destination: &AnyDeviceTensor,
        status: Option<&Status>,
    ) -> Result<Made> {
        let placed = PlacedScatter {
            indices: self.indices.reached().1,
            updates: self.updates.reached().1,
            destination: destination.reached().1,
            status,
        };
        commands(context, &self.plan, &placed)
    }
}

/// Where the tensors of one recording lie.
#[derive(Debug, Clone)]
struct PlacedScatter<'a> {
    indices: Placement<'a>,
    updates: Placement<'a>,
    destination: Placement<'a>,
    status: Option<&'a Status>,
}

impl PlacedScatter<'_> {
    /// Whether updates and destination start at a multiple of so many bytes of their buffers.
    fn is_aligned(&self, bytes: usize) -> bool {
        let parts = [&self.updates, &self.destination].map(|placement| &placement.parts);
        let mut starts = parts
            .into_iter()
            .flatten()
            .map(|part| part.offset as i64 - part.origin);
        starts.all(|start| start % bytes as i64 == 0)
    }
}

/// Makes the commands of `plan`: none, if nothing is scattered.
///
/// # Errors
///
/// What the device cannot hold or count: [`Error::TooMany`], [`Error::TooComplex`],
/// [`Error::TensorTooLarge`], [`Error::CpuOnly`], [`Error::BufferTooSmall`]; the errors of the
/// device.
fn commands(context: &Context, plan: &ScatterPlan, placed: &PlacedScatter<'_>) -> Result<Made> {
    let kernel = FoldKernel::of(plan.op, plan.reduce, plan.dtype)?;
    let Some(keys) = &plan.keys else {
        return Ok(Made::default());
    };
    let width = plan.dtype.bytes();
    let index_bytes = keys.index_type().bytes();
    let tensors = [
        (&placed.destination, Role::Params, &plan.destination, width),
        (&placed.updates, Role::Updates, &plan.updates, width),
        (
            &placed.indices,
            Role::Indices,
            keys.indices_layout(),
            index_bytes,
        ),
    ];
    for (placement, role, layout, width) in tensors {
        placement.check(plan.op, role, layout, width)?;
    }
    let kernel = match kernel.in_lanes(plan) {
        Some(in_lanes) if placed.is_aligned(in_lanes.unit_bytes) => in_lanes,
        _ => kernel,
    };
    let windows = Windows::new(context, plan, kernel, &placed.destination, &placed.updates)?;
    let block = FoldBlock::new(plan, kernel)?;
    let recording = Scattering {
        context,
        plan,
        keys,
        placed,
        kernel,
        block,
        windows,
        boxes: lookup_passes(
            keys,
            keys.geometry(),
            &placed.indices.parts,
            &context.binding_limits,
        )?,
    };
    recording.make()
}

/// Bytes of a sum that a free step leaves for a later pass, as in `shaders/fold_carry.wgsl`.
const SUM_BYTES: u64 = 16;

/// What folds leave for later passes.
#[derive(Debug)]
struct Sums {
    carry: Arc<Owned>,
    /// The pairs of a piece, if keys are cut.
    piece: Option<u32>,
}

/// What the dispatches of one recording are made from.
struct Scattering<'a> {
    context: &'a Context,
    plan: &'a ScatterPlan,
    keys: &'a Plan,
    placed: &'a PlacedScatter<'a>,
    kernel: FoldKernel,
    block: FoldBlock,
    windows: Windows,
    boxes: Vec<LookupPass>,
}

impl Scattering<'_> {
    fn make(&self) -> Result<Made> {
        let most = self.chunk()?;
        let lookups = self.plan.lookups();
        let sums = self.sums(lookups.min(most))?;
        let (mut all, sort) = match &self.boxes[..] {
            [pass] if lookups <= most && SortPlan::is_one_tile(lookups) => {
                self.in_one_tile(pass, &sums)?
            }
            _ => self.in_chunks(most, &sums)?,
        };
        if let Some(status) = self.placed.status {
            all.extend(self.count(status)?);
        }
        Ok(Made {
            scratch: sort.scratch().into_iter().chain([sums.carry]).collect(),
            ..Made::of(all)
        })
    }

    /// Few lookups, whose keys are sorted where they are made.
    fn in_one_tile(&self, pass: &LookupPass, sums: &Sums) -> Result<(Vec<Dispatch>, Sort)> {
        let lookups = self.plan.lookups();
        let sort = Sort::of_tile(self.context, lookups)?;
        let mut all = Vec::from_iter(self.keys_of(pass, &(0..lookups), &sort, true)?);
        all.extend(self.folds(lookups, &sort, sort.unsorted(), sums)?);
        Ok((all, sort))
    }

    /// So many lookups at once.
    fn in_chunks(&self, most: usize, sums: &Sums) -> Result<(Vec<Dispatch>, Sort)> {
        let lookups = self.plan.lookups();
        let (op, key_count) = (self.plan.op, self.block.key_count());
        let sort = Sort::new(self.context, op, lookups.min(most), key_count)?;
        let mut all = Vec::new();
        for first in (0..lookups).step_by(most) {
            let chunk = first..lookups.min(first + most);
            let plan = SortPlan::new(chunk.len() as u32, key_count);
            for pass in &self.boxes {
                all.extend(self.keys_of(pass, &chunk, &sort, false)?);
            }
            all.extend(sort.dispatches(self.context, op, &plan)?);
            all.extend(self.folds(chunk.len(), &sort, sort.sorted(&plan), sums)?);
        }
        Ok((all, sort))
    }

    /// Where sums stay from pass to pass, for `count` lookups at once: those of pieces, if a binding holds
    /// them; two for each free step, where an element does not hold one.
    fn sums(&self, count: usize) -> Result<Sums> {
        let free = u64::from(self.block.free_count());
        let limit = self.context.binding_limits.output_bytes;
        let pieces = |piece: u32| count.div_ceil(piece as usize) as u64;
        let bytes = |sums: u64| sums.saturating_mul(free * SUM_BYTES);
        let piece = self.block.piece(self.plan, self.kernel, count);
        let piece = piece.filter(|&piece| {
            self.windows.bind_all_updates()
                && piece as usize <= self.most()
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

    /// How many lookups are sorted at once.
    fn chunk(&self) -> Result<usize> {
        let lookups = self.plan.lookups();
        let bound = self.context.binding_limits.output_bytes / PAIR_BYTES;
        let bound = bound.min(u64::from(MOST_PAIRS)) as usize;
        if self.kernel.resumes() {
            return Ok(lookups.min(MOST_LOOKUPS).min(bound).max(1));
        }
        match lookups <= bound {
            true => Ok(lookups),
            // In parts, it would be rounded after each.
            false => Err(Error::TooMany {
                op: self.plan.op,
                what: "the number of lookups of a 16-bit float",
                got: lookups as u64,
                limit: bound as u64,
            }),
        }
    }

    /// The dispatch for the lookups that a box and a chunk have in common; `sorted`, if they are one tile.
    fn keys_of(
        &self,
        pass: &LookupPass,
        chunk: &Range<usize>,
        sort: &Sort,
        sorted: bool,
    ) -> Result<Option<Dispatch>> {
        let start = pass.lookups.start.max(chunk.start);
        let end = pass.lookups.end.min(chunk.end);
        if start >= end {
            return Ok(None);
        }
        let (grid, block) = Kernel::keys(
            self.keys,
            pass,
            start - pass.lookups.start..end - pass.lookups.start,
            (start - chunk.start) as u32,
            self.block.key_count(),
            self.context.binding_limits.workgroups,
        )?;
        let grid = if sorted { [1, 1, 1] } else { grid };
        let launch = self.launch(Stage::Keys { sorted }, &block, grid)?;
        let nothing = || self.context.nothing.as_entire_binding();
        let indices = pass.indices.as_ref();
        let bindings = [
            (
                INDICES,
                indices.map_or_else(nothing, |s| self.placed.indices.binding(s)),
            ),
            (PARAMS, nothing()),
            (OUTPUT, sort.unsorted()),
        ];
        launch.bind(self.context, &bindings).map(Some)
    }

    /// The folds of a chunk whose pairs are sorted.
    fn folds(
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
                (PARAMS, self.placed.updates.binding(&updates.segment)),
                (
                    OUTPUT,
                    self.placed.destination.binding(&destination.segment),
                ),
                (CARRY, sort.whole(&sums.carry)),
            ];
            match sums.piece {
                None => all.extend(self.passes(block, count, count, self.most(), &bindings)?),
                Some(piece) => {
                    let most = self.most() / piece as usize * piece as usize;
                    let folds = block.in_pieces(piece, false);
                    all.extend(self.passes(folds, count, count, most, &bindings)?);
                    let joins = block.in_pieces(piece, true);
                    let pieces = count.div_ceil(piece as usize) - 1;
                    all.extend(self.passes(joins, pieces, count, self.most(), &bindings)?);
                }
            }
        }
        Ok(all)
    }

    /// The most pairs that a dispatch folds.
    fn most(&self) -> usize {
        let free = u64::from(self.block.free_count().max(1));
        let of_pass =
            self.context.binding_limits.pass_bytes / (free * self.kernel.unit_bytes as u64);
        of_pass
            .min(MOST_INVOCATIONS / free)
            .min(u64::from(self.block.most_pairs(self.kernel)))
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
        let mut all = Vec::new();
        for (turn, first) in (0..numbers).step_by(most).enumerate() {
            let of_pass = most.min(numbers - first);
            let groups = self.kernel.groups(of_pass as u64, free);
            let grid = sort::grid(self.plan.op, groups, most_workgroups)?;
            let range = [first, of_pass, count].map(|n| n as u32);
            let block = block.of_pairs(range, turn as u32 % 2, grid[0]);
            let launch = self.launch(Stage::Fold(self.kernel), &block, grid)?;
            let made = of_pass as u64 * u64::from(free) * self.kernel.unit_bytes as u64;
            all.push(launch.bind(self.context, bindings)?.making(made));
        }
        Ok(all)
    }

    /// The dispatches that count bad indices.
    fn count(&self, status: &Status) -> Result<Vec<Dispatch>> {
        checks::dispatches(self.context, self.keys, &self.placed.indices, status)
    }

    fn launch(
        &self,
        stage: Stage,
        block: &impl bytemuck::NoUninit,
        grid: [u32; 3],
    ) -> Result<Launch> {
        let block = uniform(self.context, block)?;
        let key = PipelineKey::new(stage);
        Launch::new(self.context, key, block, Grid::Fixed(grid))
    }
}
