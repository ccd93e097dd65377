//! Validation of operands: tensors that do not match the plan, rules that do not fit the element type.

use super::{Geometry, Plan};
use crate::error::{Error, OpKind, Result, Role};
use crate::index::IndexType;
use crate::operand::{Indices, Params};
use crate::rules::{OutOfBounds, Rules};
use crate::shape::{Layout, check_output_bytes};

impl Plan {
    /// Checks that these are the tensors that the plan was made for, and the length of the output.
    pub(crate) fn check_tensors(
        &self,
        params: &Params<'_>,
        indices: &Indices<'_>,
        output_bytes: usize,
    ) -> Result<()> {
        let (expected, got) = (self.element_bytes, params.element_bytes());
        if got != expected {
            return Err(Error::ElementWidth {
                op: self.op(),
                role: Role::Params,
                expected,
                got,
            });
        }
        self.check_layout(Role::Params, &self.params_layout, params.layout())?;
        self.check_indices(indices)?;
        self.check_output(output_bytes)
    }

    /// Refuses memory for the output of another length.
    pub(crate) fn check_output(&self, got: usize) -> Result<()> {
        check_output_bytes(self.op(), self.output_bytes, got)
    }

    /// Checks that these are the indices that the plan was made for.
    pub(crate) fn check_indices(&self, indices: &Indices<'_>) -> Result<()> {
        self.check_index_type(indices.index_type())?;
        self.check_layout(Role::Indices, &self.indices_layout, indices.layout())
    }

    /// Checks that the plan was made for indices of this type.
    pub(crate) fn check_index_type(&self, got: IndexType) -> Result<()> {
        match got == self.index_type {
            true => Ok(()),
            false => Err(Error::OtherIndices {
                op: self.op(),
                expected: self.index_type.name(),
                got: got.name(),
            }),
        }
    }

    /// Checks that a tensor lies as that which the plan was made for.
    pub(crate) fn check_layout(&self, role: Role, expected: &Layout, got: &Layout) -> Result<()> {
        match got == expected {
            true => Ok(()),
            false => Err(Error::OtherPlan {
                op: self.op(),
                role,
                expected: expected.shape().to_vec(),
                got: got.shape().to_vec(),
            }),
        }
    }
}

pub(super) fn check_fill(op: OpKind, rules: &Rules, element_bytes: usize) -> Result<()> {
    match &rules.out_of_bounds {
        OutOfBounds::Fill(fill) if fill.bytes().len() != element_bytes => Err(Error::FillWidth {
            op,
            got: fill.bytes().len(),
            expected: element_bytes,
        }),
        _ => Ok(()),
    }
}

pub(super) fn check_something_to_read(
    op: OpKind,
    rules: &Rules,
    geometry: &Geometry,
) -> Result<()> {
    let rule = &rules.out_of_bounds;
    if !rule.moves() {
        return Ok(());
    }
    match geometry.coordinates.iter().find(|c| c.extent == 0) {
        Some(c) => Err(Error::NothingToRead {
            op,
            axis: c.axis,
            rule: rule.name(),
        }),
        None => Ok(()),
    }
}
