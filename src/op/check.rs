//! What shapes and attributes an operator accepts.

use crate::error::{Error, OpKind, Result, Role};
use crate::rules::ElementsShapes;
use crate::shape::{Dims, resolve_axis};

/// An operator whose attributes fit the shapes: axes count from the front, and the output shape
/// is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    /// `gather`.
    Gather {
        /// The dim of params selected from.
        axis: usize,
        /// How many leading dims are shared.
        batch_dims: usize,
    },
    /// `gather_nd`.
    GatherNd {
        /// How many leading dims are shared.
        batch_dims: usize,
        /// The index depth `K`.
        depth: usize,
    },
    /// `gather_elements`.
    GatherElements {
        /// The dim of params selected from.
        axis: usize,
    },
}

impl Checked {
    /// The shape of the output, for the shapes that were checked.
    pub(crate) fn output_shape(&self, params: &[usize], indices: &[usize]) -> Dims<usize> {
        let parts: [&[usize]; 3] = match *self {
            Checked::Gather { axis, batch_dims } => {
                [&params[..axis], &indices[batch_dims..], &params[axis + 1..]]
            }
            Checked::GatherNd { batch_dims, depth } => {
                let positions = &indices[..indices.len() - 1];
                [positions, &params[batch_dims + depth..], &[]]
            }
            Checked::GatherElements { .. } => [indices, &[], &[]],
        };
        let mut shape = Dims::new();
        for &dim in parts.into_iter().flatten() {
            shape.push(dim);
        }
        shape
    }

    /// Whether the first dim of the output is the first of indices, which have `rank` dims.
    pub(crate) fn indices_lead(&self, rank: usize) -> bool {
        match *self {
            Checked::Gather { axis, batch_dims } => rank > 0 && (axis == 0 || batch_dims > 0),
            Checked::GatherNd { .. } => rank > 1,
            Checked::GatherElements { .. } => rank > 0,
        }
    }
}

pub(super) fn gather(
    op: OpKind,
    axis: Option<isize>,
    batch_dims: isize,
    params: &[usize],
    indices: &[usize],
) -> Result<Checked> {
    let (r, q) = (params.len(), indices.len());
    at_least_1d(op, Role::Params, params)?;
    let b = gather_batch_dims(op, batch_dims, r, q)?;
    let axis = axis.unwrap_or(b as isize);
    let axis = resolve_axis(axis, r).ok_or(Error::AxisOutOfRange { op, axis, rank: r })?;
    if axis < b {
        return Err(Error::AxisBeforeBatchDims {
            op,
            axis,
            batch_dims: b,
        });
    }
    same_batch(op, params, indices, b)?;
    Ok(Checked::Gather {
        axis,
        batch_dims: b,
    })
}

/// tf.gather: -rank(indices) <= batch_dims <= rank(indices), and batch_dims < rank(params).
fn gather_batch_dims(
    op: OpKind,
    batch_dims: isize,
    params_rank: usize,
    indices_rank: usize,
) -> Result<usize> {
    let q = indices_rank as isize;
    let max = indices_rank.min(params_rank - 1) as isize;
    let from_front = if batch_dims < 0 {
        batch_dims.saturating_add(q)
    } else {
        batch_dims
    };
    if (0..=max).contains(&from_front) {
        return Ok(from_front as usize);
    }
    let (min, max) = match (batch_dims < 0, max == q) {
        (true, _) => (-q, max - q),
        (false, true) => (-q, q),
        (false, false) => (0, max),
    };
    Err(Error::BatchDimsOutOfRange {
        op,
        batch_dims,
        indices_rank,
        params_rank,
        min,
        max,
    })
}

pub(super) fn gather_nd(
    op: OpKind,
    batch_dims: isize,
    params: &[usize],
    indices: &[usize],
) -> Result<Checked> {
    let (r, q) = (params.len(), indices.len());
    at_least_1d(op, Role::Params, params)?;
    at_least_1d(op, Role::Indices, indices)?;
    let max = r.min(q) as isize - 1;
    if !(0..=max).contains(&batch_dims) {
        return Err(Error::BatchDimsOutOfRange {
            op,
            batch_dims,
            indices_rank: q,
            params_rank: r,
            min: 0,
            max,
        });
    }
    let b = batch_dims as usize;
    let depth = indices[q - 1];
    if depth > r - b {
        return Err(Error::IndexDepthTooLarge {
            op,
            depth,
            available: r - b,
            batch_dims: b,
        });
    }
    same_batch(op, params, indices, b)?;
    Ok(Checked::GatherNd {
        batch_dims: b,
        depth,
    })
}

pub(super) fn gather_elements(
    op: OpKind,
    axis: isize,
    params: &[usize],
    indices: &[usize],
    shapes: ElementsShapes,
) -> Result<Checked> {
    let torch = shapes == ElementsShapes::Torch;
    if !torch {
        at_least_1d(op, Role::Params, params)?;
        at_least_1d(op, Role::Indices, indices)?;
    }
    let one = [1];
    let params_1d = if params.is_empty() { &one } else { params };
    let indices_1d = if indices.is_empty() { &one } else { indices };
    let rank = params_1d.len();
    let from_front = resolve_axis(axis, rank).ok_or(Error::AxisOutOfRange { op, axis, rank })?;
    if torch && indices.contains(&0) {
        return Ok(Checked::GatherElements { axis: from_front });
    }
    if rank != indices_1d.len() {
        return Err(Error::RankMismatch {
            op,
            params: params.len(),
            indices: indices.len(),
        });
    }
    let larger = (0..rank).find(|&d| d != from_front && indices_1d[d] > params_1d[d]);
    if let Some(dim) = larger {
        return Err(Error::IndicesDimTooLarge {
            op,
            dim,
            indices: indices_1d[dim],
            params: params_1d[dim],
            axis: from_front,
        });
    }
    Ok(Checked::GatherElements { axis: from_front })
}

fn at_least_1d(op: OpKind, role: Role, shape: &[usize]) -> Result<()> {
    if shape.is_empty() {
        return Err(Error::RankTooSmall {
            op,
            role,
            rank: 0,
            min: 1,
        });
    }
    Ok(())
}

fn same_batch(op: OpKind, params: &[usize], indices: &[usize], batch_dims: usize) -> Result<()> {
    match (0..batch_dims).find(|&d| params[d] != indices[d]) {
        None => Ok(()),
        Some(dim) => Err(Error::BatchShapeMismatch {
            op,
            dim,
            params: params[dim],
            indices: indices[dim],
            batch_dims,
        }),
    }
}
