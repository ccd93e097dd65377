//! Destinations for data read back from the device: one slice, or chunk after chunk.
//!
//! Used by host calls.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::tensor::storage::Placement;
use crate::waiting::PollMode;

/// Takes an output, part by part and in order.
pub(crate) trait Writer {
    /// Why it may end the call.
    type Error: From<Error>;

    /// Takes the bytes `bytes` of the output, the first of which is the first at `made`.
    async fn take(
        &mut self,
        context: &Context,
        made: Placement<'_>,
        bytes: Range<usize>,
        poll_mode: PollMode,
    ) -> Result<(), Self::Error>;
}

/// Host memory for all of the output.
pub(crate) struct Whole<'a>(pub(crate) &'a mut [u8]);

impl Writer for Whole<'_> {
    type Error = Error;

    async fn take(
        &mut self,
        context: &Context,
        made: Placement<'_>,
        bytes: Range<usize>,
        poll_mode: PollMode,
    ) -> Result<()> {
        let output = &mut self.0[bytes];
        context.read(made, output, poll_mode).await
    }
}

/// Calls `chunk` with as many bytes at a time as the buffer has, or fewer.
pub(crate) struct Chunks<F> {
    pub(crate) buffer: Vec<u8>,
    pub(crate) chunk: F,
}

impl<E, F> Writer for Chunks<F>
where
    E: From<Error>,
    F: FnMut(&[u8]) -> Result<(), E>,
{
    type Error = E;

    async fn take(
        &mut self,
        context: &Context,
        made: Placement<'_>,
        bytes: Range<usize>,
        poll_mode: PollMode,
    ) -> Result<(), E> {
        for start in (0..bytes.len()).step_by(self.buffer.len().max(1)) {
            let len = self.buffer.len().min(bytes.len() - start);
            let here = made.clone().with_origin(start as i64);
            let output = &mut self.buffer[..len];
            context.read(here, output, poll_mode).await?;
            (self.chunk)(output)?;
        }
        Ok(())
    }
}

/// Why a call that is taken chunk by chunk ended.
pub(crate) enum Stopped<E> {
    /// The call failed.
    Gather(Error),
    /// The caller's function returned an error.
    Chunk(E),
}

impl<E> From<Error> for Stopped<E> {
    fn from(error: Error) -> Self {
        Stopped::Gather(error)
    }
}
