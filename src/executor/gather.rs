//! Gathers of host tensors.

use std::marker::PhantomData;

use bytemuck::AnyBitPattern;

use crate::call::Gather;
use crate::cpu;
use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::executor::Executor;
use crate::executor::chunks::chunks;
#[cfg(feature = "gpu")]
use crate::executor::waits::or_on_the_cpu;
use crate::executor::waits::waits;
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::plan::Plan;
use crate::rules::Rules;
use crate::table::sealed::Made;
use crate::table::{IndexTensor, Table};
use crate::waiting::{BoxFuture, MaySend, PollMode, Waiting};

impl Executor {
    /// Gathers from `table` at `indices`: see [`Op`] for what each operator selects, and for the shape of the
    /// output.
    ///
    /// The call is one value. `.await` it, or block this thread with [`wait`](GatherCall::wait);
    /// [`into`](GatherCall::into) writes to memory of yours, [`chunks`](GatherCall::chunks) never has the
    /// output whole.
    ///
    /// ```
    /// use wgpu_gather::{DType, Executor, Layout, Op, Params, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let ids = Tensor::new(&[2], vec![2i64, 0])?;
    /// let rows = Executor::Cpu.gather(Op::gather(0), &Rules::TORCH, &table, &ids).wait()?;
    /// assert_eq!(rows, Tensor::new(&[2, 2], vec![5.0, 6.0, 1.0, 2.0])?);
    ///
    /// // the same of bytes, whose type is known at run time
    /// let bytes: &[u8] = bytemuck::cast_slice(table.data());
    /// let table = Params::new(bytes, DType::F32, Layout::contiguous(&[3, 2]))?;
    /// let any = Executor::Cpu.gather(Op::gather(0), &Rules::TORCH, &table, &ids).wait()?;
    /// assert_eq!(Tensor::<f32>::try_from(any)?, rows);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// Elements of a quantized table are decoded ([`QuantizedTable::to`](crate::quantized::QuantizedTable::to));
    /// its shape is in elements, and a fill value is one of the type that it is decoded to.
    ///
    /// # Errors
    ///
    /// When the call is made: an [`Error`] that names the attribute, dim or type that does not fit;
    /// [`Error::NothingToRead`] and [`Error::FillWidth`] for rules that cannot be followed;
    /// [`Error::SizeOverflow`] for an output that cannot be addressed; [`Error::IndexOutOfBounds`] under the
    /// rule [`OutOfBounds::Error`](crate::OutOfBounds::Error); [`Error::HostOutOfMemory`];
    /// [`Error::InvalidBits`] for a fill value that is none of the element type. On a GPU also the errors of
    /// the device, but for lack of memory, where the CPU path takes over
    /// (`gpu::Options::when_full`).
    pub fn gather<'a, T: Table, I: IndexTensor>(
        &self,
        op: Op,
        rules: &'a Rules,
        table: &'a T,
        indices: &'a I,
    ) -> GatherCall<'a, T> {
        let call = || {
            Ok(Gather {
                op,
                rules,
                table: table.operand()?,
                indices: indices.indices()?,
            })
        };
        GatherCall {
            executor: self.clone(),
            call: call(),
            table: PhantomData,
        }
    }
}

/// A gather of host tensors, to be made: see [`Executor::gather`].
#[derive(Debug)]
#[must_use = "nothing is done until it is awaited, or `wait` is called"]
pub struct GatherCall<'a, T> {
    executor: Executor,
    call: Result<Gather<'a>>,
    table: PhantomData<fn() -> T>,
}

impl<'a, T: Table> GatherCall<'a, T> {
    /// Writes the output to `output`, memory of the caller, which receives the elements, row-major: their
    /// bytes, where the type is known at run time only.
    ///
    /// Saves what a new output costs each time: the system clears fresh memory page by page before
    /// it is written to. The GPU path downloads straight to `output`.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let mut rows = [0.0f32; 4];
    /// for ids in [[2i64, 0], [1, 1]] {
    ///     let ids = Tensor::new(&[2], ids.to_vec())?;
    ///     Executor::Cpu.gather(Op::gather(0), &Rules::NUMPY, &table, &ids).into(&mut rows).wait()?;
    /// }
    /// assert_eq!(rows, [3.0, 4.0, 3.0, 4.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// Any bits are a value of the element type, as for all types that are [`bytemuck::Pod`]; so not `bool`
    /// and `char`, for which there are `u8` and `u32`.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if `output` has not as many elements as the output; then nothing is written.
    /// Else as [`Executor::gather`]; under [`Error::IndexOutOfBounds`] and the errors of a device, what
    /// `output` holds is not specified.
    pub fn into(self, output: &'a mut [T::Element]) -> Waiting<'a, Result<()>>
    where
        T::Element: AnyBitPattern,
    {
        let (executor, call) = (self.executor, self.call);
        Waiting::new(move |poll_mode| async move {
            let bytes = bytemuck::cast_slice_mut(output);
            execute(&executor, &call?, bytes, poll_mode).await
        })
    }

    /// Makes the output piece by piece: calls `chunk` with the elements' bytes, row-major: in order, as many
    /// at a time as suits the executor, from 1 to `most_bytes` (0 is taken for 1). The first error that
    /// `chunk` returns ends the call.
    ///
    /// For outputs that are larger than memory, or that go somewhere else at once:
    ///
    /// ```
    /// # use wgpu_gather::{Error, Executor, Op, Rules, Tensor};
    /// #[derive(Debug)]
    /// enum Failed {
    ///     Gather(Error),
    ///     Write(std::io::Error),
    /// }
    /// # impl From<Error> for Failed {
    /// #     fn from(error: Error) -> Self { Failed::Gather(error) }
    /// # }
    /// # use std::io::Write;
    /// let table = Tensor::new(&[3, 2], vec![1u8, 2, 3, 4, 5, 6])?;
    /// let ids = Tensor::new(&[2], vec![2i64, 0])?;
    ///
    /// let mut file = Vec::new();
    /// Executor::Cpu
    ///     .gather(Op::gather(0), &Rules::default(), &table, &ids)
    ///     .chunks(1 << 20, |chunk| file.write_all(chunk).map_err(Failed::Write))
    ///     .wait()
    ///     .unwrap();
    /// assert_eq!(file, [5, 6, 1, 2]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// The CPU path makes chunk after chunk in one buffer. The GPU path makes the output in the device's
    /// memory and downloads it chunk by chunk. The reference has it whole in memory. A bad index under
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error) is reported before the first chunk.
    ///
    /// # Errors
    ///
    /// What `chunk` returns; as [`Executor::gather`], and [`Error::HostOutOfMemory`] for a chunk.
    #[allow(private_bounds, reason = "Send, but for browsers")]
    pub fn chunks<E, F>(self, most_bytes: usize, chunk: F) -> Waiting<'a, Result<(), E>>
    where
        E: From<Error> + MaySend + 'a,
        F: FnMut(&[u8]) -> Result<(), E> + MaySend + 'a,
    {
        chunks(self.executor, self.call, most_bytes.max(1), chunk)
    }

    /// Checks the call, and plans it. Nothing is executed.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let ids = Tensor::new(&[4], vec![2i64, 0, 0, 1])?;
    /// let plan = Executor::Cpu.gather(Op::gather(0), &Rules::default(), &table, &ids).plan()?;
    /// assert_eq!((plan.output_shape(), plan.output_bytes()), (&[4, 2][..], 32));
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Shapes, attributes and rules that do not fit: those of [`Plan::new`].
    pub fn plan(&self) -> Result<Plan> {
        self.call.as_ref().map_err(Error::clone)?.plan()
    }
}

waits!(GatherCall<T: Table>, "[`Executor::gather`]");

/// Makes the call.
async fn make<E: Element, O: Made<E>>(
    executor: Executor,
    call: Result<Gather<'_>>,
    poll_mode: PollMode,
) -> Result<O> {
    let call = call?;
    let element = call.table.element_type();
    if let Executor::Cpu = executor {
        let plan = call.plan()?;
        let bits = cpu::gather::gathered::<E>(&call, &plan)?;
        return O::made(plan.output_shape(), element, bits);
    }
    let shape = call.output_shape()?;
    let len = call.output_bytes(&shape)? / size_of::<E>();
    let mut bits = zeroed_bits::<E>(Role::Output, len)?;
    let output = bytemuck::cast_slice_mut(&mut bits);
    execute(&executor, &call, output, poll_mode).await?;
    O::made(&shape, element, bits)
}

/// Writes the output's bytes. The reference is asked without a plan, which may be wrong.
#[cfg_attr(
    not(feature = "gpu"),
    expect(clippy::unused_async, reason = "a device is waited for")
)]
async fn execute(
    executor: &Executor,
    call: &Gather<'_>,
    output: &mut [u8],
    _poll_mode: PollMode,
) -> Result<()> {
    match executor {
        Executor::Reference => cpu::reference::gather(call, output),
        Executor::Cpu => cpu::gather::execute(call, &call.plan()?, output),
        #[cfg(feature = "gpu")]
        Executor::Gpu(engine) => {
            let on_the_device = async {
                let plan = call.plan()?;
                plan.check_output(output.len())?;
                let made = engine.gather_to_host(call, &plan, output, _poll_mode).await;
                or_on_the_cpu(engine, made, || cpu::gather::execute(call, &plan, output))
            };
            // What waits for a device has kilobytes, which calls on the CPU path would move too.
            Box::pin(on_the_device).await
        }
    }
}
