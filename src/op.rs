//! The operators: what they compute, which shapes they accept, which shape they give.

mod check;

pub(crate) use check::Checked;

use std::fmt;

use crate::error::{OpKind, Result};
use crate::rules::Rules;

/// One of the three gathers, with its attributes.
///
/// Below, `p` is the shape of params, `i` that of indices, `b` the number of batch dims.
///
/// It prints as its name and the attributes that are given:
///
/// ```
/// use wgpu_gather::Op;
///
/// assert_eq!(Op::gather(-1).to_string(), "gather(axis=-1)");
/// assert_eq!(Op::gather_nd().to_string(), "gather_nd");
/// assert_eq!(Op::GatherNd { batch_dims: 1 }.to_string(), "gather_nd(batch_dims=1)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
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
        #[cfg_attr(feature = "serde", serde(default))]
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
        #[cfg_attr(feature = "serde", serde(default))]
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
    /// tensor and for empty indices the two differ: see [`ElementsShapes`](crate::ElementsShapes).
    GatherElements {
        /// The dim selected from; negative counts from the back.
        axis: isize,
    },
}

impl Op {
    /// All operators: without batch dims, along axis 0 where an axis must be given. For code that goes by a list and
    /// names no operator.
    ///
    /// ```
    /// use wgpu_gather::{Op, OpKind};
    ///
    /// let kind: OpKind = "gather_elements".parse()?;
    /// let op = Op::ALL.into_iter().find(|op| op.kind() == kind).unwrap();
    /// assert_eq!(op.with_axis(-1), Some(Op::gather_elements(-1)));
    /// assert_eq!(op.with_batch_dims(1), None);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub const ALL: [Op; 3] = [
        Op::Gather {
            axis: None,
            batch_dims: 0,
        },
        Op::gather_nd(),
        Op::gather_elements(0),
    ];

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

    /// The operator along this axis; `None` where it has no axis.
    pub const fn with_axis(self, axis: isize) -> Option<Op> {
        match self {
            Op::Gather { batch_dims, .. } => Some(Op::Gather {
                axis: Some(axis),
                batch_dims,
            }),
            Op::GatherNd { .. } => None,
            Op::GatherElements { .. } => Some(Op::GatherElements { axis }),
        }
    }

    /// The operator with this many batch dims; `None` where it has no batch dims.
    pub const fn with_batch_dims(self, batch_dims: isize) -> Option<Op> {
        match self {
            Op::Gather { axis, .. } => Some(Op::Gather { axis, batch_dims }),
            Op::GatherNd { .. } => Some(Op::GatherNd { batch_dims }),
            Op::GatherElements { .. } => None,
        }
    }

    /// The operator of [`Op::ALL`] of that kind, or the one whose transpose that is; `None` for a pooled lookup.
    pub fn of(kind: OpKind) -> Option<Op> {
        let is_of = |op: &Op| [op.kind(), op.transposed_kind()].contains(&kind);
        Op::ALL.into_iter().find(is_of)
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
    /// An [`Error`](crate::Error) that names the attribute or dim which does not fit. Index values are not
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
        let checked = self.check(kind, params, indices, rules)?;
        Ok(checked.output_shape(params, indices).into_vec())
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
            Op::Gather { axis, batch_dims } => check::gather(op, axis, batch_dims, params, indices),
            Op::GatherNd { batch_dims } => check::gather_nd(op, batch_dims, params, indices),
            Op::GatherElements { axis } => {
                check::gather_elements(op, axis, params, indices, rules.elements_shapes)
            }
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let batch_dims = self.batch_dims().filter(|&batch_dims| batch_dims != 0);
        write!(f, "{}", self.kind())?;
        match (self.axis(), batch_dims) {
            (None, None) => Ok(()),
            (Some(axis), None) => write!(f, "(axis={axis})"),
            (None, Some(batch_dims)) => write!(f, "(batch_dims={batch_dims})"),
            (Some(axis), Some(batch_dims)) => write!(f, "(axis={axis}, batch_dims={batch_dims})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_are_given_are_printed() {
        let gather = |axis, batch_dims| Op::Gather { axis, batch_dims }.to_string();
        assert_eq!(gather(Some(0), 0), "gather(axis=0)");
        assert_eq!(gather(Some(1), 1), "gather(axis=1, batch_dims=1)");
        assert_eq!(gather(None, -1), "gather(batch_dims=-1)");
        assert_eq!(gather(None, 0), "gather");
        assert_eq!(Op::gather_nd().to_string(), "gather_nd");
        assert_eq!(
            Op::GatherNd { batch_dims: 1 }.to_string(),
            "gather_nd(batch_dims=1)"
        );
        assert_eq!(
            Op::gather_elements(0).to_string(),
            "gather_elements(axis=0)"
        );
    }

    #[test]
    fn every_kind_but_the_pooled_lookup_is_an_operator_or_its_transpose() {
        for kind in OpKind::ALL {
            match Op::of(kind) {
                Some(op) => assert!(op.kind() == kind || op.transposed_kind() == kind),
                None => assert_eq!(kind, OpKind::EmbeddingBag),
            }
        }
    }

    #[test]
    fn attributes_are_set_where_the_operator_has_them() {
        let batched = Op::Gather {
            axis: Some(2),
            batch_dims: 1,
        };
        let gather = Op::of(OpKind::Scatter).unwrap();
        let axis_set = gather.with_axis(2).unwrap();
        assert_eq!(axis_set.with_batch_dims(1), Some(batched));
        let gather_nd = Op::of(OpKind::GatherNd).unwrap();
        assert_eq!(gather_nd.with_axis(0), None);
        assert_eq!(
            gather_nd.with_batch_dims(1),
            Some(Op::GatherNd { batch_dims: 1 })
        );
    }
}
