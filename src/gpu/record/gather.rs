//! Gathers of tensors on the device.

mod placed;

pub(in crate::gpu) use placed::{Placed, PlacedTable, compile};

use smallvec::smallvec;

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::pool::Owned;
use crate::gpu::record::indirect;
use crate::gpu::record::operation::{Made, Operation, Read, Reads};
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::table::{TableRef, index_type};
use crate::op::Op;
use crate::plan::Plan;
use crate::rules::Rules;

/// A gather of tensors on the device.
#[derive(Debug)]
pub(in crate::gpu) struct Gather<'a> {
    pub(in crate::gpu) plan: Plan,
    table: TableRef<'a>,
    indices: &'a AnyDeviceTensor,
    /// There is room for a flag behind the output.
    pub(in crate::gpu) flag: bool,
    /// It copies: its indices are the engine's own, and nobody asks whether they are good.
    copies: bool,
    /// Number of entries of indices, if only the device knows it.
    count: Option<wgpu::BufferSlice<'a>>,
}

impl<'a> Gather<'a> {
    /// Checks the call, and plans it.
    pub(in crate::gpu) fn new(
        op: Op,
        rules: &Rules,
        table: TableRef<'a>,
        indices: &'a AnyDeviceTensor,
    ) -> Result<Self> {
        let index_type = index_type(op.kind(), indices)?;
        let width = table.element_type().bytes();
        // Where slices of a tensor start is no part of the plan.
        let (params, indices_layout) = (table.layout(), indices.reached());
        Ok(Gather {
            plan: Plan::new(op, rules, width, &params, index_type, &indices_layout)?,
            table,
            indices,
            flag: false,
            copies: false,
            count: None,
        })
    }

    /// A gather of what the engine itself looks up, of which no tensor reports anything.
    pub(in crate::gpu) fn copying(self) -> Self {
        Gather {
            copies: true,
            ..self
        }
    }

    /// For as many entries of indices as the device finds at the start of `count`.
    pub(in crate::gpu) fn counted(self, count: wgpu::BufferSlice<'a>) -> Result<Self> {
        let op = self.plan.op();
        if let TableRef::Quantized(..) = self.table {
            return Err(Error::CountOfQuantized { op });
        }
        indirect::check(op, count)?;
        self.plan.elements_per_entry()?;
        let count = Some(count);
        Ok(Gather { count, ..self })
    }
}

impl Operation for Gather<'_> {
    fn op(&self) -> OpKind {
        self.plan.op()
    }

    fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }

    fn reads(&self) -> Reads<'_> {
        smallvec![
            Read::table(self.table),
            Read::Tensor(Role::Indices, self.indices),
        ]
    }

    fn lookups(&self) -> Option<&Plan> {
        (!self.copies).then_some(&self.plan)
    }

    /// A count on the device may leave a part of the old data in place.
    fn replaces(&self) -> bool {
        self.count.is_none()
    }

    fn commands(
        &self,
        context: &Context,
        output: &AnyDeviceTensor,
        status: Option<&Status>,
    ) -> Result<Made> {
        let placed = Placed {
            table: match self.table {
                TableRef::Plain(tensor) => PlacedTable::Bits(tensor.placement()),
                TableRef::Quantized(table, to) => PlacedTable::Decode(table, to),
            },
            indices: self.indices.placement(),
            output: output.placement(),
            status,
            flag: self.flag,
            count: self.count,
        };
        let mut made = Made::of(placed.dispatches(context, &self.plan)?);
        // It is the caller's, who may overwrite it once the call returns.
        let count = self.count.map(|count| count.buffer().clone());
        made.scratch.extend(count.map(Owned::wrapped));
        Ok(made)
    }
}
