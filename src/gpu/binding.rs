//! Calls with their pipelines and buffers, recorded into the caller's encoder or pass any number of times.

use crate::error::{BadIndices, Error, Result};
use crate::gpu::device::commands::{Command, encode_into};
use crate::gpu::record::recording::Recorded;
use crate::gpu::tensor::status::Counting;
use crate::waiting::{PollMode, Waiting};

/// Calls that are ready to be recorded: all checks are done and all objects of wgpu are made. Made by
/// [`Engine::bind`](crate::gpu::Engine::bind).
///
/// Recording it costs what its dispatches cost. It keeps the buffers alive.
#[derive(Debug)]
pub struct Binding {
    recorded: Recorded,
}

impl Binding {
    pub(super) fn new(recorded: Recorded) -> Self {
        Binding { recorded }
    }

    /// Records the calls into `encoder`, in compute passes of their own. Counts of bad indices are cleared
    /// first.
    ///
    /// wgpu reports what is wrong with the recording (an encoder of another device, a buffer that was
    /// destroyed since) when the encoder is finished or submitted.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        for counting in &self.recorded.bound {
            encoder.clear_buffer(counting.status.buffer(), 0, None);
            counting.note_recording();
        }
        encode_into(encoder, &self.recorded.commands);
    }

    /// Records the calls into a compute pass. Counts of bad indices go on from where they are.
    ///
    /// # Errors
    ///
    /// [`Error::CopyInPass`] if a call copies or clears a buffer, which no pass can: a gradient, bags with both weights and
    /// offsets. Then nothing is recorded.
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) -> Result<()> {
        self.encode_each(pass, |_, _| {})
    }

    /// The same; `before` is called before each dispatch.
    pub(in crate::gpu) fn encode_each(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        mut before: impl FnMut(&mut wgpu::ComputePass<'_>, &wgpu::ComputePipeline),
    ) -> Result<()> {
        if let Some((op, role)) = self.recorded.copies {
            return Err(Error::CopyInPass { op, role });
        }
        self.recorded
            .bound
            .iter()
            .for_each(Counting::note_recording);
        for command in &self.recorded.commands {
            if let Command::Dispatch(dispatch) = command {
                before(pass, &dispatch.pipeline);
                dispatch.record(pass);
            }
        }
        Ok(())
    }

    /// Waits for what was submitted so far, and says what bad indices its calls have met since they were last
    /// cleared: the first one, and how many there were. `None`, if all were good.
    ///
    /// # Errors
    ///
    /// [`Error::NotCounted`] if no call counts, as their rules ask for no error; [`Error::StatusUnused`] before
    /// it is recorded; the errors of the device.
    pub fn check(&self) -> Waiting<'_, Result<Option<BadIndices>>> {
        Waiting::new(|poll_mode| self.read(poll_mode))
    }

    async fn read(&self, poll_mode: PollMode) -> Result<Option<BadIndices>> {
        let mut found: Option<BadIndices> = None;
        for counting in &self.recorded.bound {
            let more = counting.status.read_driven(poll_mode).await?;
            found = match (found, more) {
                (Some(first), Some(more)) => Some(BadIndices {
                    count: first.count.saturating_add(more.count),
                    ..first
                }),
                (first, more) => first.or(more),
            };
        }
        match found {
            None if self.recorded.bound.is_empty() && self.recorded.uncounted => {
                Err(Error::NotCounted)
            }
            found => Ok(found),
        }
    }
}
