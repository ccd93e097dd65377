//! The definitions, one output element at a time: slow, and plain enough to be checked by eye.
//!
//! Coordinates of the output go in, coordinates of params come out. Nothing here knows a plan, a
//! loop nest or a stride order, so that a mistake in the planner cannot hide in both.

use crate::call::GatherCall;
use crate::error::{BadIndex, Error, Result, Role};
use crate::op::Checked;
use crate::rules::OutOfBounds;
use crate::shape::elements;

/// Executes `call`, writing the output's bytes, row-major.
///
/// # Errors
///
/// As [`Plan::new`](crate::Plan::new), [`Error::OutputLength`], and [`Error::IndexOutOfBounds`]
/// under the rule [`OutOfBounds::Error`].
pub(crate) fn gather(call: GatherCall<'_>, output: &mut [u8]) -> Result<()> {
    let GatherCall {
        op,
        rules,
        params,
        indices,
    } = call;
    let width = params.element_bytes();
    let shape = op.output_shape(params.layout().shape(), indices.layout().shape(), rules)?;
    let expected = elements(Role::Output, &shape, width)? * width;
    if output.len() != expected {
        let got = output.len();
        return Err(Error::OutputLength {
            op: op.kind(),
            expected,
            got,
        });
    }
    let definition = Definition::new(call)?;
    if output.is_empty() {
        return Ok(());
    }
    definition.check_rules()?;
    let mut any_bad = false;
    for (coordinates, element) in Coordinates::new(&shape).zip(output.chunks_exact_mut(width)) {
        match definition.source(&coordinates) {
            Some(source) => {
                let at = params.layout().position(&source) * width;
                element.copy_from_slice(&params.bytes()[at..at + width]);
            }
            None => {
                match &rules.out_of_bounds {
                    OutOfBounds::Fill(fill) => element.copy_from_slice(fill.bytes()),
                    OutOfBounds::Zero
                    | OutOfBounds::Clip
                    | OutOfBounds::Wrap
                    | OutOfBounds::Error => {
                        element.fill(0);
                    }
                }
                any_bad = true;
            }
        }
    }
    if any_bad && rules.out_of_bounds == OutOfBounds::Error {
        return definition.report();
    }
    Ok(())
}

/// A call whose operator has been checked against the shapes.
struct Definition<'a> {
    call: GatherCall<'a>,
    checked: Checked,
}

impl<'a> Definition<'a> {
    fn new(call: GatherCall<'a>) -> Result<Self> {
        if let OutOfBounds::Fill(fill) = &call.rules.out_of_bounds {
            let (got, expected) = (fill.bytes().len(), call.params.element_bytes());
            if got != expected {
                let op = call.op.kind();
                return Err(Error::FillWidth { op, got, expected });
            }
        }
        let (params, indices) = (call.params.layout(), call.indices.layout());
        let checked = call.op.check(params.shape(), indices.shape(), call.rules)?;
        Ok(Definition { call, checked })
    }

    fn params_shape(&self) -> &[usize] {
        self.call.params.layout().shape()
    }

    /// Clip and Wrap need an element to move to.
    fn check_rules(&self) -> Result<()> {
        let rule = match self.call.rules.out_of_bounds {
            OutOfBounds::Clip => "clip",
            OutOfBounds::Wrap => "wrap",
            OutOfBounds::Zero | OutOfBounds::Fill(_) | OutOfBounds::Error => return Ok(()),
        };
        let op = self.call.op.kind();
        match self.axes().find(|&axis| self.extent(axis) == 0) {
            Some(axis) => Err(Error::NothingToRead { op, axis, rule }),
            None => Ok(()),
        }
    }

    /// The dims of params that are looked up.
    fn axes(&self) -> std::ops::Range<usize> {
        match self.checked {
            Checked::Gather { axis, .. } | Checked::GatherElements { axis } => axis..axis + 1,
            Checked::GatherNd { batch_dims, depth } => batch_dims..batch_dims + depth,
        }
    }

    /// The extent of a dim of params; torch: a 0-d tensor acts as shape \[1\].
    fn extent(&self, axis: usize) -> usize {
        self.params_shape().get(axis).copied().unwrap_or(1)
    }

    /// The element of params that belongs at these coordinates of the output.
    fn source(&self, output: &[usize]) -> Option<Vec<usize>> {
        match self.checked {
            Checked::Gather { axis, batch_dims } => self.gather(output, axis, batch_dims),
            Checked::GatherNd { batch_dims, depth } => self.gather_nd(output, batch_dims, depth),
            Checked::GatherElements { axis } => self.gather_elements(output, axis),
        }
    }

    /// output\[batch, outer, position, inner\] = params\[batch, outer, indices\[batch, position\], inner\]
    fn gather(&self, output: &[usize], axis: usize, batch_dims: usize) -> Option<Vec<usize>> {
        let positions = self.call.indices.layout().rank() - batch_dims;
        let (batch, rest) = output.split_at(batch_dims);
        let (outer, rest) = rest.split_at(axis - batch_dims);
        let (position, inner) = rest.split_at(positions);
        let coordinate = self.coordinate(&[batch, position].concat(), axis)?;
        Some([batch, outer, &[coordinate], inner].concat())
    }

    /// output\[batch, position, slice\] = params\[batch, indices\[batch, position, 0..depth\], slice\]
    fn gather_nd(&self, output: &[usize], batch_dims: usize, depth: usize) -> Option<Vec<usize>> {
        let (lookup, slice) = output.split_at(self.call.indices.layout().rank() - 1);
        let looked_up: Option<Vec<usize>> = (0..depth)
            .map(|k| self.coordinate(&[lookup, &[k]].concat(), batch_dims + k))
            .collect();
        Some([&lookup[..batch_dims], &looked_up?, slice].concat())
    }

    /// output\[…, x, …\] = params\[…, indices\[…, x, …\], …\]
    fn gather_elements(&self, output: &[usize], axis: usize) -> Option<Vec<usize>> {
        let coordinate = self.coordinate(output, axis)?;
        if self.params_shape().is_empty() {
            return Some(Vec::new()); // torch: a 0-d tensor acts as shape [1]
        }
        let mut source = output.to_vec();
        if source.is_empty() {
            return Some(vec![coordinate]); // torch: 0-d indices act as shape [1]
        }
        source[axis] = coordinate;
        Some(source)
    }

    /// What the index at `position` selects from dim `axis` of params.
    fn coordinate(&self, position: &[usize], axis: usize) -> Option<usize> {
        let value = self
            .call
            .indices
            .load(self.call.indices.layout().position(position));
        self.call.rules.resolve(value, self.extent(axis))
    }

    /// The first bad index, and how many lookups have one, as an error.
    fn report(&self) -> Result<()> {
        let depth = match self.checked {
            Checked::GatherNd { depth, .. } => depth,
            Checked::Gather { .. } | Checked::GatherElements { .. } => 1,
        };
        let mut first: Option<BadIndex> = None;
        let mut last_bad_lookup = None;
        let mut count = 0;
        for (n, position) in Coordinates::new(self.call.indices.layout().shape()).enumerate() {
            let axis = self.axes().start + n % depth;
            let extent = self.extent(axis);
            let value = self
                .call
                .indices
                .load(self.call.indices.layout().position(&position));
            let lookup = n / depth;
            if self.call.rules.resolve(value, extent).is_some() || last_bad_lookup == Some(lookup) {
                continue;
            }
            last_bad_lookup = Some(lookup);
            count += 1;
            first.get_or_insert(BadIndex {
                op: self.call.op.kind(),
                position,
                value,
                axis,
                extent,
                count: 0,
            });
        }
        first.map_or(Ok(()), |bad| {
            Err(Error::IndexOutOfBounds(Box::new(BadIndex { count, ..bad })))
        })
    }
}

/// All coordinates of a shape, row-major. A 0-d shape has one, the empty one.
struct Coordinates<'a> {
    shape: &'a [usize],
    next: Option<Vec<usize>>,
}

impl<'a> Coordinates<'a> {
    fn new(shape: &'a [usize]) -> Self {
        let next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
        Coordinates { shape, next }
    }
}

impl Iterator for Coordinates<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
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
