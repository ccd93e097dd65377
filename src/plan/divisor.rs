//! Division by an extent, as a multiplication and a shift.

/// Multiplier `m` and shift `s` with which `divide` in `shaders/products.wgsl` divides by `extent`:
/// `value / extent == (2 * value * m) >> (32 + s)` for every `value` below 2^31.
///
/// With `s` the bits of `extent - 1`, `m` is 2^(31 + s) / extent, rounded up (plus one if exact).
/// It is too large by at most one, which adds less than 2^31 / 2^(31 + s) <= 1 / extent to the
/// quotient: too little to reach the next whole number.
pub(crate) fn divisor(extent: u32) -> [u32; 2] {
    let extent = u64::from(extent.max(1));
    let shift = u64::BITS - (extent - 1).leading_zeros();
    let multiplier = (1u64 << (31 + shift)) / extent + 1;
    [multiplier as u32, shift]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `divide` of `shaders/products.wgsl`, step by step.
    fn divide(value: u32, [b, shift]: [u32; 2]) -> u32 {
        let a = value << 1;
        let low = (a & 0xffff) * (b & 0xffff);
        let middle = (a >> 16) * (b & 0xffff) + (low >> 16);
        let other = (a & 0xffff) * (b >> 16) + (middle & 0xffff);
        ((a >> 16) * (b >> 16) + (middle >> 16) + (other >> 16)) >> shift
    }

    #[test]
    fn multiplying_divides_every_value() {
        let limit = i32::MAX as u32;
        let near = |n: u32| [n.saturating_sub(1), n, (n + 1).min(limit)];
        let powers = (0..31).flat_map(|p| near(1 << p));
        let mixed = (1..400u32).map(|n| n.wrapping_mul(2_654_435_761) >> (1 + n % 30));
        let extents: Vec<u32> = powers.chain(mixed).chain([limit]).collect();
        for extent in extents.into_iter().filter(|&e| e > 0) {
            let by = divisor(extent);
            // Where the quotient steps, from the first multiples to the last.
            let multiples = [1, 2, 3, 1000, limit / extent / 2, limit / extent];
            let multiples = multiples.map(|n| n.saturating_mul(extent).min(limit));
            for value in multiples.into_iter().flat_map(near).chain([0, limit]) {
                assert_eq!(divide(value, by), value / extent, "{value} / {extent}");
            }
        }
    }
}
