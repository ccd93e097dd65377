//! A pooled lookup with its buffers, recorded into the caller's encoder.

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

    /// Where bad indices are counted, if the rules ask for an error: read it after the submission.
    pub fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }
}
