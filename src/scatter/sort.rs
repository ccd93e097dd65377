//! The stable sort of pairs on a device, as data: which dispatches, with which uniform blocks.
//!
//! The kernels are `shaders/sort*.wgsl`; the algorithm is described there.

use bytemuck::{Pod, Zeroable};
use smallvec::{SmallVec, smallvec};

use crate::plan::MAX_LOOP_STEPS;

/// The most lookups that are sorted at once, where they need not be all.
pub(crate) const MOST_LOOKUPS: usize = 1 << 22;

/// Pairs of a workgroup, as in `shaders/sort.wgsl`. So many keys are sorted in one dispatch, the one that
/// makes them (`shaders/keys_sorted.wgsl`).
pub(crate) const TILE: u32 = 2048;
/// The digits, as there.
const DIGITS: u32 = 256;
const DIGIT_BITS: u32 = 8;
/// The digits whose counts a workgroup adds up, in so many blocks of tiles, as in `shaders/sort_sums.wgsl`.
const COLUMNS: u32 = 8;
const BLOCKS: u32 = 32;

/// So many tiles are sorted without dispatches that add up counts, as in `shaders/sort.wgsl`.
const FEW_TILES: u32 = 16;

/// The most pairs of a sort, in a binding of 2 GiB.
pub(crate) const MOST_PAIRS: u32 = 1 << 28;

// To add up the counts of a block, twice, is the longest of the loops.
const _: () = assert!(2 * (MOST_PAIRS / TILE / BLOCKS) + 100 < MAX_LOOP_STEPS);

/// The uniform block: `Sort` in `shaders/sort.wgsl`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct SortBlock {
    pub(crate) count: u32,
    tiles: u32,
    shift: u32,
    bits: u32,
    pub(crate) grid_x: u32,
    order: u32,
    ends: u32,
    copies: u32,
}

/// What a dispatch of a sort does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SortStage {
    /// Counts the digits of each tile.
    Count,
    /// Adds up the counts of each digit, tile by tile; where tiles are few, each adds them up itself when it is moved.
    AddUp,
    /// Takes the pairs of each tile where they go.
    Move,
}

impl SortStage {
    pub(crate) const ALL: [SortStage; 3] = [SortStage::Count, SortStage::AddUp, SortStage::Move];

    /// For lists of pipelines.
    #[cfg(feature = "gpu")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            SortStage::Count => "count",
            SortStage::AddUp => "add up",
            SortStage::Move => "move",
        }
    }
}

/// One dispatch of a sort, with so many workgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortStep {
    pub(crate) stage: SortStage,
    pub(crate) groups: u32,
    pub(crate) block: SortBlock,
}

/// The sort of so many pairs by keys up to a greatest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SortPlan {
    /// The steps of each digit, the lowest first.
    pub(crate) digits: Vec<SmallVec<[SortStep; 3]>>,
    /// The words that the counts take.
    pub(crate) count_words: u64,
}

impl SortPlan {
    /// `count` is at most [`MOST_PAIRS`].
    pub(crate) fn new(count: u32, greatest_key: u32) -> Self {
        let tiles = count.div_ceil(TILE);
        let order = tiles * DIGITS;
        let bits = u32::BITS - greatest_key.leading_zeros();
        let digits = bits.div_ceil(DIGIT_BITS);
        let are_few = tiles <= FEW_TILES;
        let digit = |n: u32| {
            let step = |stage, workgroups| SortStep {
                stage,
                groups: workgroups,
                block: SortBlock {
                    count,
                    tiles,
                    shift: n * DIGIT_BITS,
                    bits: (bits - n * DIGIT_BITS).min(DIGIT_BITS),
                    order,
                    ends: u32::from(n > 0 || stage == SortStage::Move),
                    // After an even number of digits, the pairs are where they were.
                    copies: u32::from(n + 1 == digits && digits % 2 == 1),
                    grid_x: 0,
                },
            };
            let count = step(SortStage::Count, tiles);
            let add_up = step(SortStage::AddUp, DIGITS / COLUMNS);
            let take = step(SortStage::Move, tiles);
            match are_few {
                true => smallvec![count, take],
                false => smallvec![count, add_up, take],
            }
        };
        SortPlan {
            digits: (0..digits).map(digit).collect(),
            count_words: u64::from(order + if are_few { tiles } else { 1 }),
        }
    }

    /// Whether the dispatch that makes so many keys sorts them.
    pub(crate) fn is_one_tile(count: usize) -> bool {
        count <= TILE as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pair = (u32, u32);

    /// The memory of a sort.
    struct Memory {
        counts: Vec<u32>,
        from: Vec<Pair>,
        to: Vec<Pair>,
        moved: usize,
        is_in_order: bool,
    }

    impl Memory {
        /// What a kernel does.
        fn run(
            &mut self,
            SortStep {
                stage,
                groups,
                block: b,
            }: &SortStep,
        ) {
            let are_few = b.tiles <= FEW_TILES;
            let ended = b.ends == 1 && self.is_in_order;
            let digit_of = |pair: Pair| (pair.0 >> b.shift) & (DIGITS - 1);
            let at = |row: u32, digit: u32| (row * DIGITS + digit) as usize;
            for (digit, n) in (0..DIGITS).flat_map(|d| (0..*groups).map(move |n| (d, n))) {
                let tile = (n * TILE) as usize..((n + 1) * TILE).min(b.count) as usize;
                match stage {
                    SortStage::Count => {
                        let found = self.from[tile].iter().filter(|&&p| digit_of(p) == digit);
                        self.counts[at(n, digit)] = if ended { 0 } else { found.count() as u32 };
                    }
                    SortStage::AddUp if digit / COLUMNS == n => {
                        for tile in 1..b.tiles {
                            self.counts[at(tile, digit)] += self.counts[at(tile - 1, digit)];
                        }
                    }
                    SortStage::AddUp => {}
                    SortStage::Move if ended => {
                        if b.copies == 1 && digit == 0 {
                            self.moved += tile.len();
                            self.to[tile.clone()].copy_from_slice(&self.from[tile]);
                        }
                    }
                    SortStage::Move => {
                        // How many there are in all tiles before one.
                        let before = |tile: u32, digit| match (are_few, tile) {
                            (true, _) => (0..tile).map(|n| self.counts[at(n, digit)]).sum(),
                            (false, 0) => 0,
                            (false, _) => self.counts[at(tile - 1, digit)],
                        };
                        let of_smaller: u32 = (0..digit).map(|d| before(b.tiles, d)).sum();
                        let start = of_smaller + before(n, digit);
                        let pairs = self.from[tile].iter().filter(|&&p| digit_of(p) == digit);
                        for (to, &pair) in self.to[start as usize..].iter_mut().zip(pairs) {
                            *to = pair;
                            self.moved += 1;
                        }
                    }
                }
            }
            match stage {
                SortStage::Count if b.ends == 0 => {
                    self.is_in_order = self.from.is_sorted_by_key(|pair| pair.0);
                }
                SortStage::Move => std::mem::swap(&mut self.from, &mut self.to),
                _ => {}
            }
        }
    }

    /// The kernels, step by step, on two buffers; how many pairs were moved.
    fn sorted(plan: &SortPlan, pairs: Vec<Pair>) -> (Vec<Pair>, usize) {
        let mut memory = Memory {
            counts: vec![u32::MAX; plan.count_words as usize],
            to: vec![(u32::MAX, u32::MAX); pairs.len()],
            from: pairs,
            moved: 0,
            is_in_order: false,
        };
        plan.digits
            .iter()
            .flatten()
            .for_each(|step| memory.run(step));
        (memory.from, memory.moved)
    }

    #[test]
    fn what_is_in_order_is_moved_once_at_most() {
        let many = FEW_TILES * TILE + 1;
        for (count, greatest, moves) in [
            (many, 200, 1),
            (many, 4000, 0),
            (many, 100_000, 1),
            (many - 1, 200, 1),
            (many - 1, 4000, 0),
        ] {
            let plan = SortPlan::new(count, greatest);
            let key = |n: u32| (u64::from(n) * u64::from(greatest) / u64::from(count)) as u32;
            let mut pairs: Vec<_> = (0..count).map(|n| (key(n), n)).collect();
            let unmoved = sorted(&plan, pairs.clone());
            assert_eq!(unmoved, (pairs.clone(), moves * count as usize));
            // One is out of order.
            pairs.swap(100, 2500);
            let mut expected = pairs.clone();
            expected.sort_by_key(|pair| pair.0);
            let moves = plan.digits.len() * count as usize;
            assert_eq!(sorted(&plan, pairs), (expected, moves));
        }
    }

    #[test]
    fn the_steps_sort_and_keep_the_order_of_equal_keys() {
        let one_block = TILE * BLOCKS;
        for (count, greatest) in [
            (1, 1),
            (31, 3),
            (2048, 15),
            (2049, 256),
            (9000, 70_000),
            (FEW_TILES * TILE, 20_000_000),
            (FEW_TILES * TILE + 1, 20_000_000),
            (one_block, 300),
            (one_block + 1, 300),
            (2 * one_block + 5000, 70_000),
        ] {
            let plan = SortPlan::new(count, greatest);
            let key = |n: u32| n.wrapping_mul(2_654_435_761) % (greatest + 1);
            let pairs: Vec<_> = (0..count).map(|n| (key(n), n)).collect();
            let mut expected = pairs.clone();
            expected.sort();
            assert!(sorted(&plan, pairs).0 == expected, "{count} {greatest}");
        }
    }

    #[test]
    fn as_many_digits_as_the_keys_have() {
        let digits = |greatest| SortPlan::new(100, greatest).digits.len();
        assert_eq!(
            [0, 1, 255, 256, 65_535, 65_536, u32::MAX].map(digits),
            [0, 1, 1, 2, 2, 3, 4]
        );
    }
}
