//! Destinations for data read back from the device: one slice, or chunk after chunk.
//!
//! Used by host calls.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::storage::Located;
use crate::gpu::wait::Drive;

/// Takes an output, part by part and in order.
pub(super) trait Sink {
    /// Why it may end the call.
    type Error: From<Error>;

    /// Takes the bytes `bytes` of the output, the first of which is the first at `made`.
    async fn take(
        &mut self,
        context: &Context,
        made: Located<'_>,
        bytes: Range<usize>,
        drive: Drive,
    ) -> Result<(), Self::Error>;
}

/// Host memory for all of the output.
pub(super) struct Whole<'a>(pub(super) &'a mut [u8]);

impl Sink for Whole<'_> {
    type Error = Error;

    async fn take(
        &mut self,
        context: &Context,
        made: Located<'_>,
        bytes: Range<usize>,
        drive: Drive,
    ) -> Result<()> {
        let output = &mut self.0[bytes];
        context.read(made, output, drive, &mut |_, _| ()).await
    }
}

/// Calls `piece` with as many bytes at a time as the buffer has, or fewer.
pub(super) struct Pieces<F> {
    pub(super) buffer: Vec<u8>,
    pub(super) piece: F,
}

impl<E, F> Sink for Pieces<F>
where
    E: From<Error>,
    F: FnMut(&[u8]) -> Result<(), E>,
{
    type Error = E;

    async fn take(
        &mut self,
        context: &Context,
        made: Located<'_>,
        bytes: Range<usize>,
        drive: Drive,
    ) -> Result<(), E> {
        for start in (0..bytes.len()).step_by(self.buffer.len().max(1)) {
            let len = self.buffer.len().min(bytes.len() - start);
            let here = made.clone().moved(-(start as i64));
            let output = &mut self.buffer[..len];
            context.read(here, output, drive, &mut |_, _| ()).await?;
            (self.piece)(output)?;
        }
        Ok(())
    }
}
