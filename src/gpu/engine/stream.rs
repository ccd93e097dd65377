//! Host calls on tensors beyond the device's memory: params go through it segment by segment.
//!
//! Called by `execute`.

use crate::error::Result;
use crate::gpu::engine::Engine;
use crate::gpu::placed::Placed;
use crate::gpu::recorder::Recorder;
use crate::gpu::status::Status;
use crate::gpu::storage::Storage;
use crate::gpu::wait::PollMode;
use crate::gpu::writer::Writer;
use crate::plan::{
    BindingLimits, CheckPass, Part, Parts, Pass, Plan, Segment, check_passes, passes,
};

/// What a call reads: of params and indices what their views reach, and at which byte of
/// the data that starts.
pub(super) struct Host<'a> {
    pub(super) params: &'a [u8],
    pub(super) params_at: usize,
    pub(super) indices: &'a [u8],
    pub(super) indices_at: usize,
}

/// Buffers that segments of the tensors go through.
struct Windows {
    params: Storage,
    indices: Storage,
    output: Storage,
}

impl Engine {
    /// Executes a plan for host tensors of any size, with buffers of so many bytes.
    pub(super) async fn stream<S: Writer>(
        &self,
        plan: &Plan,
        host: &Host<'_>,
        writer: &mut S,
        [params_bytes, indices_bytes, output_bytes]: [u64; 3],
        poll_mode: PollMode,
    ) -> Result<(), S::Error> {
        let context = self.context();
        let device = &context.binding_limits;
        let limits = BindingLimits {
            params_bytes: device.params_bytes.min(params_bytes) & !15,
            indices_bytes: device.indices_bytes.min(indices_bytes) & !15,
            pass_bytes: device.output_bytes.min(output_bytes) & !15,
            segments: 1,
            alignment: 16,
            ..*device
        };
        let recorder = Recorder::new(context, plan.clone())?;
        let parts = Parts {
            params: &[line(host.params_at, host.params.len())],
            indices: &[line(host.indices_at, host.indices.len())],
            output: &[line(0, plan.output_bytes())],
        };
        if plan.counts_bad_indices() {
            let checks = check_passes(plan, parts.indices, &limits)?;
            self.stream_checks(&recorder, &checks, host, poll_mode)
                .await?;
        }
        let windows = Windows {
            params: context.allocate("params", limits.params_bytes, &[])?,
            indices: context.allocate("indices", limits.indices_bytes, &[])?,
            output: context.allocate("output", limits.pass_bytes + 32, &[])?,
        };
        let all = passes(plan, parts, &limits)?;
        for (n, pass) in all.iter().enumerate() {
            self.stream_pass(&recorder, &windows, pass, host, poll_mode)
                .await?;
            let last_of_box = all.get(n + 1).is_none_or(|next| next.first);
            if last_of_box {
                let width = plan.element_bytes();
                let bytes = pass.elements.start * width..pass.elements.end * width;
                let made = windows
                    .output
                    .placement()
                    .with_origin(pass.output_offset as i64);
                writer.take(context, made, bytes, poll_mode).await?;
            }
        }
        Ok(())
    }

    async fn stream_pass(
        &self,
        recorder: &Recorder,
        windows: &Windows,
        pass: &Pass,
        host: &Host<'_>,
        poll_mode: PollMode,
    ) -> Result<()> {
        let (context, silent) = (self.context(), &mut |_, _| ());
        if let Some(segment) = pass.params.first() {
            let bytes = segment_of(host.params, host.params_at, segment);
            context
                .write(&windows.params, bytes, poll_mode, silent)
                .await?;
        }
        if let Some(segment) = pass.indices.as_ref().filter(|_| pass.first) {
            let bytes = segment_of(host.indices, host.indices_at, segment);
            context
                .write(&windows.indices, bytes, poll_mode, silent)
                .await?;
        }
        let placed = Placed {
            params: windows.params.placement(),
            indices: windows.indices.placement(),
            output: windows.output.placement(),
            status: None,
            flag: false,
            count: None,
        };
        let mut pass = pass.clone();
        pass.params.iter_mut().for_each(from_the_start);
        pass.indices.iter_mut().for_each(from_the_start);
        from_the_start(&mut pass.output);
        context.submit(|recording| {
            let dispatches = recorder.copy(context, &placed, &pass)?;
            recording.dispatch(dispatches);
            Ok(())
        })
    }

    /// Looks for bad indices, before anything is gathered.
    async fn stream_checks(
        &self,
        recorder: &Recorder,
        passes: &[CheckPass],
        host: &Host<'_>,
        poll_mode: PollMode,
    ) -> Result<()> {
        let context = self.context();
        let status = Status::new(context, recorder.plan())?;
        status.clear()?;
        status.note_recording(); // the passes together look at each index once
        let most = passes.iter().map(|p| p.indices.size).max().unwrap_or(16);
        let window = context.allocate("indices", most, &[])?;
        for pass in passes {
            let bytes = segment_of(host.indices, host.indices_at, &pass.indices);
            context
                .write(&window, bytes, poll_mode, &mut |_, _| ())
                .await?;
            let mut pass = pass.clone();
            from_the_start(&mut pass.indices);
            context.submit(|recording| {
                let placed = Placed {
                    params: window.placement(),
                    indices: window.placement(),
                    output: window.placement(),
                    status: Some(&status),
                    flag: false,
                    count: None,
                };
                let dispatches = recorder.count(context, &placed, &status, &pass)?;
                recording.dispatch(dispatches);
                Ok(())
            })?;
        }
        status.read_once(poll_mode).await
    }
}

/// Host data as one part, as if it lay in a buffer.
pub(super) fn line(first: usize, bytes: usize) -> Part {
    Part {
        origin: first as i64,
        offset: 0,
        bytes: (bytes as u64).next_multiple_of(16),
    }
}

/// The bytes of a segment of host data that starts at byte `first` of its tensor.
pub(super) fn segment_of<'b>(bytes: &'b [u8], first: usize, segment: &Segment) -> &'b [u8] {
    let start = (segment.origin - first as i64) as usize;
    &bytes[start..bytes.len().min(start + segment.size as usize)]
}

/// The segment in a buffer of its own.
pub(super) fn from_the_start(segment: &mut Segment) {
    segment.offset = 0;
    segment.part = 0;
}
