//! A pooled lookup with its buffers, recorded into the caller's encoder or pass.

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::commands::{Command, encode_into};
use crate::gpu::status::Status;

/// A pooled lookup with its pipelines and its buffers: all checks are done and all objects of wgpu are
/// made. Made by [`Engine::bind_bags`](crate::gpu::Engine::bind_bags).
///
/// Recording it costs what its dispatches cost. It keeps the buffers alive.
#[derive(Debug)]
pub struct BagBinding {
    pub(super) commands: Vec<Command>,
    pub(super) status: Option<Status>,
}

impl BagBinding {
    /// Records the pooled lookup into `encoder`, in compute passes of its own. The status is cleared
    /// first.
    ///
    /// wgpu reports what is wrong with the recording (an encoder of another device, a buffer that was
    /// destroyed since) when the encoder is finished or submitted.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(status) = &self.status {
            encoder.clear_buffer(status.buffer(), 0, None);
            status.note_recording();
        }
        encode_into(encoder, &self.commands);
    }

    /// Records the pooled lookup into `pass`. A status is not cleared: it goes on counting.
    ///
    /// # Errors
    ///
    /// [`Error::CopyInPass`] of weights beside offsets, or of a bag in several parts: they are copied to
    /// where the shader reads both. Then nothing is recorded.
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) -> Result<()> {
        let dispatches = self.commands.iter().map(|command| match command {
            Command::Dispatch(dispatch) => Ok(dispatch),
            Command::Copy { .. } | Command::Clear(_) => Err(Error::CopyInPass {
                op: OpKind::EmbeddingBag,
                role: Role::Weights,
            }),
        });
        let dispatches = dispatches.collect::<Result<Vec<_>>>()?;
        self.status.iter().for_each(Status::note_recording);
        dispatches.into_iter().for_each(|d| d.record(pass));
        Ok(())
    }

    /// Where bad indices are counted, if the rules ask for an error: read it after the submission.
    pub fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }
}
