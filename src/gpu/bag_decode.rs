//! Rows of a quantized table for a pooled lookup: decoded to memory for some of them, folded from there,
//! and then written over by the next ones.
//!
//! Used by `bag_recorder` before each pass. It is the gather of those rows, in the order of the lookups.

use std::sync::Arc;

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::commands::Command;
use crate::gpu::context::Context;
use crate::gpu::placed::Placed;
use crate::gpu::quantized::{DecodeRecorder, DeviceQuantizedTable};
use crate::gpu::storage::Placement;
use crate::plan::{BagPlan, Plan};
use crate::quantized::FloatType;

/// Bytes of the memory that rows are decoded to, unless one row takes more: enough for the workgroups
/// of a large GPU, and little beside a table.
const MOST_BYTES: u64 = 16 << 20;

/// A quantized table, and memory for some of its rows as f32.
#[derive(Debug, Clone)]
pub(super) struct DecodedRows<'a> {
    pub(super) table: &'a DeviceQuantizedTable,
    pub(super) memory: Placement<'a>,
    /// How many rows the memory has room for.
    pub(super) room: usize,
}

impl DecodedRows<'_> {
    /// For how many rows a lookup takes memory.
    pub(super) fn room(context: &Context, plan: &BagPlan) -> Result<usize> {
        let row = plan.row_bytes().max(1) as u64;
        let limits = &context.binding_limits;
        let bound = limits.params_bytes.min(limits.output_bytes);
        let limit = bound.min(context.limits.max_buffer_size & !255);
        if row > limit {
            return Err(Error::TensorTooLarge {
                op: OpKind::EmbeddingBag,
                role: Role::Output,
                bytes: row,
                limit,
            });
        }
        let most = (MOST_BYTES.min(limit) / row).max(1) as usize;
        Ok(most.min(plan.lookups.lookups().elements()))
    }

    /// The most bytes of memory that a lookup takes for decoded rows.
    pub(super) fn most_bytes(plan: &BagPlan) -> u64 {
        let row = plan.row_bytes() as u64;
        let all = row.saturating_mul(plan.lookups.lookups().elements() as u64);
        all.min(MOST_BYTES.max(row))
    }

    /// The commands that make what `rows` gathers from the table.
    pub(super) fn decode(
        &self,
        context: &Context,
        rows: Plan,
        indices: &Placement<'_>,
    ) -> Result<Vec<Command>> {
        let layout = Arc::clone(self.table.layout());
        let recorder = DecodeRecorder::new(context, rows, layout, FloatType::F32)?;
        let placed = Placed {
            params: self.table.codes().placement(),
            indices: indices.clone(),
            output: self.memory.clone(),
            status: None,
            flag: false,
            count: None,
        };
        let dispatches = recorder.dispatches(context, self.table, &placed)?;
        Ok(dispatches.into_iter().map(Command::Dispatch).collect())
    }
}
