//! Destinations for data read back from the device: one slice, or chunk after chunk.
//!
//! Used by host calls.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::storage::Placement;
use crate::gpu::wait::PollMode;

/// Takes an output, part by part and in order.
pub(super) trait Writer {
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
pub(super) struct Whole<'a>(pub(super) &'a mut [u8]);

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
        context.read(made, output, poll_mode, &mut |_, _| ()).await
    }
}

/// Calls `chunk` with as many bytes at a time as the buffer has, or fewer.
pub(super) struct Chunks<F> {
    pub(super) buffer: Vec<u8>,
    pub(super) chunk: F,
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
            context
                .read(here, output, poll_mode, &mut |_, _| ())
                .await?;
            (self.chunk)(output)?;
        }
        Ok(())
    }
}
