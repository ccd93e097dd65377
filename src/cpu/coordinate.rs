//! The rules for one index as numbers.

use std::hint::select_unpredictable;

use crate::index::IndexType;
use crate::rules::{Negative, OutOfBounds, Rules};

/// A looked-up coordinate, and the rules as numbers: [`Rules::resolve`](crate::Rules::resolve) for
/// the bits of an index, zero-extended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coordinate {
    /// An index below this means itself under all rules. Bits of negative numbers are above.
    pub(super) plainly_inside: u64,
    /// One more than the largest coordinate.
    extent: u64,
    /// In bytes.
    pub(super) stride: isize,
    /// The sign bit of an index; none if it has no sign.
    index_sign: u64,
    /// What makes a 64-bit coordinate of a negative index: extends its sign, and adds the extent if
    /// it counts from the end.
    negative: u64,
    /// The sign bit of such a coordinate; none if indices have no sign.
    sign: u64,
    /// What stands for coordinates below and above: the nearest inside to clip, else one outside.
    below: u64,
    above: u64,
    wraps: bool,
}

impl Coordinate {
    pub(super) fn new(rules: &Rules, index_type: IndexType, extent: usize, stride: isize) -> Self {
        let extent = extent as u64;
        let from_end = rules.negative == Negative::FromEnd;
        let bits = 8 * index_type.bytes() as u32;
        let (index_sign, extension, sign) = if index_type.is_signed() {
            let extension = u64::MAX.checked_shl(bits).unwrap_or(0);
            (1 << (bits - 1), extension, 1 << 63)
        } else {
            (0, 0, 0)
        };
        let (below, above) = match rules.out_of_bounds {
            OutOfBounds::Clip => (0, extent.wrapping_sub(1)),
            OutOfBounds::Zero | OutOfBounds::Fill(_) | OutOfBounds::Error | OutOfBounds::Wrap => {
                (u64::MAX, u64::MAX)
            }
        };
        Coordinate {
            plainly_inside: if index_sign == 0 {
                extent
            } else {
                extent.min(index_sign)
            },
            // Where params have more, all of them lie in one place.
            extent: if sign == 0 || from_end {
                extent
            } else {
                extent.min(sign)
            },
            stride,
            index_sign,
            negative: extension.wrapping_add(if from_end { extent } else { 0 }),
            sign,
            below,
            above,
            wraps: matches!(rules.out_of_bounds, OutOfBounds::Wrap),
        }
    }

    /// The coordinate, and whether there is one.
    #[inline]
    pub(super) fn by_rules(&self, bits: u64) -> (u64, bool) {
        let is_negative = bits & self.index_sign != 0;
        let added = select_unpredictable(is_negative, self.negative, 0);
        let mut coordinate = bits.wrapping_add(added);
        let outside = coordinate >= self.extent;
        if self.wraps {
            if outside {
                coordinate = self.wrapped(coordinate);
            }
        } else {
            let is_below = coordinate & self.sign != 0;
            let edge = select_unpredictable(is_below, self.below, self.above);
            coordinate = select_unpredictable(outside, edge, coordinate);
        }
        (coordinate, coordinate < self.extent)
    }

    fn wrapped(&self, coordinate: u64) -> u64 {
        match (self.extent, self.sign) {
            (0, _) => u64::MAX,
            (extent, 0) => coordinate % extent,
            (extent, _) => (coordinate as i64).rem_euclid(extent as i64) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Fill;

    /// Around every bound of an extent and of a type.
    #[test]
    fn the_rules_as_numbers_are_the_rules() {
        let kinds = OutOfBounds::all(Fill::from_bytes(&[1]));
        let max = usize::MAX;
        let extents = [
            0,
            1,
            2,
            3,
            1 << 31,
            u32::MAX as usize,
            max / 2,
            max / 2 + 1,
            max,
        ];
        let around = |x: i128| [-2, -1, 0, 1, 2].map(|d| x + d);
        for (out_of_bounds, extent) in kinds.iter().flat_map(|o| extents.map(|e| (o, e))) {
            let e = extent as i128;
            let bounds = [
                0,
                e,
                -e,
                2 * e,
                -2 * e,
                1 << 31,
                1 << 32,
                1 << 63,
                1 << 64,
                -(1 << 31),
            ];
            let bounds = [&bounds[..], &[-(1 << 63), e / 2]].concat();
            for (t, negative) in IndexType::ALL
                .iter()
                .flat_map(|&t| [Negative::OutOfBounds, Negative::FromEnd].map(|n| (t, n)))
            {
                let rules = Rules::new(negative, out_of_bounds.clone());
                let c = Coordinate::new(&rules, t, extent, 1);
                for index in bounds.iter().flat_map(|&b| around(b)) {
                    if !t.holds(index) {
                        continue;
                    }
                    let mask = u64::MAX >> (64 - 8 * t.bytes());
                    let bits = index as u64 & mask;
                    let what = || format!("{rules:?} {t:?} {extent} {index}");
                    let expected = rules.resolve(index, extent);
                    let (coordinate, inside) = c.by_rules(bits);
                    assert_eq!(inside, expected.is_some(), "{}", what());
                    if bits < c.plainly_inside {
                        assert_eq!(expected, Some(bits as usize), "{}", what());
                    }
                    if let Some(expected) = expected
                        && extent <= max / 2 + 1
                    {
                        assert_eq!(coordinate, expected as u64, "{}", what());
                    }
                }
            }
        }
    }
}
