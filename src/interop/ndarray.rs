//! Arrays of ndarray as views of tensors, and tensors as arrays of ndarray.

use ndarray::{
    Array, ArrayBase, ArrayD, ArrayRef, ArrayView, ArrayViewD, Axis, CowArray, Data, Dimension,
    IxDyn,
};

use crate::error::{Error, Result, Role};
use crate::shape::Layout;
use crate::tensor::{Tensor, TensorView};

/// Without a copy; [`Error::ViewHasGaps`] if the view leaves out elements in between.
impl<'a, T, D: Dimension> TryFrom<ArrayView<'a, T, D>> for TensorView<'a, T> {
    type Error = Error;

    fn try_from(array: ArrayView<'a, T, D>) -> Result<Self> {
        if array.is_empty() {
            return TensorView::new(array.shape(), &[]);
        }
        let data = data_of(array.clone()).ok_or_else(|| has_gaps(&array))?;
        TensorView::strided(layout_at(&array, lowest_to_first(&array))?, data)
    }
}

/// Without a copy; [`Error::ViewHasGaps`] if the array leaves out elements in between.
impl<'a, T, D: Dimension> TryFrom<&'a ArrayRef<T, D>> for TensorView<'a, T> {
    type Error = Error;

    fn try_from(array: &'a ArrayRef<T, D>) -> Result<Self> {
        TensorView::try_from(array.view())
    }
}

/// Without a copy; [`Error::ViewHasGaps`] if the array leaves out elements in between.
impl<'a, T, S: Data<Elem = T>, D: Dimension> TryFrom<&'a ArrayBase<S, D>> for TensorView<'a, T> {
    type Error = Error;

    fn try_from(array: &'a ArrayBase<S, D>) -> Result<Self> {
        TensorView::try_from(array.view())
    }
}

impl<'a, T> TensorView<'a, T> {
    /// A part of an array of ndarray, with any strides, without a copy: `part` is a view of some
    /// elements of `whole`, and may leave out elements in between.
    ///
    /// ```
    /// use ndarray::{Array3, s};
    /// use wgpu_gather::TensorView;
    ///
    /// let video = Array3::<u8>::zeros((10, 480, 640));
    /// let every_other_row = TensorView::part_of(&video.slice(s![.., ..;2, ..]), &video)?;
    /// assert_eq!(every_other_row.shape(), [10, 240, 640]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewHasGaps`] if `whole` leaves out elements in between, [`Error::NotAPart`] if an
    /// element of `part` is none of `whole`, [`Error::ZeroSizedElement`].
    pub fn part_of<P: Dimension, D: Dimension>(
        part: &ArrayRef<T, P>,
        whole: &'a ArrayRef<T, D>,
    ) -> Result<Self> {
        if size_of::<T>() == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Params });
        }
        if part.is_empty() {
            return TensorView::new(part.shape(), &[]);
        }
        let not_a_part = || Error::NotAPart {
            shape: part.shape().to_vec(),
            strides: part.strides().to_vec(),
        };
        let data = data_of(whole.view()).ok_or_else(|| has_gaps(whole))?;
        // Addresses tell where the part begins, if it is one; that a part before or behind the
        // whole is none is seen below. Its elements are read through `data` only.
        let offset_bytes = part.as_ptr().addr().wrapping_sub(data.as_ptr().addr());
        if !offset_bytes.is_multiple_of(size_of::<T>()) {
            return Err(not_a_part());
        }
        let layout = layout_at(part, offset_bytes / size_of::<T>())?;
        TensorView::strided(layout, data).map_err(|_| not_a_part())
    }
}

/// The view as it is if [`TensorView::try_from`] takes it, and else a row-major copy.
///
/// [The module](crate::interop) says what gaps are, and has an example.
pub fn without_gaps<T: Clone, D: Dimension>(view: ArrayView<'_, T, D>) -> CowArray<'_, T, D> {
    if view.is_empty() || data_of(view.clone()).is_some() {
        return CowArray::from(view);
    }
    // `as_standard_layout` borrows from its argument only if that has no gaps.
    CowArray::from(view.as_standard_layout().into_owned())
}

/// Keeps the data. [`Error::SizeOverflow`] if ndarray has no array of that shape: the dims other
/// than 0 must have a product of at most `isize::MAX`, even if there is no element.
impl<T> TryFrom<Tensor<T>> for ArrayD<T> {
    type Error = Error;

    fn try_from(tensor: Tensor<T>) -> Result<Self> {
        let shape = tensor.shape().to_vec();
        ArrayD::from_shape_vec(IxDyn(&shape), tensor.into_data())
            .map_err(|_| has_no_array::<T>(shape))
    }
}

/// [`Error::SizeOverflow`] as for a [`Tensor`] by value.
impl<'a, T> TryFrom<&'a Tensor<T>> for ArrayViewD<'a, T> {
    type Error = Error;

    fn try_from(tensor: &'a Tensor<T>) -> Result<Self> {
        ArrayViewD::from_shape(IxDyn(tensor.shape()), tensor.data())
            .map_err(|_| has_no_array::<T>(tensor.shape().to_vec()))
    }
}

/// Keeps the data of a row-major array; that of others is put in order.
impl<T, D: Dimension> TryFrom<Array<T, D>> for Tensor<T> {
    type Error = Error;

    fn try_from(array: Array<T, D>) -> Result<Self> {
        let shape = array.shape().to_vec();
        if !array.is_standard_layout() {
            return Tensor::new(&shape, array.into_iter().collect());
        }
        // The memory of a sliced array has elements before and after those of the array.
        let len = array.len();
        let (mut data, first) = array.into_raw_vec_and_offset();
        data.truncate(first.unwrap_or(0) + len);
        data.drain(..first.unwrap_or(0));
        Tensor::new(&shape, data)
    }
}

/// All elements that a view reaches, in the order of memory, if there are no others in between.
///
/// A slice over gaps would not be sound, whatever the lifetime: ndarray gives out views of
/// interleaved elements of one array, some of them mutable, so that the gaps of one may be another.
fn data_of<T, D: Dimension>(mut view: ArrayView<'_, T, D>) -> Option<&[T]> {
    for axis in (0..view.ndim()).map(Axis) {
        // A broadcast dim reaches no element that its first position does not.
        if view.stride_of(axis) == 0 && view.len_of(axis) > 1 {
            view.collapse_axis(axis, 0);
        }
    }
    view.to_slice_memory_order()
}

/// From the element at the lowest address to the one with all coordinates zero, in elements.
fn lowest_to_first<T, D: Dimension>(array: &ArrayRef<T, D>) -> usize {
    let backwards = |(&extent, &stride): (&usize, &isize)| match stride {
        ..0 => extent
            .saturating_sub(1)
            .saturating_mul(stride.unsigned_abs()),
        _ => 0,
    };
    let spans = array.shape().iter().zip(array.strides()).map(backwards);
    spans.fold(0, usize::saturating_add)
}

fn layout_at<T, D: Dimension>(array: &ArrayRef<T, D>, offset: usize) -> Result<Layout> {
    Layout::strided(array.shape(), array.strides(), offset)
}

fn has_gaps<T, D: Dimension>(array: &ArrayRef<T, D>) -> Error {
    Error::ViewHasGaps {
        shape: array.shape().to_vec(),
        strides: array.strides().to_vec(),
    }
}

fn has_no_array<T>(shape: Vec<usize>) -> Error {
    Error::SizeOverflow {
        role: Role::Output,
        shape,
        element_bytes: size_of::<T>(),
    }
}
