//! Scatters: keys of the lookups, a stable sort of them, a fold.

use std::ops::Range;

use smallvec::smallvec;

use crate::call::dtype_of;
use crate::error::{Error, OpKind, Result, Role};
use crate::fold::Reduce;
use crate::gpu::context::Context;
use crate::gpu::device::commands::Dispatch;
use crate::gpu::pipeline::shader::PipelineKey;
use crate::gpu::pipeline::{INDICES, OUTPUT, PARAMS};
use crate::gpu::record::checks;
use crate::gpu::record::folds::{Folds, Sums};
use crate::gpu::record::launch::{bound, dispatch};
use crate::gpu::record::operation::{Made, Operation, Read, Reads};
use crate::gpu::record::sort::{PAIR_BYTES, Sort};
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::Placement;
use crate::gpu::tensor::table::{check_values, index_type};
use crate::op::Op;
use crate::plan::{Kernel, LookupPass, Plan, lookup_passes};
use crate::rules::Rules;
use crate::scatter::{FoldKernel, MOST_LOOKUPS, MOST_PAIRS, ScatterLayouts, ScatterPlan, SortPlan};

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
            destination: &destination.reached(),
            index_type,
            indices: &indices.reached(),
            updates: &updates.reached(),
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

    fn reads(&self) -> Reads<'_> {
        smallvec![
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
            indices: self.indices.placement(),
            updates: self.updates.placement(),
            destination: destination.placement(),
            status,
        };
        commands(context, &self.plan, &placed)
    }
}

/// Placement of the tensors of one recording.
#[derive(Debug, Clone)]
struct PlacedScatter<'a> {
    indices: Placement<'a>,
    updates: Placement<'a>,
    destination: Placement<'a>,
    status: Option<&'a Status>,
}

impl PlacedScatter<'_> {
    /// Updates and destination start at multiples of `bytes` in their buffers.
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
/// Limits of the device: [`Error::TooMany`], [`Error::TooComplex`],
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
    let folds = Folds::new(context, plan, kernel, &placed.destination, &placed.updates)?;
    let recording = Scattering {
        context,
        plan,
        keys,
        placed,
        folds,
        boxes: lookup_passes(
            keys,
            keys.geometry(),
            &placed.indices.parts,
            &context.binding_limits,
        )?,
    };
    recording.make()
}

/// Inputs for the dispatches of one recording.
struct Scattering<'a> {
    context: &'a Context,
    plan: &'a ScatterPlan,
    keys: &'a Plan,
    placed: &'a PlacedScatter<'a>,
    folds: Folds<'a>,
    boxes: Vec<LookupPass>,
}

impl Scattering<'_> {
    fn make(&self) -> Result<Made> {
        let most = self.chunk()?;
        let lookups = self.plan.lookups();
        let sums = self.folds.sums(lookups.min(most))?;
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
        all.extend(
            self.folds
                .dispatches(lookups, &sort, sort.unsorted(), sums)?,
        );
        Ok((all, sort))
    }

    /// Dispatches for chunks of at most `most` lookups.
    fn in_chunks(&self, most: usize, sums: &Sums) -> Result<(Vec<Dispatch>, Sort)> {
        let lookups = self.plan.lookups();
        let (op, key_count) = (self.plan.op, self.folds.block.key_count());
        let sort = Sort::new(self.context, op, lookups.min(most), key_count)?;
        let mut all = Vec::new();
        for first in (0..lookups).step_by(most) {
            let chunk = first..lookups.min(first + most);
            let plan = SortPlan::new(chunk.len() as u32, key_count);
            for pass in &self.boxes {
                all.extend(self.keys_of(pass, &chunk, &sort, false)?);
            }
            all.extend(sort.dispatches(self.context, op, &plan)?);
            all.extend(
                self.folds
                    .dispatches(chunk.len(), &sort, sort.sorted(&plan), sums)?,
            );
        }
        Ok((all, sort))
    }

    /// Number of lookups that are sorted at once.
    fn chunk(&self) -> Result<usize> {
        let lookups = self.plan.lookups();
        let bound = self.context.binding_limits.output_bytes / PAIR_BYTES;
        let bound = bound.min(u64::from(MOST_PAIRS)) as usize;
        if self.folds.kernel.resumes() {
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
            self.folds.block.key_count(),
            self.context.binding_limits.workgroups,
        )?;
        let grid = if sorted { [1, 1, 1] } else { grid };
        let key = PipelineKey::of_keys(sorted, self.keys.index_type());
        let indices = bound(self.context, &self.placed.indices, pass.indices.as_ref());
        let bindings = [
            (INDICES, indices),
            (PARAMS, self.context.nothing.as_entire_binding()),
            (OUTPUT, sort.unsorted()),
        ];
        dispatch(self.context, key, &block, grid, &bindings).map(Some)
    }

    /// The dispatches that count bad indices.
    fn count(&self, status: &Status) -> Result<Vec<Dispatch>> {
        checks::dispatches(self.context, self.keys, &self.placed.indices, status)
    }
}
