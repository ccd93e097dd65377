//! The definition of a scatter, one update at a time.
//!
//! It shares the definitions of the gathers, and the arithmetic of a fold; it knows no sort and no order but that of
//! the updates.

use super::definition::{Coordinates, Definition};
use crate::call::Scatter;
use crate::error::{Result, Role};
use crate::fold::{self, Combine, Fold, Folding, fold_with};
use crate::rules::OutOfBounds;
use crate::shape::{Layout, check_output_bytes, elements};

/// Executes `call` in place in the destination's bytes, row-major.
///
/// # Errors
///
/// As [`Executor::scatter_into`](crate::Executor::scatter_into).
pub(crate) fn scatter(call: &Scatter<'_>, destination: &mut [u8]) -> Result<()> {
    let kind = call.op.transposed_kind();
    let shape = call.updates_shape()?;
    let dtype = call.dtype()?;
    let width = dtype.bytes();
    let expected = elements(Role::Params, &call.shape, width)? * width;
    check_output_bytes(kind, expected, destination.len())?;
    let params = (call.shape.as_slice(), width);
    let definition = Definition::new(call.op, kind, call.rules, params, &call.indices)?;
    fold::check(kind, call.reduce, dtype)?;
    if shape.contains(&0) {
        return Ok(());
    }
    definition.check_rules()?;
    let mut moves = Vec::new();
    let mut any_bad = false;
    let layout = Layout::contiguous(&call.shape);
    for coordinates in Coordinates::new(&shape) {
        match definition.source(&coordinates) {
            Some(target) => moves.push([
                call.updates.layout().position(&coordinates),
                layout.position(&target),
            ]),
            None => any_bad = true,
        }
    }
    let sequential = Sequential {
        updates: call.updates.bytes(),
        moves: &moves,
        destination,
    };
    fold_with(kind, call.reduce, dtype, sequential)?;
    if any_bad && call.rules.out_of_bounds == OutOfBounds::Error {
        return definition.report();
    }
    Ok(())
}

/// The sequential loop over the updates.
struct Sequential<'a> {
    updates: &'a [u8],
    /// Of each update with good indices, in order: where it is, and where it goes.
    moves: &'a [[usize; 2]],
    destination: &'a mut [u8],
}

impl Folding for Sequential<'_> {
    type Output = ();

    fn fold<T: Fold, C: Combine<T>>(self) {
        let width = size_of::<T>();
        let mut sums: Vec<Option<T::Sum>> = vec![None; self.destination.len() / width];
        let value = |bytes: &[u8], n: usize| {
            bytemuck::pod_read_unaligned::<T>(&bytes[n * width..][..width]).widen()
        };
        for &[from, to] in self.moves {
            let sum = sums[to].unwrap_or_else(|| value(self.destination, to));
            sums[to] = Some(C::combine(sum, value(self.updates, from)));
        }
        for (element, sum) in self.destination.chunks_exact_mut(width).zip(sums) {
            if let Some(sum) = sum {
                element.copy_from_slice(bytemuck::bytes_of(&T::narrow(sum)));
            }
        }
    }
}
