//! The arithmetic of folds: how values that meet at one place become one, for each element type.
//!
//! A fold starts from a value, takes further values in order, and is rounded once at the end. What
//! is folded, and in which order, its users say (`cpu::scatter`, `cpu::reference`). The
//! shaders' twin is `shaders/arithmetic.wgsl`.
//!
//! - Integers wrap.
//! - f16 and bf16 are folded in f32, which holds their values exactly, and rounded to nearest even
//!   at the end.
//! - `min` and `max` take the NaN if there is one, and -0 for less than +0: so no order of the
//!   values changes their bits.
//! - A NaN that arithmetic makes has other bits on other machines. So a fold that ends in a NaN
//!   ends in one that is fixed for the type: positive, quiet, without payload.

mod complex;
mod dispatch;
mod element;
mod f16c;
mod half;
mod number;
#[cfg(test)]
mod tests;

pub(crate) use dispatch::{Folding, Pooling, check, fold_with, pool_with};
pub(crate) use element::FoldElement;
pub(crate) use f16c::F16c;
pub(crate) use number::{Add, Combine, Fold, Max, Pool};

use crate::names::named;

/// How the updates of one destination are combined.
///
/// They are taken in row-major order of the indices, and the destination's own value before them.
///
/// ```
/// use wgpu_gather::Reduce;
///
/// assert_eq!("add".parse(), Ok(Reduce::Add));
/// assert_eq!(Reduce::Max.name(), "max");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Reduce {
    /// The last one replaces what was there: `index_copy_`, a cache that is written.
    #[default]
    None,
    /// The sum: `index_add_`, `np.add.at`, the gradient of a gather.
    Add,
    /// The product.
    Mul,
    /// The least; NaN, if one of them is.
    Min,
    /// The greatest; NaN, if one of them is.
    Max,
}

named!(Reduce, "reduce", {
    None "none",
    Add "add",
    Mul "mul",
    Min "min",
    Max "max",
});
