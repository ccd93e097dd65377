//! How a gather between host tensors uses the memory of a device.

use crate::plan::Plan;

/// How a gather from host tensors to a host tensor is made with a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCall {
    /// The tensors are whole in the device's memory.
    Whole,
    /// Params go through the device's memory segment by segment, and the output comes back box by
    /// box.
    Streamed(StreamSizes),
    /// The CPU path collects the elements, as few of params are needed: to send all of it to the
    /// device would move more bytes.
    Collected,
}

/// The sizes of what is in the device's memory at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamSizes {
    /// Bytes of params.
    pub params_bytes: u64,
    /// Bytes of indices.
    pub indices_bytes: u64,
    /// Bytes of output.
    pub output_bytes: u64,
}

/// The least memory that anything is streamed through.
const LEAST_BYTES: u64 = 64 << 10;

impl Plan {
    /// How the gather is made if it may take `max_bytes` of the device's memory for tensors.
    ///
    /// Tensors that do not fit are streamed if at least half as many bytes are gathered as params
    /// has; else the CPU path collects them.
    pub fn host_call(&self, max_bytes: u64) -> HostCall {
        let reached = |layout: &crate::Layout, width: usize| {
            let span = layout.reached().map_or(0, |(first, last)| last - first + 1);
            span as u64 * width as u64
        };
        let params = reached(self.params_layout(), self.element_bytes());
        let indices = reached(self.indices_layout(), self.index_type().bytes());
        let output = self.output_bytes() as u64;
        // Buffers come in sizes that are up to an eighth larger.
        let buffers =
            [params, indices, output].map(|b| b.saturating_add(b / 8).saturating_add(512));
        let all = buffers.into_iter().fold(0, u64::saturating_add);
        if all <= max_bytes {
            return HostCall::Whole;
        }
        if max_bytes < LEAST_BYTES || output < params / 2 {
            return HostCall::Collected;
        }
        HostCall::Streamed(StreamSizes {
            params_bytes: max_bytes / 5,
            indices_bytes: max_bytes / 5,
            output_bytes: max_bytes / 5 * 2,
        })
    }
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
            HostCall::Streamed(sizes) if sizes.params_bytes + sizes.output_bytes < 8 << 20
        ));
        assert_eq!(call(1024, 511, 1 << 20), HostCall::Collected);
        assert!(matches!(call(1024, 512, 1 << 20), HostCall::Streamed(_)));
        assert_eq!(call(1024, 1024, 1 << 15), HostCall::Collected);
        assert_eq!(call(1024, 0, 1 << 15), HostCall::Collected);
    }
}
