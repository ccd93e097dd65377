//! Commands as data: dispatches, and the copies and clears between them.
//!
//! Made by `launch` and `recording`; `queue` keeps those that wait. Encoding is the last step before
//! a submission. Knows wgpu alone.

/// How many workgroups are dispatched.
#[derive(Debug, Clone)]
pub(in crate::gpu) enum Grid {
    Fixed([u32; 3]),
    /// What an earlier dispatch writes into this buffer.
    Indirect(wgpu::Buffer),
}

/// One dispatch, with everything that it binds.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Dispatch {
    pub(in crate::gpu) pipeline: wgpu::ComputePipeline,
    pub(in crate::gpu) group: wgpu::BindGroup,
    /// Bind group 1, of the test that watches.
    pub(in crate::gpu) watch_group: Option<wgpu::BindGroup>,
    pub(in crate::gpu) grid: Grid,
    /// How many bytes of output it makes.
    pub(in crate::gpu) output_bytes: u64,
}

impl Dispatch {
    /// Says how many bytes of output it makes.
    pub(in crate::gpu) fn making(self, output_bytes: u64) -> Self {
        Dispatch {
            output_bytes,
            ..self
        }
    }

    pub(in crate::gpu) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        if let Some(group) = &self.watch_group {
            pass.set_bind_group(1, group, &[]);
        }
        match &self.grid {
            Grid::Fixed([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
            Grid::Indirect(arguments) => pass.dispatch_workgroups_indirect(arguments, 0),
        }
    }
}

/// What an encoder records.
#[derive(Debug)]
pub(in crate::gpu) enum Command {
    Dispatch(Dispatch),
    /// Fills a buffer with zeros.
    Clear(wgpu::Buffer),
    /// Copies so many bytes from a place in one buffer to a place in another.
    Copy {
        from: wgpu::Buffer,
        offset: u64,
        to: wgpu::Buffer,
        to_offset: u64,
        bytes: u64,
    },
}

impl Command {
    /// How many bytes it writes.
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        match self {
            Command::Dispatch(dispatch) => dispatch.output_bytes,
            Command::Clear(buffer) => buffer.size(),
            Command::Copy { bytes, .. } => *bytes,
        }
    }
}

/// Encodes commands in order. Neighbouring dispatches share a compute pass; wgpu keeps the one that
/// reads from starting before the one that writes is done.
pub(in crate::gpu) fn encode(device: &wgpu::Device, commands: &[Command]) -> wgpu::CommandBuffer {
    let mut encoder = device.create_command_encoder(&Default::default());
    encode_into(&mut encoder, commands);
    encoder.finish()
}

/// Records commands into an encoder, in order.
pub(in crate::gpu) fn encode_into(encoder: &mut wgpu::CommandEncoder, commands: &[Command]) {
    let dispatches = |command: &Command| matches!(command, Command::Dispatch(_));
    for run in commands.chunk_by(|a, b| dispatches(a) && dispatches(b)) {
        match &run[0] {
            Command::Dispatch(_) => {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                for command in run {
                    if let Command::Dispatch(dispatch) = command {
                        dispatch.record(&mut pass);
                    }
                }
            }
            Command::Clear(buffer) => encoder.clear_buffer(buffer, 0, None),
            Command::Copy {
                from,
                offset,
                to,
                to_offset,
                bytes,
            } => encoder.copy_buffer_to_buffer(from, *offset, to, *to_offset, *bytes),
        }
    }
}
