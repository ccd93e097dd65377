//! Whole numbers as people write them: in a row on the command line, or in a text file.

use anyhow::{Context, Result, bail, ensure};
use wgpu_gather::{AnyTensor, DType};

/// Whether `text` can only be a list of numbers: no file that the command reads has such a name.
pub(crate) fn looks_like_numbers(text: &str) -> bool {
    let is_of_numbers = |b: u8| b.is_ascii_digit() || b"+-,; \t\n".contains(&b);
    text.bytes().all(is_of_numbers) && text.bytes().any(|b| b.is_ascii_digit())
}

/// The numbers of a text, separated by commas or blanks, as i64.
///
/// As `numpy.loadtxt` has it: one line, or one number on each line, has one dim; several lines of several
/// numbers have two. What follows a `#` is a comment. A semicolon ends a line, too.
pub(crate) fn parse(text: &str) -> Result<AnyTensor> {
    // Spreadsheets begin a text with it.
    let text = text.trim_start_matches('\u{feff}');
    let is_a_file = text.contains('\n');
    let mut rows: Vec<Vec<i64>> = Vec::new();
    let mut first = String::new();
    for (n, line) in text.lines().enumerate() {
        let (line, _comment) = line.split_once('#').unwrap_or((line, ""));
        for part in line.split(';') {
            let place = match is_a_file {
                true => format!("line {}", n + 1),
                false => format!("row {}", rows.len() + 1),
            };
            let row = match is_a_file {
                true => row(part).context(place.clone())?,
                false => row(part)?,
            };
            if row.is_empty() {
                continue;
            }
            match rows.first() {
                None => first = place,
                Some(numbers) => ensure!(
                    row.len() == numbers.len(),
                    "{place} has {}, but {first} has {} (allowed: as many in each, or all in one)",
                    counted(row.len()),
                    numbers.len()
                ),
            }
            rows.push(row);
        }
    }
    let shape = match (&rows[..], rows.first().map_or(0, Vec::len)) {
        ([_], numbers) => vec![numbers],
        (rows, 0 | 1) => vec![rows.len()],
        (rows, numbers) => vec![rows.len(), numbers],
    };
    let bytes = rows.concat().into_iter().flat_map(i64::to_le_bytes);
    Ok(AnyTensor::new(&shape, DType::I64, bytes.collect())?)
}

fn counted(numbers: usize) -> String {
    match numbers {
        1 => "1 number".to_owned(),
        more => format!("{more} numbers"),
    }
}

/// The numbers of a line. A comma may end it.
fn row(line: &str) -> Result<Vec<i64>> {
    let line = line.trim();
    let line = line.strip_suffix(',').unwrap_or(line);
    let mut row = Vec::new();
    if line.is_empty() {
        return Ok(row);
    }
    for between_commas in line.split(',') {
        let before = row.len();
        for word in between_commas.split_whitespace() {
            row.push(number(word)?);
        }
        ensure!(row.len() > before, "a number is missing between two commas");
    }
    Ok(row)
}

fn number(word: &str) -> Result<i64> {
    if let Ok(number) = word.parse() {
        return Ok(number);
    }
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match is_whole {
        true => bail!("{word} is too large (allowed: {}..={})", i64::MIN, i64::MAX),
        false => bail!("\"{word}\" is not a whole number (allowed: such as 7, -1)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shape and numbers.
    fn parsed(text: &str) -> (Vec<usize>, Vec<i64>) {
        let tensor = parse(text).unwrap();
        let numbers = tensor.bytes().chunks(8);
        let numbers = numbers.map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()));
        (tensor.shape().to_vec(), numbers.collect())
    }

    #[test]
    fn lines_are_rows() {
        for (text, shape, numbers) in [
            ("5", &[1][..], &[5][..]),
            ("0,2,1", &[3], &[0, 2, 1]),
            (" 0, 2 ,1, ", &[3], &[0, 2, 1]),
            ("+3 -1\t7", &[3], &[3, -1, 7]),
            ("0\n2\n1\n", &[3], &[0, 2, 1]),
            ("0\r\n2\r\n", &[2], &[0, 2]),
            ("\u{feff}# ids\n\n4 5 # two\n6,7\n", &[2, 2], &[4, 5, 6, 7]),
            ("0,1;2,3;", &[2, 2], &[0, 1, 2, 3]),
            ("8 9\n", &[2], &[8, 9]),
            ("", &[0], &[]),
            ("# none\n\n", &[0], &[]),
            ("-9223372036854775808", &[1], &[i64::MIN]),
        ] {
            assert_eq!(parsed(text), (shape.to_vec(), numbers.to_vec()), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_named_with_its_line() {
        for (text, complaint) in [
            (
                "0,x",
                "\"x\" is not a whole number (allowed: such as 7, -1)",
            ),
            (
                "1.0",
                "\"1.0\" is not a whole number (allowed: such as 7, -1)",
            ),
            (
                "1-2",
                "\"1-2\" is not a whole number (allowed: such as 7, -1)",
            ),
            (
                "--1",
                "\"--1\" is not a whole number (allowed: such as 7, -1)",
            ),
            ("0,,1", "a number is missing between two commas"),
            (",1", "a number is missing between two commas"),
            (
                "9223372036854775808",
                "9223372036854775808 is too large (allowed: -9223372036854775808..=9223372036854775807)",
            ),
            (
                "0\nid\n",
                "line 2: \"id\" is not a whole number (allowed: such as 7, -1)",
            ),
            (
                "\n0 1\n\n2\n",
                "line 4 has 1 number, but line 2 has 2 (allowed: as many in each, or all in one)",
            ),
            (
                "0,1;2",
                "row 2 has 1 number, but row 1 has 2 (allowed: as many in each, or all in one)",
            ),
        ] {
            assert_eq!(
                format!("{:#}", parse(text).unwrap_err()),
                complaint,
                "{text:?}"
            );
        }
    }

    #[test]
    fn names_of_files_are_no_numbers() {
        for numbers in ["0", "-1", "0,2,1", "3, -1", "0,1;2,3", "1-2"] {
            assert!(looks_like_numbers(numbers), "{numbers}");
        }
        for other in ["", "-", "i.npy", "1.npy", "0x1", "ids", ","] {
            assert!(!looks_like_numbers(other), "{other}");
        }
    }
}
