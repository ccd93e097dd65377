//! Device memory that a gather between host tensors needs.

use crate::plan::Plan;

/// The executor of a gather between host tensors: the device or the CPU path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCall {
    /// The device, with the tensors whole in its memory.
    Device,
    /// The CPU path: the tensors exceed the memory limit of the call. Streaming params through the device
    /// would move more bytes than are gathered.
    Cpu,
}

impl Plan {
    /// The executor of the gather, if its tensors may take `max_bytes` of device memory.
    pub(crate) fn host_call(&self, max_bytes: u64) -> HostCall {
        match self.host_bytes() <= max_bytes {
            true => HostCall::Device,
            false => HostCall::Cpu,
        }
    }

    /// The bytes of the device's memory that a host call takes for tensors.
    pub(crate) fn host_bytes(&self) -> u64 {
        buffer_bytes(self.tensor_bytes())
    }

    /// [`Plan::host_bytes`] for params that are stored in so many bytes.
    #[cfg(feature = "gpu")]
    pub(crate) fn host_bytes_from(&self, params_bytes: u64) -> u64 {
        let [_, indices, output] = self.tensor_bytes();
        buffer_bytes([params_bytes, indices, output])
    }

    /// Device memory for the params of a host call, in bytes.
    #[cfg(feature = "gpu")]
    pub(crate) fn host_params_bytes(&self) -> u64 {
        let [params, ..] = self.tensor_bytes();
        buffer_bytes([params, 0, 0])
    }

    /// The bytes of params, indices and output, from the first element reached to the last.
    pub(super) fn tensor_bytes(&self) -> [u64; 3] {
        let reached = |layout: &crate::Layout, width: usize| {
            let span = layout.reached().map_or(0, |(first, last)| last - first + 1);
            (span as u64).saturating_mul(width as u64)
        };
        [
            reached(self.params_layout(), self.element_bytes()),
            reached(self.indices_layout(), self.index_type().bytes()),
            self.output_bytes() as u64,
        ]
    }
}

/// The bytes of buffers for tensors: they come in sizes that are up to an eighth larger.
fn buffer_bytes(bytes: [u64; 3]) -> u64 {
    let buffers = bytes.map(|b| b.saturating_add(b / 8).saturating_add(512));
    buffers.into_iter().fold(0, u64::saturating_add)
}
