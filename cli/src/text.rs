//! Numbers as people read them.

use std::time::Duration;

/// `12 µs`, `0.8 ms`, `12.34 s`.
pub fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1e-4 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

/// `128 MiB`, `1.99 GiB`: in the largest unit of which there is at least one, never rounded up.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = bytes.max(1).ilog2() / 10;
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    let hundredths = (u128::from(bytes) * 100) >> (10 * unit);
    let number = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number} {}", UNITS[unit as usize])
}

/// `1,234,567`.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// `rows`, each padded to the width of its column, columns two spaces apart, one row per line.
/// Columns whose heading ends in a space are set flush right.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        let heading = headings[column].trim_end().chars().count();
        cells.max().unwrap_or(0).max(heading)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells
            .zip(headings)
            .zip(&widths)
            .map(|((cell, heading), &width)| match heading.ends_with(' ') {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            })
            .collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let mut text = line(&mut headings.iter().map(|h| h.trim_end()));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_never_rounded_up() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(128 << 20), "128 MiB");
        assert_eq!(bytes((1 << 31) - 4), "1.99 GiB");
        assert_eq!(bytes(u64::MAX), "15.99 EiB");
    }

    #[test]
    fn times_have_the_unit_of_their_size() {
        let text = |micros| duration(Duration::from_micros(micros));
        assert_eq!(text(12), "12 µs");
        assert_eq!(text(840), "0.8 ms");
        assert_eq!(text(12_345_000), "12.35 s");
    }

    #[test]
    fn numbers_are_grouped_from_the_right() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(30_522), "30,522");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn a_table_pads_its_columns() {
        let rows = [vec!["ab".to_owned(), "7".to_owned()]];
        assert_eq!(table(&["x", "count "], &rows), "x   count\nab      7\n");
    }
}
