//! The destination as runs of slices whose keys follow each other.

use std::ops::Range;

use crate::scatter::{DestinationDim, ScatterPlan};

/// The dims of a contiguous destination: outer ones, one of keys, and a slice.
#[derive(Debug)]
pub(super) struct Nest {
    /// Of each outer dim, outermost first: extent, step of the key, step in the updates.
    outer: Vec<(usize, usize, isize)>,
    /// How many keys follow each other.
    keys: usize,
    /// Elements that share a key and lie in a row in the destination.
    pub(super) slice: usize,
    /// The step between them in the updates.
    pub(super) slice_step: isize,
}

/// Some elements of the destination: slices with keys that follow each other, or a part of one slice.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    /// The first of them.
    pub(super) element: usize,
    pub(super) keys: Range<usize>,
    /// How many elements of each slice.
    pub(super) columns: usize,
    /// Where their updates lie, before the lookup says more.
    pub(super) updates: isize,
}

impl Nest {
    pub(super) fn new(plan: &ScatterPlan) -> Self {
        let (outer, slice, slice_step) = match &plan.dims[..] {
            &[ref outer @ .., DestinationDim::Free { extent, updates }] => (outer, extent, updates),
            all => (all, 1, 0),
        };
        let (outer, keys) = match outer {
            &[ref outer @ .., DestinationDim::Key { extent, step: 1 }] => (outer, extent),
            all => (all, 1),
        };
        let outer = outer.iter().map(|&dim| match dim {
            DestinationDim::Key { extent, step } => (extent, step, 0),
            DestinationDim::Free { extent, updates } => (extent, 0, updates),
        });
        Nest {
            outer: outer.collect(),
            keys,
            slice,
            slice_step,
        }
    }

    /// Whether slices are the destination in the order of their keys, and rows of the updates.
    pub(super) fn is_rows(&self) -> bool {
        self.outer.is_empty() && (self.slice_step == 1 || self.slice == 1)
    }

    /// Calls `each` with the runs that make up these elements.
    pub(super) fn runs(&self, elements: Range<usize>, each: &mut dyn FnMut(Run)) {
        let mut at = elements.start;
        while at < elements.end {
            let left = elements.end - at;
            let (slice, column) = (at / self.slice, at % self.slice);
            let (first_key, updates) = self.outer_step(slice / self.keys);
            let key = slice % self.keys;
            let (count, columns) = match column > 0 || left < self.slice {
                true => (1, left.min(self.slice - column)),
                false => ((left / self.slice).min(self.keys - key), self.slice),
            };
            each(Run {
                element: at,
                keys: first_key + key..first_key + key + count,
                columns,
                updates: updates.wrapping_add(self.slice_step.wrapping_mul(column as isize)),
            });
            at += count * columns;
        }
    }

    /// The first key, and the place in the updates, of a step of the outer dims.
    fn outer_step(&self, mut step: usize) -> (usize, isize) {
        let (mut key, mut updates) = (0, 0isize);
        for &(extent, by, in_updates) in self.outer.iter().rev() {
            let digit = step % extent;
            step /= extent;
            key += digit * by;
            updates = updates.wrapping_add(in_updates.wrapping_mul(digit as isize));
        }
        (key, updates)
    }
}
