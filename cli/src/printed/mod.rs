//! A tensor as people read it: as NumPy prints arrays, shortened where there are many elements.

mod elements;
mod json;
mod number;
mod numpy;

use anyhow::{Context, Result};
use serde_json::Value;
use wgpu_gather::{DType, Tensor};

pub(crate) use elements::Elements;
pub(crate) use number::{Number, decoded, text};

/// Tensors of more elements are shortened.
const MOST_ELEMENTS: usize = 1000;

/// Entries shown at each end of a dim that is shortened.
const EDGE: usize = 3;

/// What of a tensor is printed, picked from its elements as they come.
///
/// Those that an ellipsis stands for are dropped at once: what is printed takes no more memory than it has
/// to, however large the tensor is.
pub(crate) struct Picture {
    dtype: DType,
    shape: Vec<usize>,
    shortened: bool,
    /// The number of the next element that comes.
    at: usize,
    /// Coordinates of the next element that is kept, and its number; none after the last one.
    next: Option<(Vec<usize>, usize)>,
    kept: Vec<Number>,
}

impl Picture {
    /// Of a tensor of this type and shape: of `all` its elements, or of those that NumPy prints.
    pub(crate) fn new(dtype: DType, shape: &[usize], all: bool) -> Self {
        let count = shape.iter().try_fold(1usize, |n, &dim| n.checked_mul(dim));
        let is_empty = shape.contains(&0);
        Picture {
            dtype,
            shape: shape.to_vec(),
            shortened: !all && !is_empty && count.is_none_or(|count| count > MOST_ELEMENTS),
            at: 0,
            next: (!is_empty).then(|| (vec![0; shape.len()], 0)),
            kept: Vec::new(),
        }
    }

    /// Takes the elements that come next, row-major and whole.
    pub(crate) fn take(&mut self, whole: &[u8]) {
        let width = self.dtype.bytes();
        let end = self.at + whole.len() / width;
        while let Some((coordinates, number)) = &mut self.next {
            let Some(n) = number.checked_sub(self.at).filter(|_| *number < end) else {
                break;
            };
            let element = &whole[n * width..][..width];
            // Types without numbers are refused before.
            let number = decoded(self.dtype, element).unwrap_or(Number::Whole(0));
            self.kept.push(number);
            let cuts = |extent| self.shortened && extent > 2 * EDGE;
            self.next = following(&self.shape, coordinates, cuts);
        }
        self.at = end;
    }

    /// As NumPy prints it, with so many digits after the point at most.
    pub(crate) fn text(&self, precision: Option<usize>) -> Result<String> {
        if self.shape.is_empty() {
            let number = self.kept.first().context("no element")?;
            return Ok(text(number.shortest(self.dtype), precision));
        }
        let words = numpy::words(
            self.dtype,
            &self.kept,
            precision.unwrap_or(numpy::PRECISION),
        );
        if !self.shortened {
            return Ok(format!("{:#}", Tensor::new(&self.shape, words)?));
        }
        let shape = self.smallest_of_this_look();
        let count = shape.iter().product();
        let mut all = vec![String::new(); count];
        let mut at = Some((vec![0; shape.len()], 0));
        for word in words {
            let Some((coordinates, number)) = &mut at else {
                break;
            };
            all[*number] = word;
            at = following(&shape, coordinates, |extent| extent > 2 * EDGE);
        }
        Ok(Tensor::new(&shape, all)?.to_string())
    }

    /// All elements, in nested arrays.
    pub(crate) fn json(&self) -> Value {
        let numbers = self.kept.iter().map(|number| number.shortest(self.dtype));
        json::nested(&self.shape, &numbers.collect::<Vec<_>>())
    }

    /// The shape of a tensor that prints as this one: what an ellipsis stands for need not be there, but
    /// for one entry of each dim, and as many more as make more than [`MOST_ELEMENTS`].
    fn smallest_of_this_look(&self) -> Vec<usize> {
        let least = |&extent: &usize| extent.min(2 * EDGE + 1);
        let mut shape: Vec<usize> = self.shape.iter().map(least).collect();
        for dim in 0..shape.len() {
            let others: usize = shape.iter().product::<usize>() / shape[dim];
            let enough = (MOST_ELEMENTS + 1).div_ceil(others);
            if shape[dim] > 2 * EDGE {
                shape[dim] = enough.clamp(shape[dim], self.shape[dim]);
            }
        }
        shape
    }
}

/// The coordinates and the number of the element that is shown after this one, row-major: dims of an extent
/// that is cut have only their ends.
fn following(
    shape: &[usize],
    coordinates: &mut Vec<usize>,
    cuts: impl Fn(usize) -> bool,
) -> Option<(Vec<usize>, usize)> {
    for dim in (0..shape.len()).rev() {
        let (extent, coordinate) = (shape[dim], &mut coordinates[dim]);
        *coordinate += 1;
        if *coordinate == EDGE && cuts(extent) {
            *coordinate = extent - EDGE;
        }
        if *coordinate < extent {
            let dims = coordinates.iter().zip(shape);
            let number = dims.fold(0, |at, (&c, &extent)| at * extent + c);
            return Some((std::mem::take(coordinates), number));
        }
        *coordinate = 0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture of the integers from 0 on, which come in pieces of so many bytes.
    fn counting(shape: &[usize], piece: usize, all: bool) -> String {
        let count: i32 = shape.iter().product::<usize>() as i32;
        let bytes: Vec<u8> = (0..count).flat_map(i32::to_le_bytes).collect();
        let mut picture = Picture::new(DType::I32, shape, all);
        bytes.chunks(piece).for_each(|piece| picture.take(piece));
        picture.text(None).unwrap()
    }

    /// The library prints such tensors as NumPy does.
    #[test]
    fn shortened_or_not_it_is_what_a_tensor_prints() {
        let shapes: [&[usize]; 11] = [
            &[7],
            &[1000],
            &[1001],
            &[5000],
            &[2, 501],
            &[10, 20, 20],
            &[6, 6, 6, 6],
            &[7, 7, 7, 7],
            &[1, 1200, 1],
            &[300, 6],
            &[4, 3, 2, 2, 30],
        ];
        for shape in shapes {
            let data = (0..shape.iter().product::<usize>() as i32).collect();
            let tensor = Tensor::new(shape, data).unwrap();
            for piece in [4, 12, 1 << 20] {
                assert_eq!(
                    counting(shape, piece, false),
                    tensor.to_string(),
                    "{shape:?}"
                );
            }
            assert_eq!(
                counting(shape, 64, true),
                format!("{tensor:#}"),
                "{shape:?}"
            );
        }
    }

    #[test]
    fn what_the_ellipsis_stands_for_is_not_kept() {
        let mut picture = Picture::new(DType::U8, &[1 << 20, 1 << 20], false);
        for _ in 0..5 {
            picture.take(&[7; 1 << 20]);
        }
        assert_eq!(picture.kept.len(), 3 * 6);
        assert!(picture.smallest_of_this_look().iter().product::<usize>() < 1100);
    }

    #[test]
    fn nothing_and_one_number() {
        let text = |shape: &[usize], bytes: &[u8]| {
            let mut picture = Picture::new(DType::F32, shape, false);
            picture.take(bytes);
            picture.text(None).unwrap()
        };
        assert_eq!(text(&[0, 3], &[]), "[]");
        assert_eq!(text(&[0, usize::MAX], &[]), "[]");
        assert_eq!(text(&[], &1.0f32.to_le_bytes()), "1.0");
    }
}
