//! The uniform block of a fold on a device.

use bytemuck::{Pod, Zeroable};

#[cfg(feature = "gpu")]
use super::fold_kernel::LONG_RUN;
use super::fold_kernel::{FoldKernel, MOST};
use super::plan::{Digits, ScatterPlan};
use super::sort::SortPlan;
use crate::error::{Error, Result};
use crate::fold::{FoldElement, Reduce};
use crate::plan::divisor;

/// The most digits of a key, of a lookup and of a free step.
const MAX_DIGITS: usize = 32;

/// A part of a tensor that a pass binds, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// The positions in it.
    pub(crate) from: u32,
    pub(crate) count: u32,
    /// From a position to the unit of the binding; wraps around.
    pub(crate) shift: u32,
}

/// The uniform block: `Fold` in `shaders/fold.wgsl`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct FoldBlock {
    digits: [[u32; 8]; 3 * MAX_DIGITS],
    key_digits: u32,
    lookup_digits: u32,
    free_digits: u32,
    free_count: u32,
    free_divisor: [u32; 2],
    first: u32,
    pairs: u32,
    count: u32,
    key_count: u32,
    key_offset: u32,
    lookup_offset: u32,
    destination: [u32; 3],
    updates: [u32; 3],
    grid_x: u32,
    turn: u32,
    reduce: u32,
    sign: u32,
    piece_shift: u32,
    piece_mask: u32,
    joins: u32,
    long_run: u32,
    padding: [u32; 2],
}

impl FoldBlock {
    /// What all passes of a plan have in common.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] and [`Error::TooComplex`] for what the shaders cannot count.
    pub(crate) fn new(plan: &ScatterPlan, kernel: FoldKernel) -> Result<Self> {
        let (width, unit) = (plan.dtype.bytes(), kernel.unit_bytes);
        let mut block = FoldBlock {
            reduce: plan.reduce as u32,
            sign: FoldElement::sign_bit(plan.dtype),
            piece_mask: u32::MAX,
            ..FoldBlock::zeroed()
        };
        let narrow = |what, got: usize, limit: usize| match got <= limit {
            true => Ok(got as u32),
            false => Err(Error::TooMany {
                op: plan.op,
                what,
                got: got as u64,
                limit: limit as u64,
            }),
        };
        narrow("the number of lookups", plan.lookups(), MOST)?;
        block.key_count = narrow("the number of destinations", plan.key_digits.count(), MOST)?;
        let free = plan.free_digits.count().saturating_mul(width) / unit;
        block.free_count = narrow("the elements of a slice", free, kernel.most_free())?;
        let groups = kernel.groups_of_pair(block.free_count);
        block.free_divisor = divisor(groups.unwrap_or(block.free_count));
        let scaled =
            |stride: isize| ((stride as i64).wrapping_mul(width as i64) / unit as i64) as u32;
        let mut set = |which: usize, digits: &Digits| {
            let count = digits.0.len();
            // One may be added for the units.
            if count >= MAX_DIGITS {
                return Err(Error::TooComplex {
                    op: plan.op,
                    what: "loops",
                    got: count,
                    limit: MAX_DIGITS - 1,
                });
            }
            let to = block.digits[which * MAX_DIGITS..].iter_mut();
            for (to, d) in to.zip(digits.0.iter().rev()) {
                let [multiplier, shift] = divisor(d.extent as u32);
                let steps = [scaled(d.destination), scaled(d.updates)];
                *to = [
                    d.extent as u32,
                    steps[0],
                    steps[1],
                    multiplier,
                    shift,
                    0,
                    0,
                    0,
                ];
            }
            Ok(count as u32)
        };
        let counts = [
            set(0, &plan.key_digits)?,
            set(1, &plan.lookup_digits)?,
            set(2, &plan.free_digits)?,
        ];
        [block.key_digits, block.lookup_digits, block.free_digits] = counts;
        match kernel.fills_lanes() {
            true => block.digits[2 * MAX_DIGITS][..3].copy_from_slice(&[free as u32, 1, 1]),
            false => block.add_units(width / unit),
        }
        block.key_offset = scaled(plan.destination.offset() as isize);
        block.lookup_offset = scaled(plan.updates.offset() as isize);
        Ok(block)
    }

    /// The elements of a free step as units: a lowest digit of its own.
    fn add_units(&mut self, units: usize) {
        if units == 1 {
            return;
        }
        let free = &mut self.digits[2 * MAX_DIGITS..];
        free.rotate_right(1);
        let [multiplier, shift] = divisor(units as u32);
        free[0] = [units as u32, 1, 1, multiplier, shift, 0, 0, 0];
        self.free_digits += 1;
    }

    /// How many free steps a pair has.
    pub(crate) fn free_count(&self) -> u32 {
        self.free_count
    }

    /// How many keys there are.
    pub(crate) fn key_count(&self) -> u32 {
        self.key_count
    }

    /// The block for a pass from its first pair, with so many of all pairs.
    pub(crate) fn of_pairs(
        mut self,
        [first, pairs, count]: [u32; 3],
        turn: u32,
        grid_x: u32,
    ) -> Self {
        [self.first, self.pairs, self.count] = [first, pairs, count];
        [self.turn, self.grid_x] = [turn, grid_x];
        self
    }

    /// The block for a pass that leaves long runs to another dispatch, and for that one.
    #[cfg(feature = "gpu")]
    pub(crate) fn without_long_runs(mut self) -> Self {
        self.long_run = LONG_RUN;
        self
    }

    /// The block whose keys are cut into pieces of so many pairs, a power of two; for the pass that folds
    /// them, or for that which joins them and counts pieces.
    #[cfg(feature = "gpu")]
    pub(crate) fn in_pieces(mut self, piece: u32, joins: bool) -> Self {
        (self.piece_shift, self.piece_mask) = (piece.trailing_zeros(), piece - 1);
        self.joins = u32::from(joins);
        self
    }

    /// The pairs of a piece, if keys of `count` sorted pairs are cut into pieces: where any order of the
    /// updates gives the same bits, and there are more lookups than one tile. About as many pairs as there
    /// are pieces, so that neither loop is long.
    pub(crate) fn piece(
        &self,
        plan: &ScatterPlan,
        kernel: FoldKernel,
        count: usize,
        loop_steps: u32,
    ) -> Option<u32> {
        if !kernel.element.takes_any_order(plan.reduce) || SortPlan::is_one_tile(count) {
            return None;
        }
        let piece = (count as u32).isqrt().next_power_of_two();
        let loops = [piece, (count as u32).div_ceil(piece)];
        let most = self.most_pairs(kernel, true, loop_steps);
        loops.iter().all(|&steps| steps <= most).then_some(piece)
    }

    /// The most pairs, or pieces, of a pass whose keys are cut or not, so that no invocation takes more than
    /// `loop_steps`: it goes through all of them if they have one key, for each free step that it folds by
    /// itself.
    pub(crate) fn most_pairs(&self, kernel: FoldKernel, is_cut: bool, loop_steps: u32) -> u32 {
        if self.reduce == Reduce::None as u32 {
            return u32::MAX; // one pair is folded, whatever the others are
        }
        let of_free_step = loop_steps / kernel.steps_in_turn(is_cut);
        // The digits of a number are a loop over them, and a step that leaves it.
        let loops = |digits: u32| match kernel.fills_lanes() {
            true => 0,
            false => digits + 1,
        };
        // To leave the loop over pairs is one, too.
        let once = 1 + loops(self.key_digits) + loops(self.free_digits);
        (of_free_step - once) / (1 + loops(self.lookup_digits))
    }

    /// The block for a pass over these windows.
    pub(crate) fn over(mut self, destination: Window, updates: Window) -> Self {
        self.destination = [destination.from, destination.count, destination.shift];
        self.updates = [updates.from, updates.count, updates.shift];
        self
    }
}
