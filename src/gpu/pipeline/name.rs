//! The names of pipelines.

use std::fmt;

use crate::gpu::pipeline::shader::{PipelineKey, Stage};

/// Such as `rows 16, up to 2 loops, 1 coordinate i64`, `bytes 1, any nest in 6` or `count`.
impl fmt::Display for PipelineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stage {
            Stage::Copy(kind, bytes, nest) => write!(f, "{} {bytes}, {nest}", kind.name())?,
            Stage::Decode(decoder, kind, nest) => {
                write!(f, "decode {} {}, {nest}", decoder.name(), kind.name())?;
            }
            Stage::Count => f.write_str("count")?,
            Stage::Locate => f.write_str("locate")?,
            Stage::CountAndLocate => f.write_str("count and locate")?,
            Stage::IndirectArgs => f.write_str("indirect_args")?,
            Stage::Bag(element, bytes) => write!(f, "bag {} {bytes}", element.name())?,
            Stage::Keys { sorted } => f.write_str(if sorted { "sorted keys" } else { "keys" })?,
            Stage::Sort(stage) => write!(f, "sort {}", stage.name())?,
            Stage::Fold(kernel) => write!(f, "fold {}", kernel.name())?,
            Stage::FoldRuns(kernel) => write!(f, "fold {}, long runs", kernel.name())?,
        }
        if self.segments > 0 {
            write!(f, " in {}", self.segments)?;
        }
        match self.index_bytes {
            0 | 4 => Ok(()),
            bytes => write!(f, " i{}", 8 * bytes),
        }
    }
}
