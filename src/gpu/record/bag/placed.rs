//! Placement of the tensors of a pooled lookup. Rows are read from a plain table, or decoded from a quantized one
//! into scratch memory, as many at a time as fit.

use std::sync::Arc;

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::Command;
use crate::gpu::device::pool::Owned;
use crate::gpu::record::gather;
use crate::gpu::tensor::quantized::DeviceQuantizedTable;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::{Placement, Storage};
use crate::plan::{BagPlan, Plan};
use crate::quantized::FloatType;
use crate::shape::Layout;

pub(super) const OP: OpKind = OpKind::EmbeddingBag;

/// The most bytes of decoded rows in memory, unless one row is larger.
const MOST_DECODED_BYTES: u64 = 64 << 20;

/// The rows to fold.
#[derive(Debug)]
pub(super) enum Rows<'a> {
    /// Rows of a plain table.
    Plain(Placement<'a>),
    /// A quantized table.
    Decoded(DecodedRows<'a>),
}

/// Rows of a quantized table, decoded to f32 in scratch memory.
#[derive(Debug)]
pub(super) struct DecodedRows<'a> {
    pub(super) table: &'a DeviceQuantizedTable,
    pub(super) storage: &'a Storage,
    pub(super) memory: Placement<'a>,
    /// Capacity of the scratch memory, in rows.
    pub(super) room: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn params(&self) -> &Placement<'a> {
        match self {
            Rows::Plain(params) => params,
            Rows::Decoded(rows) => &rows.memory,
        }
    }

    /// Capacity of the scratch memory in rows, if rows are decoded.
    pub(super) fn room(&self) -> Option<usize> {
        match self {
            Rows::Plain(_) => None,
            Rows::Decoded(rows) => Some(rows.room),
        }
    }

    pub(super) fn scratch(&self) -> Vec<Arc<Owned>> {
        match self {
            Rows::Plain(_) => Vec::new(),
            Rows::Decoded(rows) => rows.storage.owned().cloned().collect(),
        }
    }
}

impl DecodedRows<'_> {
    /// The commands that decode the rows of `plan`, one after the other.
    pub(super) fn decode(
        &self,
        context: &Context,
        plan: &Plan,
        indices: &Placement<'_>,
    ) -> Result<Vec<Command>> {
        let placed = gather::Placed {
            table: gather::PlacedTable::Decode(self.table, FloatType::F32),
            indices: indices.clone(),
            output: self.memory.clone(),
            status: None,
            flag: false,
            count: None,
        };
        let dispatches = placed.dispatches(context, plan)?;
        Ok(dispatches.into_iter().map(Command::Dispatch).collect())
    }
}

/// Capacity for decoded rows: those of all lookups if they fit [`MOST_DECODED_BYTES`], and at least one.
pub(super) fn room(context: &Context, plan: &BagPlan) -> Result<usize> {
    let row = plan.row_bytes().max(1) as u64;
    let limit = most_bound(context);
    if row > limit {
        return Err(Error::TensorTooLarge {
            op: OP,
            role: Role::Output,
            bytes: row,
            limit,
        });
    }
    let most = (MOST_DECODED_BYTES.min(limit) / row).max(1) as usize;
    Ok(most.min(plan.lookups.lookups().elements()))
}

/// The most bytes of decoded rows that a call has in memory.
pub(in crate::gpu) fn most_decoded_bytes(context: &Context, plan: &BagPlan) -> u64 {
    let row = plan.row_bytes() as u64;
    let all = row.saturating_mul(plan.lookups.lookups().elements() as u64);
    all.min(MOST_DECODED_BYTES.min(most_bound(context)).max(row))
}

/// The most bytes of a buffer that a kernel writes and another reads.
fn most_bound(context: &Context) -> u64 {
    let limits = &context.binding_limits;
    let bound = limits.params_bytes.min(limits.output_bytes);
    bound.min(context.limits.max_buffer_size & !255)
}

/// Placement of the tensors of one recording.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) indices: Placement<'a>,
    pub(super) weights: Option<Placement<'a>>,
    pub(super) output: Placement<'a>,
    pub(super) status: Option<&'a Status>,
}

impl Placed<'_> {
    /// Checks that the buffers hold what the plan reaches.
    pub(super) fn check(&self, plan: &BagPlan) -> Result<()> {
        let width = plan.dtype.bytes();
        let index_bytes = plan.lookups.index_type().bytes();
        if let Rows::Plain(table) = &self.rows {
            table.check(OP, Role::Params, plan.lookups.params_layout(), width)?;
        }
        self.indices
            .check(OP, Role::Indices, plan.indices(), index_bytes)?;
        let output = Layout::contiguous(&plan.output_shape);
        self.output.check(OP, Role::Output, &output, width)?;
        match (&self.weights, &plan.weights) {
            (Some(weights), Some(layout)) => weights.check(OP, Role::Weights, layout, width),
            _ => Ok(()),
        }
    }
}
