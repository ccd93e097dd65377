//! What is known of the kernels that copy, and what of them must stay as it is.

use wgpu_gather::gpu::internals::PipelineSource;

/// A kernel, the rows that its figures are for, and its limits on AMD's GPUs with one segment of
/// params.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    name: &'static str,
    row: Bytes,
}

#[derive(Debug, Clone, Copy)]
enum Bytes {
    /// As many as an access has.
    Access,
    Fixed(usize),
}

const KERNELS: [Kernel; 6] = [
    Kernel {
        name: "rows",
        row: Bytes::Fixed(64),
    },
    Kernel {
        name: "elements",
        row: Bytes::Access,
    },
    Kernel {
        name: "elements_x4",
        row: Bytes::Access,
    },
    Kernel {
        name: "bytes",
        row: Bytes::Fixed(100),
    },
    Kernel {
        name: "bytes_x4",
        row: Bytes::Fixed(100),
    },
    Kernel {
        name: "subword",
        row: Bytes::Access,
    },
];

impl Kernel {
    /// `None`, if it is not among those that are known.
    pub(crate) fn of(source: &PipelineSource) -> Option<&'static Kernel> {
        KERNELS.iter().find(|kernel| kernel.name == source.kernel)
    }

    /// The bytes that memory moves for a lane that stores so many: of output, params and indices,
    /// each counted once.
    pub(crate) fn moved(&self, source: &PipelineSource, stored: u32) -> f64 {
        let row = match self.row {
            Bytes::Access => source.access_bytes,
            Bytes::Fixed(bytes) => bytes,
        };
        let stored = f64::from(stored);
        let lookups = stored / row as f64;
        let tuple = source.depth.unwrap_or(1) as f64 * 4.0 * f64::from(source.index_words);
        2.0 * stored + lookups * tuple
    }
}
