//! Why a kernel is what it is: said by the code that chooses.

use std::fmt;

use crate::plan::{KernelKind, NestSize};

/// Why a kernel was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reason {
    /// Why this copy part.
    pub(crate) kind: KindReason,
    /// Why it is compiled for nests of this size.
    pub(crate) nest: NestReason,
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
    /// A row is one access of 4 or 8 bytes.
    OneAccess(NotFour),
    /// A row is one access of 16 bytes.
    SixteenBytes,
    /// A row is several accesses.
    SeveralAccesses,
}

/// What keeps an invocation from making four neighbours at once.
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

/// Why a kernel is compiled for nests of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestReason {
    /// It is the smallest that does.
    Enough,
    /// The fill value does not repeat with every access.
    Fill,
    /// An index that is outside wraps around, which takes a loop.
    Wrap,
    /// There are more loops over rows than the others have.
    Loops,
    /// There are no coordinates, or more than the others have.
    Coordinates,
    /// Params has several segments, for which not every size is compiled.
    Segments,
    /// Positions in params take 64 bits, for which one size is compiled.
    Wide,
}

/// What an access has to divide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessLimit {
    /// The bytes of a row.
    Row,
    /// Where params starts in its binding.
    ParamsStart,
    /// Where the output starts in its binding.
    OutputStart,
    /// The stride in params of a loop over rows.
    LoopStride,
    /// The stride in params of the coordinate that selects from this axis.
    Coordinate(usize),
    /// The element, which a fill value repeats by.
    Fill,
}

impl KernelKind {
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
}

impl fmt::Display for NestSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: usize| if n == 1 { "" } else { "s" };
        match (self.loops, self.depth) {
            (Some(loops), Some(depth)) => {
                let (l, d) = (s(loops), s(depth));
                write!(f, "{loops} loop{l}, {depth} coordinate{d}")
            }
            _ => f.write_str("any nest"),
        }
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
            KindReason::SixteenBytes => f.write_str("a row is one access of 16 bytes"),
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

impl fmt::Display for NestReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NestReason::Enough => "the smallest nest that does",
            NestReason::Fill => "the fill value does not repeat with every access",
            NestReason::Wrap => "an index outside wraps around, which other kernels cannot",
            NestReason::Loops => "more loops over rows than other kernels have",
            NestReason::Coordinates => "no coordinates, or more than three",
            NestReason::Segments => "params in segments: not every nest is compiled for them",
            NestReason::Wide => "positions of 64 bits: no other nest is compiled for them",
        })
    }
}

impl fmt::Display for AccessLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessLimit::Row => f.write_str("the row"),
            AccessLimit::ParamsStart => f.write_str("the start of params"),
            AccessLimit::OutputStart => f.write_str("the start of the output"),
            AccessLimit::LoopStride => f.write_str("the stride of a loop"),
            AccessLimit::Coordinate(axis) => write!(f, "the stride of axis {axis}"),
            AccessLimit::Fill => f.write_str("the fill value"),
        }
    }
}
