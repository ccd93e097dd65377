//! Sizes of loop nests that kernels are specialised for, and the choice among them.

use std::fmt;

use crate::plan::Plan;

/// The size of loop nest that a kernel is specialised for; `None`: any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NestSize {
    /// The most loops over rows.
    pub(crate) loops: Option<usize>,
    /// The most coordinates.
    pub(crate) depth: Option<usize>,
}

impl NestSize {
    /// Any loops, coordinates and fill values.
    pub(crate) const ANY: NestSize = NestSize {
        loops: None,
        depth: None,
    };

    /// All that kernels are compiled for.
    pub(crate) const ALL: [NestSize; 4] = [
        NestSize::new(2, 1),
        NestSize::new(4, 1),
        NestSize::new(2, 3),
        NestSize::ANY,
    ];

    /// The only small size with variants for params in several segments.
    pub(crate) const IN_SEGMENTS: NestSize = NestSize::new(2, 1);

    pub(crate) const fn new(loops: usize, depth: usize) -> NestSize {
        NestSize {
            loops: Some(loops),
            depth: Some(depth),
        }
    }

    /// Whether its pipelines can divide, which indices that wrap around need: `wraps` in `shaders/copy.wgsl`.
    fn divides(&self) -> bool {
        *self != NestSize::new(2, 1)
    }

    /// The smallest that holds the nest of `plan`, and why it is not a smaller one.
    pub(super) fn of(plan: &Plan) -> (NestSize, NestReason) {
        let geometry = plan.geometry();
        let (loops, depth) = (geometry.row_loops().len(), geometry.coordinates.len());
        let divides = plan.rules().out_of_bounds.divides();
        let holds = |size: &&NestSize| {
            let large = size.loops >= Some(loops) && size.depth >= Some(depth);
            depth > 0 && large && (size.divides() || !divides)
        };
        match NestSize::ALL.iter().find(holds) {
            Some(&size) => (size, NestReason::Enough),
            None if (1..=3).contains(&depth) => (NestSize::ANY, NestReason::Loops),
            None => (NestSize::ANY, NestReason::Coordinates),
        }
    }
}

/// Why a kernel is compiled for nests of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestReason {
    /// It is the smallest that does.
    Enough,
    /// The fill value does not repeat with every access.
    Fill,
    /// There are more loops over rows than others have, for its coordinates and rules.
    Loops,
    /// There are no coordinates, or more than the others have.
    Coordinates,
    /// Params has several segments, for which not every size is compiled.
    Segments,
    /// Positions in params take 64 bits, for which one size is compiled.
    Wide,
}

impl fmt::Display for NestSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.loops, self.depth) {
            (Some(loops), Some(1)) => write!(f, "up to {loops} loops, 1 coordinate"),
            (Some(loops), Some(depth)) => {
                write!(f, "up to {loops} loops, up to {depth} coordinates")
            }
            _ => f.write_str("any nest"),
        }
    }
}

impl fmt::Display for NestReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NestReason::Enough => "the smallest nest that does",
            NestReason::Fill => "the fill value does not repeat with every access",
            NestReason::Loops => "more loops over rows than other kernels for its rules have",
            NestReason::Coordinates => "no coordinates, or more than three",
            NestReason::Segments => "params in segments: not every nest is compiled for them",
            NestReason::Wide => "positions of 64 bits: no other nest is compiled for them",
        })
    }
}
