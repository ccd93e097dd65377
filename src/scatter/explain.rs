//! What a scatter does, in numbers and as text.

use std::fmt::{self, Display, Formatter};

use super::fold_block::FoldBlock;
use super::fold_kernel::FoldKernel;
use super::plan::ScatterPlan;
use super::sort::{MOST_LOOKUPS, SortPlan};
use crate::fold::Reduce;
use crate::plan::MAX_LOOP_STEPS;

/// The work of a scatter: lookups, keys, the sort, the fold, and bytes moved.
///
/// Runs without a GPU; nothing is executed.
///
/// ```
/// use wgpu_gather::{DType, IndexType, Layout, Op, Reduce, Rules, ScatterLayouts, ScatterPlan};
///
/// let plan = ScatterPlan::new(Op::gather(0), Reduce::Add, &Rules::TORCH, ScatterLayouts {
///     dtype: DType::F32,
///     destination: &Layout::contiguous(&[30522, 768]),
///     index_type: IndexType::I64,
///     indices: &Layout::contiguous(&[32768]),
///     updates: &Layout::contiguous(&[32768, 768]),
/// })?;
/// let explanation = plan.explain();
/// assert_eq!((explanation.lookups, explanation.destinations), (32768, 30522));
/// assert_eq!(explanation.sort_digits, 2);
/// println!("{explanation}");
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ScatterExplanation {
    /// The operator, the way to reduce and the element type.
    pub call: String,
    /// Number of lookups: index tuples.
    pub lookups: usize,
    /// Number of destinations that lookups can distinguish.
    pub destinations: usize,
    /// Elements of a destination: each lookup has as many updates.
    pub slice: usize,
    /// The digits of eight bits that a device sorts the lookups by; 0, if it has no such arithmetic
    /// or more than 2^31 - 1 of them.
    pub sort_digits: usize,
    /// Dispatches that make the keys of the lookups and sort them, where the indices lie in one binding: one for up to
    /// 2,048 lookups; two more for each digit of up to 32,768, and three for each of more.
    pub sort_dispatches: usize,
    /// Bytes of keys that they write and read, at most: where the indices are in order, a device finds that
    /// in the first count, which ends the sort.
    pub sort_bytes: u64,
    /// Bytes of the updates, which are read once.
    pub updates_bytes: u64,
    /// Dispatches that fold, where each tensor lies in one binding, from a multiple of 16 bytes on; 0, if a
    /// device does not sort. On software adapters: GPUs take 128 times as many updates of a destination at once.
    /// Floats that are added or multiplied have a second dispatch, for destinations with long runs.
    pub fold_dispatches: usize,
    /// The longest run of one destination's updates that a dispatch folds one after the other. Where any order
    /// gives the same bits, longer runs are cut into pieces of so many, which are folded side by side; else the
    /// next dispatch goes on with them.
    pub longest_run: usize,
}

impl ScatterPlan {
    /// Explains how the scatter is executed.
    pub fn explain(&self) -> ScatterExplanation {
        let nothing = self.keys.is_none();
        let lookups = if nothing { 0 } else { self.lookups() };
        let (destinations, slice) = (self.key_digits.count(), self.free_digits.count());
        let on_devices = FoldKernel::of(self.op, self.reduce, self.dtype).is_ok();
        let most = i32::MAX as usize;
        let sort = match on_devices && !nothing && lookups <= most && destinations <= most {
            true => Some(SortPlan::new(
                lookups.min(MOST_LOOKUPS) as u32,
                destinations as u32,
            )),
            false => None,
        };
        let digits = sort.as_ref().map_or(0, |sort| sort.digits.len());
        let (fold_dispatches, longest_run) = match digits {
            0 => (0, 0),
            _ => self.folds(lookups),
        };
        ScatterExplanation {
            call: format!("{}, reduce = {}, {}", self.op, self.reduce, self.dtype),
            lookups,
            destinations,
            slice,
            sort_digits: digits,
            sort_dispatches: sort.map_or(0, |sort| match SortPlan::is_one_tile(lookups) {
                true => 1,
                false => 1 + sort.digits.iter().flatten().count(),
            }),
            // A pair of 8 bytes is written once, and for each digit read twice and written once.
            sort_bytes: (lookups as u64).saturating_mul(match SortPlan::is_one_tile(lookups) {
                true => 8,
                false => 8 * (1 + 3 * digits as u64),
            }),
            updates_bytes: (lookups.saturating_mul(slice) as u64)
                .saturating_mul(self.dtype.bytes() as u64),
            fold_dispatches,
            longest_run,
        }
    }

    /// How many dispatches fold so many lookups, and how many of one destination one of them takes in a row.
    fn folds(&self, lookups: usize) -> (usize, usize) {
        let kernel = FoldKernel::of(self.op, self.reduce, self.dtype);
        let kernel = kernel.map(|kernel| kernel.in_lanes(self).unwrap_or(kernel));
        let Some((kernel, block)) = kernel
            .and_then(|kernel| Ok((kernel, FoldBlock::new(self, kernel)?)))
            .ok()
        else {
            return (0, 0);
        };
        let most = |is_cut| block.most_pairs(kernel, is_cut, MAX_LOOP_STEPS) as usize;
        let of_chunk = |count: usize, piece: Option<u32>| match piece.map(|piece| piece as usize) {
            Some(piece) => {
                let joins = usize::from(count > piece);
                count.div_ceil(most(true) / piece * piece) + joins
            }
            None => {
                let runs = kernel.of_runs(self.reduce, count);
                count.div_ceil(most(false)) * (1 + usize::from(runs.is_some()))
            }
        };
        let chunk = lookups.clamp(1, MOST_LOOKUPS);
        let piece = block.piece(self, kernel, chunk, MAX_LOOP_STEPS);
        let dispatches =
            lookups / chunk * of_chunk(chunk, piece) + of_chunk(lookups % chunk, piece);
        let longest = match self.reduce {
            Reduce::None => 1,
            _ => piece.map_or(most(false), |piece| piece as usize),
        };
        (dispatches, longest.min(lookups))
    }
}

impl Display for ScatterExplanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.call)?;
        let (lookups, destinations) = (self.lookups, self.destinations);
        writeln!(
            f,
            "lookups     {lookups}, to {destinations} destinations of {} elements",
            self.slice
        )?;
        match self.sort_digits {
            0 => writeln!(f, "sort        on the CPU path"),
            digits => writeln!(
                f,
                "sort        digits of 8 bits: {digits}; dispatches: {}; bytes: {}",
                self.sort_dispatches, self.sort_bytes
            ),
        }?;
        writeln!(
            f,
            "fold        {} bytes of updates, each destination in the order of the indices",
            self.updates_bytes
        )?;
        match (self.fold_dispatches, self.longest_run) {
            (0, _) => Ok(()),
            (dispatches, longest) => writeln!(
                f,
                "            dispatches: {dispatches}; each takes at most {longest} updates of a destination in a row"
            ),
        }
    }
}
