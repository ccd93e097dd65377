//! One scatter as its caller gives it.

use crate::element::DType;
use crate::error::{Error, Result};
use crate::fold::Reduce;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::rules::Rules;

/// A scatter of host tensors: everything but the destination's bytes.
#[derive(Debug, Clone, Copy)]
pub struct ScatterCall<'a> {
    /// The gather that this is the transpose of.
    pub op: Op,
    /// What becomes of values that meet.
    pub reduce: Reduce,
    /// How the indices are treated.
    pub rules: &'a Rules,
    /// The type of the elements, which decides the arithmetic.
    pub dtype: DType,
    /// The shape of the destination: that of the gather's params.
    pub shape: &'a [usize],
    /// Where the updates go.
    pub indices: &'a Indices<'a>,
    /// The updates, in the shape of the gather's output.
    pub updates: &'a Params<'a>,
}

impl ScatterCall<'_> {
    /// The shape that the updates must have and have.
    pub(crate) fn updates_shape(&self) -> Result<Vec<usize>> {
        let op = self.op.transposed_kind();
        let indices = self.indices.layout().shape();
        let expected = self
            .op
            .output_shape_as(op, self.shape, indices, self.rules)?;
        let (bytes, width) = (self.updates.element_bytes(), self.dtype.bytes());
        if bytes != width {
            return Err(Error::ElementWidth {
                op,
                role: crate::error::Role::Updates,
                expected: width,
                got: bytes,
            });
        }
        let got = self.updates.layout().shape();
        match got == expected {
            true => Ok(expected),
            false => Err(Error::UpdatesShape {
                op,
                expected,
                got: got.to_vec(),
            }),
        }
    }
}
