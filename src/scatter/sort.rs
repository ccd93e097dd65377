//! The stable sort of pairs on a device, as data: which dispatches, with which uniform blocks.
//!
//! The kernels are `shaders/sort*.wgsl`; the algorithm is described there.

use bytemuck::{Pod, Zeroable};

use crate::plan::MAX_LOOP_STEPS;

/// Pairs of an invocation, as in `shaders/sort.wgsl`.
const TILE: u32 = 32;
/// Values that an invocation adds up, as there.
const RUN: u32 = 32;
/// The digits, as there.
const DIGITS: u32 = 16;
const DIGIT_BITS: u32 = 4;

const _: () = assert!(TILE + DIGITS + RUN < MAX_LOOP_STEPS);

/// The uniform block: `Sort` in `shaders/sort.wgsl`, field for field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct SortBlock {
    pub(crate) count: u32,
    tiles: u32,
    shift: u32,
    pub(crate) grid_x: u32,
    values: u32,
    sums: u32,
    order: u32,
    all: u32,
    ends: u32,
    copies: u32,
    padding: [u32; 2],
}

/// What a dispatch of a sort does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SortStage {
    /// Counts the digits of each tile.
    Count,
    /// Adds up runs of values.
    Scan,
    /// Adds to each run those before.
    AddSums,
    /// Takes the pairs of each tile where they go.
    Move,
}

impl SortStage {
    pub(crate) const ALL: [SortStage; 4] = [
        SortStage::Count,
        SortStage::Scan,
        SortStage::AddSums,
        SortStage::Move,
    ];

    /// For lists of pipelines.
    #[cfg(feature = "gpu")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            SortStage::Count => "count",
            SortStage::Scan => "scan",
            SortStage::AddSums => "add sums",
            SortStage::Move => "move",
        }
    }
}

/// One dispatch of a sort, with as many invocations as `items`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortStep {
    pub(crate) stage: SortStage,
    pub(crate) items: u32,
    pub(crate) block: SortBlock,
}

/// The sort of so many pairs by keys up to a greatest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SortPlan {
    /// The steps of each digit, the lowest first.
    pub(crate) digits: Vec<Vec<SortStep>>,
    /// The words that the counts take.
    pub(crate) count_words: u64,
}

impl SortPlan {
    /// `count` stays below 2^28, so that there are fewer than 2^31 counts.
    pub(crate) fn new(count: u32, greatest_key: u32) -> Self {
        let tiles = count.div_ceil(TILE);
        let base = SortBlock {
            count,
            tiles,
            all: count,
            ..SortBlock::zeroed()
        };
        let mut scans = Vec::new();
        // The digits, and the tiles out of order.
        let (mut at, mut values) = (0, (DIGITS + 1) * tiles);
        loop {
            let (sums, runs) = (at + values, values.div_ceil(RUN));
            let block = SortBlock {
                count: values,
                values: at,
                sums,
                ..base
            };
            scans.push(block);
            (at, values) = (sums, runs);
            if runs == 1 {
                break;
            }
        }
        let order = at + values;
        let bits = u32::BITS - greatest_key.leading_zeros();
        let digits = bits.div_ceil(DIGIT_BITS);
        let digit = |n: u32| {
            let of_digit = |block: SortBlock| SortBlock {
                shift: n * DIGIT_BITS,
                order,
                ends: 1,
                ..block
            };
            let counting = |stage, items, block: SortBlock| SortStep {
                stage,
                items,
                block: SortBlock {
                    ends: u32::from(n > 0),
                    ..of_digit(block)
                },
            };
            let (top, lower) = scans.split_last().expect("at least one level");
            let top = SortBlock {
                sums: if n == 0 { order } else { top.sums },
                ..*top
            };
            let scan = |b: &SortBlock| counting(SortStage::Scan, b.count.div_ceil(RUN), *b);
            let add = |b: &SortBlock| counting(SortStage::AddSums, b.count, *b);
            let mut steps = vec![counting(SortStage::Count, tiles, base)];
            steps.extend(lower.iter().chain([&top]).map(scan));
            steps.extend(lower.iter().rev().map(add));
            steps.push(SortStep {
                stage: SortStage::Move,
                items: tiles,
                block: SortBlock {
                    // After an even number of digits, the pairs are where they were.
                    copies: u32::from(n + 1 == digits && digits % 2 == 1),
                    ..of_digit(base)
                },
            });
            steps
        };
        SortPlan {
            digits: (0..digits).map(digit).collect(),
            count_words: u64::from(order + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels, step by step, on two buffers; how many pairs were moved.
    fn sorted(plan: &SortPlan, pairs: Vec<(u32, u32)>) -> (Vec<(u32, u32)>, usize) {
        let mut counts = vec![u32::MAX; plan.count_words as usize];
        let (mut from, mut to) = (pairs.clone(), vec![(u32::MAX, u32::MAX); pairs.len()]);
        let mut moved = 0;
        for digit in &plan.digits {
            for SortStep {
                stage,
                items,
                block: b,
            } in digit
            {
                let digit_of = |pair: (u32, u32)| (pair.0 >> b.shift) & (DIGITS - 1);
                let ended = b.ends == 1 && counts[b.order as usize] == b.all;
                if ended && (*stage != SortStage::Move || b.copies == 0) {
                    continue;
                }
                for n in 0..*items {
                    let tile = (n * TILE) as usize..((n + 1) * TILE).min(b.count) as usize;
                    let run = n * RUN..((n + 1) * RUN).min(b.count);
                    match stage {
                        SortStage::Count => {
                            for d in 0..DIGITS {
                                let found = from[tile.clone()].iter();
                                let found = found.filter(|&&p| digit_of(p) == d).count();
                                counts[(d * b.tiles + n) as usize] = found as u32;
                            }
                            let falls = tile.clone().any(|n| n > 0 && from[n].0 < from[n - 1].0);
                            counts[(DIGITS * b.tiles + n) as usize] = u32::from(falls);
                        }
                        SortStage::Scan => {
                            let mut sum = 0;
                            for at in run {
                                let value = &mut counts[(b.values + at) as usize];
                                sum += std::mem::replace(value, sum);
                            }
                            counts[(b.sums + n) as usize] = sum;
                        }
                        SortStage::AddSums => {
                            let sum = counts[(b.sums + n / RUN) as usize];
                            counts[(b.values + n) as usize] += sum;
                        }
                        SortStage::Move => {
                            let mut before = [0; DIGITS as usize];
                            moved += tile.len();
                            for at in tile {
                                let d = digit_of(from[at]);
                                let start = counts[(d * b.tiles + n) as usize];
                                let place = start.wrapping_add(before[d as usize]) as usize;
                                to[if ended { at } else { place }] = from[at];
                                before[d as usize] += 1;
                            }
                        }
                    }
                }
            }
            std::mem::swap(&mut from, &mut to);
        }
        (from, moved)
    }

    #[test]
    fn what_is_in_order_is_moved_once_at_most() {
        for (count, greatest, moves) in [(1000, 15, 1), (1000, 200, 0), (5000, 4000, 1)] {
            let plan = SortPlan::new(count, greatest);
            let key = |n: u32| (u64::from(n) * u64::from(greatest) / u64::from(count)) as u32;
            let mut pairs: Vec<_> = (0..count).map(|n| (key(n), n)).collect();
            let unmoved = sorted(&plan, pairs.clone());
            assert_eq!(unmoved, (pairs.clone(), moves * count as usize));
            // One is out of order, in the middle of a tile, at its start, at the end of all.
            for n in [100, 128, count as usize - 1] {
                let [a, b] = [pairs[n - 1].0, 0];
                (pairs[n - 1].0, pairs[n].0) = (a + 1, b);
                let mut expected = pairs.clone();
                expected.sort();
                let moves = plan.digits.len() * count as usize;
                assert_eq!(sorted(&plan, pairs.clone()), (expected, moves), "{n}");
                (pairs[n - 1].0, pairs[n].0) = (key(n as u32 - 1), key(n as u32));
            }
        }
    }

    #[test]
    fn the_steps_sort_and_keep_the_order_of_equal_keys() {
        for (count, greatest) in [
            (1, 1),
            (31, 3),
            (33, 15),
            (64, 16),
            (1000, 300),
            (9000, 70_000),
        ] {
            let plan = SortPlan::new(count, greatest);
            let key = |n: u32| n.wrapping_mul(2_654_435_761) % (greatest + 1);
            let pairs: Vec<_> = (0..count).map(|n| (key(n), n)).collect();
            let mut expected = pairs.clone();
            expected.sort();
            assert_eq!(sorted(&plan, pairs).0, expected, "{count} {greatest}");
        }
    }

    #[test]
    fn as_many_digits_as_the_keys_have() {
        let digits = |greatest| SortPlan::new(100, greatest).digits.len();
        assert_eq!(
            [0, 1, 15, 16, 255, 256, u32::MAX].map(digits),
            [0, 1, 1, 2, 2, 3, 8]
        );
    }
}
