//! Scatters of host tensors.

use std::marker::PhantomData;

use bytemuck::AnyBitPattern;

use crate::call::{Scatter, check_same};
use crate::cpu;
use crate::element::Element;
use crate::error::{Result, Role};
use crate::executor::Executor;
#[cfg(feature = "gpu")]
use crate::executor::waits::or_on_the_cpu;
use crate::executor::waits::waits;
use crate::fold::Reduce;
use crate::op::Op;
use crate::operand::Params;
use crate::packed::{contiguous, copied};
use crate::rules::Rules;
use crate::scatter::ScatterPlan;
use crate::shape::Dims;
use crate::table::sealed::Made;
use crate::table::{IndexTensor, Values};
use crate::waiting::{BoxFuture, PollMode, Waiting};

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
    /// A device sorts the lookups by where they write. So does the CPU path on more than 8 threads, where several
    /// threads fold rows of 2 KiB and more of a destination beyond 4 MiB that has no more rows than there are lookups,
    /// where the updates of a lookup are no row, and for sums and products of f16 and bf16. Indices that are in order
    /// cost no sort: that they are is looked for, not promised by the caller.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Reduce, Rules, Tensor};
    ///
    /// let base = Tensor::new(&[3, 2], vec![1.0f32; 6])?;
    /// let ids = Tensor::new(&[3], vec![2i64, 0, 2])?;
    /// let updates = Tensor::new(&[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let sums = Executor::Cpu
    ///     .scatter(Op::gather(0), Reduce::Add, &Rules::TORCH, &base, &ids, &updates)
    ///     .wait()?;
    /// assert_eq!(sums.data(), [4.0, 5.0, 1.0, 1.0, 7.0, 9.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the call is made: what [`Op::output_shape`] reports, in the name of the scatter, which calls the
    /// destination params; [`Error::UpdatesShape`](crate::Error::UpdatesShape),
    /// [`Error::OtherElements`](crate::Error::OtherElements) and
    /// [`Error::ElementsWithout`](crate::Error::ElementsWithout) for a type that is not that of `updates`, or
    /// that is none of numbers; [`Error::ReduceType`](crate::Error::ReduceType),
    /// [`Error::NothingToRead`](crate::Error::NothingToRead),
    /// [`Error::FillWidth`](crate::Error::FillWidth);
    /// [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds) under the rule
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error). On a GPU also
    /// [`Error::CpuOnly`](crate::Error::CpuOnly) for f64 and complex numbers, unless they are only moved, and
    /// [`Error::TensorTooLarge`](crate::Error::TensorTooLarge),
    /// [`Error::TooComplex`](crate::Error::TooComplex) and [`Error::TooMany`](crate::Error::TooMany) for what
    /// the device cannot hold; the errors of the device, but for lack of memory.
    pub fn scatter<'a, T, U, I>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &'a Rules,
        base: &'a T,
        indices: &'a I,
        updates: &'a U,
    ) -> ScatterCall<'a, T>
    where
        T: Values,
        U: Values<Element = T::Element>,
        I: IndexTensor,
    {
        let call = || {
            let base = base.values()?;
            let call = Scatter {
                op,
                reduce,
                rules,
                shape: Dims::from_slice(base.layout().shape()),
                indices: indices.indices()?,
                updates: updates.values()?,
            };
            Ok((base, call))
        };
        ScatterCall {
            executor: self.clone(),
            call: call(),
            base: PhantomData,
        }
    }

    /// Scatters in place. `destination` has the elements of a row-major tensor of shape `shape` (their bytes, if the
    /// type is known at run time only); `updates` have the shape that a gather from it would return.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Reduce, Rules, Tensor};
    ///
    /// let mut cache = [0.0f32; 4 * 2]; // 4 places of 2 elements
    /// for step in 0..3 {
    ///     let place = Tensor::new(&[1], vec![step])?;
    ///     let row = Tensor::new(&[1, 2], vec![step as f32, 0.5])?;
    ///     Executor::Cpu
    ///         .scatter_into(
    ///             Op::gather(0), Reduce::None, &Rules::ONNX, &[4, 2], &mut cache, &place, &row,
    ///         )
    ///         .wait()?;
    /// }
    /// assert_eq!(cache, [0.0, 0.5, 1.0, 0.5, 2.0, 0.5, 0.0, 0.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Executor::scatter`]: shapes, attributes, types or rules that do not fit.
    /// [`Error::OutputLength`](crate::Error::OutputLength) for a destination of another length: then nothing is
    /// written. Under
    /// [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds) the good indices have written.
    #[allow(
        clippy::too_many_arguments,
        reason = "the attributes and tensors of the operator"
    )]
    pub fn scatter_into<'a, U: Values, I: IndexTensor>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &'a Rules,
        shape: &[usize],
        destination: &'a mut [U::Element],
        indices: &'a I,
        updates: &'a U,
    ) -> Waiting<'a, Result<()>>
    where
        U::Element: AnyBitPattern,
    {
        let call = || {
            Ok(Scatter {
                op,
                reduce,
                rules,
                shape: Dims::from_slice(shape),
                indices: indices.indices()?,
                updates: updates.values()?,
            })
        };
        let (executor, call) = (self.clone(), call());
        Waiting::new(move |poll_mode| async move {
            // Borrowed, as a move would copy all layouts once more.
            let call = call.as_ref().map_err(Clone::clone)?;
            let destination = bytemuck::cast_slice_mut(destination);
            execute(&executor, call, destination, poll_mode).await
        })
    }
}

/// A scatter over a copy of a host tensor, to be made: see [`Executor::scatter`].
#[derive(Debug)]
#[must_use = "nothing is done until it is awaited, or `wait` is called"]
pub struct ScatterCall<'a, T> {
    executor: Executor,
    call: Result<(Params<'a>, Scatter<'a>)>,
    base: PhantomData<fn() -> T>,
}

impl<T: Values> ScatterCall<'_, T> {
    /// Checks the call, and plans it. Nothing is executed.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Reduce, Rules, Tensor};
    ///
    /// let base = Tensor::new(&[3, 2], vec![1.0f32; 6])?;
    /// let ids = Tensor::new(&[3], vec![2i64, 0, 2])?;
    /// let updates = Tensor::new(&[3, 2], vec![1.0; 6])?;
    /// let call = Executor::Cpu.scatter(Op::gather(0), Reduce::Add, &Rules::TORCH, &base, &ids, &updates);
    /// println!("{}", call.plan()?.explain());
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Shapes, attributes, types and rules that do not fit: those of [`ScatterPlan::new`].
    pub fn plan(&self) -> Result<ScatterPlan> {
        self.call.as_ref().map_err(Clone::clone)?.1.plan()
    }
}

waits!(ScatterCall<T: Values>, "[`Executor::scatter`]");

/// Makes the call.
async fn make<E: Element, O: Made<E>>(
    executor: Executor,
    call: Result<(Params<'_>, Scatter<'_>)>,
    poll_mode: PollMode,
) -> Result<O> {
    let (base, call) = call?;
    let op = call.op.transposed_kind();
    check_same(op, Role::Params, call.dtype()?, base.element_type())?;
    let bits = match (&executor, contiguous(&base)) {
        (Executor::Cpu, Some(bytes)) => {
            let plan = call.plan()?;
            cpu::scatter::scatter_over::<E>(&plan, &call.indices, &call.updates, bytes)?
        }
        (executor, _) => {
            let mut bits = copied::<E>(&base)?;
            let destination = bytemuck::cast_slice_mut(&mut bits);
            execute(executor, &call, destination, poll_mode).await?;
            bits
        }
    };
    O::made(&call.shape, base.element_type(), bits)
}

/// Scatters into the bytes of a row-major destination.
#[cfg_attr(
    not(feature = "gpu"),
    expect(clippy::unused_async, reason = "a device is waited for")
)]
pub(super) async fn execute(
    executor: &Executor,
    call: &Scatter<'_>,
    destination: &mut [u8],
    _poll_mode: PollMode,
) -> Result<()> {
    let on_the_cpu = |plan: &ScatterPlan, destination: &mut [u8]| {
        cpu::scatter::scatter(plan, &call.indices, &call.updates, destination)
    };
    match executor {
        Executor::Reference => cpu::reference::scatter(call, destination),
        Executor::Cpu => on_the_cpu(&call.plan()?, destination),
        #[cfg(feature = "gpu")]
        Executor::Gpu(engine) => {
            let on_the_device = async {
                let plan = call.plan()?;
                plan.check_destination(destination)?;
                let made = engine.scatter_from_host(call, &plan, destination, _poll_mode);
                let made = made.await;
                // Nothing has been written so far.
                let made = or_on_the_cpu(engine, made, || {
                    on_the_cpu(&plan, destination).map(|()| None)
                })?;
                match made {
                    Some(made) => engine.scatter_to_host(&made, destination, _poll_mode).await,
                    None => Ok(()),
                }
            };
            // What waits for a device has kilobytes, which calls on the CPU path would move too.
            Box::pin(on_the_device).await
        }
    }
}
