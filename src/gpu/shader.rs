//! The shaders: parts under `shaders/`, joined by concatenation, specialised by overrides.

use crate::plan::{Kernel, KernelKind, Plan};

/// What a pipeline does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Copies lanes of this many bytes (1, 2, 4, 8 or 16).
    Copy(KernelKind, usize),
    /// Counts the bad lookups and finds the first.
    Count,
    /// Stores the index values of the first bad lookup.
    Locate,
}

/// Everything that a pipeline is compiled for. Shapes and rules are not among it: they are in the
/// uniform block, so that a program compiles few pipelines however much it gathers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Specialisation {
    /// What the pipeline does.
    pub stage: Stage,
    /// Words of an index: 1 or 2.
    pub index_words: u32,
}

impl Specialisation {
    /// The pipeline that executes `kernel` for `plan`.
    pub(crate) fn of(plan: &Plan, kernel: &Kernel) -> Self {
        Self::new(Stage::Copy(kernel.kind, kernel.lane_bytes), plan)
    }

    pub(crate) fn new(stage: Stage, plan: &Plan) -> Self {
        Specialisation {
            stage,
            index_words: plan.index_type().bytes() as u32 / 4,
        }
    }

    /// Every specialisation there is.
    pub fn all() -> Vec<Specialisation> {
        let stages = [
            Stage::Copy(KernelKind::Rows, 4),
            Stage::Copy(KernelKind::Rows, 8),
            Stage::Copy(KernelKind::Rows, 16),
            Stage::Copy(KernelKind::Elements, 4),
            Stage::Copy(KernelKind::Elements, 8),
            Stage::Copy(KernelKind::Elements, 16),
            Stage::Copy(KernelKind::Packed, 1),
            Stage::Copy(KernelKind::Packed, 2),
            Stage::Count,
            Stage::Locate,
        ];
        let with = |stage, index_words| Specialisation { stage, index_words };
        stages
            .iter()
            .flat_map(|&stage| [with(stage, 1), with(stage, 2)])
            .collect()
    }

    /// The WGSL of the whole module.
    pub fn source(&self) -> String {
        let parts: &[&str] = match self.stage {
            Stage::Copy(kind, lane_bytes) => &[
                GEOMETRY,
                INDEX,
                lane(lane_bytes),
                COPY,
                match kind {
                    KernelKind::Rows => ROWS,
                    KernelKind::Elements => ELEMENTS,
                    KernelKind::Packed => PACKED,
                },
            ],
            Stage::Count | Stage::Locate => &[GEOMETRY, INDEX, CHECK],
        };
        parts.join("\n")
    }

    /// The entry point in that module.
    pub fn entry_point(&self) -> &'static str {
        match self.stage {
            Stage::Copy(..) => "main",
            Stage::Count => "count",
            Stage::Locate => "locate",
        }
    }

    /// The override constants.
    pub fn constants(&self) -> Vec<(&'static str, f64)> {
        let mut constants = vec![("INDEX_WORDS", f64::from(self.index_words))];
        if let Stage::Copy(KernelKind::Packed, unit) = self.stage {
            constants.push(("UNIT", unit as f64));
        }
        constants
    }
}

const GEOMETRY: &str = include_str!("../../shaders/geometry.wgsl");
const INDEX: &str = include_str!("../../shaders/index.wgsl");
const COPY: &str = include_str!("../../shaders/copy.wgsl");
const ROWS: &str = include_str!("../../shaders/rows.wgsl");
const ELEMENTS: &str = include_str!("../../shaders/elements.wgsl");
const PACKED: &str = include_str!("../../shaders/packed.wgsl");
const CHECK: &str = include_str!("../../shaders/check.wgsl");

/// The lane type; packed units are parts of one-word lanes.
fn lane(bytes: usize) -> &'static str {
    match bytes {
        8 => include_str!("../../shaders/lane2.wgsl"),
        16 => include_str!("../../shaders/lane4.wgsl"),
        _ => include_str!("../../shaders/lane1.wgsl"),
    }
}
