//! A gather of host tensors whose output the caller takes piece by piece.

use std::sync::{Arc, Mutex, PoisonError};

use crate::call::Gather;
use crate::cpu;
use crate::error::{Error, Result, Role};
use crate::executor::Executor;
use crate::memory::zeroed_bits;
use crate::waiting::{MaySend, PollMode, Waiting};

/// What takes a piece.
#[cfg(not(target_arch = "wasm32"))]
type Chunk<'a> = Box<dyn FnMut(&[u8]) -> Result<(), Stopped> + Send + 'a>;
#[cfg(target_arch = "wasm32")]
type Chunk<'a> = Box<dyn FnMut(&[u8]) -> Result<(), Stopped> + 'a>;

/// Why there are no more pieces.
enum Stopped {
    ByCaller,
    By(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::By(error)
    }
}

/// Calls `chunk` with the output's bytes, up to `most_bytes` at a time.
///
/// The types of the caller stay out of the future that has the executor: see `waits`.
pub(super) fn chunks<'a, E, F>(
    executor: Executor,
    call: Result<Gather<'a>>,
    most_bytes: usize,
    mut chunk: F,
) -> Waiting<'a, Result<(), E>>
where
    E: From<Error> + MaySend + 'a,
    F: FnMut(&[u8]) -> Result<(), E> + MaySend + 'a,
{
    let failed = Arc::new(Mutex::new(None));
    let fails = Arc::clone(&failed);
    let taken = begin(
        executor,
        call,
        most_bytes,
        Box::new(move |bytes| {
            chunk(bytes).map_err(|error| {
                *fails.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Stopped::ByCaller
            })
        }),
    );
    Waiting::new(move |poll_mode| async move {
        match taken.within(poll_mode).await {
            Ok(()) => Ok(()),
            Err(Stopped::By(error)) => Err(error.into()),
            Err(Stopped::ByCaller) => {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.take().map_or(Ok(()), Err)
            }
        }
    })
}

fn begin<'a>(
    executor: Executor,
    call: Result<Gather<'a>>,
    most_bytes: usize,
    chunk: Chunk<'a>,
) -> Waiting<'a, Result<(), Stopped>> {
    Waiting::new(move |poll_mode| async move {
        execute(&executor, &call?, most_bytes, chunk, poll_mode).await
    })
}

/// Calls `chunk` with the output's bytes. What the device had no memory for, the CPU path makes: from where
/// the device stopped.
#[cfg_attr(
    not(feature = "gpu"),
    expect(clippy::unused_async, reason = "a device is waited for")
)]
async fn execute(
    executor: &Executor,
    call: &Gather<'_>,
    most_bytes: usize,
    mut chunk: Chunk<'_>,
    _poll_mode: PollMode,
) -> Result<(), Stopped> {
    match executor {
        Executor::Reference => {
            let bytes = call.output_bytes(&call.output_shape()?)?;
            let mut output = zeroed_bits::<u8>(Role::Output, bytes)?;
            cpu::reference::gather(call, &mut output)?;
            output.chunks(most_bytes).try_for_each(chunk)
        }
        Executor::Cpu => cpu::gather::chunks(call, &call.plan()?, (0, most_bytes), &mut chunk),
        #[cfg(feature = "gpu")]
        Executor::Gpu(engine) => {
            let plan = call.plan()?;
            let made = match engine.gather_from_host(call, &plan, _poll_mode).await {
                Err(error) if engine.falls_back(&error) => {
                    return cpu::gather::chunks(call, &plan, (0, most_bytes), &mut chunk);
                }
                made => made?,
            };
            let Some(made) = made else { return Ok(()) };
            let all = plan.output_bytes();
            let mut buffer = zeroed_bits::<u8>(Role::Output, most_bytes.min(all))?;
            for taken in (0..all).step_by(most_bytes) {
                let part = &mut buffer[..most_bytes.min(all - taken)];
                match engine.read_from(&made, taken, part, _poll_mode).await {
                    Err(error) if engine.falls_back(&error) => {
                        return cpu::gather::chunks(call, &plan, (taken, most_bytes), &mut chunk);
                    }
                    read => read?,
                }
                chunk(part)?;
            }
            Ok(())
        }
    }
}
