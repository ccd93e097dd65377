//! Views of the model: which elements of a storage a tensor has, by its own arithmetic.

use std::collections::HashSet;

use wgpu_gather::{DType, IndexType, with_index_type};

/// A tensor of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct View {
    pub(super) storage: usize,
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) offset: usize,
}

/// All coordinates of a shape, row-major.
pub(super) fn coordinates(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |all, &extent| {
        let longer = |c: Vec<usize>| (0..extent).map(move |n| [&c[..], &[n]].concat());
        all.into_iter().flat_map(longer).collect()
    })
}

impl View {
    pub(super) fn contiguous(storage: usize, dtype: DType, shape: &[usize]) -> View {
        let strides = (0..shape.len()).map(|d| shape[d + 1..].iter().product());
        View {
            storage,
            dtype,
            shape: shape.to_vec(),
            strides: strides.collect(),
            offset: 0,
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.shape.len()
    }

    pub(super) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.elements() == 0
    }

    pub(super) fn at(&self, coordinates: &[usize]) -> usize {
        let steps = coordinates.iter().zip(&self.strides);
        self.offset + steps.map(|(c, stride)| c * stride).sum::<usize>()
    }

    /// The places of all elements, row-major.
    pub(super) fn places(&self) -> Vec<usize> {
        coordinates(&self.shape)
            .iter()
            .map(|c| self.at(c))
            .collect()
    }

    pub(super) fn is_contiguous(&self) -> bool {
        let places = self.places();
        places
            .iter()
            .enumerate()
            .all(|(n, &at)| at == self.offset + n)
    }

    /// Whether two elements lie in one place.
    pub(super) fn overlaps(&self) -> bool {
        let places: HashSet<usize> = self.places().into_iter().collect();
        places.len() < self.elements()
    }

    pub(super) fn slice(&self, axis: usize, start: usize, end: usize) -> View {
        let mut view = self.clone();
        view.offset += start * self.strides[axis];
        view.shape[axis] = end - start;
        view
    }

    pub(super) fn permute(&self, axes: &[usize]) -> View {
        View {
            shape: axes.iter().map(|&a| self.shape[a]).collect(),
            strides: axes.iter().map(|&a| self.strides[a]).collect(),
            ..self.clone()
        }
    }

    /// With one more dim in front, which repeats it.
    pub(super) fn repeated(&self, times: usize) -> View {
        View {
            shape: [&[times], &self.shape[..]].concat(),
            strides: [&[0], &self.strides[..]].concat(),
            ..self.clone()
        }
    }

    /// The same elements in another shape, of a contiguous view.
    pub(super) fn reshape(&self, shape: &[usize]) -> View {
        View {
            offset: self.offset,
            ..View::contiguous(self.storage, self.dtype, shape)
        }
    }
}

/// What the bits of an index say.
pub(super) fn index(bits: u64, index_type: IndexType) -> i128 {
    with_index_type!(index_type, I => i128::from(bits as I))
}

/// Elements as bytes.
pub(super) fn to_bytes(dtype: DType, elements: &[u64]) -> Vec<u8> {
    let bytes = |bits: &u64| bits.to_le_bytes()[..dtype.bytes()].to_vec();
    elements.iter().flat_map(bytes).collect()
}

/// Bytes as elements.
pub(super) fn from_bytes(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let element = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    };
    bytes.chunks_exact(dtype.bytes()).map(element).collect()
}
