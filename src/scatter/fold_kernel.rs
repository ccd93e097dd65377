//! The fold on a device: which kernel, and the uniform block that it is given.

use super::plan::ScatterPlan;
use super::sort::SortPlan;
use crate::element::DType;
use crate::error::{OpKind, Result};
use crate::fold::{FoldElement, Reduce};
use crate::shape::Layout;

/// Lookups, keys and free steps stay below 2^31, which is as far as `divide` goes.
pub(super) const MOST: usize = i32::MAX as usize;

/// The most free steps of a pair where invocations in a row take them (`shaders/fold_flat.wgsl`): the
/// workgroups of a grid that is even are less than 4,096 more than are needed, and their invocations are
/// numbered below 2^31.
const MOST_FLAT: usize = MOST - (4096 << 8);

/// The lanes of an invocation's arithmetic, of 32 bits each.
const LANES: usize = 4;

/// The invocations of a workgroup of one pair, as `WORKGROUP` in `shaders/fold_rows.wgsl`.
const ROW_WORKGROUP: u32 = 32;

/// The fewest units of a row that is folded so: each of them has one.
const LEAST_ROW_UNITS: usize = ROW_WORKGROUP as usize;

/// Pairs of a run that is long: twice `BLOCK` in `shaders/fold_runs.wgsl`.
#[cfg(feature = "gpu")]
pub(super) const LONG_RUN: u32 = 1024;

/// The free steps that a workgroup takes of a long run, as in `shaders/fold_runs.wgsl`.
#[cfg(feature = "gpu")]
const RUN_STEPS: u32 = 8;

/// The blocks of pairs that a workgroup looks for long runs in, as there.
#[cfg(feature = "gpu")]
const RUN_BLOCKS: u64 = 16;

/// The free steps of each invocation.
const ROW_STEPS: u32 = 2;

/// What a fold pipeline is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FoldKernel {
    pub(crate) element: FoldElement,
    /// Bytes that are folded at once: an element, or a word of one that is moved; or as many of a row as
    /// there are lanes.
    pub(crate) unit_bytes: usize,
    /// Whether each pair has workgroups of its own.
    pub(crate) rows: bool,
}

impl FoldKernel {
    /// The kernel for elements of this type.
    ///
    /// # Errors
    ///
    /// [`Error::CpuOnly`] for a type whose arithmetic the shaders do not have.
    pub(crate) fn of(op: OpKind, reduce: Reduce, dtype: DType) -> Result<Self> {
        // What is moved is no more than bits.
        let element = match (reduce, dtype.bytes()) {
            (Reduce::None, 1) => FoldElement::I8,
            (Reduce::None, 2) => FoldElement::I16,
            (Reduce::None, _) => FoldElement::I32,
            _ => FoldElement::of(op, dtype, &["all with reduce = none"])?,
        };
        Ok(FoldKernel::one(element))
    }

    /// The kernel for one element at once.
    fn one(element: FoldElement) -> Self {
        FoldKernel {
            element,
            unit_bytes: element.bytes(),
            rows: false,
        }
    }

    /// Bytes of as many elements as fill all lanes.
    fn full_bytes(element: FoldElement) -> usize {
        match element {
            FoldElement::I64 => LANES / 2 * element.bytes(),
            _ => LANES * element.bytes(),
        }
    }

    /// Elements that are folded at once, of what is folded.
    #[cfg(feature = "gpu")]
    pub(crate) fn elements(&self) -> u64 {
        (self.unit_bytes / self.element.bytes()) as u64
    }

    /// Whether as many elements are folded at once as there are lanes.
    pub(crate) fn fills_lanes(&self) -> bool {
        self.unit_bytes > self.element.bytes()
    }

    /// The kernel that fills its lanes, if each row of the plan is made of such units in both tensors.
    pub(crate) fn in_lanes(self, plan: &ScatterPlan) -> Option<Self> {
        let width = plan.dtype.bytes();
        let unit_bytes = FoldKernel::full_bytes(self.element);
        let whole = |elements: usize| elements.wrapping_mul(width).is_multiple_of(unit_bytes);
        let rows = plan.free_digits.0.last().is_some_and(|lowest| {
            whole(lowest.extent) && (lowest.destination, lowest.updates) == (1, 1)
        });
        let digits = [&plan.key_digits, &plan.lookup_digits, &plan.free_digits];
        let simple = digits.iter().all(|digits| digits.0.len() <= 1);
        let offsets = [&plan.destination, &plan.updates].map(Layout::offset);
        let steps = digits[..2].iter().flat_map(|digits| &digits.0);
        let steps = steps.flat_map(|digit| [digit.destination as usize, digit.updates as usize]);
        let starts = offsets.into_iter().chain(steps).all(whole);
        let units = plan.free_digits.count().saturating_mul(width) / unit_bytes;
        (rows && simple && starts).then_some(FoldKernel {
            unit_bytes,
            rows: units >= LEAST_ROW_UNITS && self.has_rows(),
            ..self
        })
    }

    /// The kernel for long runs among `pairs` sorted pairs (`shaders/fold_runs.wgsl`), where they are folded in order:
    /// of floats, if there are more than one tile.
    pub(crate) fn of_runs(self, reduce: Reduce, pairs: usize) -> Option<Self> {
        let ordered = !self.element.takes_any_order(reduce) && reduce != Reduce::None;
        (ordered && !SortPlan::is_one_tile(pairs)).then_some(FoldKernel {
            rows: false,
            ..self
        })
    }

    /// The workgroups for the long runs among so many pairs.
    #[cfg(feature = "gpu")]
    pub(crate) fn groups_of_runs(pairs: u64, free_count: u32) -> u64 {
        pairs.div_ceil(u64::from(LONG_RUN / 2) * RUN_BLOCKS)
            * u64::from(free_count.div_ceil(RUN_STEPS))
    }

    /// Whether there is a kernel whose pairs have workgroups of their own.
    fn has_rows(self) -> bool {
        matches!(self.element, FoldElement::F32 | FoldElement::I32)
    }

    /// How many workgroups a pair with so many free steps has, if they are its own.
    pub(super) fn groups_of_pair(&self, free_count: u32) -> Option<u32> {
        let of_group = ROW_WORKGROUP * ROW_STEPS;
        self.rows.then_some(free_count.div_ceil(of_group))
    }

    /// The workgroups for so many pairs.
    #[cfg(feature = "gpu")]
    pub(crate) fn groups(&self, pairs: u64, free_count: u32) -> u64 {
        match self.groups_of_pair(free_count) {
            Some(groups) => pairs * u64::from(groups),
            None => (pairs * u64::from(free_count)).div_ceil(256),
        }
    }

    /// How many free steps an invocation folds one after the other: of a key that is not cut, both together.
    pub(super) fn steps_in_turn(&self, is_cut: bool) -> u32 {
        match self.rows && is_cut {
            true => ROW_STEPS,
            false => 1,
        }
    }

    /// The most free steps of a pair.
    pub(super) fn most_free(&self) -> usize {
        if self.rows { MOST } else { MOST_FLAT }
    }

    /// Every kernel there is.
    #[cfg(feature = "gpu")]
    pub(crate) fn all() -> Vec<Self> {
        let one = FoldElement::ALL.map(FoldKernel::one);
        let full = one.map(|kernel| FoldKernel {
            unit_bytes: FoldKernel::full_bytes(kernel.element),
            ..kernel
        });
        let rows = full.into_iter().filter(|kernel| kernel.has_rows());
        let rows = rows.map(|kernel| FoldKernel {
            rows: true,
            ..kernel
        });
        one.into_iter().chain(full).chain(rows).collect()
    }

    /// Every kernel for long runs.
    #[cfg(feature = "gpu")]
    pub(crate) fn all_of_runs() -> Vec<Self> {
        let all = FoldKernel::all().into_iter().filter(|kernel| !kernel.rows);
        all.filter(|kernel| kernel.element.is_float()).collect()
    }

    /// For lists of pipelines.
    #[cfg(feature = "gpu")]
    pub(crate) fn name(&self) -> String {
        let element = self.element.name();
        match (self.rows, self.elements()) {
            (true, _) => format!("{element} rows"),
            (false, 1) => element.to_owned(),
            (false, elements) => format!("{element} x{elements}"),
        }
    }

    /// Whether a fold may stop and go on from what it has stored.
    pub(crate) fn resumes(&self) -> bool {
        !matches!(self.element, FoldElement::F16 | FoldElement::BF16)
    }
}
