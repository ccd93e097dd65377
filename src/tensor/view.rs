//! Views of slices as tensors of any layout.

use std::ops::Range;

use crate::error::{Result, Role};
use crate::shape::Layout;
use crate::tensor::{Tensor, check_length, lie_within};

/// A view of a slice as a tensor: contiguous, or with any strides.
///
/// Views of views copy nothing. They print as [`Tensor`]s do.
///
/// ```
/// use wgpu_gather::TensorView;
///
/// let matrix = TensorView::new(&[2, 3], &[11, 12, 13, 21, 22, 23])?;
/// let last_two_columns = matrix.permute(&[1, 0])?.slice(0, 1..3)?;
/// assert_eq!(last_two_columns.to_string(), "[[12 22]\n [13 23]]");
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Clone)]
pub struct TensorView<'a, T> {
    data: &'a [T],
    layout: Layout,
}

impl<'a, T> TensorView<'a, T> {
    /// `data` as a contiguous, row-major tensor.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`](crate::Error::DataLength) if `data` does not have as many elements as
    /// `shape`.
    pub fn new(shape: &[usize], data: &'a [T]) -> Result<Self> {
        check_length::<T>(shape, data.len())?;
        Ok(TensorView::whole(shape, data))
    }

    /// The elements of a tensor of `shape`, all of `data`.
    pub(super) fn whole(shape: &[usize], data: &'a [T]) -> Self {
        TensorView {
            data,
            layout: Layout::contiguous(shape),
        }
    }

    /// Some elements of `data`, as `layout` says.
    ///
    /// # Errors
    ///
    /// [`Error::ViewOutOfRange`](crate::Error::ViewOutOfRange) if the layout reaches outside `data`.
    pub fn strided(layout: Layout, data: &'a [T]) -> Result<Self> {
        layout.check_within(Role::Tensor, data.len())?;
        Ok(TensorView { data, layout })
    }

    /// The extent of each dim.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Shape, strides and offset in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The data that the view looks into.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// The element at these coordinates, one for each dim; `None` if there is none.
    ///
    /// ```
    /// use wgpu_gather::TensorView;
    ///
    /// let matrix = TensorView::new(&[2, 3], &[11, 12, 13, 21, 22, 23])?;
    /// let transposed = matrix.permute(&[1, 0])?;
    /// assert_eq!(transposed.get(&[2, 0]), Some(&13));
    /// assert_eq!(transposed.get(&[0, 2]), None);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn get(&self, coordinates: &[usize]) -> Option<&'a T> {
        if !lie_within(coordinates, self.shape()) {
            return None;
        }
        self.data.get(self.layout.position(coordinates))
    }

    /// The same elements in the same order, in another shape.
    ///
    /// # Errors
    ///
    /// [`Error::ReshapeElements`](crate::Error::ReshapeElements) if the shapes differ in their number of
    /// elements, [`Error::ReshapeCopies`](crate::Error::ReshapeCopies) if strides cannot express the new
    /// shape.
    ///
    /// ```
    /// use wgpu_gather::TensorView;
    ///
    /// let matrix = TensorView::new(&[2, 3], &[11, 12, 13, 21, 22, 23])?;
    /// assert_eq!(matrix.reshape(&[6])?.to_string(), "[11 12 13 21 22 23]");
    /// assert!(matrix.permute(&[1, 0])?.reshape(&[6]).is_err());
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        Ok(self.with_layout(self.layout.reshape(shape)?))
    }

    /// The dims in another order: dim `d` of the result is dim `axes[d]` of this view.
    ///
    /// # Errors
    ///
    /// [`Error::NoPermutation`](crate::Error::NoPermutation) if `axes` does not name each dim once.
    ///
    /// ```
    /// use wgpu_gather::TensorView;
    ///
    /// let matrix = TensorView::new(&[2, 3], &[11, 12, 13, 21, 22, 23])?;
    /// let transposed = matrix.permute(&[1, 0])?;
    /// assert_eq!(transposed.to_string(), "[[11 21]\n [12 22]\n [13 23]]");
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.with_layout(self.layout.permute(axes)?))
    }

    /// The part of dim `axis` that lies in `range`.
    ///
    /// # Errors
    ///
    /// [`Error::SliceOutOfRange`](crate::Error::SliceOutOfRange) if there is no such dim, or the range
    /// leaves it.
    ///
    /// ```
    /// use wgpu_gather::TensorView;
    ///
    /// let matrix = TensorView::new(&[2, 3], &[11, 12, 13, 21, 22, 23])?;
    /// assert_eq!(matrix.slice(1, 1..3)?.to_string(), "[[12 13]\n [22 23]]");
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(self.with_layout(self.layout.slice(axis, range)?))
    }

    /// The view repeated along dims of extent 1 and along new leading dims, as NumPy does.
    ///
    /// # Errors
    ///
    /// [`Error::NoBroadcast`](crate::Error::NoBroadcast) if a dim that is not 1 would change, or there are
    /// fewer dims.
    ///
    /// ```
    /// use wgpu_gather::TensorView;
    ///
    /// let row = TensorView::new(&[3], &[1, 2, 3])?;
    /// assert_eq!(row.broadcast(&[2, 3])?.to_string(), "[[1 2 3]\n [1 2 3]]");
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn broadcast(&self, shape: &[usize]) -> Result<Self> {
        Ok(self.with_layout(self.layout.broadcast(shape)?))
    }

    /// A layout that reaches elements of this view only.
    fn with_layout(&self, layout: Layout) -> Self {
        TensorView {
            data: self.data,
            layout,
        }
    }
}

/// The whole tensor.
impl<'a, T> From<&'a Tensor<T>> for TensorView<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn elements(view: &TensorView<'_, i32>) -> Vec<i32> {
        let count = view.shape().iter().product();
        let at = |n| view.get(&crate::shape::unravel(n, view.shape()));
        (0..count).map(|n| *at(n).unwrap()).collect()
    }

    #[test]
    fn views_select_elements_of_the_tensor() {
        let tensor = Tensor::new(&[2, 3], vec![11, 12, 13, 21, 22, 23]).unwrap();
        let view = TensorView::from(&tensor);
        assert_eq!(elements(&view), tensor.data());
        let transposed = view.permute(&[1, 0]).unwrap();
        assert_eq!(elements(&transposed), [11, 21, 12, 22, 13, 23]);
        let columns = view.slice(1, 1..3).unwrap();
        assert_eq!(elements(&columns), [12, 13, 22, 23]);
        assert_eq!(
            elements(&columns.permute(&[1, 0]).unwrap()),
            [12, 22, 13, 23]
        );
        let repeated = view.slice(0, 1..2).unwrap().broadcast(&[2, 3]).unwrap();
        assert_eq!(elements(&repeated), [21, 22, 23, 21, 22, 23]);
        let reshaped = view.reshape(&[3, 2]).unwrap();
        assert_eq!(reshaped.get(&[2, 0]), Some(&22));
        assert_eq!(reshaped.data().as_ptr(), tensor.data().as_ptr());
    }

    #[test]
    fn coordinates_outside_a_view_give_nothing() {
        // The data has elements there, the view does not.
        let view = TensorView::new(&[2, 3], &[11, 12, 13, 21, 22, 23]).unwrap();
        let column = view.slice(1, 0..1).unwrap();
        assert_eq!(column.get(&[1, 0]), Some(&21));
        for outside in [&[0, 1][..], &[2, 0], &[0], &[0, 0, 0], &[usize::MAX, 0]] {
            assert_eq!(column.get(outside), None, "{outside:?}");
        }
    }

    #[test]
    fn views_that_do_not_exist_are_errors() {
        let view = TensorView::new(&[2, 3], &[0; 6]).unwrap();
        let error = |view: Result<TensorView<'_, i32>>| view.map(|_| ()).unwrap_err();
        assert!(matches!(
            error(view.reshape(&[5])),
            Error::ReshapeElements { .. }
        ));
        assert!(matches!(
            error(view.permute(&[0, 0])),
            Error::NoPermutation { .. }
        ));
        assert!(matches!(
            error(view.slice(1, 2..4)),
            Error::SliceOutOfRange { .. }
        ));
        assert!(matches!(
            error(view.broadcast(&[3, 3])),
            Error::NoBroadcast { .. }
        ));
        let transposed = view.permute(&[1, 0]).unwrap();
        assert!(matches!(
            error(transposed.reshape(&[6])),
            Error::ReshapeCopies { .. }
        ));
    }
}
