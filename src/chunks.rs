//! Gathers whose output is never whole in memory.

use crate::call::GatherCall;
#[cfg(feature = "gpu")]
use crate::call::PlannedCall;
use crate::cpu;
use crate::error::{Error, Role};
use crate::executor::Executor;
#[cfg(feature = "gpu")]
use crate::gpu::{Engine, PollMode, WhenFull};
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::operand::{Indices, Params};
#[cfg(feature = "gpu")]
use crate::quantized::PlannedQuantized;
use crate::quantized::QuantizedCall;
use crate::rules::Rules;

impl Executor {
    /// Gathers bytes, and calls `chunk` with the elements, row-major: in order, as many bytes at a
    /// time as suits the executor, from 1 to `most_bytes` (0 is taken for 1). The first error that
    /// `chunk` returns ends the call.
    ///
    /// For outputs that are larger than memory, or that go somewhere else at once:
    ///
    /// ```
    /// # use wgpu_gather::{Error, Executor, Indices, Op, Params, Rules, Tensor};
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
    /// let (params, indices) = (Params::try_from(&table.view())?, Indices::try_from(&ids.view())?);
    ///
    /// let mut file = Vec::new();
    /// Executor::Cpu.run_chunks_blocking(
    ///     Op::gather(0), &Rules::default(), &params, &indices, 1 << 20,
    ///     |chunk| file.write_all(chunk).map_err(Failed::Write),
    /// ).unwrap();
    /// assert_eq!(file, [5, 6, 1, 2]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// The CPU path makes chunk after chunk in one buffer. The GPU path makes the output in the
    /// device's memory, whole or box by box (see [`Plan::host_call`](crate::Plan::host_call)), and downloads it chunk by
    /// chunk. The reference has it whole in memory. A bad index under
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error) is reported before the first chunk.
    ///
    /// # Errors
    ///
    /// What `chunk` returns; as [`Executor::run_bytes`], and
    /// [`Error::HostOutOfMemory`] for a chunk.
    pub async fn run_chunks<E: From<Error>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &Params<'_>,
        indices: &Indices<'_>,
        most_bytes: usize,
        mut chunk: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let planned = GatherCall::new(op, rules, params, indices).planned()?;
        let most_bytes = most_bytes.max(1);
        match self {
            Executor::Reference => {
                let mut output = zeroed_bits::<u8>(Role::Output, planned.plan.output_bytes())?;
                cpu::reference::gather(planned.call, &mut output)?;
                output.chunks(most_bytes).try_for_each(chunk)
            }
            Executor::Cpu => cpu::chunks(&planned, 0, most_bytes, &mut chunk),
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => {
                on_the_gpu(engine, &planned, most_bytes, &mut chunk, PollMode::Aside).await
            }
        }
    }

    /// [`Executor::run_chunks`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_chunks`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_chunks_blocking<E: From<Error>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &Params<'_>,
        indices: &Indices<'_>,
        most_bytes: usize,
        #[cfg_attr(
            not(feature = "gpu"),
            allow(unused_mut, reason = "the GPU path lends it")
        )]
        mut chunk: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        // This thread drives the device, instead of waiting for one that does.
        #[cfg(feature = "gpu")]
        if let Executor::Gpu(engine) = self {
            let planned = GatherCall::new(op, rules, params, indices).planned()?;
            let (most_bytes, poll_mode) = (most_bytes.max(1), PollMode::Here);
            let made = on_the_gpu(engine, &planned, most_bytes, &mut chunk, poll_mode);
            return pollster::block_on(made);
        }
        pollster::block_on(self.run_chunks(op, rules, params, indices, most_bytes, chunk))
    }
}

/// Gathers from quantized tables.
impl Executor {
    /// As [`Executor::run_chunks`], from a quantized table.
    ///
    /// # Errors
    ///
    /// What `chunk` returns; as [`Executor::gather_quantized_bytes`], and
    /// [`Error::HostOutOfMemory`] for a chunk.
    pub async fn gather_quantized_chunks<E: From<Error>>(
        &self,
        call: QuantizedCall<'_>,
        most_bytes: usize,
        mut chunk: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let planned = call.planned()?;
        let most_bytes = most_bytes.max(1);
        match self {
            Executor::Reference => {
                let mut output = zeroed_bits::<u8>(Role::Output, planned.plan.output_bytes())?;
                cpu::reference::gather_quantized(call, &mut output)?;
                output.chunks(most_bytes).try_for_each(chunk)
            }
            Executor::Cpu => cpu::decoded_chunks(&planned, 0, most_bytes, &mut chunk),
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => {
                let poll_mode = PollMode::Aside;
                decoded_on_the_gpu(engine, &planned, most_bytes, &mut chunk, poll_mode).await
            }
        }
    }

    /// [`Executor::gather_quantized_chunks`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::gather_quantized_chunks`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_quantized_chunks_blocking<E: From<Error>>(
        &self,
        call: QuantizedCall<'_>,
        most_bytes: usize,
        #[cfg_attr(
            not(feature = "gpu"),
            allow(unused_mut, reason = "the GPU path lends it")
        )]
        mut chunk: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        // This thread drives the device, instead of waiting for one that does.
        #[cfg(feature = "gpu")]
        if let Executor::Gpu(engine) = self {
            let planned = call.planned()?;
            let (most_bytes, poll_mode) = (most_bytes.max(1), PollMode::Here);
            let made = decoded_on_the_gpu(engine, &planned, most_bytes, &mut chunk, poll_mode);
            return pollster::block_on(made);
        }
        pollster::block_on(self.gather_quantized_chunks(call, most_bytes, chunk))
    }
}

/// Why a call on the device ended.
#[cfg(feature = "gpu")]
enum Stopped<E> {
    /// The gather failed.
    Gather(Error),
    /// The caller's function returned an error.
    Chunk(E),
}

#[cfg(feature = "gpu")]
impl<E> From<Error> for Stopped<E> {
    fn from(error: Error) -> Self {
        Stopped::Gather(error)
    }
}

/// What the device makes; where it runs out of memory, the CPU path makes the rest, if the options
/// of the engine say so.
#[cfg(feature = "gpu")]
async fn on_the_gpu<E: From<Error>>(
    engine: &Engine,
    planned: &PlannedCall<'_>,
    most_bytes: usize,
    chunk: &mut impl FnMut(&[u8]) -> Result<(), E>,
    poll_mode: PollMode,
) -> Result<(), E> {
    let mut taken = 0;
    let counted = |bytes: &[u8]| {
        taken += bytes.len();
        chunk(bytes).map_err(Stopped::Chunk)
    };
    let PlannedCall { call, plan } = planned;
    let made = engine
        .execute_chunks(
            plan,
            call.params,
            call.indices,
            most_bytes,
            counted,
            poll_mode,
        )
        .await;
    or_the_rest(made, engine, || {
        cpu::chunks(planned, taken, most_bytes, chunk)
    })
}

/// [`on_the_gpu`] from a quantized table.
#[cfg(feature = "gpu")]
async fn decoded_on_the_gpu<E: From<Error>>(
    engine: &Engine,
    planned: &PlannedQuantized<'_>,
    most_bytes: usize,
    chunk: &mut impl FnMut(&[u8]) -> Result<(), E>,
    poll_mode: PollMode,
) -> Result<(), E> {
    let mut taken = 0;
    let counted = |bytes: &[u8]| {
        taken += bytes.len();
        chunk(bytes).map_err(Stopped::Chunk)
    };
    let made = engine
        .execute_quantized_chunks(planned, most_bytes, counted, poll_mode)
        .await;
    or_the_rest(made, engine, || {
        cpu::decoded_chunks(planned, taken, most_bytes, chunk)
    })
}

/// The result of a call on the device, or of `rest`, if it ran out of memory.
#[cfg(feature = "gpu")]
fn or_the_rest<E: From<Error>>(
    made: Result<(), Stopped<E>>,
    engine: &Engine,
    rest: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    match made {
        Ok(()) => Ok(()),
        Err(Stopped::Chunk(error)) => Err(error),
        Err(Stopped::Gather(Error::GpuOutOfMemory { .. }))
            if engine.when_full() == WhenFull::UseCpu =>
        {
            rest()
        }
        Err(Stopped::Gather(error)) => Err(error.into()),
    }
}
