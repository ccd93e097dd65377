//! The shaders: parts under `shaders/`, joined by concatenation, specialised by overrides.

use crate::index::IndexType;
use crate::plan::{Kernel, KernelKind, Plan};
use crate::rules::{Negative, OutOfBounds, Rules};

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

/// Everything that a pipeline is compiled for. Shapes are not among it: they are in the uniform
/// block, so that a program compiles few pipelines however many shapes it gathers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Specialisation {
    /// What the pipeline does.
    pub stage: Stage,
    /// The type of the indices.
    pub index_type: IndexType,
    /// Whether negative indices count from the end.
    pub from_end: bool,
    /// 0: a bad index is bad; 1: it is clipped; 2: it is wrapped.
    pub moves: u32,
}

impl Specialisation {
    /// The pipeline that executes `kernel` for `plan`.
    pub(crate) fn of(plan: &Plan, kernel: &Kernel) -> Self {
        Self::new(Stage::Copy(kernel.kind, kernel.lane_bytes), plan)
    }

    pub(crate) fn new(stage: Stage, plan: &Plan) -> Self {
        let rules: &Rules = plan.rules();
        Specialisation {
            stage,
            index_type: plan.index_type(),
            from_end: rules.negative == Negative::FromEnd && plan.index_type().is_signed(),
            moves: match rules.out_of_bounds {
                OutOfBounds::Zero | OutOfBounds::Fill(_) | OutOfBounds::Error => 0,
                OutOfBounds::Clip => 1,
                OutOfBounds::Wrap => 2,
            },
        }
    }

    /// Every specialisation there is.
    pub fn all() -> Vec<Specialisation> {
        let copies = [
            Stage::Copy(KernelKind::Rows, 4),
            Stage::Copy(KernelKind::Rows, 8),
            Stage::Copy(KernelKind::Rows, 16),
            Stage::Copy(KernelKind::Elements, 4),
            Stage::Copy(KernelKind::Elements, 8),
            Stage::Copy(KernelKind::Elements, 16),
            Stage::Copy(KernelKind::Packed, 1),
            Stage::Copy(KernelKind::Packed, 2),
        ];
        let copies = copies
            .iter()
            .flat_map(|&stage| (0..3).map(move |moves| (stage, moves)));
        // Only bad indices that stay bad are counted.
        let checks = [(Stage::Count, 0), (Stage::Locate, 0)];
        let mut all = Vec::new();
        for (stage, moves) in copies.chain(checks) {
            for index_type in IndexType::ALL {
                for from_end in [false, true] {
                    if from_end && !index_type.is_signed() {
                        continue;
                    }
                    all.push(Specialisation {
                        stage,
                        index_type,
                        from_end,
                        moves,
                    });
                }
            }
        }
        all
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
        let mut constants = vec![
            ("INDEX_WORDS", (self.index_type.bytes() / 4) as f64),
            ("INDEX_SIGNED", f64::from(self.index_type.is_signed())),
            ("FROM_END", f64::from(self.from_end)),
            ("MOVE", f64::from(self.moves)),
        ];
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
