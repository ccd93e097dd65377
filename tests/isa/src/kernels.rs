//! The kernels that copy: what they move, and their limits.

use wgpu_gather::gpu::internals::PipelineSource;

/// A kernel, the rows that its figures are for, and what AMD's compiler may make of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    name: &'static str,
    /// Of a row.
    row: Bytes,
    /// Of a load of params, and of a store.
    load: Bytes,
    store: Bytes,
    /// Bytes of params that make a byte of the output, at least.
    read: f64,
    limits: Limits,
}

#[derive(Debug, Clone, Copy)]
enum Bytes {
    /// As many as an access of the pipeline has.
    Access,
    Fixed(u32),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Cycles of arithmetic for each cycle of memory, with params in one segment.
    pub(crate) ratio: f64,
    /// How often a wave waits for loads, however many segments there are.
    pub(crate) waits: u32,
    /// The ratio of a pipeline for any number of loops.
    pub(crate) general_ratio: f64,
}

const fn limits(ratio: f64, waits: u32, general_ratio: f64) -> Limits {
    Limits {
        ratio,
        waits,
        general_ratio,
    }
}

const KERNELS: [Kernel; 11] = [
    Kernel {
        name: "rows",
        row: Bytes::Fixed(64),
        load: Bytes::Access,
        store: Bytes::Access,
        read: 1.0,
        limits: limits(0.50, 3, 0.54),
    },
    Kernel {
        name: "elements",
        row: Bytes::Access,
        load: Bytes::Access,
        store: Bytes::Access,
        read: 1.0,
        limits: limits(0.32, 4, 0.51),
    },
    Kernel {
        name: "elements_x4",
        row: Bytes::Access,
        load: Bytes::Access,
        store: Bytes::Fixed(16),
        read: 1.0,
        limits: limits(0.24, 2, 0.00),
    },
    Kernel {
        name: "bytes",
        row: Bytes::Fixed(10),
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(4),
        read: 1.0,
        limits: limits(1.48, 4, 2.39),
    },
    Kernel {
        name: "bytes_x4",
        row: Bytes::Fixed(100),
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(4),
        read: 1.0,
        limits: limits(0.55, 4, 2.07),
    },
    Kernel {
        name: "bytes_vec4",
        row: Bytes::Fixed(100),
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(16),
        read: 1.0,
        limits: limits(0.55, 4, 0.00),
    },
    Kernel {
        name: "subword",
        row: Bytes::Access,
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(4),
        read: 1.0,
        limits: limits(0.80, 4, 2.07),
    },
    Kernel {
        name: "decode rows",
        row: Bytes::Fixed(1024),
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(16),
        read: 0.08, // 2 bits
        limits: limits(0.33, 7, 0.46),
    },
    Kernel {
        name: "decode rows to halves",
        row: Bytes::Fixed(512),
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(8),
        read: 0.16,
        limits: limits(0.78, 7, 1.03), // F16; formats of 8 and 4 bits take up to 0.65
    },
    Kernel {
        name: "decode elements",
        row: Bytes::Fixed(4),
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(4),
        read: 0.08,
        limits: limits(2.50, 6, 3.62),
    },
    Kernel {
        name: "decode elements to halves",
        row: Bytes::Fixed(2),
        load: Bytes::Fixed(4),
        store: Bytes::Fixed(4),
        read: 0.16,
        limits: limits(2.00, 6, 3.31),
    },
];

impl Kernel {
    /// The kernel of a pipeline that copies.
    ///
    /// # Errors
    ///
    /// If it is not among those that are known.
    pub(crate) fn of(source: &PipelineSource) -> Result<Option<&'static Kernel>, String> {
        let copies = source.access_bytes != 0;
        let known = KERNELS.iter().find(|kernel| kernel.name == source.kernel);
        match known {
            None if copies => Err(format!(
                "nothing is known of the kernel {}: tests/isa/src/kernels.rs lacks it",
                source.kernel
            )),
            _ => Ok(known),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bytes of params that make so many of the output, at least.
    pub(crate) fn read(&self, stored: u32) -> f64 {
        self.read * f64::from(stored)
    }

    /// The bytes of each load of params, and of each store.
    pub(crate) fn widths(&self, source: &PipelineSource) -> (u32, u32) {
        (self.load.of(source), self.store.of(source))
    }

    /// The bytes that memory moves for a lane that stores so many: of output, params and indices,
    /// each counted once.
    pub(crate) fn moved(&self, source: &PipelineSource, stored: u32) -> f64 {
        let lookups = f64::from(stored) / f64::from(self.row.of(source));
        let index_bytes = match source.index_bytes {
            0 => 4, // the least
            bytes => bytes,
        };
        let tuple = source.depth.unwrap_or(1) as f64 * f64::from(index_bytes);
        (1.0 + self.read) * f64::from(stored) + lookups * tuple
    }
}

impl Bytes {
    fn of(self, source: &PipelineSource) -> u32 {
        match self {
            Bytes::Access => source.access_bytes as u32,
            Bytes::Fixed(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use wgpu_gather::gpu::internals::pipelines;

    use super::*;

    #[test]
    fn every_kernel_is_known_and_a_new_one_is_named() {
        let mut all = pipelines(1);
        for source in &all {
            assert_eq!(
                Kernel::of(source).unwrap().is_some(),
                source.access_bytes != 0
            );
        }
        let copy = all
            .iter_mut()
            .find(|source| source.access_bytes != 0)
            .unwrap();
        copy.kernel = "novel";
        assert!(Kernel::of(copy).unwrap_err().contains("novel"));
    }

    #[test]
    fn what_is_moved_is_output_params_and_indices() {
        let all = pipelines(1);
        let moved = |kernel, access_bytes, index_bytes, stored| {
            let mut source = all[0].clone();
            (source.kernel, source.access_bytes) = (kernel, access_bytes);
            (source.depth, source.index_bytes) = (Some(1), index_bytes);
            Kernel::of(&source).unwrap().unwrap().moved(&source, stored)
        };
        assert_eq!(moved("elements", 4, 4, 16), 16.0 + 16.0 + 4.0 * 4.0);
        assert_eq!(moved("elements", 4, 8, 16), 16.0 + 16.0 + 4.0 * 8.0);
        assert_eq!(moved("rows", 16, 4, 64), 64.0 + 64.0 + 4.0);
    }
}
