//! The verbs of the device, for every level: calls that are submitted together, recorded into the caller's
//! encoder, or bound. `run` has how they run.

mod run;

pub(in crate::gpu) use run::zero_indices;

use std::sync::Arc;

use crate::bag::Bags;
use crate::call::dtype_of;
use crate::element::ElementType;
use crate::error::{OpKind, Result, Role};
use crate::fold::Reduce;
use crate::gpu::context::Context;
use crate::gpu::record::bag::Bag;
use crate::gpu::record::gather::Gather;
use crate::gpu::record::operation::Operation;
use crate::gpu::record::recording::Recording;
use crate::gpu::record::scatter::Scatter;
use crate::gpu::tensor::table::sealed::AsTensor;
use crate::gpu::tensor::table::{IndexTensor, Table, Values, check_output, check_start};
use crate::op::Op;
use crate::rules::Rules;
use crate::scatter::FoldKernel;

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
    /// Gathers into a new tensor of the shape [`Op::output_shape`].
    ///
    /// # Errors
    ///
    /// Those of [`Engine::gather`](crate::gpu::Engine::gather): shapes, attributes, types or rules that do not fit.
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

    /// Gathers into a tensor of the caller: contiguous, of the shape [`Op::output_shape`], in a buffer that the
    /// call does not read.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::gather_into`](crate::gpu::Engine::gather_into): shapes, attributes, types or rules that do
    /// not fit, or an output of another shape, with gaps, or in a buffer that is read.
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

    /// Gathers at the first entries of indices only, as many as the `u32` at the start of `count` says. The rest of
    /// the output keeps its value.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::gather_counted`](crate::gpu::Engine::gather_counted): as for a gather into a tensor of
    /// the caller, and for a count in the wrong place or of a quantized table.
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

    /// Scatters over a copy of `base`, into a new tensor of its shape. `updates` have the shape that a gather from
    /// `base` would return.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::scatter`](crate::gpu::Engine::scatter): shapes, attributes or rules that do not fit, a
    /// reduction that the element type or the device does not have.
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
            let made = batch.packed(base)?;
            let scatter = Scatter::new(op, reduce, rules, &made, indices.indices(), updates)?;
            batch.run(&scatter, &made)?;
            Ok(T::of(made))
        })
    }

    /// Scatters in place: `updates`, of the shape that a gather from `destination` would return, are combined with
    /// the elements there.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::scatter_into`](crate::gpu::Engine::scatter_into): as for a scatter, and for a destination
    /// in which elements overlap or that lies in a buffer that is read.
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

    /// The gradient of a gather with respect to its params: a new tensor of the shape `params_shape`, in which the
    /// rows of `grad_output` are summed where the gather read.
    ///
    /// # Errors
    ///
    /// Those of a [scatter](crate::gpu::Engine::scatter) with [`Reduce::Add`]: shapes, attributes or rules that do
    /// not fit, elements without sums on a device.
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

    /// Pools the rows of a table into a new tensor: one row for each bag.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::embedding_bag`](crate::gpu::Engine::embedding_bag): offsets, shapes, types, weights or
    /// rules that do not fit.
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

    /// Pools the rows of a table into a tensor of the caller: contiguous, with one row for each bag, in a buffer
    /// that the call does not read.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::embedding_bag_into`](crate::gpu::Engine::embedding_bag_into): offsets, shapes, types,
    /// weights or rules that do not fit, or an output of another shape, with gaps, or in a buffer that is read.
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
}

/// Refuses a fold that the device does not have.
fn check_folds(op: OpKind, reduce: Reduce, element: ElementType) -> Result<()> {
    let dtype = dtype_of(op, Role::Updates, element)?;
    FoldKernel::of(op, reduce, dtype).map(drop)
}
