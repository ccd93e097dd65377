//! For the project's own tests: faults planted in shaders, the list of pipelines. No part of the
//! public API.

use crate::gpu::engine::Options;
use crate::gpu::shader::{PipelineKey, Stage};
use crate::plan::DecodeKind;

/// Options for an engine with a fault in every shader, which a check against the reference must then
/// report.
pub fn with_fault(fault: fn(String) -> String) -> Options {
    Options {
        fault: Some(fault),
        ..Options::default()
    }
}

/// How many threads `engine` has started to poll its device for futures.
#[cfg(not(target_arch = "wasm32"))]
pub fn polling_threads_started(engine: &crate::gpu::Engine) -> u64 {
    engine.context().poller.threads_started()
}

/// The first buffer of a tensor, which stays the engine's own.
pub fn buffer_of(tensor: &impl AsRef<crate::gpu::AnyDeviceTensor>) -> &wgpu::Buffer {
    let mut owned = tensor.as_ref().storage().owned();
    owned.next().expect("a tensor has a buffer").buffer()
}

/// How many gathers `engine` holds back.
pub fn waiting_gathers(engine: &crate::gpu::Engine) -> usize {
    engine.context().queue.waiting()
}

/// What a pipeline is compiled from.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineSource {
    /// What the pipeline does and is compiled for: such as
    /// `rows 16, up to 2 loops, 1 coordinate i64`,
    /// `bytes 1, any nest in 6` or `count`.
    pub name: String,
    /// The text of the module.
    pub wgsl: String,
    /// The entry point in that module.
    pub entry_point: &'static str,
    /// The override constants.
    pub constants: Vec<(&'static str, f64)>,
    /// The name of the kernel; of what copies nothing, such as `count`.
    pub kernel: &'static str,
    /// Bytes of an access; 0, if it copies nothing.
    pub access_bytes: usize,
    /// Loops over rows; `None`, if any number.
    pub loops: Option<usize>,
    /// Coordinates; `None`, if any number.
    pub depth: Option<usize>,
    /// Words of an index; 0, if either.
    pub index_words: u32,
    /// Segments of params that are bound; 0, if the positions in the one need no search.
    pub segments: u32,
}

/// Every pipeline there is on a device that binds so many segments of params.
pub fn pipelines(segments: u32) -> Vec<PipelineSource> {
    let all = PipelineKey::all(segments).into_iter();
    all.map(|pipeline| {
        let (name, kernel, access_bytes, loops, depth) = match pipeline.stage {
            Stage::Copy(kind, bytes, nest) => {
                let name = format!("{} {bytes}, {nest}", kind.name());
                (name, kind.name(), bytes, nest.loops, nest.depth)
            }
            Stage::Decode(decoder, kind, nest) => {
                let name = format!("decode {} {}, {nest}", decoder.name(), kind.name());
                let kernel = match kind {
                    DecodeKind::Rows => "decode rows",
                    DecodeKind::HalfRows => "decode half rows",
                    DecodeKind::Elements => "decode elements",
                };
                (name, kernel, 4, nest.loops, nest.depth)
            }
            Stage::Count => ("count".to_owned(), "count", 0, None, None),
            Stage::Locate => ("locate".to_owned(), "locate", 0, None, None),
            Stage::IndirectArgs => ("indirect_args".to_owned(), "indirect_args", 0, None, None),
            Stage::Bag(element, bytes) => {
                let (element, _) = element.name_and_number();
                // It folds: `access_bytes` is of those that copy.
                (format!("bag {element} {bytes}"), "bag", 0, None, None)
            }
            Stage::Keys => ("keys".to_owned(), "keys", 0, None, None),
            Stage::Sort(stage) => (format!("sort {}", stage.name()), "sort", 0, None, None),
            Stage::Fold(kernel) => (format!("fold {}", kernel.name()), "fold", 0, None, None),
        };
        let PipelineKey {
            segments,
            index_words,
            ..
        } = pipeline;
        let several = match segments {
            0 => String::new(),
            _ => format!(" in {segments}"),
        };
        let wide = if index_words == 2 { " i64" } else { "" };
        PipelineSource {
            name: name + &several + wide,
            wgsl: pipeline.source(),
            entry_point: pipeline.entry_point(),
            constants: pipeline.constants(),
            kernel,
            access_bytes,
            loops,
            depth,
            index_words,
            segments,
        }
    })
    .collect()
}
