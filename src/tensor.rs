//! Tensors on the host, of elements whose type is known at compile time. `operand` has those of a type
//! that is known at run time.

use crate::error::{Error, Result, Role};
use crate::shape::{Layout, elements};

/// A contiguous, row-major tensor that owns its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor<T> {
    shape: Vec<usize>,
    data: Vec<T>,
}

impl<T> Tensor<T> {
    /// A tensor of `data`, row-major.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `data` does not have as many elements as `shape`.
    pub fn new(shape: &[usize], data: Vec<T>) -> Result<Self> {
        check_length(shape, data.len(), size_of::<T>())?;
        Ok(Tensor {
            shape: shape.to_vec(),
            data,
        })
    }

    /// The extent of each dim.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, row-major.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The elements, row-major, without a copy.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// The whole tensor as a view.
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView {
            data: &self.data,
            layout: Layout::contiguous(&self.shape),
        }
    }
}

/// A view of a slice as a tensor: contiguous, or with any strides.
#[derive(Debug, Clone)]
pub struct TensorView<'a, T> {
    data: &'a [T],
    layout: Layout,
}

impl<'a, T> TensorView<'a, T> {
    /// `data` as a contiguous, row-major tensor.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `data` does not have as many elements as `shape`.
    pub fn new(shape: &[usize], data: &'a [T]) -> Result<Self> {
        check_length(shape, data.len(), size_of::<T>())?;
        Ok(TensorView {
            data,
            layout: Layout::contiguous(shape),
        })
    }

    /// Some elements of `data`, as `layout` says.
    ///
    /// # Errors
    ///
    /// [`Error::ViewOutOfRange`] if the layout reaches outside `data`.
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
}

fn check_length(shape: &[usize], got: usize, element_bytes: usize) -> Result<()> {
    let expected = elements(Role::Tensor, shape, element_bytes.max(1))?;
    if expected == got {
        return Ok(());
    }
    Err(Error::DataLength {
        role: Role::Tensor,
        shape: shape.to_vec(),
        expected,
        got,
    })
}
