//! Pooled lookups: the rows of a table are folded by bags. Those of a quantized table are decoded before, as
//! many at a time as there is memory for.

mod placed;
mod pool;

use crate::bag::Bags;
use crate::call::{decoded_bag_dtype, dtype_of};
use crate::element::DType;
use crate::error::{OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::record::bag::placed::{DecodedRows, OP, Placed, Rows, room};
use crate::gpu::record::operation::{Made, Operation, Read, Reads};
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::table::{TableRef, check_start, check_values, index_type};
use crate::plan::{BagPlan, BagShapes, Plan};
use crate::rules::Rules;

pub(in crate::gpu) use placed::most_decoded_bytes;

/// A pooled lookup of tensors on the device.
#[derive(Debug)]
pub(in crate::gpu) struct Bag<'a> {
    pub(in crate::gpu) plan: BagPlan,
    table: TableRef<'a>,
    indices: &'a AnyDeviceTensor,
    weights: Option<&'a AnyDeviceTensor>,
}

impl<'a> Bag<'a> {
    /// Checks the call, and plans it.
    pub(in crate::gpu) fn new(
        bags: Bags<'_>,
        rules: &Rules,
        table: TableRef<'a>,
        indices: &'a AnyDeviceTensor,
        weights: Option<&'a AnyDeviceTensor>,
    ) -> Result<Self> {
        let dtype = dtype(table)?;
        let index_type = index_type(OP, indices)?;
        if let Some(weights) = weights {
            check_values(OP, Role::Weights, weights, dtype)?;
        }
        let weights_layout = weights.map(|w| w.reached());
        let shapes = BagShapes {
            dtype,
            params: &table.layout(),
            index_type,
            indices: &indices.reached(),
            weights: weights_layout.as_ref(),
        };
        Ok(Bag {
            plan: BagPlan::new(bags, rules, shapes)?,
            table,
            indices,
            weights,
        })
    }
}

/// The type that the rows of a table are folded in; they start at whole elements.
fn dtype(table: TableRef<'_>) -> Result<DType> {
    let tensor = match table {
        TableRef::Quantized(_, to) => return decoded_bag_dtype(to),
        TableRef::Plain(tensor) => tensor,
    };
    let dtype = dtype_of(OP, Role::Params, tensor.element_type())?;
    check_start(OP, Role::Params, tensor, dtype.bytes())?;
    Ok(dtype)
}

impl Operation for Bag<'_> {
    fn op(&self) -> OpKind {
        OP
    }

    fn is_empty(&self) -> bool {
        self.plan.output_bytes == 0
    }

    fn reads(&self) -> Reads<'_> {
        let weights = self.weights.map(|w| Read::Tensor(Role::Weights, w));
        [
            Read::table(self.table),
            Read::Tensor(Role::Indices, self.indices),
        ]
        .into_iter()
        .chain(weights)
        .collect()
    }

    fn lookups(&self) -> Option<&Plan> {
        Some(&self.plan.lookups)
    }

    fn replaces(&self) -> bool {
        true
    }

    fn commands(
        &self,
        context: &Context,
        output: &AnyDeviceTensor,
        status: Option<&Status>,
    ) -> Result<Made> {
        if self.is_empty() {
            return Ok(Made::default());
        }
        let (plan, memory);
        plan = &self.plan;
        let rows = match self.table {
            TableRef::Plain(tensor) => Rows::Plain(tensor.placement()),
            TableRef::Quantized(table, _) => {
                let room = room(context, plan)?;
                memory = context.allocate("decoded rows", (room * plan.row_bytes()) as u64, &[])?;
                Rows::Decoded(DecodedRows {
                    table,
                    storage: &memory,
                    memory: memory.placement(),
                    room,
                })
            }
        };
        let placed = Placed {
            rows,
            indices: self.indices.placement(),
            weights: self.weights.map(|w| w.placement()),
            output: output.placement(),
            status,
        };
        placed.commands(context, plan)
    }
}
