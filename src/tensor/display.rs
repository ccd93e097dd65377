//! Tensors as text: whole or shortened as NumPy prints arrays, and a few elements for debugging.

use std::fmt::{self, Debug, Display, Formatter, Write};

use crate::shape::Layout;
use crate::tensor::{Tensor, TensorView};

/// Tensors of more elements are shortened.
const MOST_ELEMENTS: usize = 1000;
/// Entries shown at each end of a dim that is shortened.
const EDGE: usize = 3;
/// Columns of a line. A single element may take more.
const LINE: usize = 75;
/// Elements shown for debugging.
const MOST_DEBUGGED: usize = 8;

impl<T: Display> Display for Tensor<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.view(), f)
    }
}

impl<T: Display> Display for TensorView<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.layout().is_empty() {
            return f.write_str("[]");
        }
        let count = Layout::checked_elements(self.shape());
        let shown = Shown {
            view: self,
            shortened: !f.alternate() && count.is_none_or(|count| count > MOST_ELEMENTS),
        };
        shown.print(f)
    }
}

impl<T: Debug> Debug for Tensor<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("shape", &self.shape())
            .field("data", &FirstElements(&self.view()))
            .finish()
    }
}

impl<T: Debug> Debug for TensorView<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorView")
            .field("shape", &self.shape())
            .field("strides", &self.layout().strides())
            .field("offset", &self.layout().offset())
            .field("elements", &FirstElements(self))
            .finish()
    }
}

/// The elements of a view that has some, all or the outer ones of each dim, in row-major order.
struct Shown<'a, T> {
    view: &'a TensorView<'a, T>,
    shortened: bool,
}

impl<T> Shown<'_, T> {
    /// Whether a dim of this extent leaves out its middle.
    fn cuts(&self, extent: usize) -> bool {
        self.shortened && extent > 2 * EDGE
    }

    /// Goes on to the next element. Gives the outermost dim that moved, or `None` after the last one.
    fn advance(&self, coordinates: &mut [usize]) -> Option<usize> {
        let dims = coordinates.iter_mut().zip(self.view.shape());
        for (dim, (coordinate, &extent)) in dims.enumerate().rev() {
            *coordinate += 1;
            if *coordinate == EDGE && self.cuts(extent) {
                *coordinate = extent - EDGE;
            }
            if *coordinate < extent {
                return Some(dim);
            }
            *coordinate = 0;
        }
        None
    }

    /// Whether entries are left out before this one of a dim.
    fn follows_a_cut(&self, dim: usize, coordinates: &[usize]) -> bool {
        let extent = self.view.shape()[dim];
        self.cuts(extent) && coordinates[dim] == extent - EDGE
    }
}

impl<T: Display> Shown<'_, T> {
    /// Between rows stand as many line breaks as dims end there; each line is indented by the brackets
    /// that are still open.
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = self.widest(f.precision())?;
        let rank = self.view.shape().len();
        let mut coordinates = vec![0; rank];
        let mut word = String::new();
        let mut line = Line::new(rank);
        repeat(f, '[', rank)?;
        loop {
            self.write_element(&mut word, &coordinates, f.precision())?;
            line.push(f, &word, width)?;
            let Some(dim) = self.advance(&mut coordinates) else {
                return repeat(f, ']', rank);
            };
            let cut = self.follows_a_cut(dim, &coordinates);
            let ended = rank - 1 - dim;
            if ended == 0 {
                if cut {
                    line.push(f, "...", 0)?;
                }
                continue;
            }
            repeat(f, ']', ended)?;
            if cut {
                repeat(f, '\n', ended)?;
                repeat(f, ' ', dim + 1)?;
                f.write_str("...")?;
            }
            repeat(f, '\n', ended)?;
            repeat(f, ' ', dim + 1)?;
            repeat(f, '[', ended)?;
            line = Line::new(rank);
        }
    }

    /// The characters of the longest element.
    fn widest(&self, precision: Option<usize>) -> Result<usize, fmt::Error> {
        let mut coordinates = vec![0; self.view.shape().len()];
        let mut word = String::new();
        let mut widest = 0;
        loop {
            self.write_element(&mut word, &coordinates, precision)?;
            widest = widest.max(word.chars().count());
            if self.advance(&mut coordinates).is_none() {
                return Ok(widest);
            }
        }
    }

    fn write_element(
        &self,
        word: &mut String,
        coordinates: &[usize],
        precision: Option<usize>,
    ) -> fmt::Result {
        word.clear();
        let element = self.view.get(coordinates).ok_or(fmt::Error)?;
        match precision {
            Some(precision) => write!(word, "{element:.precision$}"),
            None => write!(word, "{element}"),
        }
    }
}

/// Fills lines with the words of a row.
struct Line {
    indent: usize,
    /// Where the next word starts, after a space.
    column: usize,
}

impl Line {
    fn new(indent: usize) -> Self {
        Line {
            indent,
            column: indent,
        }
    }

    /// Writes a word, right-justified to `width`, on a new line if this one has no room for it and the
    /// brackets.
    fn push(&mut self, f: &mut Formatter<'_>, word: &str, width: usize) -> fmt::Result {
        let len = word.chars().count().max(width);
        if self.column > self.indent {
            if self.column + len > LINE.saturating_sub(self.indent) {
                f.write_char('\n')?;
                repeat(f, ' ', self.indent)?;
                self.column = self.indent;
            } else {
                f.write_char(' ')?;
            }
        }
        self.column += len + 1;
        write!(f, "{word:>width$}")
    }
}

fn repeat(f: &mut Formatter<'_>, character: char, times: usize) -> fmt::Result {
    (0..times).try_for_each(|_| f.write_char(character))
}

struct FirstElements<'a, T>(&'a TensorView<'a, T>);

impl<T: Debug> Debug for FirstElements<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = Shown {
            view: self.0,
            shortened: false,
        };
        let mut coordinates = vec![0; self.0.shape().len()];
        let mut list = f.debug_list();
        for n in 0.. {
            let Some(element) = self.0.get(&coordinates) else {
                break;
            };
            if n == MOST_DEBUGGED {
                return list.finish_non_exhaustive();
            }
            list.entry(element);
            if all.advance(&mut coordinates).is_none() {
                break;
            }
        }
        list.finish()
    }
}

#[cfg(test)]
mod tests;
