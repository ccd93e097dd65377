//! The shaders: parts under `shaders/`, joined by concatenation, specialised by overrides.

use crate::fold::FoldElement;
use crate::gpu::pipeline::{bag_shader, decode_shader, scatter_shader};
use crate::index::IndexType;
use crate::plan::{
    BagKernel, BindingLimits, DecodeKind, Kernel, KernelKind, NestSize, Plan, Positions,
};
use crate::quantized::Decoder;
use crate::scatter::{FoldKernel, SortStage};

/// The kernel of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Copies accesses of this many bytes (1, 2, 4, 8 or 16).
    Copy(KernelKind, usize, NestSize),
    /// Decodes a quantized table.
    Decode(Decoder, DecodeKind, NestSize),
    /// Counts the bad lookups and finds the first.
    Count,
    /// Stores the index values of the first bad lookup.
    Locate,
    /// Counts and locates in one workgroup.
    CountAndLocate,
    /// Writes the indirect arguments of another dispatch from a count on the device.
    IndirectArgs,
    /// Pools rows of this element type, by accesses of this many bytes.
    Bag(FoldElement, usize),
    /// Writes the keys of a scatter; sorts them, if they are few.
    Keys { sorted: bool },
    /// A step of the sort of keys.
    Sort(SortStage),
    /// Folds the updates of each key.
    Fold(FoldKernel),
    /// Folds the updates of keys that have many.
    FoldRuns(FoldKernel),
}

impl Stage {
    /// The kernel has a variant for params in several segments.
    fn takes_segments(&self) -> bool {
        matches!(
            self,
            Stage::Copy(_, _, NestSize::ANY | NestSize::IN_SEGMENTS) | Stage::Bag(..)
        )
    }

    /// The bytes of an index that there are pipelines for, for so many segments: one for any (0), where
    /// little depends on speed.
    fn index_bytes(&self, segments: u32) -> &'static [u32] {
        match self {
            Stage::Copy(_, _, nest) if nest.loops.is_some() && segments == 0 => &[4, 8],
            Stage::Keys { .. } => &[4, 8],
            _ => &[0],
        }
    }
}

/// Everything that a pipeline is compiled for. Shapes and rules are not among it: they are in the
/// uniform block, so that a program compiles few pipelines however much it gathers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PipelineKey {
    /// What the pipeline does.
    pub(crate) stage: Stage,
    /// Bytes of an index; 0, if it takes any.
    pub(crate) index_bytes: u32,
    /// Segments of params that are bound; 0, if it is one, the positions in which need no search.
    pub(crate) segments: u32,
}

impl PipelineKey {
    /// The pipeline that executes `kernel` for `plan`. If params may lie in several segments, it binds as
    /// many as the device can: lanes visit only those that they read.
    pub(crate) fn of(plan: &Plan, kernel: &Kernel, limits: &BindingLimits) -> Self {
        let stage = Stage::Copy(kernel.kind, kernel.access_bytes, kernel.nest);
        let segments = match kernel.positions {
            Positions::Bound => 0,
            Positions::Segments | Positions::Wide => limits.segments as u32,
        };
        let bytes = plan.index_type().bytes() as u32;
        let compiled = stage.index_bytes(segments).contains(&bytes);
        PipelineKey {
            index_bytes: if compiled { bytes } else { 0 },
            segments,
            ..Self::new(stage)
        }
    }

    /// The pipeline of what takes any width of an index, and params in one segment.
    pub(crate) fn new(stage: Stage) -> Self {
        PipelineKey {
            stage,
            index_bytes: 0,
            segments: 0,
        }
    }

    /// The pipeline that makes the keys of indices of this type.
    pub(crate) fn of_keys(sorted: bool, index_type: IndexType) -> Self {
        PipelineKey {
            index_bytes: index_type.bytes() as u32,
            ..Self::new(Stage::Keys { sorted })
        }
    }

    /// The pipeline of a pooled lookup.
    pub(crate) fn of_bags(kernel: &BagKernel, limits: &BindingLimits) -> Self {
        PipelineKey {
            segments: if kernel.in_segments {
                limits.bag_segments() as u32
            } else {
                0
            },
            ..Self::new(Stage::Bag(kernel.element, kernel.access_bytes))
        }
    }

    /// Every key there is on a device that binds so many segments of params.
    pub(crate) fn all(segments: u32) -> Vec<PipelineKey> {
        let mut stages = vec![
            Stage::Count,
            Stage::Locate,
            Stage::CountAndLocate,
            Stage::IndirectArgs,
        ];
        for kind in KernelKind::ALL {
            for &access_bytes in kind.access_widths() {
                let nests = NestSize::ALL.into_iter();
                let nests = nests.filter(|nest| !kind.is_fast() || nest.depth == Some(1));
                stages.extend(nests.map(|nest| Stage::Copy(kind, access_bytes, nest)));
            }
        }
        for decoder in Decoder::all() {
            for kind in DecodeKind::ALL {
                let nests = DecodeKind::NESTS;
                stages.extend(nests.map(|nest| Stage::Decode(decoder, kind, nest)));
            }
        }
        for element in FoldElement::ALL {
            let widths = BagKernel::access_widths(element).iter();
            stages.extend(widths.map(|&access_bytes| Stage::Bag(element, access_bytes)));
        }
        stages.extend([false, true].map(|sorted| Stage::Keys { sorted }));
        stages.extend(SortStage::ALL.map(Stage::Sort));
        stages.extend(FoldKernel::all().into_iter().map(Stage::Fold));
        stages.extend(FoldKernel::all_of_runs().into_iter().map(Stage::FoldRuns));
        let mut keys = Vec::new();
        for stage in stages {
            let segments = match stage {
                Stage::Bag(..) => BindingLimits::bag_segments_of(segments as usize) as u32,
                _ => segments,
            };
            let several = stage.takes_segments().then_some(segments);
            for segments in [0].into_iter().chain(several) {
                let widths = stage.index_bytes(segments).iter();
                keys.extend(widths.map(|&index_bytes| PipelineKey {
                    stage,
                    index_bytes,
                    segments,
                }));
            }
        }
        keys
    }

    /// The WGSL of the whole module.
    pub(crate) fn source(&self) -> String {
        let segments = match self.segments {
            0 => include_str!("../../../shaders/segment.wgsl").to_owned(),
            several => load(several) + include_str!("../../../shaders/segments.wgsl"),
        };
        let parts = match self.stage {
            Stage::Copy(kind, access_bytes, _) => {
                let mut parts = vec![GEOMETRY, INDEX, vector(access_bytes), COPY, &segments];
                parts.extend(copy_parts(kind));
                parts
            }
            Stage::Decode(decoder, kind, _) => {
                let mut parts = vec![GEOMETRY, INDEX, vector(4), COPY];
                parts.extend(decode_shader::parts(decoder, kind));
                parts
            }
            Stage::Bag(_, access_bytes) => {
                let mut parts = vec![GEOMETRY, INDEX, vector(access_bytes), COPY, &segments];
                parts.extend([HALVES, ARITHMETIC, LANES]);
                parts.extend(bag_shader::parts(access_bytes));
                parts
            }
            Stage::Count | Stage::Locate | Stage::CountAndLocate => vec![GEOMETRY, INDEX, CHECK],
            Stage::IndirectArgs => vec![include_str!("../../../shaders/indirect_args.wgsl")],
            Stage::Keys { sorted } => {
                let mut parts = vec![GEOMETRY, INDEX];
                parts.extend(scatter_shader::keys(sorted));
                parts
            }
            Stage::Sort(stage) => scatter_shader::sort(stage).to_vec(),
            Stage::Fold(kernel) | Stage::FoldRuns(kernel) => {
                let mut parts = vec![PRODUCTS, HALVES, ARITHMETIC, LANES];
                parts.extend(scatter_shader::fold(kernel));
                parts
            }
        };
        parts.join("\n")
    }

    /// Whether positions in params take 64 bits. Checks read extents only, of any size.
    fn is_wide(&self) -> bool {
        match self.stage {
            Stage::Copy(_, _, nest) => self.segments > 0 && nest == NestSize::ANY,
            Stage::Decode(_, _, nest) => nest == NestSize::ANY,
            Stage::Bag(..) => self.segments > 0,
            Stage::Count | Stage::Locate | Stage::CountAndLocate | Stage::Keys { .. } => true,
            Stage::IndirectArgs | Stage::Sort(_) | Stage::Fold(_) | Stage::FoldRuns(_) => false,
        }
    }

    /// The entry point in that module.
    pub(crate) fn entry_point(&self) -> &'static str {
        match self.stage {
            Stage::Copy(..) | Stage::Decode(..) | Stage::IndirectArgs => "main",
            Stage::Keys { .. } | Stage::Sort(_) | Stage::Fold(_) | Stage::Bag(..) => "main",
            Stage::FoldRuns(_) => "fold_runs",
            Stage::Count => "count",
            Stage::Locate => "locate",
            Stage::CountAndLocate => "count_and_locate",
        }
    }

    /// The override constants.
    pub(crate) fn constants(&self) -> Vec<(&'static str, f64)> {
        match self.stage {
            Stage::IndirectArgs | Stage::Sort(_) => return Vec::new(),
            Stage::Fold(kernel) | Stage::FoldRuns(kernel) => {
                return scatter_shader::fold_constants(kernel);
            }
            Stage::Copy(..) | Stage::Decode(..) | Stage::Bag(..) => {}
            Stage::Count | Stage::Locate | Stage::CountAndLocate | Stage::Keys { .. } => {}
        }
        let mut constants = vec![
            ("INDEX_WORDS", f64::from(self.index_bytes / 4)),
            ("WIDE", f64::from(u8::from(self.is_wide()))),
        ];
        if let Stage::Copy(_, _, nest) | Stage::Decode(_, _, nest) = self.stage {
            let number = |count: Option<usize>| count.unwrap_or(0) as f64;
            constants.extend([("LOOPS", number(nest.loops)), ("DEPTH", number(nest.depth))]);
        }
        if let Stage::Copy(KernelKind::Subword, access_bytes, _) = self.stage {
            constants.push(("ACCESS_BYTES", access_bytes as f64));
        }
        if let Stage::Bag(element, access_bytes) = self.stage {
            constants.extend(bag_shader::constants(element, access_bytes));
        }
        constants
    }
}

const GEOMETRY: &str = concat!(
    include_str!("../../../shaders/products.wgsl"),
    include_str!("../../../shaders/geometry.wgsl"),
);
const INDEX: &str = include_str!("../../../shaders/index.wgsl");
const COPY: &str = include_str!("../../../shaders/copy.wgsl");
const ROWS: &str = include_str!("../../../shaders/rows.wgsl");
const ELEMENTS: &str = include_str!("../../../shaders/elements.wgsl");
const STORE_WORDS: &str = include_str!("../../../shaders/store_words.wgsl");
const STORE_VEC4: &str = include_str!("../../../shaders/store_vec4.wgsl");
const ELEMENTS_X4: &str = include_str!("../../../shaders/elements_x4.wgsl");
const MASKED_STORE: &str = include_str!("../../../shaders/masked_store.wgsl");
const UNALIGNED: &str = include_str!("../../../shaders/unaligned.wgsl");
const BYTES: &str = include_str!("../../../shaders/bytes.wgsl");
const BYTES_X4: &str = include_str!("../../../shaders/bytes_x4.wgsl");
const SUBWORD: &str = include_str!("../../../shaders/subword.wgsl");
const PRODUCTS: &str = include_str!("../../../shaders/products.wgsl");
const HALVES: &str = include_str!("../../../shaders/halves.wgsl");
const ARITHMETIC: &str = include_str!("../../../shaders/arithmetic.wgsl");
/// Elements of words as lanes.
const LANES: &str = include_str!("../../../shaders/lanes.wgsl");
const CHECK: &str = include_str!("../../../shaders/check.wgsl");

/// Shader parts specific to a copy kernel, starting with the output type (`Out`).
fn copy_parts(kind: KernelKind) -> &'static [&'static str] {
    match kind {
        KernelKind::Rows => &["alias Out = Vector;", ROWS],
        KernelKind::Elements => &["alias Out = Vector;", ELEMENTS],
        KernelKind::ElementsX4 => &[ELEMENTS_X4],
        KernelKind::Bytes => &[MASKED_STORE, UNALIGNED, BYTES],
        KernelKind::BytesX4 => &[MASKED_STORE, UNALIGNED, STORE_WORDS, BYTES_X4],
        KernelKind::BytesVec4 => &[UNALIGNED, STORE_VEC4, BYTES_X4],
        KernelKind::Subword => &[MASKED_STORE, UNALIGNED, SUBWORD],
    }
}

/// Loads an access of params from one of so many bindings.
fn load(segments: u32) -> String {
    let further = 1..segments;
    let declarations = further.clone().map(|n| {
        let binding = segment_binding(n);
        format!("@group(0) @binding({binding}) var<storage, read> params_{n}: array<Vector>;\n")
    });
    let cases = further.map(|n| format!("        case {n}u: {{ return params_{n}[at]; }}\n"));
    let (declarations, cases): (String, String) = (declarations.collect(), cases.collect());
    let default = "        default: { return params[at]; }\n";
    let switch = format!("    switch segment {{\n{cases}{default}    }}\n");
    let load = format!("fn load(segment: u32, at: u32) -> Vector {{\n{switch}}}\n");
    format!("const SEGMENTS = {segments}u;\n{declarations}\n{load}\n")
}

/// The binding of segment `n` of params, from 1 on.
pub(in crate::gpu) fn segment_binding(n: u32) -> u32 {
    4 + n
}

/// The vector type; accesses of 1 and 2 bytes are parts of a word.
fn vector(bytes: usize) -> &'static str {
    match bytes {
        8 => include_str!("../../../shaders/vec2.wgsl"),
        16 => include_str!("../../../shaders/vec4.wgsl"),
        _ => include_str!("../../../shaders/word.wgsl"),
    }
}
