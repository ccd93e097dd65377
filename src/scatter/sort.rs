//! The stable sort of pairs on a device, as data: which dispatches, with which uniform blocks.
//!
//! The kernels are `shaders/sort*.wgsl`; the algorithm is described there.

use bytemuck::{Pod, Zeroable};

/// Pairs of an invocation, as in `shaders/sort.wgsl`.
const TILE: u32 = 32;
/// Values that an invocation adds up, as there.
const RUN: u32 = 32;
/// The digits, as there.
const DIGITS: u32 = 16;
const DIGIT_BITS: u32 = 4;

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
            ..SortBlock::zeroed()
        };
        let mut scans = Vec::new();
        let (mut at, mut values) = (0, DIGITS * tiles);
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
        let step = |stage, items, block| SortStep {
            stage,
            items,
            block,
        };
        let scan = |b: &SortBlock| step(SortStage::Scan, b.count.div_ceil(RUN), *b);
        let add = |b: &SortBlock| step(SortStage::AddSums, b.count, *b);
        let (_, lower) = scans.split_last().expect("at least one level");
        let digit = |n: u32| {
            let block = SortBlock {
                shift: n * DIGIT_BITS,
                ..base
            };
            let mut steps = vec![step(SortStage::Count, tiles, block)];
            steps.extend(scans.iter().map(scan));
            steps.extend(lower.iter().rev().map(add));
            steps.push(step(SortStage::Move, tiles, block));
            steps
        };
        let bits = u32::BITS - greatest_key.leading_zeros();
        SortPlan {
            digits: (0..bits.div_ceil(DIGIT_BITS)).map(digit).collect(),
            count_words: u64::from(at + values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels, step by step.
    fn sorted(plan: &SortPlan, mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let mut counts = vec![u32::MAX; plan.count_words as usize];
        for digit in &plan.digits {
            let mut moved = vec![(u32::MAX, u32::MAX); pairs.len()];
            for SortStep {
                stage,
                items,
                block: b,
            } in digit
            {
                let digit_of = |pair: (u32, u32)| (pair.0 >> b.shift) & (DIGITS - 1);
                for n in 0..*items {
                    let tile = (n * TILE) as usize..((n + 1) * TILE).min(b.count) as usize;
                    let run = n * RUN..((n + 1) * RUN).min(b.count);
                    match stage {
                        SortStage::Count => {
                            for d in 0..DIGITS {
                                let found = pairs[tile.clone()].iter();
                                let found = found.filter(|&&p| digit_of(p) == d).count();
                                counts[(d * b.tiles + n) as usize] = found as u32;
                            }
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
                            for &pair in &pairs[tile] {
                                let d = digit_of(pair);
                                let start = counts[(d * b.tiles + n) as usize];
                                moved[(start + before[d as usize]) as usize] = pair;
                                before[d as usize] += 1;
                            }
                        }
                    }
                }
            }
            pairs = moved;
        }
        pairs
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
            assert_eq!(sorted(&plan, pairs), expected, "{count} {greatest}");
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
