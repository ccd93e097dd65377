//! Dims, checked products, strides and layouts. Every size is in elements unless named.

use std::borrow::Cow;
#[cfg(feature = "gpu")]
use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use crate::error::{Error, OpKind, Result, Role};

/// The number of elements of a tensor whose bytes must be addressable (at most `isize::MAX`).
pub(crate) fn elements(role: Role, dims: &[usize], element_bytes: usize) -> Result<usize> {
    Layout::checked_elements(dims)
        .filter(|n| {
            n.checked_mul(element_bytes)
                .is_some_and(|bytes| isize::try_from(bytes).is_ok())
        })
        .ok_or_else(|| Error::SizeOverflow {
            role,
            shape: dims.to_vec(),
            element_bytes,
        })
}

/// Refuses memory of `got` bytes for an output of `expected`.
pub(crate) fn check_output_bytes(op: OpKind, expected: usize, got: usize) -> Result<()> {
    match got == expected {
        true => Ok(()),
        false => Err(Error::OutputLength { op, expected, got }),
    }
}

/// Row-major strides of contiguous dims. Dims of an empty tensor have strides that no access uses.
fn contiguous_strides(dims: &[usize]) -> Dims<isize> {
    let mut strides = smallvec![0; dims.len()];
    let mut next = 1isize;
    for (stride, &dim) in strides.iter_mut().zip(dims).rev() {
        *stride = next;
        next = next.saturating_mul(isize::try_from(dim).unwrap_or(isize::MAX));
    }
    strides
}

/// The coordinates of element number `at` of a tensor, row-major.
pub(crate) fn unravel(mut at: usize, shape: &[usize]) -> Dims<usize> {
    let mut position = Dims::from_elem(0, shape.len());
    for (p, &extent) in position.iter_mut().zip(shape).rev() {
        *p = at % extent;
        at /= extent;
    }
    position
}

/// Counts `axis` from the front if it is negative; `None` if it names no dim of `rank`.
pub(crate) fn resolve_axis(axis: isize, rank: usize) -> Option<usize> {
    let from_front = if axis < 0 {
        rank.checked_sub(axis.unsigned_abs())?
    } else {
        axis.unsigned_abs()
    };
    (from_front < rank).then_some(from_front)
}

/// Shape, strides and offset of a tensor in its data, in elements.
///
/// Strides may be zero (broadcast) or negative (reversed). The usual contiguous layout is
/// [`Layout::contiguous`].
///
/// ```
/// use wgpu_gather::Layout;
///
/// let table = Layout::contiguous(&[4, 3]);
/// assert_eq!(table.strides(), [3, 1]);
/// // its transpose, without moving anything
/// let transposed = Layout::strided(&[3, 4], &[1, 3], 0)?;
/// assert_eq!(transposed.position(&[2, 1]), table.position(&[1, 2]));
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Dims<usize>,
    strides: Dims<isize>,
    offset: usize,
}

/// A number for each dim. Calls clone layouts several times: those of few dims take no memory of their own.
pub(crate) type Dims<T> = SmallVec<[T; 4]>;

impl Clone for Layout {
    /// Numbers are copied at once, where a derived clone takes them one by one.
    fn clone(&self) -> Self {
        Layout {
            shape: Dims::from_slice(&self.shape),
            strides: Dims::from_slice(&self.strides),
            offset: self.offset,
        }
    }
}

impl Layout {
    /// The number of elements of `dims`, or `None` if it does not fit `usize`.
    ///
    /// A zero anywhere makes the product zero, however large the other dims are.
    pub fn checked_elements(dims: &[usize]) -> Option<usize> {
        if dims.contains(&0) {
            return Some(0);
        }
        dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
    }

    /// Row-major, without gaps, from the first element on.
    pub fn contiguous(shape: &[usize]) -> Self {
        Layout {
            shape: Dims::from_slice(shape),
            strides: contiguous_strides(shape),
            offset: 0,
        }
    }

    /// One element, without dims.
    pub(crate) fn scalar(offset: usize) -> Self {
        Layout {
            shape: Dims::new(),
            strides: Dims::new(),
            offset,
        }
    }

    /// A view with any strides, in elements.
    ///
    /// # Errors
    ///
    /// [`Error::StridesLength`] if there is not one stride per dim. Whether the view lies within
    /// its data is checked where the two meet.
    pub fn strided(shape: &[usize], strides: &[isize], offset: usize) -> Result<Self> {
        if shape.len() != strides.len() {
            return Err(Error::StridesLength {
                dims: shape.len(),
                strides: strides.len(),
            });
        }
        Ok(Layout {
            shape: Dims::from_slice(shape),
            strides: Dims::from_slice(strides),
            offset,
        })
    }

    /// The extent of each dim.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The distance between neighbours along each dim, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The position of the element with all coordinates zero, in elements.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of dims.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// True if the layout has no elements: some dim is zero.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// True if the elements are row-major without gaps, from the offset on.
    pub fn is_contiguous(&self) -> bool {
        let usual = contiguous_strides(&self.shape);
        self.is_empty()
            || (0..self.rank()).all(|d| self.shape[d] == 1 || self.strides[d] == usual[d])
    }

    /// Whether two elements may lie in one place: unless each dim steps over all that those with smaller steps
    /// reach.
    #[cfg(feature = "gpu")]
    pub(crate) fn may_overlap(&self) -> bool {
        let dims = self.shape.iter().zip(&self.strides);
        let mut dims: Vec<(usize, usize)> = dims
            .filter(|&(&extent, _)| extent > 1)
            .map(|(&extent, stride)| (stride.unsigned_abs(), extent))
            .collect();
        dims.sort_unstable();
        let mut reached = 0usize;
        !self.is_empty()
            && dims.iter().any(|&(stride, extent)| {
                let overlaps = stride <= reached;
                reached = reached.saturating_add(stride.saturating_mul(extent - 1));
                overlaps
            })
    }

    /// Position of the element at `coordinates` in the data, in elements.
    ///
    /// Wraps around if the coordinates lie outside the shape, as no data is touched here.
    pub fn position(&self, coordinates: &[usize]) -> usize {
        let step = |at: usize, (&c, &stride): (&usize, &isize)| {
            at.wrapping_add_signed((c as isize).wrapping_mul(stride))
        };
        coordinates
            .iter()
            .zip(&self.strides)
            .fold(self.offset, step)
    }

    /// The same tensor with a 0-d shape read as `[1]`.
    pub(crate) fn at_least_1d(&self) -> Cow<'_, Self> {
        if self.rank() > 0 {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Layout {
            shape: smallvec![1],
            strides: smallvec![1],
            offset: self.offset,
        })
    }

    #[cfg(feature = "gpu")]
    /// The layout in data that starts `first` elements later: at or before what it reaches.
    pub(crate) fn with_origin(&self, first: usize) -> Self {
        Layout {
            offset: self.offset - first,
            ..self.clone()
        }
    }

    #[cfg(feature = "gpu")]
    /// The part of the data that it reaches, in units of `unit` per element, and the layout within it.
    pub(crate) fn trimmed(&self, unit: usize) -> (Layout, Range<usize>) {
        match self.reached() {
            None => (self.clone(), 0..0),
            Some((first, last)) => (self.with_origin(first), first * unit..(last + 1) * unit),
        }
    }

    /// Checks that every element of the view lies among `len` elements of data.
    pub(crate) fn check_within(&self, role: Role, len: usize) -> Result<()> {
        let within = match self.reach() {
            None => self.is_empty(),
            Some((first, last)) => first >= 0 && last < len as i128,
        };
        within.then_some(()).ok_or_else(|| Error::ViewOutOfRange {
            role,
            shape: self.shape.to_vec(),
            strides: self.strides.to_vec(),
            offset: self.offset,
            len,
        })
    }

    /// The least and the greatest position of an element of a view that was checked to lie within
    /// its data; `None` if it has no element.
    pub(crate) fn reached(&self) -> Option<(usize, usize)> {
        let (first, last) = self.reach()?;
        Some((usize::try_from(first).ok()?, usize::try_from(last).ok()?))
    }

    /// The least and the greatest position of an element; `None` if there is no element (or the
    /// positions are beyond any data).
    fn reach(&self) -> Option<(i128, i128)> {
        if self.is_empty() {
            return None;
        }
        let mut first = self.offset as i128;
        let mut last = first;
        for (&dim, &stride) in self.shape.iter().zip(&self.strides) {
            let span = (dim as i128 - 1).checked_mul(stride as i128)?;
            let end = if span < 0 { &mut first } else { &mut last };
            *end = end.checked_add(span)?;
        }
        Some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_checked_and_zero_wins() {
        assert_eq!(Layout::checked_elements(&[]), Some(1));
        assert_eq!(Layout::checked_elements(&[usize::MAX, 2, 0]), Some(0));
        assert_eq!(Layout::checked_elements(&[usize::MAX, 2]), None);
        let quarter = 1 << (usize::BITS - 2);
        assert!(elements(Role::Params, &[quarter], 1).is_ok());
        assert!(elements(Role::Params, &[quarter], 4).is_err());
    }

    #[test]
    fn axes_count_from_both_ends() {
        assert_eq!(resolve_axis(2, 3), Some(2));
        assert_eq!(resolve_axis(3, 3), None);
        assert_eq!(resolve_axis(-3, 3), Some(0));
        assert_eq!(resolve_axis(-4, 3), None);
        assert_eq!(resolve_axis(isize::MIN, 3), None);
        assert_eq!(resolve_axis(0, 0), None);
    }

    #[test]
    fn views_stay_within_their_data() {
        let within = |shape: &[usize], strides: &[isize], offset, len| {
            Layout::strided(shape, strides, offset)
                .and_then(|l| l.check_within(Role::Params, len))
                .is_ok()
        };
        assert!(within(&[2, 3], &[3, 1], 0, 6));
        assert!(!within(&[2, 3], &[3, 1], 0, 5));
        assert!(!within(&[2, 3], &[3, 1], 1, 6));
        assert!(within(&[3], &[-1], 2, 3));
        assert!(!within(&[3], &[-1], 1, 3));
        assert!(within(&[5], &[0], 0, 1));
        assert!(!within(&[], &[], 0, 0));
        assert!(within(&[0, 9], &[9, 9], 100, 0));
        assert!(!within(&[usize::MAX, 2], &[isize::MAX, isize::MAX], 0, 100));
    }

    #[test]
    fn a_layout_knows_whether_it_is_contiguous() {
        assert!(Layout::contiguous(&[2, 3]).is_contiguous());
        assert!(
            Layout::strided(&[1, 3], &[99, 1], 4)
                .unwrap()
                .is_contiguous()
        );
        assert!(
            !Layout::strided(&[2, 3], &[1, 2], 0)
                .unwrap()
                .is_contiguous()
        );
    }
}
