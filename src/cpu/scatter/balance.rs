//! Which rows each thread takes, so that all have about as much to do.

use std::ops::Range;

/// How many lookups are sampled for each part: its share is then right within about a tenth.
pub(super) const SAMPLE: usize = 128;

/// Cuts `rows` rows into parts, at most so many, none empty: the ends of the parts. `sample` are the rows that some of
/// the lookups go to, in their order; `of_rows` and `of_lookups` are what all rows and all lookups cost.
pub(super) fn cuts(
    rows: usize,
    parts: usize,
    sample: &[usize],
    of_rows: usize,
    of_lookups: usize,
) -> Vec<usize> {
    debug_assert!(sample.is_sorted());
    let each_row = of_rows as f64 / rows as f64;
    let each_lookup = of_lookups as f64 / sample.len().max(1) as f64;
    let all = of_rows as f64 + each_lookup * sample.len() as f64;
    let mut ends = Vec::with_capacity(parts);
    let (mut last, mut least) = (0, 0);
    // What is before a row: rows, and lookups of the sample.
    let mut before = sample.iter().copied().chain([rows]).enumerate().peekable();
    for part in 1..parts {
        let wanted = all * part as f64 / parts as f64;
        let cost = |(n, row): (usize, usize)| each_row * row as f64 + each_lookup * n as f64;
        while let Some((_, row)) = before.next_if(|&at| cost(at) < wanted) {
            least = row + 1;
        }
        let Some(&(n, row)) = before.peek() else {
            break;
        };
        // The part may end on the way to that row.
        let left = wanted - each_lookup * n as f64;
        let end = match each_row > 0.0 {
            true => ((left / each_row) as usize).clamp(least.min(row), row),
            false => row,
        };
        // A part without a lookup is worth a thread only for what it copies.
        let lookups_before = |end| sample.partition_point(|&row| row < end);
        let is_work = |some: Range<usize>| {
            of_rows > 0 || lookups_before(some.end) > lookups_before(some.start)
        };
        if end > last && end < rows && is_work(last..end) && is_work(end..rows) {
            ends.push(end);
            last = end;
        }
    }
    ends.push(rows);
    ends
}

#[cfg(test)]
mod tests {
    use super::{SAMPLE, cuts};

    #[test]
    fn parts_have_the_same_share_of_rows_and_lookups() {
        // Rows alone.
        assert_eq!(cuts(100, 4, &[], 100, 0), [25, 50, 75, 100]);
        // Lookups alone, half of them in the first two rows.
        assert_eq!(cuts(100, 2, &[0, 1, 1, 2, 50, 90], 0, 6), [2, 100]);
        // One row has them all: one part has all rows, unless rows have to be copied.
        assert_eq!(cuts(100, 4, &[7; 8], 0, 8), [100]);
        assert_eq!(cuts(100, 2, &[7; 8], 1, 8), [7, 100]);
        assert_eq!(cuts(100, 4, &[0; 8], 0, 8), [100]);
        assert_eq!(cuts(1, 4, &[0; 8], 1, 8), [1]);
        // The first row has as much to do as all rows: the other thread takes these.
        assert_eq!(cuts(100, 2, &[0; 10], 100, 100), [1, 100]);
        // Rows and lookups: 62 of 100 and 50 of 100 are before the cut, and 61 and 25 were too few.
        assert_eq!(cuts(100, 2, &[60, 61, 62, 99], 100, 100), [62, 100]);
        // Half of the way to the first lookup.
        assert_eq!(cuts(100, 2, &[90, 95], 300, 100), [66, 100]);
    }

    #[test]
    fn parts_of_random_lookups_have_about_the_same_share() {
        let (rows, parts) = (1 << 16, 8);
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize
        };
        let mut sample: Vec<usize> = (0..parts * SAMPLE).map(|_| random()).collect();
        sample.sort_unstable();
        let ends = cuts(rows, parts, &sample, 0, 1);
        assert_eq!(ends.len(), parts);
        // Any row is as likely as another, so a part's share of all lookups is its share of the rows.
        let mut start = 0;
        for end in ends {
            let share = (end - start) * parts;
            assert!((rows * 3 / 4..rows * 5 / 4).contains(&share), "{share}");
            start = end;
        }
    }
}
