//! Which element of params belongs to an element of the output, by the definitions of the operators.
//!
//! Coordinates of the output go in, coordinates of params come out.

use std::ops::Range;

use crate::error::{BadIndices, Error, OpKind, Result};
use crate::op::{Checked, Op};
use crate::operand::Indices;
use crate::rules::{OutOfBounds, Rules};
use crate::shape::Dims;

/// An operator that has been checked against the shapes.
pub(super) struct Definition<'a> {
    kind: OpKind,
    rules: &'a Rules,
    params_shape: &'a [usize],
    indices: &'a Indices<'a>,
    checked: Checked,
}

impl<'a> Definition<'a> {
    /// The definition of `op`, which errors call `kind`, for params of this shape and of elements of
    /// so many bytes.
    pub(super) fn new(
        op: Op,
        kind: OpKind,
        rules: &'a Rules,
        (params_shape, element_bytes): (&'a [usize], usize),
        indices: &'a Indices<'a>,
    ) -> Result<Self> {
        if let OutOfBounds::Fill(fill) = &rules.out_of_bounds {
            let (got, expected) = (fill.bytes().len(), element_bytes);
            if got != expected {
                let op = kind;
                return Err(Error::FillWidth { op, got, expected });
            }
        }
        let checked = op.check(kind, params_shape, indices.layout().shape(), rules)?;
        Ok(Definition {
            kind,
            rules,
            params_shape,
            indices,
            checked,
        })
    }

    /// A rule that moves bad indices needs an element to move them to.
    pub(super) fn check_rules(&self) -> Result<()> {
        let rule = &self.rules.out_of_bounds;
        if !rule.moves() {
            return Ok(());
        }
        let (op, rule) = (self.kind, rule.name());
        match self.axes().find(|&axis| self.extent(axis) == 0) {
            Some(axis) => Err(Error::NothingToRead { op, axis, rule }),
            None => Ok(()),
        }
    }

    /// The dims of params that are looked up.
    fn axes(&self) -> Range<usize> {
        match self.checked {
            Checked::Gather { axis, .. } | Checked::GatherElements { axis } => axis..axis + 1,
            Checked::GatherNd { batch_dims, depth } => batch_dims..batch_dims + depth,
        }
    }

    /// The extent of a dim of params; torch: a 0-d tensor acts as shape \[1\].
    fn extent(&self, axis: usize) -> usize {
        self.params_shape.get(axis).copied().unwrap_or(1)
    }

    /// The element of params that belongs at these coordinates of the output.
    pub(super) fn source(&self, output: &[usize]) -> Option<Dims<usize>> {
        match self.checked {
            Checked::Gather { axis, batch_dims } => self.gather(output, axis, batch_dims),
            Checked::GatherNd { batch_dims, depth } => self.gather_nd(output, batch_dims, depth),
            Checked::GatherElements { axis } => self.gather_elements(output, axis),
        }
    }

    /// output\[batch, outer, position, inner\] = params\[batch, outer, indices\[batch, position\], inner\]
    fn gather(&self, output: &[usize], axis: usize, batch_dims: usize) -> Option<Dims<usize>> {
        let positions = self.indices.layout().rank() - batch_dims;
        let (batch, rest) = output.split_at(batch_dims);
        let (outer, rest) = rest.split_at(axis - batch_dims);
        let (position, inner) = rest.split_at(positions);
        let coordinate = self.coordinate(&joined(&[batch, position]), axis)?;
        Some(joined(&[batch, outer, &[coordinate], inner]))
    }

    /// output\[batch, position, slice\] = params\[batch, indices\[batch, position, 0..depth\], slice\]
    fn gather_nd(&self, output: &[usize], batch_dims: usize, depth: usize) -> Option<Dims<usize>> {
        let (lookup, slice) = output.split_at(self.indices.layout().rank() - 1);
        let looked_up: Option<Dims<usize>> = (0..depth)
            .map(|k| self.coordinate(&joined(&[lookup, &[k]]), batch_dims + k))
            .collect();
        Some(joined(&[&lookup[..batch_dims], &looked_up?, slice]))
    }

    /// output\[…, x, …\] = params\[…, indices\[…, x, …\], …\]
    fn gather_elements(&self, output: &[usize], axis: usize) -> Option<Dims<usize>> {
        let coordinate = self.coordinate(output, axis)?;
        if self.params_shape.is_empty() {
            return Some(Dims::new()); // torch: a 0-d tensor acts as shape [1]
        }
        let mut source = Dims::from_slice(output);
        if source.is_empty() {
            return Some(Dims::from_slice(&[coordinate])); // torch: 0-d indices act as shape [1]
        }
        source[axis] = coordinate;
        Some(source)
    }

    /// What the index at `position` selects from dim `axis` of params.
    fn coordinate(&self, position: &[usize], axis: usize) -> Option<usize> {
        let value = self.indices.load(self.indices.layout().position(position));
        self.rules.resolve(value, self.extent(axis))
    }

    /// The first bad index, and how many lookups have one, as an error.
    pub(super) fn report(&self) -> Result<()> {
        let depth = match self.checked {
            Checked::GatherNd { depth, .. } => depth,
            Checked::Gather { .. } | Checked::GatherElements { .. } => 1,
        };
        let mut first: Option<BadIndices> = None;
        let mut last_bad_lookup = None;
        let mut count = 0;
        for (n, position) in Coordinates::new(self.indices.layout().shape()).enumerate() {
            let axis = self.axes().start + n % depth;
            let extent = self.extent(axis);
            let value = self.indices.load(self.indices.layout().position(&position));
            let lookup = n / depth;
            if self.rules.resolve(value, extent).is_some() || last_bad_lookup == Some(lookup) {
                continue;
            }
            last_bad_lookup = Some(lookup);
            count += 1;
            first.get_or_insert(BadIndices {
                op: self.kind,
                position: position.to_vec(),
                value,
                axis,
                extent,
                count: 0,
            });
        }
        first.map_or(Ok(()), |bad| {
            Err(Error::IndexOutOfBounds(Box::new(BadIndices {
                count,
                ..bad
            })))
        })
    }
}

/// Coordinates, part after part.
pub(super) fn joined(parts: &[&[usize]]) -> Dims<usize> {
    parts.iter().flat_map(|part| part.iter().copied()).collect()
}

/// All coordinates of a shape, row-major. A 0-d shape has one, the empty one.
pub(super) struct Coordinates<'a> {
    shape: &'a [usize],
    next: Option<Dims<usize>>,
}

impl<'a> Coordinates<'a> {
    pub(super) fn new(shape: &'a [usize]) -> Self {
        let next = (!shape.contains(&0)).then(|| Dims::from_elem(0, shape.len()));
        Coordinates { shape, next }
    }
}

impl Iterator for Coordinates<'_> {
    type Item = Dims<usize>;

    fn next(&mut self) -> Option<Dims<usize>> {
        let current = self.next.take()?;
        let mut next = current.clone();
        for (c, &extent) in next.iter_mut().zip(self.shape).rev() {
            *c += 1;
            if *c < extent {
                self.next = Some(next);
                break;
            }
            *c = 0;
        }
        Some(current)
    }
}
