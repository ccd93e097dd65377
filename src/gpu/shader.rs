//! The shaders: parts under `shaders/`, joined by concatenation, specialised by overrides.

use crate::plan::{Form, Kernel, KernelKind, Plan};

/// What a pipeline does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Copies lanes of this many bytes (1, 2, 4, 8 or 16).
    Copy(KernelKind, usize, Form),
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
        Self::new(
            Stage::Copy(kernel.kind, kernel.lane_bytes, kernel.form),
            plan,
        )
    }

    pub(crate) fn new(stage: Stage, plan: &Plan) -> Self {
        Specialisation {
            stage,
            index_words: plan.index_type().bytes() as u32 / 4,
        }
    }

    /// Every specialisation there is.
    pub fn all() -> Vec<Specialisation> {
        use KernelKind::{Elements, Packed, Packed4, Rows, Runs, Units};
        let copies = [
            (Rows, &[4, 8, 16][..]),
            (Elements, &[4, 8, 16]),
            (Runs, &[4, 8]),
            (Packed, &[1]),
            (Packed4, &[1]),
            (Units, &[1, 2]),
        ];
        let mut stages = vec![Stage::Count, Stage::Locate];
        for (kind, lanes) in copies {
            for &lane in lanes {
                stages.push(Stage::Copy(kind, lane, Form::Single));
                stages.push(Stage::Copy(kind, lane, Form::Nested));
                if !matches!(kind, Runs | Packed4) {
                    stages.push(Stage::Copy(kind, lane, Form::Tuples));
                    stages.push(Stage::Copy(kind, lane, Form::General));
                }
            }
        }
        let with = |stage, index_words| Specialisation { stage, index_words };
        stages
            .iter()
            .flat_map(|&stage| [with(stage, 1), with(stage, 2)])
            .collect()
    }

    /// The WGSL of the whole module.
    pub fn source(&self) -> String {
        let parts: &[&str] = match self.stage {
            Stage::Copy(kind, lane_bytes, _) => &[
                GEOMETRY,
                INDEX,
                lane(lane_bytes),
                COPY,
                match (kind, lane_bytes) {
                    (KernelKind::Runs, 8) => include_str!("../../shaders/runs2.wgsl"),
                    (KernelKind::Runs, _) => include_str!("../../shaders/runs1.wgsl"),
                    (KernelKind::Packed4, _) => "alias Out = vec4<u32>;",
                    (KernelKind::Packed | KernelKind::Units, _) => MERGE,
                    _ => "alias Out = Lane;",
                },
                match kind {
                    KernelKind::Packed | KernelKind::Packed4 | KernelKind::Units => BYTES,
                    _ => "",
                },
                match kind {
                    KernelKind::Rows => ROWS,
                    KernelKind::Elements => ELEMENTS,
                    KernelKind::Runs => RUNS,
                    KernelKind::Packed => PACKED,
                    KernelKind::Packed4 => PACKED4,
                    KernelKind::Units => UNITS,
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
        if let Stage::Copy(kind, lane_bytes, form) = self.stage {
            let (loops, depth, plain) = match form {
                Form::Single => (1.0, 1.0, 1.0),
                Form::Nested => (4.0, 1.0, 1.0),
                Form::Tuples => (4.0, 3.0, 1.0),
                Form::General => (0.0, 0.0, 0.0),
            };
            constants.extend([("LOOPS", loops), ("DEPTH", depth), ("PLAIN", plain)]);
            if kind == KernelKind::Units {
                constants.push(("UNIT", lane_bytes as f64));
            }
        }
        constants
    }
}

const GEOMETRY: &str = include_str!("../../shaders/geometry.wgsl");
const INDEX: &str = include_str!("../../shaders/index.wgsl");
const COPY: &str = include_str!("../../shaders/copy.wgsl");
const ROWS: &str = include_str!("../../shaders/rows.wgsl");
const ELEMENTS: &str = include_str!("../../shaders/elements.wgsl");
const RUNS: &str = include_str!("../../shaders/runs.wgsl");
const MERGE: &str = include_str!("../../shaders/merge.wgsl");
const BYTES: &str = include_str!("../../shaders/bytes.wgsl");
const PACKED: &str = include_str!("../../shaders/packed.wgsl");
const PACKED4: &str = include_str!("../../shaders/packed4.wgsl");
const UNITS: &str = include_str!("../../shaders/units.wgsl");
const CHECK: &str = include_str!("../../shaders/check.wgsl");

/// The lane type; packed units are parts of one-word lanes.
fn lane(bytes: usize) -> &'static str {
    match bytes {
        8 => include_str!("../../shaders/lane2.wgsl"),
        16 => include_str!("../../shaders/lane4.wgsl"),
        _ => include_str!("../../shaders/lane1.wgsl"),
    }
}
