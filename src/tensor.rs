//! Tensors on the host that own their data, of elements whose type is known at compile time. `view` has
//! views of data, `operand` elements of a type that is known at run time.

mod display;
#[cfg(test)]
mod tests;
mod view;

pub use view::TensorView;

use std::ops::Index;

use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::memory::zeros;
use crate::shape::{Layout, elements};

/// A contiguous, row-major tensor that owns its data.
///
/// ```
/// use wgpu_gather::Tensor;
///
/// let table = Tensor::new(&[2, 3], vec![1, 20, 300, -4, 5, 6])?;
/// assert_eq!(table[[1, 0]], -4);
/// assert_eq!(table.to_string(), "[[  1  20 300]\n [ -4   5   6]]");
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
///
/// It prints as NumPy prints arrays: `{}` shortens tensors of more than 1000 elements to the first and
/// last 3 entries of each dim, `{:#}` prints every element, and `{:.2}` hands its precision to the
/// elements.
#[derive(Clone, PartialEq, Eq)]
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
        check_length::<T>(shape, data.len())?;
        Ok(Tensor {
            shape: shape.to_vec(),
            data,
        })
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    ///
    /// [`Error::SizeOverflow`] if the bytes of such a tensor cannot be addressed,
    /// [`Error::HostOutOfMemory`] if they cannot be allocated.
    ///
    /// ```
    /// use wgpu_gather::{Error, Tensor};
    ///
    /// assert_eq!(Tensor::<f32>::zeros(&[2, 3])?.data(), [0.0; 6]);
    /// let huge = Tensor::<f32>::zeros(&[usize::MAX, 3]);
    /// assert!(matches!(huge, Err(Error::SizeOverflow { .. })));
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn zeros(shape: &[usize]) -> Result<Self>
    where
        T: Element,
    {
        Ok(Tensor {
            shape: shape.to_vec(),
            data: zeros(Role::Tensor, count::<T>(shape)?)?,
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
        TensorView::whole(&self.shape, &self.data)
    }

    /// The element at these coordinates, one for each dim; `None` if there is none.
    ///
    /// Indexing (`tensor[[1, 0]]`, or with a slice of coordinates) panics instead.
    ///
    /// ```
    /// use wgpu_gather::Tensor;
    ///
    /// let table = Tensor::new(&[2, 3], vec!['a', 'b', 'c', 'd', 'e', 'f'])?;
    /// assert_eq!(table.get(&[1, 0]), Some(&'d'));
    /// assert_eq!(table.get(&[2, 0]), None);
    /// assert_eq!(table.get(&[1]), None);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn get(&self, coordinates: &[usize]) -> Option<&T> {
        if !lie_within(coordinates, &self.shape) {
            return None;
        }
        let dims = coordinates.iter().zip(&self.shape);
        self.data
            .get(dims.fold(0, |at, (&c, &extent)| at * extent + c))
    }

    /// Entry `n` of the first dim, row-major; `None` if there is none, or no first dim.
    ///
    /// ```
    /// use wgpu_gather::Tensor;
    ///
    /// let table = Tensor::new(&[2, 3], vec![1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(table.row(1), Some(&[4, 5, 6][..]));
    /// assert_eq!(table.row(2), None);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn row(&self, n: usize) -> Option<&[T]> {
        let rows = *self.shape.first()?;
        (n < rows).then(|| {
            let len = self.data.len() / rows;
            &self.data[n * len..][..len]
        })
    }

    /// The entries of the first dim in order, each row-major. A tensor of rank 0 has none.
    ///
    /// ```
    /// use wgpu_gather::Tensor;
    ///
    /// let table = Tensor::new(&[2, 3], vec![1, 2, 3, 4, 5, 6])?;
    /// let sums: Vec<i32> = table.rows().map(|row| row.iter().sum()).collect();
    /// assert_eq!(sums, [6, 15]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[T]> + ExactSizeIterator {
        let rows = self.shape.first().copied().unwrap_or(0);
        let len = self.data.len().checked_div(rows).unwrap_or(0);
        (0..rows).map(move |n| &self.data[n * len..][..len])
    }

    /// The same elements in another shape, without a copy.
    ///
    /// # Errors
    ///
    /// [`Error::ReshapeElements`] if the shapes differ in their number of elements.
    ///
    /// ```
    /// use wgpu_gather::Tensor;
    ///
    /// let pairs = Tensor::from([1, 2, 3, 4, 5, 6]).reshape(&[3, 2])?;
    /// assert_eq!(pairs.row(2), Some(&[5, 6][..]));
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn reshape(self, shape: &[usize]) -> Result<Self> {
        Layout::contiguous(&self.shape).reshape(shape)?;
        Ok(Tensor {
            shape: shape.to_vec(),
            data: self.data,
        })
    }
}

/// Of rank 1, without a copy.
impl<T> From<Vec<T>> for Tensor<T> {
    fn from(data: Vec<T>) -> Self {
        Tensor {
            shape: vec![data.len()],
            data,
        }
    }
}

/// Of rank 1.
impl<T, const N: usize> From<[T; N]> for Tensor<T> {
    fn from(data: [T; N]) -> Self {
        Tensor::from(Vec::from(data))
    }
}

impl<T> Index<&[usize]> for Tensor<T> {
    type Output = T;

    /// The element at these coordinates.
    ///
    /// # Panics
    ///
    /// If there is none. [`Tensor::get`] gives `None` instead.
    #[track_caller]
    fn index(&self, coordinates: &[usize]) -> &T {
        match self.get(coordinates) {
            Some(element) => element,
            None => panic!(
                "coordinates {coordinates:?} lie outside a tensor of shape {:?}",
                self.shape
            ),
        }
    }
}

impl<T, const N: usize> Index<[usize; N]> for Tensor<T> {
    type Output = T;

    /// The element at these coordinates.
    ///
    /// # Panics
    ///
    /// If there is none. [`Tensor::get`] gives `None` instead.
    #[track_caller]
    fn index(&self, coordinates: [usize; N]) -> &T {
        &self[&coordinates[..]]
    }
}

/// Whether there is one coordinate for each dim of `shape`, each less than its extent.
fn lie_within(coordinates: &[usize], shape: &[usize]) -> bool {
    coordinates.len() == shape.len()
        && coordinates
            .iter()
            .zip(shape)
            .all(|(&c, &extent)| c < extent)
}

/// The number of elements of a tensor that memory could hold.
fn count<T>(shape: &[usize]) -> Result<usize> {
    elements(Role::Tensor, shape, size_of::<T>().max(1))
}

fn check_length<T>(shape: &[usize], got: usize) -> Result<()> {
    let expected = count::<T>(shape)?;
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
