//! Tensors as text files: a line for each row, numbers between commas or blanks.

use std::io::Write;

use wgpu_gather::DType;

use crate::printed::{Number, decoded, text};

/// Writes the numbers of a tensor: a row of its last dim on each line, or one number on each line if it has
/// one dim.
pub(crate) struct Rows {
    dtype: DType,
    columns: usize,
    /// Numbers of the line that has begun.
    column: usize,
    separator: char,
    precision: Option<usize>,
}

impl Rows {
    pub(crate) fn new(
        dtype: DType,
        shape: &[usize],
        separator: char,
        precision: Option<usize>,
    ) -> Self {
        let columns = match shape {
            [] | [_] => 1,
            [.., last] => *last,
        };
        Rows {
            dtype,
            columns,
            column: 0,
            separator,
            precision,
        }
    }

    /// The text of the next elements.
    pub(crate) fn of(&mut self, whole: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for element in whole.chunks(self.dtype.bytes()) {
            // Types without numbers are refused before.
            let number = decoded(self.dtype, element).unwrap_or(Number::Whole(0));
            let word = text(number.shortest(self.dtype), self.precision);
            self.column += 1;
            match self.column == self.columns {
                true => {
                    writeln!(lines, "{word}")?;
                    self.column = 0;
                }
                false => write!(lines, "{word}{}", self.separator)?,
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of 1, 2, … of a shape.
    fn rows(shape: &[usize], separator: char, precision: Option<usize>) -> String {
        let mut rows = Rows::new(DType::F32, shape, separator, precision);
        let count = shape.iter().product::<usize>() as u16;
        let elements = (1..=count).flat_map(|n| f32::from(n).to_le_bytes());
        let elements: Vec<u8> = elements.collect();
        let lines = elements.chunks(8).map(|some| rows.of(some).unwrap());
        String::from_utf8(lines.collect::<Vec<_>>().concat()).unwrap()
    }

    #[test]
    fn a_line_is_a_row_of_the_last_dim() {
        assert_eq!(rows(&[2, 3], ',', None), "1.0,2.0,3.0\n4.0,5.0,6.0\n");
        assert_eq!(rows(&[2, 1, 2], ' ', Some(2)), "1.00 2.00\n3.00 4.00\n");
        assert_eq!(rows(&[2], ',', Some(0)), "1\n2\n");
        assert_eq!(rows(&[], ',', None), "1.0\n");
        assert_eq!(rows(&[2, 0], ',', None), "");
    }
}
