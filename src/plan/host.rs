//! How a gather between host tensors uses the memory of a device.

use crate::plan::Plan;

/// How a gather from host tensors to a host tensor is made with a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCall {
    /// The tensors are whole in the device's memory.
    Whole,
    /// Params go through the device's memory segment by segment, and the output comes back box by
    /// box, with so much of each there at a time.
    Streamed {
        /// Bytes of params.
        params_bytes: u64,
        /// Bytes of indices.
        indices_bytes: u64,
        /// Bytes of output.
        output_bytes: u64,
    },
    /// The CPU path collects the elements, as few of params are needed: to send all of it to the
    /// device would move more bytes.
    Collected,
}

/// Why a gather is made that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostReason {
    /// The tensors fit.
    Fits,
    /// They do not, and too little memory may be taken to stream anything through.
    TooLittleMemory,
    /// They do not, and less than half as many bytes are gathered as params has.
    LittleGathered,
    /// They do not, and at least half as many bytes are gathered as params has.
    MuchGathered,
}

/// The least memory that anything is streamed through.
const LEAST_BYTES: u64 = 64 << 10;

impl Plan {
    /// How the gather is made if it may take `max_bytes` of the device's memory for tensors.
    ///
    /// Tensors that do not fit are streamed if at least half as many bytes are gathered as params
    /// has; else the CPU path collects them.
    pub fn host_call(&self, max_bytes: u64) -> HostCall {
        self.host_call_and_reason(max_bytes).0
    }

    /// [`Plan::host_call`], and why it is that.
    pub(crate) fn host_call_and_reason(&self, max_bytes: u64) -> (HostCall, HostReason) {
        host_call_of(self.tensor_bytes(), max_bytes)
    }

    /// [`Plan::host_call`] for params that are stored in so many bytes.
    #[cfg(feature = "gpu")]
    pub(crate) fn host_call_from(&self, params_bytes: u64, max_bytes: u64) -> HostCall {
        let [_, indices, output] = self.tensor_bytes();
        host_call_of([params_bytes, indices, output], max_bytes).0
    }

    /// The bytes of the device's memory that a host call takes for whole tensors.
    pub fn host_bytes(&self) -> u64 {
        buffer_bytes(self.tensor_bytes())
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

/// How tensors of so many bytes, which are params, indices and output, are gathered from host to host.
fn host_call_of(bytes: [u64; 3], max_bytes: u64) -> (HostCall, HostReason) {
    if buffer_bytes(bytes) <= max_bytes {
        return (HostCall::Whole, HostReason::Fits);
    }
    if max_bytes < LEAST_BYTES {
        return (HostCall::Collected, HostReason::TooLittleMemory);
    }
    let [params, _, output] = bytes;
    if output < params / 2 {
        return (HostCall::Collected, HostReason::LittleGathered);
    }
    let streamed = HostCall::Streamed {
        params_bytes: max_bytes / 5,
        indices_bytes: max_bytes / 5,
        output_bytes: max_bytes / 5 * 2,
    };
    (streamed, HostReason::MuchGathered)
}

/// The bytes of buffers for tensors: they come in sizes that are up to an eighth larger.
fn buffer_bytes(bytes: [u64; 3]) -> u64 {
    let buffers = bytes.map(|b| b.saturating_add(b / 8).saturating_add(512));
    buffers.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexType, Layout, Op, Rules};

    #[test]
    fn what_does_not_fit_is_streamed_or_collected() {
        let call = |rows: usize, ids: usize, max_bytes| {
            let params = Layout::contiguous(&[rows, 1024]);
            let indices = Layout::contiguous(&[ids]);
            let rules = Rules::default();
            let plan = Plan::new(Op::gather(0), &rules, 4, &params, IndexType::I32, &indices);
            plan.unwrap().host_call(max_bytes)
        };
        // 4 MiB of params, 4 KiB of indices, 4 MiB of output, and an eighth more
        assert_eq!(call(1024, 1024, (9 << 20) + 6144), HostCall::Whole);
        assert!(matches!(
            call(1024, 1024, (9 << 20) + 6143),
            HostCall::Streamed { params_bytes, output_bytes, .. } if params_bytes + output_bytes < 8 << 20
        ));
        assert_eq!(call(1024, 511, 1 << 20), HostCall::Collected);
        assert!(matches!(
            call(1024, 512, 1 << 20),
            HostCall::Streamed { .. }
        ));
        assert_eq!(call(1024, 1024, 1 << 15), HostCall::Collected);
        assert_eq!(call(1024, 0, 1 << 15), HostCall::Collected);
    }
}
