//! One dispatch of a pooled lookup: its bags, its lookups, and what it binds.

use std::ops::Range;

use crate::error::Result;
use crate::plan::Plan;
use crate::plan::bag::{BagPlan, OP, Ranges};
use crate::plan::passes::Segment;
use crate::shape::Layout;

/// One dispatch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BagPass {
    /// Its bags.
    pub(crate) bags: Range<usize>,
    /// Their lookups.
    pub(crate) lookups: Range<usize>,
    /// Segments of params to bind; empty if nothing is read.
    pub(crate) params: Vec<Segment>,
    /// Segment of indices to bind; `None` if there are no indices.
    pub(crate) indices: Option<Segment>,
    /// Segment of the weights to read; `None` without weights.
    pub(crate) weights: Option<Segment>,
    /// Segment of the output to bind.
    pub(crate) output: Segment,
    /// From the start of that binding to the first byte of the bags.
    pub(crate) output_offset: u64,
    /// Params holds decoded rows in the order of the lookups.
    pub(crate) is_decoded: bool,
    /// Bytes of the rows that are read.
    pub(crate) bytes: u64,
    /// It continues the one bag that the previous pass left unfinished.
    pub(crate) resumes: bool,
    /// It leaves its one bag unfinished, for the next pass to continue.
    pub(crate) is_partial: bool,
}

impl BagPass {
    /// It folds a part of one bag.
    pub(crate) fn is_part(&self) -> bool {
        self.resumes || self.is_partial
    }
}

/// Position of a lookup in a tensor of the shape of the indices.
pub(super) fn position(layout: &Layout, ranges: &Ranges, lookup: usize) -> usize {
    let step = |d: usize, steps: usize| (steps as isize).wrapping_mul(layout.strides()[d]);
    let from_first = match *ranges {
        Ranges::Offsets(_) => step(0, lookup),
        Ranges::Even { each, .. } => {
            let each = each.max(1);
            step(0, lookup / each).wrapping_add(step(1, lookup % each))
        }
    };
    layout.offset().wrapping_add_signed(from_first)
}

/// The bytes of the offsets of so many bags, in whole vectors.
pub(super) fn offsets_bytes(bags: usize) -> u64 {
    ((bags as u64 + 1) * 4).next_multiple_of(16)
}

impl BagPass {
    /// The rows of its lookups, as a gather makes them in their order.
    pub(crate) fn rows(&self, plan: &BagPlan) -> Result<Plan> {
        let indices = plan.indices();
        let indices = match plan.ranges {
            Ranges::Offsets(_) => indices.slice(0, self.lookups.clone())?,
            Ranges::Even { each, .. } => {
                // Some lookups of one bag, or all of several.
                let first = self.lookups.start % each.max(1);
                let count = if self.is_part() {
                    self.lookups.len()
                } else {
                    each
                };
                let bags = indices.slice(0, self.bags.clone())?;
                bags.slice(1, first..first + count)?
            }
        };
        let (of, params) = (&plan.lookups, plan.lookups.params_layout());
        let (width, index_type) = (plan.dtype.bytes(), of.index_type());
        let (checked, rules) = (of.checked, of.rules());
        Plan::of_checked(OP, checked, rules, width, params, index_type, &indices)
    }

    /// The offsets of its bags, from its first lookup on; none, where all bags have as many.
    pub(crate) fn offsets(&self, plan: &BagPlan) -> Vec<u32> {
        let Ranges::Offsets(ends) = &plan.ranges else {
            return Vec::new();
        };
        if self.is_part() {
            return Vec::new();
        }
        let ends = &ends[self.bags.start..=self.bags.end];
        ends.iter()
            .map(|end| (end - self.lookups.start) as u32)
            .collect()
    }
}
