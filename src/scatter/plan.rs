//! What follows from the shapes, strides, types and rules of a scatter: pure data.
//!
//! ```text
//!   destination[ key part + free part ]  is folded with  updates[ lookup part + free part ]
//! ```
//!
//! A **lookup** is one index (tuple), numbered row-major. What it decides of a destination is the
//! **key**: the number of the destination among those that lookups can tell apart. The dims of the
//! destination alone are **free**: every lookup takes a step through all of them. So the lookups are
//! sorted by key once, stably, and each run of equal keys is folded for every free step.
//!
//! Keys come from the gather itself: its loop nest over a tensor of the destination's shape with
//! free dims of 1 reads, at each lookup, the position that is the key.

use smallvec::SmallVec;

use crate::element::DType;
use crate::error::{Error, OpKind, Result, Role};
use crate::fold::{self, Reduce};
use crate::index::IndexType;
use crate::op::Op;
use crate::plan::{LoopDims, Plan, output_dims};
use crate::rules::{OutOfBounds, Rules};
use crate::shape::{Dims, Layout, check_output_bytes, elements};

/// One digit of a number, and what a step of it is in either tensor, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Digit {
    pub(crate) extent: usize,
    pub(crate) destination: isize,
    pub(crate) updates: isize,
}

/// A position as the digits of a number, the most significant first. No digit has one value only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Digits(pub(crate) SmallVec<[Digit; 2]>);

impl Digits {
    fn push(&mut self, inner: Digit) {
        if inner.extent == 1 {
            return;
        }
        let runs_on =
            |outer: isize, step: isize| step.checked_mul(inner.extent as isize) == Some(outer);
        match self.0.last_mut() {
            Some(outer)
                if runs_on(outer.destination, inner.destination)
                    && runs_on(outer.updates, inner.updates) =>
            {
                *outer = Digit {
                    extent: product([outer.extent, inner.extent]),
                    ..inner
                };
            }
            _ => self.0.push(inner),
        }
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> usize {
        product(self.0.iter().map(|d| d.extent))
    }

    /// The step in the updates from each number to the next, if there is one step for all.
    pub(crate) fn step_in_updates(&self) -> Option<isize> {
        let runs_on = |pair: &[Digit]| {
            let [outer, inner] = [pair[0], pair[1]];
            inner.updates.checked_mul(inner.extent as isize) == Some(outer.updates)
        };
        let step = self.0.last().map_or(0, |d| d.updates);
        self.0.windows(2).all(runs_on).then_some(step)
    }

    /// Where `number` lies in the destination and in the updates, from where number 0 does.
    #[inline]
    pub(crate) fn position(&self, mut number: usize) -> [isize; 2] {
        if let [only] = self.0[..] {
            // A division takes longer than to add up a short row.
            return [only.destination, only.updates].map(|step| step.wrapping_mul(number as isize));
        }
        let mut at = [0isize; 2];
        for d in self.0.iter().rev() {
            let digit = (number % d.extent) as isize;
            number /= d.extent;
            at[0] = at[0].wrapping_add(digit.wrapping_mul(d.destination));
            at[1] = at[1].wrapping_add(digit.wrapping_mul(d.updates));
        }
        at
    }
}

/// The product of extents. One of zero wins; without it, the product fits, as a plan has checked the shape
/// that the extents are of. So a product of some of them is too large only where nothing is scattered.
fn product(extents: impl IntoIterator<Item = usize>) -> usize {
    extents.into_iter().fold(1, usize::saturating_mul)
}

/// A dim of the destination, and what steps through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DestinationDim {
    /// The key, by so many.
    Key { extent: usize, step: usize },
    /// All lookups, by so many updates.
    Free { extent: usize, updates: isize },
}

/// Those of a destination: as a rule a key and a slice.
pub(crate) type DestinationDims = SmallVec<[DestinationDim; 2]>;

/// A scatter ready to be executed: everything that follows from shapes, strides, types and rules.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPlan {
    pub(crate) op: OpKind,
    pub(crate) reduce: Reduce,
    pub(crate) dtype: DType,
    pub(crate) destination: Layout,
    pub(crate) updates: Layout,
    /// The gather that gives the key of each lookup; `None`, if nothing is scattered.
    pub(crate) keys: Option<Plan>,
    /// The destination of a key.
    pub(crate) key_digits: Digits,
    /// The update of a lookup.
    pub(crate) lookup_digits: Digits,
    /// Both, of a free step.
    pub(crate) free_digits: Digits,
    /// The dims of the destination, outermost first.
    pub(crate) dims: DestinationDims,
}

/// The types and layouts of the tensors of a scatter.
#[derive(Debug, Clone, Copy)]
pub struct ScatterLayouts<'a> {
    /// The type of the elements of destination and updates.
    pub dtype: DType,
    /// The destination, which has the shape of the gather's params.
    pub destination: &'a Layout,
    /// The type of the indices.
    pub index_type: IndexType,
    /// The indices.
    pub indices: &'a Layout,
    /// The updates, which have the shape of the gather's output.
    pub updates: &'a Layout,
}

impl ScatterPlan {
    /// Plans the transpose of the gather `op`: see [`Executor::scatter`](crate::Executor::scatter).
    ///
    /// # Errors
    ///
    /// What [`Op::output_shape`] reports, in the name of the scatter; [`Error::UpdatesShape`],
    /// [`Error::ReduceType`], [`Error::NothingToRead`], [`Error::FillWidth`],
    /// [`Error::SizeOverflow`].
    pub fn new(op: Op, reduce: Reduce, rules: &Rules, tensors: ScatterLayouts<'_>) -> Result<Self> {
        let kind = op.transposed_kind();
        let ScatterLayouts {
            dtype,
            destination,
            index_type,
            indices,
            updates,
        } = tensors;
        let shape = destination.shape();
        let checked = op.check(kind, shape, indices.shape(), rules)?;
        let expected = checked.output_shape(shape, indices.shape());
        if *updates.shape() != *expected {
            return Err(Error::UpdatesShape {
                op: kind,
                expected: expected.into_vec(),
                got: updates.shape().to_vec(),
            });
        }
        let count = elements(Role::Updates, &expected, dtype.bytes())?;
        elements(Role::Params, shape, dtype.bytes())?;
        check_fill(kind, rules, dtype)?;
        fold::check(kind, reduce, dtype)?;
        let dims = output_dims(checked, shape.len(), indices.rank());
        let parts = Parts::of(&dims, destination, updates);
        let keys = match count {
            0 => None,
            _ => {
                let among = &parts.among_keys;
                let rules = &rules.without_fill();
                let plan = Plan::of_checked(kind, checked, rules, 1, among, index_type, indices)?;
                Some(plan.of_each_lookup())
            }
        };
        Ok(ScatterPlan {
            op: kind,
            reduce,
            dtype,
            destination: destination.clone(),
            updates: updates.clone(),
            keys,
            key_digits: parts.key_digits,
            lookup_digits: parts.lookup_digits,
            free_digits: parts.free_digits,
            dims: parts.dims,
        })
    }

    /// Checks the length of a contiguous destination.
    pub(crate) fn check_destination(&self, destination: &[u8]) -> Result<()> {
        let elements = elements(Role::Params, self.destination.shape(), self.dtype.bytes())?;
        let expected = elements * self.dtype.bytes();
        check_output_bytes(self.op, expected, destination.len())
    }

    /// Whether the updates of a destination lie in memory in the order of their lookups.
    #[cfg(feature = "gpu")]
    pub(crate) fn updates_are_in_order(&self) -> bool {
        let mut reached = 0isize;
        self.lookup_digits.0.iter().rev().all(|d| {
            let in_order = d.updates > reached || (d.updates == 0 && reached == 0);
            let span = d.updates.saturating_mul(d.extent as isize - 1);
            reached = reached.saturating_add(span);
            in_order
        })
    }

    /// How many lookups there are, if anything is scattered.
    pub(crate) fn lookups(&self) -> usize {
        self.lookup_digits.count()
    }
}

fn check_fill(op: OpKind, rules: &Rules, dtype: DType) -> Result<()> {
    match &rules.out_of_bounds {
        OutOfBounds::Fill(fill) if fill.bytes().len() != dtype.bytes() => Err(Error::FillWidth {
            op,
            got: fill.bytes().len(),
            expected: dtype.bytes(),
        }),
        _ => Ok(()),
    }
}

/// The dims of the tensors by what steps through them.
struct Parts {
    /// All keys: what is free has an extent of 1.
    among_keys: Layout,
    key_digits: Digits,
    lookup_digits: Digits,
    free_digits: Digits,
    dims: DestinationDims,
}

impl Parts {
    /// Of the dims that a gather's loops step through. One is free where no step of it is through indices.
    fn of(dims: &[LoopDims], destination: &Layout, updates: &Layout) -> Self {
        let shape = destination.shape();
        // Of a dim of the updates: the dim of the destination, if that is free.
        let free = |dims: &LoopDims| dims.params.filter(|_| dims.indices.is_none());
        let (mut lookup_digits, mut free_digits) = (Digits::default(), Digits::default());
        for (d, free) in dims.iter().map(free).enumerate() {
            let (extent, step) = (updates.shape()[d], updates.strides()[d]);
            let (digits, in_destination) = match free {
                Some(dim) => (&mut free_digits, destination.strides()[dim]),
                None => (&mut lookup_digits, 0),
            };
            digits.push(Digit {
                extent,
                destination: in_destination,
                updates: step,
            });
        }
        let free_in_updates = |dim: usize| dims.iter().position(|d| free(d) == Some(dim));
        let of_keys = |d: usize| free_in_updates(d).map_or(shape[d], |_| 1);
        let key_shape: Dims<usize> = (0..shape.len()).map(of_keys).collect();
        let among_keys = Layout::contiguous(&key_shape);
        let mut key_digits = Digits::default();
        let mut destination_dims = DestinationDims::new();
        for (d, step) in among_keys.strides().iter().enumerate() {
            let extent = shape[d];
            match free_in_updates(d) {
                Some(at) => push_free(&mut destination_dims, extent, updates.strides()[at]),
                None => {
                    key_digits.push(Digit {
                        extent,
                        destination: destination.strides()[d],
                        updates: 0,
                    });
                    push_key(&mut destination_dims, extent, *step as usize);
                }
            }
        }
        Parts {
            among_keys,
            key_digits,
            lookup_digits,
            free_digits,
            dims: destination_dims,
        }
    }
}

fn push_free(dims: &mut DestinationDims, inner: usize, step: isize) {
    match dims.last_mut() {
        _ if inner == 1 => {}
        Some(DestinationDim::Free { extent, updates })
            if step.checked_mul(inner as isize) == Some(*updates) =>
        {
            (*extent, *updates) = (product([*extent, inner]), step);
        }
        _ => dims.push(DestinationDim::Free {
            extent: inner,
            updates: step,
        }),
    }
}

/// Keys are numbered row-major, so neighbouring dims of them are one.
fn push_key(dims: &mut DestinationDims, inner: usize, by: usize) {
    match dims.last_mut() {
        _ if inner == 1 => {}
        Some(DestinationDim::Key { extent, step }) => {
            (*extent, *step) = (product([*extent, inner]), by);
        }
        _ => dims.push(DestinationDim::Key {
            extent: inner,
            step: by,
        }),
    }
}
