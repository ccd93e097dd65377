//! The interface between operators and levels: operands read, the plan whose bad indices are counted, commands.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Command, Dispatch};
use crate::gpu::device::pool::Owned;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::quantized::DeviceQuantizedTable;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::Storage;
use crate::gpu::tensor::table::TableRef;
use crate::plan::Plan;

/// One call, planned for its tensors.
pub(in crate::gpu) trait Operation {
    /// The operator's name in errors.
    fn op(&self) -> OpKind;

    /// There is nothing to do: the operation reads nothing.
    fn is_empty(&self) -> bool;

    /// What it reads, in the order in which errors name it.
    fn reads(&self) -> Reads<'_>;

    /// The plan whose bad indices count.
    fn lookups(&self) -> Option<&Plan>;

    /// It overwrites every element of its output. If not, it also reads the output.
    fn replaces(&self) -> bool;

    /// The commands that write to `output` and count bad indices in `status`.
    fn commands(
        &self,
        context: &Context,
        output: &AnyDeviceTensor,
        status: Option<&Status>,
    ) -> Result<Made>;
}

/// The commands of an operation.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Made {
    pub(in crate::gpu) commands: Vec<Command>,
    /// Memory that they use besides that of their tensors.
    pub(in crate::gpu) scratch: Vec<Arc<Owned>>,
    /// Operand that is copied outside of dispatches, which a compute pass cannot do.
    pub(in crate::gpu) copies: Option<Role>,
}

impl Made {
    /// Dispatches without memory of their own.
    pub(in crate::gpu) fn of(dispatches: Vec<Dispatch>) -> Self {
        Made {
            commands: dispatches.into_iter().map(Command::Dispatch).collect(),
            ..Made::default()
        }
    }
}

/// The tensors that an operation reads: at most three.
pub(in crate::gpu) type Reads<'a> = SmallVec<[Read<'a>; 3]>;

/// A tensor that an operation reads.
#[derive(Debug, Clone, Copy)]
pub(in crate::gpu) enum Read<'a> {
    Tensor(Role, &'a AnyDeviceTensor),
    Table(&'a DeviceQuantizedTable),
}

impl<'a> Read<'a> {
    /// The table of a call.
    pub(in crate::gpu) fn table(table: TableRef<'a>) -> Self {
        match table {
            TableRef::Plain(tensor) => Read::Tensor(Role::Params, tensor),
            TableRef::Quantized(table, _) => Read::Table(table),
        }
    }

    /// Its buffers, each with its role in errors.
    pub(in crate::gpu) fn storages(&self) -> impl Iterator<Item = (Role, &'a Storage)> {
        let (first, scales): (_, &[Storage]) = match *self {
            Read::Tensor(role, tensor) => ((role, tensor.storage()), &[]),
            Read::Table(table) => ((Role::Codes, table.codes()), table.scales()),
        };
        let scales = scales.iter().map(|storage| (Role::Scales, storage));
        std::iter::once(first).chain(scales)
    }

    /// Refuses what another engine made, or what was never written.
    pub(in crate::gpu) fn check(&self, context: &Context) -> Result<()> {
        let mut storages = self.storages();
        storages.try_for_each(|(role, storage)| storage.check_readable(context, role))
    }

    /// Refuses an output in a buffer that is read.
    pub(in crate::gpu) fn check_apart(&self, op: OpKind, output: &AnyDeviceTensor) -> Result<()> {
        let is_read = match self {
            Read::Tensor(_, tensor) => !tensor.layout().is_empty(),
            Read::Table(_) => true,
        };
        let mut storages = self.storages().filter(|_| is_read);
        match storages.find(|(_, storage)| storage.shares(output.storage())) {
            None => Ok(()),
            Some((role, _)) => Err(Error::SameBuffer { op, role }),
        }
    }
}
