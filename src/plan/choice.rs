//! Which kernel executes a plan, and why: from shapes, strides, alignment and rules, and nothing else.

use std::fmt;

use crate::plan::Plan;
use crate::plan::block::{Origins, fill_period};
use crate::plan::kernels::{KernelKind, KindReason};
use crate::plan::nest_size::{NestReason, NestSize};
use crate::rules::OutOfBounds;

/// Addressing of params in a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Positions {
    /// Accesses of the one binding.
    Bound,
    /// Accesses from the first segment on, which fit 32 bits.
    Segments,
    /// Accesses from the first segment on, in 64 bits.
    Wide,
}

/// A kernel and the width of its access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) kind: KernelKind,
    pub(super) nest: NestSize,
    pub(super) access_bytes: usize,
    pub(super) positions: Positions,
    pub(super) reason: Reason,
}

impl Choice {
    /// The kernel for a non-empty `plan` and tensors that start at `starts`; if `whole`, no other
    /// dispatch makes a part of its output, and no count cuts it short.
    pub(super) fn new(plan: &Plan, origins: Origins, positions: Positions, whole: bool) -> Choice {
        let widest = widest_access(plan, origins);
        let (nest, nest_reason) = match NestSize::of(plan) {
            (_, NestReason::Enough) if !fills_each_access(plan, widest) => {
                (NestSize::ANY, NestReason::Fill)
            }
            (_, NestReason::Enough) if positions == Positions::Wide => {
                (NestSize::ANY, NestReason::Wide)
            }
            (size, NestReason::Enough)
                if size != NestSize::IN_SEGMENTS && positions == Positions::Segments =>
            {
                (NestSize::ANY, NestReason::Segments)
            }
            found => found,
        };
        let (kind, access_bytes, kind_reason) = KernelKind::of(plan, origins, widest, nest, whole);
        Choice {
            kind,
            nest,
            access_bytes,
            positions,
            reason: Reason {
                kind: kind_reason,
                nest: nest_reason,
            },
        }
    }
}

/// The fill value repeats with every access.
fn fills_each_access(plan: &Plan, access_bytes: usize) -> bool {
    fill_period(plan, access_bytes) == access_bytes.max(4)
}

/// The widest access that divides the row, every stride and every start.
pub(super) fn widest_access(plan: &Plan, origins: Origins) -> usize {
    // A power of two divides several numbers if it divides the bits of all of them.
    let bits = access_limits(plan, origins).fold(0, |bits, (_, bytes)| bits | bytes);
    access_of(bits)
}

fn access_of(bits: u64) -> usize {
    1 << bits.trailing_zeros().min(4)
}

/// The limits that rule out a wider access; empty at the widest.
pub(super) fn narrowest(plan: &Plan, origins: Origins) -> Vec<AccessLimit> {
    let widest = widest_access(plan, origins);
    let limits = access_limits(plan, origins);
    let narrow = limits.filter(|&(_, bytes)| widest < 16 && access_of(bytes) == widest);
    narrow.map(|(limit, _)| limit).collect()
}

/// The bytes that an access has to divide.
fn access_limits(plan: &Plan, origins: Origins) -> impl Iterator<Item = (AccessLimit, u64)> {
    let geometry = plan.geometry();
    let element = plan.element_bytes() as u64;
    let bytes = move |elements: u64| elements.wrapping_mul(element);
    let of_stride = move |stride: isize| bytes(stride as u64);
    let params_start = bytes(geometry.params_offset as u64).wrapping_sub(origins.params as u64);
    let whole = [
        (AccessLimit::Row, bytes(geometry.slice() as u64)),
        (AccessLimit::ParamsStart, params_start),
        (AccessLimit::OutputStart, origins.output_offset()),
    ];
    let loops = geometry.row_loops().iter();
    let loops = loops.map(move |l| (AccessLimit::LoopStride, of_stride(l.params_stride)));
    let coordinates = geometry.coordinates.iter();
    let strides = coordinates.map(move |c| (AccessLimit::Coordinate(c.axis), of_stride(c.stride)));
    // A fill value of other widths repeats per element only.
    let fill = match plan.rules().out_of_bounds {
        OutOfBounds::Fill(_) if !element.is_power_of_two() || element > 16 => {
            Some((AccessLimit::Fill, element))
        }
        _ => None,
    };
    whole.into_iter().chain(loops).chain(strides).chain(fill)
}

/// Why a kernel was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reason {
    /// Why this copy part.
    pub(crate) kind: KindReason,
    /// Why it is compiled for nests of this size.
    pub(crate) nest: NestReason,
}

/// A size, offset or stride that must be a multiple of the access width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessLimit {
    /// The bytes of a row.
    Row,
    /// The offset of params in its binding.
    ParamsStart,
    /// The offset of the output in its binding.
    OutputStart,
    /// The stride in params of a loop over rows.
    LoopStride,
    /// The stride in params of the coordinate that selects from this axis.
    Coordinate(usize),
    /// The element, which a fill value repeats by.
    Fill,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexType;
    use crate::op::Op;
    use crate::rules::{Fill, Rules};
    use crate::shape::Layout;

    fn choice(op: Op, rules: &Rules, width: usize, params: &[usize], indices: &[usize]) -> Choice {
        let (params, indices) = (Layout::contiguous(params), Layout::contiguous(indices));
        let plan = Plan::new(op, rules, width, &params, IndexType::I32, &indices).unwrap();
        Choice::new(&plan, Origins::default(), Positions::Bound, true)
    }

    /// For a gather of `count` rows of `row` elements of `width` bytes.
    fn of_rows(count: usize, row: usize, width: usize) -> (KernelKind, usize) {
        let op = Op::gather(0);
        let chosen = choice(op, &Rules::default(), width, &[100, row], &[count]);
        (chosen.kind, chosen.access_bytes)
    }

    /// For a gather of 10 rows of 384 elements of 4 bytes.
    fn with_starts(params: i64, output: i64) -> usize {
        let (params_layout, indices) = (Layout::contiguous(&[100, 384]), Layout::contiguous(&[10]));
        let rules = Rules::default();
        let op = Op::gather(0);
        let plan = Plan::new(op, &rules, 4, &params_layout, IndexType::I32, &indices).unwrap();
        let origins = Origins {
            params: -params,
            indices: 0,
            output: -output,
        };
        Choice::new(&plan, origins, Positions::Bound, true).access_bytes
    }

    #[test]
    fn rows_take_the_widest_access_that_divides_them() {
        assert_eq!(of_rows(10, 384, 4), (KernelKind::Rows, 16));
        assert_eq!(of_rows(10, 6, 4), (KernelKind::Rows, 8));
        assert_eq!(of_rows(10, 3, 4), (KernelKind::Rows, 4));
        assert_eq!(of_rows(10, 4, 4), (KernelKind::Elements, 16));
        assert_eq!(of_rows(10, 1, 8), (KernelKind::Elements, 8));
        assert_eq!(of_rows(10, 1, 4), (KernelKind::Elements, 4));
        assert_eq!(of_rows(10, 16, 1), (KernelKind::Elements, 16));
        assert_eq!(of_rows(10, 64, 1), (KernelKind::Rows, 16));
        assert_eq!(of_rows(10, 1, 12), (KernelKind::Rows, 4));
    }

    #[test]
    fn rows_that_are_not_whole_words_are_bytes() {
        assert_eq!(of_rows(10, 385, 1), (KernelKind::BytesX4, 1));
        assert_eq!(of_rows(16, 385, 1), (KernelKind::BytesVec4, 1));
        assert_eq!(of_rows(16, 17, 1), (KernelKind::BytesVec4, 1));
        assert_eq!(of_rows(16, 15, 1), (KernelKind::Bytes, 1)); // a vector may hold three rows
        assert_eq!(of_rows(10, 3, 2), (KernelKind::Bytes, 1));
        assert_eq!(of_rows(10, 5, 1), (KernelKind::Bytes, 1));
        assert_eq!(of_rows(10, 3, 1), (KernelKind::Subword, 1));
        assert_eq!(of_rows(10, 1, 3), (KernelKind::Subword, 1));
        assert_eq!(of_rows(10, 1, 1), (KernelKind::Subword, 1));
        assert_eq!(of_rows(10, 1, 2), (KernelKind::Subword, 2));
        assert_eq!(of_rows(10, 2, 1), (KernelKind::Subword, 2));
    }

    #[test]
    fn four_at_once_need_whole_runs_and_an_aligned_output() {
        let kind = |op, params: &[usize], indices: &[usize]| {
            choice(op, &Rules::default(), 4, params, indices).kind
        };
        assert_eq!(kind(Op::gather(0), &[9], &[1024]), KernelKind::ElementsX4);
        assert_eq!(kind(Op::gather(0), &[9], &[1023]), KernelKind::Elements);
        // Runs of 6 lookups each
        assert_eq!(kind(Op::gather(1), &[4, 9], &[6]), KernelKind::Elements);
        assert_eq!(kind(Op::gather(1), &[4, 9], &[8]), KernelKind::ElementsX4);
    }

    #[test]
    fn the_nest_is_the_smallest_that_does() {
        let nest = |op, rules, params: &[usize], indices: &[usize]| {
            choice(op, rules, 4, params, indices).nest
        };
        let (nd, first) = (Op::gather_nd(), Op::gather(0));
        let zero = &Rules::default();
        assert_eq!(nest(first, zero, &[9, 5], &[7]), NestSize::new(2, 1));
        assert_eq!(
            nest(Op::gather(1), zero, &[9, 5], &[7]),
            NestSize::new(2, 1)
        );
        assert_eq!(nest(nd, zero, &[9, 5], &[7, 2]), NestSize::new(2, 3));
        assert_eq!(nest(nd, zero, &[9, 5, 2, 3], &[7, 4]), NestSize::ANY);
        assert_eq!(nest(nd, zero, &[9, 5], &[7, 1]), NestSize::new(2, 1));
    }

    #[test]
    fn every_rule_but_wrap_has_the_same_kernel() {
        let filled = |bytes: &[u8]| {
            Rules::default().with_out_of_bounds(OutOfBounds::Fill(Fill::from_bytes(bytes)))
        };
        let presets = Rules::PRESETS.iter().map(|(_, rules)| (*rules).clone());
        let wraps = |rules: &Rules| rules.out_of_bounds == OutOfBounds::Wrap;
        for rules in presets.chain([filled(&[1, 2, 3, 4])]).filter(|r| !wraps(r)) {
            let chosen = choice(Op::gather(0), &rules, 4, &[9], &[1024]);
            assert_eq!(
                (chosen.kind, chosen.nest),
                (KernelKind::ElementsX4, NestSize::new(2, 1)),
                "{rules:?}"
            );
        }
        let wrap = choice(Op::gather(0), &Rules::NUMPY_WRAP, 4, &[9], &[1024]);
        assert_eq!(
            (wrap.kind, wrap.nest),
            (KernelKind::ElementsX4, NestSize::new(4, 1))
        );
        let odd = choice(Op::gather(0), &filled(&[1; 12]), 12, &[9], &[1024]);
        assert_eq!(
            (odd.nest, odd.reason.nest),
            (NestSize::ANY, NestReason::Fill)
        );
    }

    #[test]
    fn starts_narrow_the_access() {
        assert_eq!(with_starts(0, 0), 16);
        assert_eq!(with_starts(-32, 16), 16);
        assert_eq!(with_starts(8, 0), 8);
        assert_eq!(with_starts(0, 4), 4);
        assert_eq!(with_starts(-4, 8), 4);
    }
}
