//! The interface between operators and levels: operands read, the plan whose bad indices are counted, commands.

use std::sync::Arc;

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Command, Dispatch};
use crate::gpu::device::pool::Owned;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::quantized::DeviceQuantizedTable;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::table::TableRef;
use crate::plan::Plan;

/// One call, planned for its tensors.
pub(in crate::gpu) trait Operation {
    /// The operator's name in errors.
    fn op(&self) -> OpKind;

    /// There is nothing to do: the operation reads nothing.
    fn is_empty(&self) -> bool;

    /// What it reads, in the order in which errors name it.
    fn reads(&self) -> Vec<Read<'_>>;

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

    /// Refuses what another engine made, or what was never written.
    pub(in crate::gpu) fn check(&self, context: &Context) -> Result<()> {
        match self {
            Read::Tensor(role, tensor) => tensor.storage().check_readable(context, *role),
            Read::Table(table) => table.check_owner(context),
        }
    }

    /// Refuses an output in a buffer that is read.
    pub(in crate::gpu) fn check_apart(&self, op: OpKind, output: &AnyDeviceTensor) -> Result<()> {
        let written = output.storage();
        let shared = match self {
            Read::Tensor(role, tensor) => {
                let shares = !tensor.layout().is_empty() && tensor.storage().shares(written);
                shares.then_some(*role)
            }
            Read::Table(table) => {
                let scales = table.scales().iter().map(|s| (Role::Scales, s));
                let mut parts = [(Role::Codes, table.codes())].into_iter().chain(scales);
                let shares = parts.find(|(_, storage)| storage.shares(written));
                shares.map(|(role, _)| role)
            }
        };
        match shared {
            None => Ok(()),
            Some(role) => Err(Error::SameBuffer { op, role }),
        }
    }

    /// The tensor, if it can have reports of its own.
    pub(in crate::gpu) fn tensor(&self) -> Option<&'a AnyDeviceTensor> {
        match self {
            Read::Tensor(_, tensor) => Some(tensor),
            Read::Table(_) => None,
        }
    }

    /// Its buffers.
    pub(in crate::gpu) fn owned(&self) -> Vec<&'a Arc<Owned>> {
        match self {
            Read::Tensor(_, tensor) => tensor.storage().owned().collect(),
            Read::Table(table) => table.owned().collect(),
        }
    }
}
