//! Sizes on the command line.

use std::str::FromStr;

/// A number of bytes: `512MiB`, `2GiB`, `1048576`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

/// What is no size.
#[derive(Debug, PartialEq, Eq)]
pub enum NoSize {
    /// Not a whole number with one of the units.
    Unreadable,
    /// More bytes than a 64-bit number holds.
    TooLarge,
}

const UNITS: [(&str, u32); 4] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];

impl FromStr for Size {
    type Err = NoSize;

    fn from_str(text: &str) -> Result<Self, NoSize> {
        let with_unit = |&(unit, shift): &(&str, u32)| Some((text.strip_suffix(unit)?, shift));
        let (digits, shift) = UNITS.iter().find_map(with_unit).unwrap_or((text, 0));
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(NoSize::Unreadable);
        }
        let bytes = digits
            .parse()
            .ok()
            .and_then(|n: u64| n.checked_mul(1 << shift));
        bytes.map(Size).ok_or(NoSize::TooLarge)
    }
}

impl std::fmt::Display for NoSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoSize::Unreadable => {
                "not a size (allowed: a whole number of bytes, or one with KiB, MiB, GiB or TiB)"
            }
            NoSize::TooLarge => "more bytes than there can be",
        })
    }
}

impl std::error::Error for NoSize {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_numbers_with_or_without_a_unit() {
        let size = |text: &str| text.parse().map(|Size(bytes)| bytes);
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("1048576"), Ok(1 << 20));
        assert_eq!(size("3KiB"), Ok(3 << 10));
        assert_eq!(size("512MiB"), Ok(512 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("16777215TiB"), Ok(16_777_215 << 40));
        for text in [
            "", "MiB", "-1", "+1", "1.5GiB", "2 GiB", "2GB", "2gib", "lots",
        ] {
            assert_eq!(size(text), Err(NoSize::Unreadable), "{text}");
        }
        for text in ["16777216TiB", "18446744073709551616"] {
            assert_eq!(size(text), Err(NoSize::TooLarge), "{text}");
        }
    }
}
