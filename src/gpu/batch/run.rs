//! Runs the verbs on erased operands: records the commands of an operation, and keeps its buffers alive.

use crate::bag::Bags;
use crate::element::ElementType;
use crate::error::{Result, Role};
use crate::fold::Reduce;
use crate::gpu::batch::Batch;
use crate::gpu::context::Context;
use crate::gpu::device::commands::Command;
use crate::gpu::record::bag::Bag;
use crate::gpu::record::gather::Gather;
use crate::gpu::record::lookups::Lookups;
use crate::gpu::record::operation::{Operation, Read};
use crate::gpu::record::scatter::Scatter;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::storage::Storage;
use crate::gpu::tensor::table::{TableRef, check_output};
use crate::index::IndexType;
use crate::op::Op;
use crate::rules::Rules;
use crate::shape::{Layout, elements};

impl Batch<'_> {
    /// [`Batch::gather`], erased.
    pub(in crate::gpu) fn gather_from(
        &mut self,
        op: Op,
        rules: &Rules,
        table: TableRef<'_>,
        indices: &AnyDeviceTensor,
    ) -> Result<AnyDeviceTensor> {
        self.gathered(
            Gather::new(op, rules, table, indices)?,
            table.element_type(),
        )
    }

    /// What a gather makes, in a new tensor.
    fn gathered(&mut self, mut call: Gather<'_>, element: ElementType) -> Result<AnyDeviceTensor> {
        let (storage, flag) = self.context.allocate_output(&call.plan)?;
        call.flag = flag;
        let layout = Layout::contiguous(call.plan.output_shape());
        let output = AnyDeviceTensor::new(storage, layout, element);
        self.run(&call, &output)?;
        Ok(output)
    }

    pub(super) fn gather_to(
        &mut self,
        call: &Gather<'_>,
        table: TableRef<'_>,
        output: &AnyDeviceTensor,
    ) -> Result<()> {
        let (element, shape) = (table.element_type(), call.plan.output_shape());
        check_output(call.plan.op(), output, element, shape)?;
        self.run(call, output)
    }

    /// [`Batch::scatter_into`], erased.
    pub(in crate::gpu) fn scatter_to(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        updates: &AnyDeviceTensor,
    ) -> Result<()> {
        let scatter = Scatter::new(op, reduce, rules, destination, indices, updates)?;
        self.run(&scatter, destination)
    }

    /// [`Batch::embedding_bag`], erased.
    pub(in crate::gpu) fn pooled(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        table: TableRef<'_>,
        indices: &AnyDeviceTensor,
        weights: Option<&AnyDeviceTensor>,
    ) -> Result<AnyDeviceTensor> {
        let call = Bag::new(bags, rules, table, indices, weights)?;
        let plan = &call.plan;
        let units = [plan.row_bytes(), plan.dtype.bytes()];
        let storage = self
            .context
            .allocate("output", plan.output_bytes as u64, &units)?;
        let layout = Layout::contiguous(&plan.output_shape);
        let output = AnyDeviceTensor::new(storage, layout, plan.dtype.into());
        self.run(&call, &output)?;
        Ok(output)
    }

    /// A new tensor of zeros.
    pub(in crate::gpu) fn zeros(
        &mut self,
        label: &'static str,
        shape: &[usize],
        element: ElementType,
    ) -> Result<AnyDeviceTensor> {
        let width = element.bytes();
        let bytes = elements(Role::Params, shape, width)? * width;
        let storage = self.context.allocate(label, bytes as u64, &[width])?;
        for owned in storage.owned() {
            let clear = Command::Clear(owned.buffer().clone());
            self.recording.push(vec![clear]);
            self.recording.keep(owned);
        }
        Ok(AnyDeviceTensor::new(
            storage,
            Layout::contiguous(shape),
            element,
        ))
    }

    /// Records an operation that writes to `output`.
    pub(super) fn run(
        &mut self,
        operation: &impl Operation,
        output: &AnyDeviceTensor,
    ) -> Result<()> {
        self.call(|batch| {
            let context = batch.context;
            let reads = operation.reads();
            reads.iter().try_for_each(|read| read.check(context))?;
            let replaces = operation.replaces() && output.is_whole();
            match operation.replaces() {
                true => output.storage().check_owner(context, Role::Output)?,
                false => output.storage().check_readable(context, Role::Params)?,
            }
            if !operation.is_empty() {
                let op = operation.op();
                reads
                    .iter()
                    .try_for_each(|read| read.check_apart(op, output))?;
            }
            let plan = operation.lookups();
            let lookups = Lookups::new(context, batch.recording, plan, output, replaces)?;
            let made = operation.commands(context, output, lookups.status())?;
            if let Some(role) = made.copies {
                batch.recording.note_copy(operation.op(), role);
            }
            let counting = lookups.counting.as_ref();
            batch.recording.run(context, made.commands, counting);
            let read = || reads.iter().flat_map(Read::storages).map(|(_, read)| read);
            let owned = read().chain([output.storage()]).flat_map(Storage::owned);
            let owned = owned.chain(&made.scratch);
            owned.for_each(|owned| batch.recording.keep(owned));
            lookups.note(batch.recording, output, read());
            Ok(())
        })
    }

    /// Runs a call. If it fails, nothing of it stays recorded.
    pub(super) fn call<R>(&mut self, call: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let mark = self.recording.mark();
        let done = call(self);
        if done.is_err() {
            self.recording.rewind(mark);
        }
        done
    }

    /// The elements of a tensor, row-major and without gaps, in a new one.
    pub(in crate::gpu) fn packed(&mut self, tensor: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        let shape = tensor.shape().to_vec();
        let from = match shape.is_empty() {
            true => tensor.reshape(&[1])?,
            false => tensor.clone(),
        };
        let is_row = from.layout().is_contiguous() && !from.layout().is_empty();
        let (op, from, zeros) = match is_row {
            // One row, whose kernel is compiled for rows: faster than a copy command, which some drivers leave to an
            // engine that has a part of the memory's speed.
            true => (
                Op::gather(0),
                from.reshape(&[1, shape.iter().product()])?,
                zero_indices(self.context, &[1]),
            ),
            // An index tuple of no coordinates selects the whole tensor.
            false => (Op::gather_nd(), from, zero_indices(self.context, &[0])),
        };
        let call = Gather::new(op, &Rules::default(), TableRef::Plain(&from), &zeros)?;
        let made = self.gathered(call.copying(), from.element_type())?;
        made.reshape(&shape)
    }
}

/// Indices that are zero, at most four, in memory of the engine's own: what reads them may wait.
pub(in crate::gpu) fn zero_indices(context: &Context, shape: &[usize]) -> AnyDeviceTensor {
    let zeros = Storage::kept(&context.nothing);
    let element = IndexType::I32.dtype();
    AnyDeviceTensor::new(zeros, Layout::contiguous(shape), element.into())
}
