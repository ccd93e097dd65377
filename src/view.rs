//! Views of a layout that move no element: reshape, permute, slice, broadcast.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::shape::Layout;

impl Layout {
    /// The same elements in the same order, in another shape.
    ///
    /// # Errors
    ///
    /// [`Error::ReshapeElements`] if the shapes differ in their number of elements,
    /// [`Error::ReshapeCopies`] if strides cannot express the new shape.
    ///
    /// ```
    /// use wgpu_gather::Layout;
    ///
    /// let rows = Layout::contiguous(&[4, 6]).reshape(&[4, 2, 3])?;
    /// assert_eq!(rows.strides(), [6, 3, 1]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn reshape(&self, shape: &[usize]) -> Result<Layout> {
        let got = Layout::checked_elements(shape);
        if got.is_none() || got != Layout::checked_elements(self.shape()) {
            return Err(Error::ReshapeElements {
                from: self.shape().to_vec(),
                to: shape.to_vec(),
            });
        }
        if self.is_empty() {
            return Layout::strided(shape, Layout::contiguous(shape).strides(), self.offset());
        }
        let strides = split(runs(self), shape).ok_or_else(|| Error::ReshapeCopies {
            from: self.shape().to_vec(),
            strides: self.strides().to_vec(),
            to: shape.to_vec(),
        })?;
        Layout::strided(shape, &strides, self.offset())
    }

    /// The dims in another order: dim `d` of the result is dim `axes[d]` of this layout.
    ///
    /// # Errors
    ///
    /// [`Error::NoPermutation`] if `axes` does not name each dim once.
    pub fn permute(&self, axes: &[usize]) -> Result<Layout> {
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.rank()) {
            return Err(Error::NoPermutation {
                axes: axes.to_vec(),
                rank: self.rank(),
            });
        }
        let shape: Vec<_> = axes.iter().map(|&a| self.shape()[a]).collect();
        let strides: Vec<_> = axes.iter().map(|&a| self.strides()[a]).collect();
        Layout::strided(&shape, &strides, self.offset())
    }

    /// The part of dim `axis` that lies in `range`.
    ///
    /// # Errors
    ///
    /// [`Error::SliceOutOfRange`] if there is no such dim, or the range leaves it.
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Layout> {
        let extent = self.shape().get(axis).copied();
        if extent.is_none_or(|extent| range.start > range.end || range.end > extent) {
            return Err(Error::SliceOutOfRange {
                axis,
                start: range.start,
                end: range.end,
                shape: self.shape().to_vec(),
            });
        }
        let mut shape = self.shape().to_vec();
        shape[axis] = range.len();
        // An empty view reaches nothing: its offset stays within the data.
        let skipped = if range.is_empty() { 0 } else { range.start };
        let step = self.strides()[axis].wrapping_mul(skipped as isize);
        Layout::strided(
            &shape,
            self.strides(),
            self.offset().wrapping_add_signed(step),
        )
    }

    /// The layout repeated along dims of extent 1 and along new leading dims, as NumPy does.
    ///
    /// # Errors
    ///
    /// [`Error::NoBroadcast`] if a dim that is not 1 would change, or there are fewer dims.
    pub fn broadcast(&self, shape: &[usize]) -> Result<Layout> {
        let refused = || Error::NoBroadcast {
            from: self.shape().to_vec(),
            to: shape.to_vec(),
        };
        let leading = shape.len().checked_sub(self.rank()).ok_or_else(refused)?;
        let mut strides = vec![0; leading];
        for (d, &extent) in shape[leading..].iter().enumerate() {
            strides.push(match self.shape()[d] {
                own if own == extent => self.strides()[d],
                1 => 0,
                _ => return Err(refused()),
            });
        }
        Layout::strided(shape, &strides, self.offset())
    }
}

/// The dims of a layout, innermost first, with those merged that run on into each other.
fn runs(layout: &Layout) -> Vec<(usize, isize)> {
    let dims = layout.shape().iter().zip(layout.strides());
    let mut runs: Vec<(usize, isize)> = Vec::new();
    for (&extent, &stride) in dims.rev().filter(|&(&extent, _)| extent != 1) {
        match runs.last_mut() {
            Some((inner, step)) if step.checked_mul(*inner as isize) == Some(stride) => {
                *inner *= extent;
            }
            _ => runs.push((extent, stride)),
        }
    }
    runs
}

/// The strides of `shape` laid over runs of as many elements; `None` if a dim would cross from
/// one run into the next.
fn split(runs: Vec<(usize, isize)>, shape: &[usize]) -> Option<Vec<isize>> {
    let mut strides = vec![0; shape.len()];
    let mut runs = runs.into_iter();
    let (mut left, mut step) = (1, 1);
    for (stride, &extent) in strides.iter_mut().zip(shape).rev() {
        if extent == 1 {
            *stride = step;
            continue;
        }
        if left == 1 {
            (left, step) = runs.next()?;
        }
        if !left.is_multiple_of(extent) {
            return None;
        }
        *stride = step;
        left /= extent;
        step = step.wrapping_mul(extent as isize);
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(layout: &Layout) -> Vec<usize> {
        let count = layout.shape().iter().product();
        let at = |n| layout.position(&crate::shape::unravel(n, layout.shape()));
        (0..count).map(at).collect()
    }

    /// A reshaped view has the elements of the view in the same order.
    #[test]
    fn reshape_keeps_the_order_or_refuses() {
        let base = Layout::contiguous(&[4, 6]);
        let views = [
            base.clone(),
            base.permute(&[1, 0]).unwrap(),
            base.slice(1, 1..5).unwrap(),
            base.slice(0, 1..3).unwrap(),
            Layout::strided(&[4, 6], &[-6, 1], 18).unwrap(),
            Layout::contiguous(&[6]).broadcast(&[4, 6]).unwrap(),
        ];
        let shapes: [&[usize]; 7] = [
            &[24],
            &[2, 12],
            &[4, 2, 3],
            &[2, 2, 6],
            &[16],
            &[8],
            &[4, 1, 6],
        ];
        let mut reshaped = 0;
        for view in &views {
            for shape in shapes {
                let Ok(other) = view.reshape(shape) else {
                    continue;
                };
                assert_eq!(positions(&other), positions(view), "{view:?} {shape:?}");
                reshaped += 1;
            }
        }
        // 5 of the whole, none of the transposed, 3 each of the reversed and the repeated one.
        assert_eq!(reshaped, 11);
        assert!(matches!(
            views[1].reshape(&[24]),
            Err(Error::ReshapeCopies { .. })
        ));
        assert!(matches!(
            base.reshape(&[23]),
            Err(Error::ReshapeElements { .. })
        ));
        assert_eq!(
            Layout::contiguous(&[0, 3])
                .reshape(&[5, 0])
                .unwrap()
                .shape(),
            [5, 0]
        );
        assert_eq!(Layout::contiguous(&[1]).reshape(&[]).unwrap().rank(), 0);
    }

    #[test]
    fn permute_slice_and_broadcast_select_positions() {
        let base = Layout::contiguous(&[2, 3]);
        assert_eq!(
            positions(&base.permute(&[1, 0]).unwrap()),
            [0, 3, 1, 4, 2, 5]
        );
        assert_eq!(positions(&base.slice(1, 1..3).unwrap()), [1, 2, 4, 5]);
        assert!(base.slice(1, 3..3).unwrap().is_empty());
        let row = Layout::contiguous(&[1, 3]).broadcast(&[2, 2, 3]).unwrap();
        assert_eq!(positions(&row), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "what a caller may pass")]
    fn views_that_do_not_exist_say_why() {
        let base = Layout::contiguous(&[2, 3]);
        let texts = [
            base.permute(&[0, 0]).unwrap_err().to_string(),
            base.permute(&[0]).unwrap_err().to_string(),
            base.slice(2, 0..1).unwrap_err().to_string(),
            base.slice(1, 2..4).unwrap_err().to_string(),
            base.slice(1, 2..1).unwrap_err().to_string(),
            base.broadcast(&[3]).unwrap_err().to_string(),
            base.broadcast(&[4, 3]).unwrap_err().to_string(),
            base.reshape(&[4]).unwrap_err().to_string(),
            base.permute(&[1, 0])
                .unwrap()
                .reshape(&[6])
                .unwrap_err()
                .to_string(),
        ];
        assert_eq!(
            texts,
            [
                "axes [0, 0] are no permutation of the 2 dims of a view",
                "axes [0] are no permutation of the 2 dims of a view",
                "slice 0..1 of dim 2 lies outside a view of shape [2, 3]",
                "slice 2..4 of dim 1 lies outside a view of shape [2, 3]",
                "slice 2..1 of dim 1 lies outside a view of shape [2, 3]",
                "a view of shape [2, 3] cannot be broadcast to [3]",
                "a view of shape [2, 3] cannot be broadcast to [4, 3]",
                "a tensor of shape [2, 3] cannot be reshaped to [4]: the numbers of elements differ",
                "a view of shape [3, 2] and strides [1, 3] cannot be reshaped to [6] without a copy",
            ]
        );
    }
}
