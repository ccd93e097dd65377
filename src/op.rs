//! The operators: what they compute, which shapes they accept, which shape they give.

use crate::error::{Error, OpKind, Result, Role};
use crate::rules::{ElementsShapes, Rules};
use crate::shape::resolve_axis;

/// One of the three gathers, with its attributes.
///
/// Below, `p` is the shape of params, `i` that of indices, `b` the number of batch dims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Whole slices of params, selected along one axis: `tf.gather`, ONNX `Gather`,
    /// `numpy.take`, `torch.index_select`, an embedding lookup.
    ///
    /// ```text
    /// output[batch…, outer…, position…, inner…] = params[batch…, outer…, indices[batch…, position…], inner…]
    ///
    ///  params      indices      output             axis 0
    /// ┌───────┐    ┌───┐       ┌───────┐
    /// │ a b c │ 0  │ 2 │       │ g h i │
    /// │ d e f │ 1  │ 0 │   →   │ a b c │
    /// │ g h i │ 2  └───┘       └───────┘
    /// └───────┘
    /// ```
    ///
    /// Output shape: `p[..axis] + i[b..] + p[axis+1..]`. Params has rank 1 or more, indices any
    /// rank (a scalar selects one slice and adds no dim).
    ///
    /// Semantics: [tf.gather](https://www.tensorflow.org/api_docs/python/tf/gather),
    /// [ONNX Gather](https://onnx.ai/onnx/operators/onnx__Gather.html).
    Gather {
        /// The dim selected from; negative counts from the back of params. `None` is the first
        /// dim after the batch dims.
        axis: Option<isize>,
        /// How many leading dims params and indices share; negative counts from the rank of
        /// indices.
        batch_dims: isize,
    },

    /// Slices of params at tuples of coordinates: `tf.gather_nd`, ONNX `GatherND`.
    ///
    /// ```text
    /// output[batch…, position…, slice…] = params[batch…, indices[batch…, position…, 0..K]…, slice…]
    ///
    ///  params      indices      output             K = 2
    /// ┌───────┐    ┌─────┐     ┌───┐
    /// │ a b c │ 0  │ 1 0 │     │ d │
    /// │ d e f │ 1  │ 0 2 │  →  │ c │
    /// └───────┘    └─────┘     └───┘
    ///   0 1 2
    /// ```
    ///
    /// Output shape: `i[..-1] + p[b+K..]` with the index depth `K = i[-1]`. Depth 0 copies all of
    /// params (of a batch) to each position.
    ///
    /// Semantics: [tf.gather_nd](https://www.tensorflow.org/api_docs/python/tf/gather_nd),
    /// [ONNX GatherND](https://onnx.ai/onnx/operators/onnx__GatherND.html).
    GatherNd {
        /// How many leading dims params and indices share; less than both ranks.
        batch_dims: isize,
    },

    /// One element of params for each element of indices: `torch.gather`, ONNX `GatherElements`,
    /// `numpy.take_along_axis` without broadcasting.
    ///
    /// ```text
    /// output[x, y, z] = params[x, indices[x, y, z], z]              axis 1
    ///
    ///  params      indices      output             axis 0
    /// ┌───────┐    ┌───────┐   ┌───────┐
    /// │ a b c │ 0  │ 1 0 1 │   │ d b f │
    /// │ d e f │ 1  │ 0 0 1 │ → │ a b f │
    /// └───────┘    └───────┘   └───────┘
    /// ```
    ///
    /// Output shape: that of indices. Off the axis, indices may be smaller than params (the
    /// leading corner is read), never larger, and nothing broadcasts.
    ///
    /// Semantics: [torch.gather](https://docs.pytorch.org/docs/stable/generated/torch.gather.html),
    /// [ONNX GatherElements](https://onnx.ai/onnx/operators/onnx__GatherElements.html). For a 0-d
    /// tensor and for empty indices the two differ: see [`ElementsShapes`].
    GatherElements {
        /// The dim selected from; negative counts from the back.
        axis: isize,
    },
}

/// An operator whose attributes fit the shapes: axes count from the front, and the output shape
/// is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checked {
    /// [`Op::Gather`].
    Gather {
        /// The dim of params selected from.
        axis: usize,
        /// How many leading dims are shared.
        batch_dims: usize,
    },
    /// [`Op::GatherNd`].
    GatherNd {
        /// How many leading dims are shared.
        batch_dims: usize,
        /// The index depth `K`.
        depth: usize,
    },
    /// [`Op::GatherElements`].
    GatherElements {
        /// The dim of params selected from.
        axis: usize,
    },
}

impl Checked {
    /// Whether the first dim of the output is the first of indices, which have `rank` dims.
    pub(crate) fn indices_lead(&self, rank: usize) -> bool {
        match *self {
            Checked::Gather { axis, batch_dims } => rank > 0 && (axis == 0 || batch_dims > 0),
            Checked::GatherNd { .. } => rank > 1,
            Checked::GatherElements { .. } => rank > 0,
        }
    }
}

impl Op {
    /// `tf.gather` / ONNX `Gather` along `axis`, without batch dims.
    pub const fn gather(axis: isize) -> Op {
        Op::Gather {
            axis: Some(axis),
            batch_dims: 0,
        }
    }

    /// `tf.gather_nd` / ONNX `GatherND`, without batch dims.
    pub const fn gather_nd() -> Op {
        Op::GatherNd { batch_dims: 0 }
    }

    /// `torch.gather` / ONNX `GatherElements` along `axis`.
    pub const fn gather_elements(axis: isize) -> Op {
        Op::GatherElements { axis }
    }

    /// The axis as given; `None` where the operator has none, or takes the first after the batch
    /// dims.
    pub const fn axis(&self) -> Option<isize> {
        match *self {
            Op::Gather { axis, .. } => axis,
            Op::GatherNd { .. } => None,
            Op::GatherElements { axis } => Some(axis),
        }
    }

    /// The number of batch dims as given; `None` where the operator has none.
    pub const fn batch_dims(&self) -> Option<isize> {
        match *self {
            Op::Gather { batch_dims, .. } | Op::GatherNd { batch_dims } => Some(batch_dims),
            Op::GatherElements { .. } => None,
        }
    }

    /// The operator without its attributes.
    pub const fn kind(&self) -> OpKind {
        match self {
            Op::Gather { .. } => OpKind::Gather,
            Op::GatherNd { .. } => OpKind::GatherNd,
            Op::GatherElements { .. } => OpKind::GatherElements,
        }
    }

    /// The operator's transpose without its attributes, as the errors of a scatter name it.
    pub const fn transposed_kind(&self) -> OpKind {
        match self {
            Op::Gather { .. } => OpKind::Scatter,
            Op::GatherNd { .. } => OpKind::ScatterNd,
            Op::GatherElements { .. } => OpKind::ScatterElements,
        }
    }

    /// The shape of the output for params of shape `params` and indices of shape `indices`.
    ///
    /// # Errors
    ///
    /// An [`Error`] that names the attribute or dim which does not fit. Index values are not
    /// looked at.
    ///
    /// ```
    /// use wgpu_gather::{Op, Rules};
    ///
    /// let op = Op::Gather { axis: Some(-1), batch_dims: 1 };
    /// assert_eq!(op.output_shape(&[2, 3, 4], &[2, 5], &Rules::default())?, [2, 3, 5]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn output_shape(
        &self,
        params: &[usize],
        indices: &[usize],
        rules: &Rules,
    ) -> Result<Vec<usize>> {
        self.output_shape_as(self.kind(), params, indices, rules)
    }

    /// [`Op::output_shape`], whose errors name the operator `kind`.
    pub(crate) fn output_shape_as(
        &self,
        kind: OpKind,
        params: &[usize],
        indices: &[usize],
        rules: &Rules,
    ) -> Result<Vec<usize>> {
        let shape = match self.check(kind, params, indices, rules)? {
            Checked::Gather { axis, batch_dims } => {
                [&params[..axis], &indices[batch_dims..], &params[axis + 1..]].concat()
            }
            Checked::GatherNd { batch_dims, depth } => {
                let positions = &indices[..indices.len() - 1];
                [positions, &params[batch_dims + depth..]].concat()
            }
            Checked::GatherElements { .. } => indices.to_vec(),
        };
        Ok(shape)
    }

    /// Checks the attributes against the shapes and counts them from the front. Errors name the
    /// operator `op`.
    pub(crate) fn check(
        &self,
        op: OpKind,
        params: &[usize],
        indices: &[usize],
        rules: &Rules,
    ) -> Result<Checked> {
        match *self {
            Op::Gather { axis, batch_dims } => check_gather(op, axis, batch_dims, params, indices),
            Op::GatherNd { batch_dims } => check_gather_nd(op, batch_dims, params, indices),
            Op::GatherElements { axis } => {
                check_gather_elements(op, axis, params, indices, rules.elements_shapes)
            }
        }
    }
}

fn check_gather(
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

fn check_gather_nd(
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

fn check_gather_elements(
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
