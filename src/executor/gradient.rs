//! Gradients of gathers of host tensors: scatters that add up, from zeros on.

use std::marker::PhantomData;

use bytemuck::AnyBitPattern;

use crate::call::Scatter;
use crate::element::Element;
use crate::error::{Result, Role};
use crate::executor::Executor;
use crate::executor::scatter;
use crate::executor::waits::waits;
use crate::fold::Reduce;
use crate::memory::sparse_bits;
use crate::op::Op;
use crate::rules::Rules;
use crate::shape::{Dims, elements};
use crate::table::sealed::Made;
use crate::table::{IndexTensor, Values};
use crate::waiting::{BoxFuture, PollMode, Waiting};

impl Executor {
    /// The gradient of the gather `op` with respect to its params: a tensor of the shape `params_shape`, in which
    /// `grad_output`, the gradient with respect to the output, is summed into the positions that were read, in the
    /// order of the indices. An index that reads zeros or the fill value adds nothing; one that is clipped or
    /// wrapped adds to the position that it reads.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Rules, Tensor};
    ///
    /// let ids = Tensor::new(&[3], vec![1i32, 7, 1])?;
    /// let grad = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let of_table = |rules| {
    ///     Executor::Cpu.gather_gradient(Op::gather(0), rules, &[2, 2], &ids, &grad).wait()
    /// };
    /// assert_eq!(of_table(&Rules::TENSORFLOW_GPU)?.data(), [0.0, 0.0, 6.0, 8.0]);
    /// assert_eq!(of_table(&Rules::JAX_CLIP)?.data(), [0.0, 0.0, 9.0, 12.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Executor::scatter`] with [`Reduce::Add`]: shapes, attributes or rules that do not fit, elements
    /// without sums.
    pub fn gather_gradient<'a, U: Values, I: IndexTensor>(
        &self,
        op: Op,
        rules: &'a Rules,
        params_shape: &[usize],
        indices: &'a I,
        grad_output: &'a U,
    ) -> GradientCall<'a, U> {
        let call = || {
            Ok(Scatter {
                op,
                reduce: Reduce::Add,
                rules,
                shape: Dims::from_slice(params_shape),
                indices: indices.indices()?,
                updates: grad_output.values()?,
            })
        };
        GradientCall {
            executor: self.clone(),
            call: call(),
            grad_output: PhantomData,
        }
    }
}

/// The gradient of a gather of host tensors, to be made: see [`Executor::gather_gradient`].
#[derive(Debug)]
#[must_use = "nothing is done until it is awaited, or `wait` is called"]
pub struct GradientCall<'a, U> {
    executor: Executor,
    call: Result<Scatter<'a>>,
    grad_output: PhantomData<fn() -> U>,
}

impl<'a, U: Values> GradientCall<'a, U> {
    /// Writes the gradient to `output`, memory of the caller, whatever was there: the elements of a row-major
    /// tensor of the shape of params, or their bytes where the type is known at run time only.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Rules, Tensor};
    ///
    /// let ids = Tensor::new(&[2], vec![1i32, 1])?;
    /// let grad = Tensor::new(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
    /// let mut of_table = [f32::NAN; 2 * 2];
    /// Executor::Cpu
    ///     .gather_gradient(Op::gather(0), &Rules::TORCH, &[2, 2], &ids, &grad)
    ///     .into(&mut of_table)
    ///     .wait()?;
    /// assert_eq!(of_table, [0.0, 0.0, 4.0, 6.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Executor::scatter`] with [`Reduce::Add`]: shapes, attributes or rules that do not fit, elements
    /// without sums. [`Error::OutputLength`](crate::Error::OutputLength) for memory of another length: then nothing is
    /// written.
    pub fn into(self, output: &'a mut [U::Element]) -> Waiting<'a, Result<()>>
    where
        U::Element: AnyBitPattern,
    {
        let (executor, call) = (self.executor, self.call);
        Waiting::new(move |poll_mode| async move {
            let call = call?;
            call.plan()?
                .check_destination(bytemuck::cast_slice(output))?;
            let output: &mut [u8] = bytemuck::cast_slice_mut(output);
            output.fill(0);
            scatter::execute(&executor, &call, output, poll_mode).await
        })
    }
}

waits!(GradientCall<U: Values>, "[`Executor::scatter`] with [`Reduce::Add`]");

/// Makes the call.
async fn make<E: Element, O: Made<E>>(
    executor: Executor,
    call: Result<Scatter<'_>>,
    poll_mode: PollMode,
) -> Result<O> {
    let call = call?;
    let element = call.updates.element_type();
    let count = elements(Role::Params, &call.shape, element.bytes())?;
    let len = count * element.bytes() / size_of::<E>();
    let mut bits = sparse_bits::<E>(Role::Output, len)?;
    let gradient = bytemuck::cast_slice_mut(&mut bits);
    scatter::execute(&executor, &call, gradient, poll_mode).await?;
    O::made(&call.shape, element, bits)
}
