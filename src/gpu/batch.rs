//! The verbs of the device, for every level: calls that are submitted together, recorded into the caller's
//! encoder, or bound. Runs operations, and keeps their buffers from serving others meanwhile.

use std::sync::Arc;

use crate::bag::Bags;
use crate::call::dtype_of;
use crate::element::ElementType;
use crate::error::{OpKind, Result, Role};
use crate::fold::Reduce;
use crate::gpu::context::Context;
use crate::gpu::device::commands::Command;
use crate::gpu::record::bag::Bag;
use crate::gpu::record::gather::Gather;
use crate::gpu::record::lookups::Lookups;
use crate::gpu::record::operation::Operation;
use crate::gpu::record::recording::Recording;
use crate::gpu::record::scatter::Scatter;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::table::sealed::AsTensor;
use crate::gpu::tensor::table::{IndexTensor, Table, TableRef, Values, check_output, check_start};
use crate::index::IndexType;
use crate::op::Op;
use crate::rules::Rules;
use crate::scatter::FoldKernel;
use crate::shape::{Layout, elements};

/// Calls that are submitted together ([`Engine::batch`](crate::gpu::Engine::batch)), recorded into an encoder
/// of the caller's ([`Engine::record`](crate::gpu::Engine::record)), or bound
/// ([`Engine::bind`](crate::gpu::Engine::bind)): each may read what earlier ones write. A call that fails
/// leaves nothing recorded.
///
/// The verbs are those of [`Engine`](crate::gpu::Engine), whose documentation says what they do.
///
/// ```no_run
/// use wgpu_gather::gpu::{Batch, DeviceTensor, Engine};
/// use wgpu_gather::{BagMode, Bags, Op, Reduce, Result, Rules, wgpu};
///
/// /// A step of training: pools rows of a table, and adds what a shader made of the last ones to it.
/// fn step(
///     batch: &mut Batch<'_>,
///     table: &mut DeviceTensor<f32>,
///     ids: &DeviceTensor<u32>,
///     changes: &DeviceTensor<f32>,
/// ) -> Result<DeviceTensor<f32>> {
///     batch.scatter_into(Op::gather(0), Reduce::Add, &Rules::TORCH, table, ids, changes)?;
///     batch.embedding_bag(Bags::rows(BagMode::Mean), &Rules::TORCH, table, ids, None)
/// }
///
/// fn both(
///     engine: &Engine,
///     encoder: &mut wgpu::CommandEncoder,
///     table: &mut DeviceTensor<f32>,
///     ids: &DeviceTensor<u32>,
///     changes: &DeviceTensor<f32>,
/// ) -> Result<()> {
///     engine.batch(|batch| step(batch, table, ids, changes))?; // submitted
///     engine.record(encoder, |r| step(r, table, ids, changes))?; // in your encoder
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Batch<'b> {
    pub(super) context: &'b Arc<Context>,
    pub(super) recording: &'b mut Recording,
}

impl Batch<'_> {
    /// Gathers into a new tensor.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`](crate::gpu::Engine::gather).
    pub fn gather<T: Table, I: IndexTensor>(
        &mut self,
        op: Op,
        rules: &Rules,
        table: &T,
        indices: &I,
    ) -> Result<T::Output> {
        let made = self.gather_from(op, rules, table.table(), indices.indices());
        made.map(T::Output::of)
    }

    /// Gathers into a tensor of the caller, which must be contiguous.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`](crate::gpu::Engine::gather), and for an output that does not fit.
    pub fn gather_into<T: Table, I: IndexTensor>(
        &mut self,
        op: Op,
        rules: &Rules,
        table: &T,
        indices: &I,
        output: &mut T::Output,
    ) -> Result<()> {
        let call = Gather::new(op, rules, table.table(), indices.indices())?;
        self.gather_to(&call, table.table(), output.any())
    }

    /// Gathers as many entries as a `u32` on the device says.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`](crate::gpu::Engine::gather), and for an output or a count that does not fit.
    pub fn gather_counted<T: Table, I: IndexTensor>(
        &mut self,
        op: Op,
        rules: &Rules,
        table: &T,
        indices: &I,
        output: &mut T::Output,
        count: wgpu::BufferSlice<'_>,
    ) -> Result<()> {
        let call = Gather::new(op, rules, table.table(), indices.indices())?;
        self.gather_to(&call.counted(count)?, table.table(), output.any())
    }

    /// Scatters over a copy of `base`, into a new tensor.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter`](crate::gpu::Engine::scatter).
    pub fn scatter<T: Values, I: IndexTensor>(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &T,
        indices: &I,
        updates: &T,
    ) -> Result<T> {
        let kind = op.transposed_kind();
        let (base, updates) = (base.any(), updates.any());
        check_folds(kind, reduce, updates.element_type())?;
        self.call(|batch| {
            let made = batch.copied(op, base)?;
            let scatter = Scatter::new(op, reduce, rules, &made, indices.indices(), updates)?;
            batch.run(&scatter, &made)?;
            Ok(T::of(made))
        })
    }

    /// Scatters in place.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter`](crate::gpu::Engine::scatter), and for a destination in which elements overlap or
    /// that lies in a buffer that is read.
    pub fn scatter_into<T: Values, I: IndexTensor>(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &mut T,
        indices: &I,
        updates: &T,
    ) -> Result<()> {
        let (indices, updates) = (indices.indices(), updates.any());
        self.scatter_to(op, reduce, rules, destination.any(), indices, updates)
    }

    /// The gradient of a gather with respect to its params, in a new tensor.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter`](crate::gpu::Engine::scatter) with [`Reduce::Add`].
    pub fn gather_gradient<T: Values, I: IndexTensor>(
        &mut self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &I,
        grad_output: &T,
    ) -> Result<T> {
        let kind = op.transposed_kind();
        let element = grad_output.any().element_type();
        check_folds(kind, Reduce::Add, element)?;
        self.call(|batch| {
            let made = batch.zeros("gradient", params_shape, element)?;
            batch.recording.note_copy(kind, Role::Output);
            let (indices, updates) = (indices.indices(), grad_output.any());
            batch.scatter_to(op, Reduce::Add, rules, &made, indices, updates)?;
            Ok(T::of(made))
        })
    }

    /// Pools the rows of a table into a new tensor.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag`](crate::gpu::Engine::embedding_bag).
    pub fn embedding_bag<T: Table, I: IndexTensor>(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &T,
        indices: &I,
        weights: Option<&T::Output>,
    ) -> Result<T::Output> {
        let weights = weights.map(AsTensor::any);
        let made = self.pooled(bags, rules, table.table(), indices.indices(), weights);
        made.map(T::Output::of)
    }

    /// Pools the rows of a table into a tensor of the caller, which must be contiguous.
    ///
    /// # Errors
    ///
    /// As [`Engine::embedding_bag`](crate::gpu::Engine::embedding_bag), and for an output that does not fit.
    pub fn embedding_bag_into<T: Table, I: IndexTensor>(
        &mut self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &T,
        indices: &I,
        weights: Option<&T::Output>,
        output: &mut T::Output,
    ) -> Result<()> {
        let weights = weights.map(AsTensor::any);
        let call = Bag::new(bags, rules, table.table(), indices.indices(), weights)?;
        let (op, dtype, output) = (call.op(), call.plan.dtype, output.any());
        check_output(op, output, dtype.into(), &call.plan.output_shape)?;
        check_start(op, Role::Output, output, dtype.bytes())?;
        self.run(&call, output)
    }

    /// [`Batch::gather`], erased.
    pub(super) fn gather_from(
        &mut self,
        op: Op,
        rules: &Rules,
        table: TableRef<'_>,
        indices: &AnyDeviceTensor,
    ) -> Result<AnyDeviceTensor> {
        let mut call = Gather::new(op, rules, table, indices)?;
        let (storage, flag) = self.context.allocate_output(&call.plan)?;
        call.flag = flag;
        let layout = Layout::contiguous(call.plan.output_shape());
        let output = AnyDeviceTensor::new(storage, layout, table.element_type());
        self.run(&call, &output)?;
        Ok(output)
    }

    fn gather_to(
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
    pub(super) fn scatter_to(
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
    pub(super) fn pooled(
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
    pub(super) fn zeros(
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
    fn run(&mut self, operation: &impl Operation, output: &AnyDeviceTensor) -> Result<()> {
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
            let read = reads.iter().flat_map(|read| read.owned());
            let owned = read.chain(output.storage().owned()).chain(&made.scratch);
            owned.for_each(|owned| batch.recording.keep(owned));
            let tensors: Vec<_> = reads.iter().filter_map(|read| read.tensor()).collect();
            lookups.note(batch.recording, output, &tensors);
            Ok(())
        })
    }

    /// Runs a call. If it fails, nothing of it stays recorded.
    fn call<R>(&mut self, call: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let mark = self.recording.mark();
        let done = call(self);
        if done.is_err() {
            self.recording.rewind(mark);
        }
        done
    }

    /// A contiguous copy of a tensor that a scatter is to write to.
    fn copied(&mut self, op: Op, base: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        let (storage, layout) = (base.storage(), base.layout());
        storage.check_readable(self.context, Role::Params)?;
        let can_be_copied = storage.has_usage(wgpu::BufferUsages::COPY_SRC);
        if can_be_copied && layout.is_contiguous() && !layout.is_empty() {
            self.recording.note_copy(op.transposed_kind(), Role::Params);
            return self.copy_of(base);
        }
        self.packed(base)
    }

    /// The elements of a tensor, row-major and without gaps, in a new one.
    pub(super) fn packed(&mut self, tensor: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        let shape = tensor.shape().to_vec();
        let from = match shape.is_empty() {
            true => tensor.reshape(&[1])?,
            false => tensor.clone(),
        };
        // An index tuple of no coordinates selects the whole tensor.
        let (nothing, none) = (self.context.nothing.slice(..), Layout::contiguous(&[0]));
        let nothing = AnyDeviceTensor::wrap(nothing, IndexType::I32.dtype(), none)?;
        let (op, rules) = (Op::gather_nd(), Rules::default());
        self.gather_from(op, &rules, TableRef::Plain(&from), &nothing)?
            .reshape(&shape)
    }

    /// A copy of what a tensor reaches, with the same strides. Its buffers have `COPY_SRC`.
    fn copy_of(&mut self, tensor: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        let (storage, width) = (tensor.storage(), tensor.element_bytes());
        let (layout, bytes) = tensor.layout().trimmed(width);
        let bytes = bytes.start as i64..bytes.end as i64;
        let (copy, commands) = storage.copy(self.context, bytes)?;
        self.recording.push(commands);
        let both = storage.owned().chain(copy.owned());
        both.for_each(|owned| self.recording.keep(owned));
        let copy = AnyDeviceTensor::new(copy, layout, tensor.element_type());
        Lookups::NONE.note(self.recording, &copy, &[tensor]);
        Ok(copy)
    }
}

/// Refuses a fold that the device does not have.
fn check_folds(op: OpKind, reduce: Reduce, element: ElementType) -> Result<()> {
    let dtype = dtype_of(op, Role::Updates, element)?;
    FoldKernel::of(op, reduce, dtype).map(drop)
}
