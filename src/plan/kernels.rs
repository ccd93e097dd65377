//! The kernels that copy: which there are, when each is chosen and why, and how its workgroups share the
//! output. Their shaders are put together in `src/gpu/pipeline/shader.rs`.

use std::fmt;

use crate::plan::Plan;
use crate::plan::block::Origins;
use crate::plan::loop_steps::{LOOKUP_STEPS, MAX_LOOP_STEPS};
use crate::plan::nest_size::NestSize;

/// Invocations of a workgroup, as `WORKGROUP` in `shaders/geometry.wgsl`.
pub(super) const WORKGROUP: u64 = 256;
/// Accesses that an invocation of the rows kernel has in flight, as in `shaders/rows.wgsl`.
const IN_FLIGHT: u64 = 4;
/// Lookups that an invocation checks, as in `shaders/check.wgsl`.
const CHECKED: u64 = 64;
const _: () = assert!(CHECKED as u32 * (1 + LOOKUP_STEPS) < MAX_LOOP_STEPS);
/// Lookups that a workgroup checks.
pub(super) const CHECKED_BY_WORKGROUP: u64 = WORKGROUP * CHECKED;
/// Lookups that one workgroup can check, if it has to: where a flag is raised.
pub(super) const CHECKED_ALONE: u64 =
    WORKGROUP * ((MAX_LOOP_STEPS - 1) / (1 + LOOKUP_STEPS)) as u64;
/// Outputs of an invocation, as in `shaders/elements.wgsl` and `shaders/elements_x4.wgsl`.
const PER_INVOCATION: u64 = 4;

/// The copy part of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum KernelKind {
    /// Rows of several accesses of 1, 2 or 4 words: `shaders/rows.wgsl`.
    Rows,
    /// One access of 1, 2 or 4 words per lookup: `shaders/elements.wgsl`.
    Elements,
    /// One word per lookup, four neighbouring outputs per invocation: `shaders/elements_x4.wgsl`.
    ElementsX4,
    /// Rows of at least four bytes: `shaders/bytes.wgsl`.
    Bytes,
    /// Rows of at least 16 bytes, four words per invocation: `shaders/bytes_x4.wgsl`.
    BytesX4,
    /// [`KernelKind::BytesX4`] for outputs of whole 16-byte vectors: one store touches each memory sector once,
    /// where four word stores touch it four times.
    BytesVec4,
    /// Rows of 1, 2 or 3 bytes: `shaders/subword.wgsl`.
    Subword,
}

impl KernelKind {
    /// All of them.
    pub(crate) const ALL: [KernelKind; 7] = [
        KernelKind::Rows,
        KernelKind::Elements,
        KernelKind::ElementsX4,
        KernelKind::Bytes,
        KernelKind::BytesX4,
        KernelKind::BytesVec4,
        KernelKind::Subword,
    ];

    /// The name of its shader.
    pub(crate) fn name(self) -> &'static str {
        match self {
            KernelKind::Rows => "rows",
            KernelKind::Elements => "elements",
            KernelKind::ElementsX4 => "elements_x4",
            KernelKind::Bytes => "bytes",
            KernelKind::BytesX4 => "bytes_x4",
            KernelKind::BytesVec4 => "bytes_vec4",
            KernelKind::Subword => "subword",
        }
    }

    /// Supported widths of an access, in bytes.
    pub(crate) fn access_widths(self) -> &'static [usize] {
        match self {
            KernelKind::Rows | KernelKind::Elements => &[4, 8, 16],
            KernelKind::ElementsX4 => &[4],
            KernelKind::Bytes | KernelKind::BytesX4 | KernelKind::BytesVec4 => &[1],
            KernelKind::Subword => &[1, 2],
        }
    }

    /// Bytes of one store (`Out` of its shader), if its accesses are of `access_bytes`.
    pub(crate) fn store_bytes(self, access_bytes: usize) -> usize {
        match self {
            KernelKind::Rows | KernelKind::Elements => access_bytes,
            KernelKind::ElementsX4 | KernelKind::BytesVec4 => 16,
            KernelKind::Bytes | KernelKind::BytesX4 | KernelKind::Subword => 4,
        }
    }

    /// Its accesses are parts of words, which it assembles.
    pub(crate) fn makes_words(self) -> bool {
        match self {
            KernelKind::Rows | KernelKind::Elements | KernelKind::ElementsX4 => false,
            KernelKind::Bytes
            | KernelKind::BytesX4
            | KernelKind::BytesVec4
            | KernelKind::Subword => true,
        }
    }

    /// It writes several words of the output with one store, so it cannot leave out some of them.
    pub(crate) fn is_fast(self) -> bool {
        match self {
            KernelKind::ElementsX4 | KernelKind::BytesVec4 => true,
            KernelKind::Rows
            | KernelKind::Elements
            | KernelKind::Bytes
            | KernelKind::BytesX4
            | KernelKind::Subword => false,
        }
    }

    /// The kernel for a non-empty `plan`, the bytes that it moves at once, and why; `widest` are as many
    /// as it can be. If `whole`, no other dispatch makes a part of the output, and no count cuts it short.
    pub(super) fn of(
        plan: &Plan,
        origins: Origins,
        widest: usize,
        nest: NestSize,
        whole: bool,
    ) -> (KernelKind, usize, KindReason) {
        let four_at_once = || four_at_once(plan, origins, whole, nest);
        let row_bytes = plan.geometry().slice() * plan.element_bytes();
        match widest {
            1 | 2 if row_bytes < 4 => (KernelKind::Subword, widest, KindReason::PartsOfWords),
            1 | 2 if row_bytes < 16 => (KernelKind::Bytes, 1, KindReason::ShortRows),
            1 | 2 => match four_at_once() {
                Some(why) => (KernelKind::BytesX4, 1, KindReason::LongRows(why)),
                None => (KernelKind::BytesVec4, 1, KindReason::WholeVectors),
            },
            4 if row_bytes == widest => match four_at_once() {
                _ if !has_runs(plan) => {
                    let reason = KindReason::OneAccess(NotFour::RunLength);
                    (KernelKind::Elements, widest, reason)
                }
                Some(why) => (KernelKind::Elements, widest, KindReason::OneAccess(why)),
                None => (KernelKind::ElementsX4, widest, KindReason::FourNeighbours),
            },
            _ if row_bytes == widest => (KernelKind::Elements, widest, KindReason::OneVector),
            _ => (KernelKind::Rows, widest, KindReason::SeveralAccesses),
        }
    }

    /// Distance in rows between successive lookups of an invocation; 0 if it does not walk.
    pub(super) fn walk(self) -> u32 {
        match self {
            KernelKind::Elements => WORKGROUP as u32,
            KernelKind::Bytes
            | KernelKind::BytesX4
            | KernelKind::BytesVec4
            | KernelKind::Subword => 1,
            KernelKind::Rows | KernelKind::ElementsX4 => 0,
        }
    }

    /// The division of rows of `row_length` accesses of `access_bytes` among workgroups.
    pub(super) fn share(self, row_length: u64, access_bytes: u64, origins: Origins) -> Share {
        let rows = |span| Share {
            per_row: 1,
            lead: 0,
            span,
            chunks: 1,
            sharing: None,
        };
        let bytes = |span| Share {
            per_row: row_length * access_bytes,
            lead: origins.output_offset() % 4,
            ..rows(span)
        };
        match self {
            KernelKind::Rows => {
                let sharing = Sharing::new(row_length, access_bytes);
                Share {
                    chunks: sharing.chunks(row_length),
                    sharing: Some(sharing),
                    ..rows(sharing.rows())
                }
            }
            KernelKind::Elements | KernelKind::ElementsX4 => rows(WORKGROUP * PER_INVOCATION),
            KernelKind::BytesX4 | KernelKind::BytesVec4 => bytes(16 * WORKGROUP),
            KernelKind::Bytes | KernelKind::Subword => bytes(4 * WORKGROUP),
        }
    }
}

/// Division of the output among workgroups, in rows or in bytes of rows.
pub(super) struct Share {
    /// Units per row.
    pub(super) per_row: u64,
    /// Units before the first row.
    pub(super) lead: u64,
    /// Units per workgroup.
    pub(super) span: u64,
    /// The workgroups that a row takes.
    pub(super) chunks: u64,
    /// For the rows kernel: the division among invocations.
    pub(super) sharing: Option<Sharing>,
}

/// Why a kernel has its copy part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KindReason {
    /// Rows are shorter than a word.
    PartsOfWords,
    /// Rows are not whole words, and so short that four words may hold more than two.
    ShortRows,
    /// Rows are not whole words, and long.
    LongRows(NotFour),
    /// Rows are not whole words, and the output is whole vectors of four.
    WholeVectors,
    /// A row is one access, and four neighbours can be made at once.
    FourNeighbours,
    /// A row is one access of 4 bytes.
    OneAccess(NotFour),
    /// A row is one access of 8 or 16 bytes.
    OneVector,
    /// A row is several accesses.
    SeveralAccesses,
}

/// Why an invocation cannot make four elements or words at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotFour {
    /// The innermost loop over lookups does not run in whole fours.
    RunLength,
    /// The kernel makes a part of its output.
    Part,
    /// It is not compiled for nests of this size.
    Nest,
    /// The output does not start at a multiple of 16 bytes.
    OutputStart,
    /// The output is not a multiple of 16 bytes long.
    OutputLength,
}

/// Reason why an invocation cannot store four words of the output at once: all of their bytes must belong to
/// the output of this dispatch.
fn four_at_once(plan: &Plan, origins: Origins, whole: bool, nest: NestSize) -> Option<NotFour> {
    if !whole {
        Some(NotFour::Part)
    } else if nest.depth != Some(1) {
        Some(NotFour::Nest)
    } else if !origins.output_offset().is_multiple_of(16) {
        Some(NotFour::OutputStart)
    } else if !plan.output_bytes().is_multiple_of(16) {
        Some(NotFour::OutputLength)
    } else {
        None
    }
}

/// The innermost loop over lookups runs in whole groups of four.
fn has_runs(plan: &Plan) -> bool {
    match plan.geometry().row_loops().last() {
        Some(inner) => inner.extent.is_multiple_of(4),
        None => false,
    }
}

/// Division of rows among the invocations of a workgroup of the rows kernel.
#[derive(Clone, Copy)]
pub(super) struct Sharing {
    /// Invocations that share a row: a power of two.
    pub(super) sharers: u64,
    /// An invocation copies from two rows.
    pub(super) paired: bool,
}

impl Sharing {
    /// An invocation has four accesses to copy. Invocations side by side should store at least 32
    /// bytes side by side, which is the least that GPUs write at once without loss. Short rows of
    /// which four accesses each would leave fewer are taken two at a time; of rows of just 32 bytes, one
    /// access each.
    fn new(row_length: u64, access_bytes: u64) -> Sharing {
        let row_bytes = row_length * access_bytes;
        let paired = row_bytes <= 2 * 32;
        let per_row = match row_bytes {
            32 => 1,
            _ if paired => IN_FLIGHT / 2,
            _ => IN_FLIGHT,
        };
        let sharers = row_length.div_ceil(per_row).next_power_of_two();
        Sharing {
            sharers: sharers.min(WORKGROUP),
            paired,
        }
    }

    /// The rows of a workgroup.
    fn rows(&self) -> u64 {
        (WORKGROUP / self.sharers) << u32::from(self.paired)
    }

    /// The workgroups that a row takes.
    fn chunks(&self, row_length: u64) -> u64 {
        row_length.div_ceil(self.sharers * IN_FLIGHT)
    }
}

impl fmt::Display for KindReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KindReason::PartsOfWords => f.write_str("a row is shorter than a word of 4 bytes"),
            KindReason::ShortRows => {
                f.write_str("rows are not whole words, and shorter than 16 bytes; one word at once")
            }
            KindReason::LongRows(why) => {
                write!(
                    f,
                    "rows are not whole words; four words at once, stored one by one, as {why}"
                )
            }
            KindReason::WholeVectors => {
                f.write_str("rows are not whole words; four words at once, in one store")
            }
            KindReason::FourNeighbours => {
                f.write_str("a row is one access; four neighbours at once")
            }
            KindReason::OneAccess(why) => {
                write!(
                    f,
                    "a row is one access; not four neighbours at once, as {why}"
                )
            }
            KindReason::OneVector => f.write_str("a row is one access of 8 or 16 bytes"),
            KindReason::SeveralAccesses => f.write_str("a row is several accesses"),
        }
    }
}

impl fmt::Display for NotFour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotFour::RunLength => "the innermost loop over lookups is not a multiple of 4",
            NotFour::Part => "another pass, or a count, may leave it a part of the output",
            NotFour::Nest => "it is not compiled for such a nest",
            NotFour::OutputStart => "the output does not start at a multiple of 16 bytes",
            NotFour::OutputLength => "the output is not a multiple of 16 bytes long",
        })
    }
}
