//! The calls of a scatter on host tensors, as an executor's methods.

use bytemuck::AnyBitPattern;

use crate::cpu;
use crate::element::{HasDType, elements_from_bits};
#[cfg(feature = "gpu")]
use crate::error::Error;
use crate::error::{Result, Role};
use crate::executor::Executor;
use crate::fold::Reduce;
#[cfg(feature = "gpu")]
use crate::gpu::{Engine, PollMode, WhenFull};
use crate::index::Index;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::rules::Rules;
#[cfg(feature = "gpu")]
use crate::scatter::FoldKernel;
use crate::scatter::{ScatterCall, ScatterLayouts, ScatterPlan};
use crate::tensor::{Tensor, TensorView};

impl Executor {
    /// Scatters `updates` over a copy of `base`: the transpose of the gather `op`, whose params have
    /// the shape of `base`, and whose output that of `updates`.
    ///
    /// ```text
    ///  base       indices   updates      result                  scatter, axis 0, add
    /// ┌─────┐     ┌───┐     ┌─────┐     ┌─────┐
    /// │ 1 1 │ 0   │ 2 │     │ a b │     │ 1 1 │
    /// │ 1 1 │ 1   │ 0 │     │ c d │  →  │ …   │   where output[o] of the gather would have read an
    /// │ 1 1 │ 2   │ 2 │     │ e f │     │ …   │   element of params, updates[o] goes there
    /// └─────┘     └───┘     └─────┘     └─────┘
    /// ```
    ///
    /// What an index means, the rules say, as in a gather. An index that would have read zeros or the
    /// fill value writes nothing; under [`OutOfBounds::Clip`](crate::OutOfBounds::Clip) it writes to
    /// the edge, under [`OutOfBounds::Wrap`](crate::OutOfBounds::Wrap) where it wraps to, and under
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error) the call fails.
    ///
    /// Updates that meet at one destination are taken in row-major order of the indices, after its
    /// own value; so the result has the same bits as the sequential loop, on every executor, for any
    /// number of threads. Elements that nothing writes to keep their bits. f16 and bf16 are folded
    /// in f32 and rounded once. A NaN that is made (by any reduction but [`Reduce::None`]) has the
    /// bits of a quiet one without sign and payload; -0 is less than +0. GPUs may take subnormal
    /// numbers for zeros.
    ///
    /// The lookups are sorted by where they write. Indices that are in order cost no sort: that they are
    /// is looked for, not promised by the caller.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Reduce, Rules, Tensor};
    ///
    /// let base = Tensor::new(&[3, 2], vec![1.0f32; 6])?;
    /// let ids = Tensor::new(&[3], vec![2i64, 0, 2])?;
    /// let updates = Tensor::new(&[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let sums = Executor::Cpu.scatter_blocking(
    ///     Op::gather(0), Reduce::Add, &Rules::TORCH, &base.view(), &ids.view(), &updates.view(),
    /// )?;
    /// assert_eq!(sums.data(), [4.0, 5.0, 1.0, 1.0, 7.0, 9.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`].
    pub async fn scatter<T: HasDType, I: Index>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
        updates: &TensorView<'_, T>,
    ) -> Result<Tensor<T>> {
        let (indices, updates) = (Indices::try_from(indices)?, Params::try_from(updates)?);
        let call = ScatterCall {
            op,
            reduce,
            rules,
            dtype: T::DTYPE,
            shape: base.shape(),
            indices: &indices,
            updates: &updates,
        };
        let bits = match (self, contiguous(base)) {
            (Executor::Cpu, Some(base)) => {
                cpu::scatter::scatter_over::<T>(&call.plan()?, &indices, &updates, base)?
            }
            _ => {
                let mut bits = copied(base)?;
                self.scatter_bytes(call, bytemuck::cast_slice_mut(&mut bits))
                    .await?;
                bits
            }
        };
        Tensor::new(base.shape(), elements_from_bits(Role::Output, bits)?)
    }

    /// Scatters in place: `destination` is a row-major tensor of this shape, such as a cache whose
    /// rows are written.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Reduce, Rules, Tensor};
    ///
    /// let mut cache = [0.0f32; 4 * 2]; // 4 places of 2 elements
    /// for step in 0..3 {
    ///     let place = Tensor::new(&[1], vec![step])?;
    ///     let row = Tensor::new(&[1, 2], vec![step as f32, 0.5])?;
    ///     Executor::Cpu.scatter_into_blocking(
    ///         Op::gather(0), Reduce::None, &Rules::ONNX,
    ///         &[4, 2], &mut cache, &place.view(), &row.view(),
    ///     )?;
    /// }
    /// assert_eq!(cache, [0.0, 0.5, 1.0, 0.5, 2.0, 0.5, 0.0, 0.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`].
    #[allow(
        clippy::too_many_arguments,
        reason = "the attributes and tensors of the operator"
    )]
    pub async fn scatter_into<T: HasDType + AnyBitPattern, I: Index>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        shape: &[usize],
        destination: &mut [T],
        indices: &TensorView<'_, I>,
        updates: &TensorView<'_, T>,
    ) -> Result<()> {
        let (indices, updates) = (Indices::try_from(indices)?, Params::try_from(updates)?);
        let call = ScatterCall {
            op,
            reduce,
            rules,
            dtype: T::DTYPE,
            shape,
            indices: &indices,
            updates: &updates,
        };
        self.scatter_bytes(call, bytemuck::cast_slice_mut(destination))
            .await
    }

    /// Scatters in place in bytes, for element types that are known only at run time.
    ///
    /// # Errors
    ///
    /// What [`Op::output_shape`] reports, in the name of the scatter, which calls the destination
    /// params; [`Error::UpdatesShape`](crate::Error::UpdatesShape),
    /// [`Error::ElementWidth`](crate::Error::ElementWidth),
    /// [`Error::OutputLength`](crate::Error::OutputLength),
    /// [`Error::ReduceType`](crate::Error::ReduceType),
    /// [`Error::NothingToRead`](crate::Error::NothingToRead),
    /// [`Error::FillWidth`](crate::Error::FillWidth): then nothing is written.
    /// [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds) under the rule
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error): then the good indices have written.
    pub async fn scatter_bytes(&self, call: ScatterCall<'_>, destination: &mut [u8]) -> Result<()> {
        match self {
            Executor::Reference => cpu::scatter_reference::scatter(call, destination),
            Executor::Cpu => on_the_cpu(&call.plan()?, call, destination),
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => on_the_gpu(engine, call, destination, PollMode::Aside).await,
        }
    }

    /// The gradient of the gather `op` with respect to its params, which have `params_shape`, if that
    /// with respect to its output is `grad_output`: what each element of params was read to is added
    /// up, from 0 on. Under each rule, what reads a zero or the fill value adds nothing, and what is
    /// clipped or wrapped adds to where it reads.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Rules, Tensor};
    ///
    /// let ids = Tensor::new(&[3], vec![1i32, 7, 1])?;
    /// let grad = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let of_table = |rules| {
    ///     Executor::Cpu.gather_gradient_blocking(
    ///         Op::gather(0), rules, &[2, 2], &ids.view(), &grad.view(),
    ///     )
    /// };
    /// assert_eq!(of_table(&Rules::TENSORFLOW_GPU)?.data(), [0.0, 0.0, 6.0, 8.0]);
    /// assert_eq!(of_table(&Rules::JAX_CLIP)?.data(), [0.0, 0.0, 9.0, 12.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`].
    pub async fn gather_gradient<T: HasDType, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &TensorView<'_, I>,
        grad_output: &TensorView<'_, T>,
    ) -> Result<Tensor<T>> {
        let (indices, updates) = (Indices::try_from(indices)?, Params::try_from(grad_output)?);
        let len = crate::shape::elements(Role::Params, params_shape, size_of::<T>())?;
        let mut bits = crate::memory::sparse_bits::<T>(Role::Output, len)?;
        let call = ScatterCall {
            op,
            reduce: Reduce::Add,
            rules,
            dtype: T::DTYPE,
            shape: params_shape,
            indices: &indices,
            updates: &updates,
        };
        self.scatter_bytes(call, bytemuck::cast_slice_mut(&mut bits))
            .await?;
        Tensor::new(params_shape, elements_from_bits(Role::Output, bits)?)
    }
}

fn on_the_cpu(plan: &ScatterPlan, call: ScatterCall<'_>, destination: &mut [u8]) -> Result<()> {
    cpu::scatter::scatter(plan, call.indices, call.updates, destination)
}

/// On the device; if that has no memory for it, on the CPU path, as the options of the engine say.
#[cfg(feature = "gpu")]
async fn on_the_gpu(
    engine: &Engine,
    call: ScatterCall<'_>,
    destination: &mut [u8],
    poll_mode: PollMode,
) -> Result<()> {
    let plan = call.plan()?;
    plan.check_destination(destination)?;
    FoldKernel::of(plan.op, plan.reduce, plan.dtype)?;
    if plan.keys.is_none() {
        return Ok(());
    }
    let (indices, updates) = (call.indices, call.updates);
    let made = engine
        .scatter_from_host(&plan, indices, updates, destination, poll_mode)
        .await;
    match made {
        // Nothing has been written so far.
        Err(Error::GpuOutOfMemory { .. }) if engine.when_full() == WhenFull::UseCpu => {
            on_the_cpu(&plan, call, destination)
        }
        made => engine.scatter_to_host(made?, destination, poll_mode).await,
    }
}

/// The bytes of a view, if they lie there as in a contiguous tensor.
fn contiguous<'a, T: HasDType>(base: &TensorView<'a, T>) -> Option<&'a [u8]> {
    let base = Params::try_from(base).ok()?;
    let (layout, width) = (base.layout(), base.element_bytes());
    if layout.is_empty() || !layout.is_contiguous() {
        return None;
    }
    let bytes = layout.shape().iter().product::<usize>() * width;
    Some(&base.bytes()[layout.offset() * width..][..bytes])
}

/// The elements of a view, contiguous.
fn copied<T: HasDType>(base: &TensorView<'_, T>) -> Result<Vec<T::Bits>> {
    // A gather of depth 0 copies all of params.
    let base = Params::try_from(base)?;
    let (nothing, none) = (Vec::new(), crate::Layout::contiguous(&[0]));
    let indices = Indices::new(nothing, crate::IndexType::I32, none)?;
    let base = match base.layout().rank() {
        0 => Params::new(
            base.bytes(),
            base.element_bytes(),
            base.layout().at_least_1d(),
        )?,
        _ => base,
    };
    let plan = crate::Plan::of(Op::gather_nd(), &Rules::default(), &base, &indices)?;
    cpu::gather::<T>(&plan, &base, &indices)
}

impl ScatterCall<'_> {
    /// Checks the call, and plans it for a contiguous destination.
    pub(crate) fn plan(&self) -> Result<ScatterPlan> {
        self.updates_shape()?;
        let tensors = ScatterLayouts {
            dtype: self.dtype,
            destination: &crate::Layout::contiguous(self.shape),
            index_type: self.indices.index_type(),
            indices: self.indices.layout(),
            updates: self.updates.layout(),
        };
        ScatterPlan::new(self.op, self.reduce, self.rules, tensors)
    }
}

/// The blocking twins. In a browser nothing may block, so there they do not exist.
#[cfg(not(target_arch = "wasm32"))]
impl Executor {
    /// [`Executor::scatter`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`].
    pub fn scatter_blocking<T: HasDType, I: Index>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
        updates: &TensorView<'_, T>,
    ) -> Result<Tensor<T>> {
        pollster::block_on(self.scatter(op, reduce, rules, base, indices, updates))
    }

    /// [`Executor::scatter_into`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`].
    #[allow(
        clippy::too_many_arguments,
        reason = "the attributes and tensors of the operator"
    )]
    pub fn scatter_into_blocking<T: HasDType + AnyBitPattern, I: Index>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        shape: &[usize],
        destination: &mut [T],
        indices: &TensorView<'_, I>,
        updates: &TensorView<'_, T>,
    ) -> Result<()> {
        pollster::block_on(self.scatter_into(
            op,
            reduce,
            rules,
            shape,
            destination,
            indices,
            updates,
        ))
    }

    /// [`Executor::scatter_bytes`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`].
    pub fn scatter_bytes_blocking(
        &self,
        call: ScatterCall<'_>,
        destination: &mut [u8],
    ) -> Result<()> {
        #[cfg(feature = "gpu")]
        if let Executor::Gpu(engine) = self {
            // This thread drives the device, instead of waiting for one that does.
            return pollster::block_on(on_the_gpu(engine, call, destination, PollMode::Here));
        }
        pollster::block_on(self.scatter_bytes(call, destination))
    }

    /// [`Executor::gather_gradient`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`].
    pub fn gather_gradient_blocking<T: HasDType, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &TensorView<'_, I>,
        grad_output: &TensorView<'_, T>,
    ) -> Result<Tensor<T>> {
        pollster::block_on(self.gather_gradient(op, rules, params_shape, indices, grad_output))
    }
}
