//! Plans: a call on shapes, checked and lowered to a loop nest, before any data is there.
//!
//! [`Plan::new`] checks operator, rules and layouts. Its [`Geometry`] is the loop nest: loops, strides and
//! looked-up coordinates. [`Explanation`] says how a device with given [`BindingLimits`] executes it. Pure data;
//! none of this needs a device.

#![cfg_attr(
    not(feature = "gpu"),
    allow(
        dead_code,
        unused_imports,
        reason = "only a device runs the kernels, which explanations name all the same"
    )
)]

mod bag;
mod block;
mod checks;
mod choice;
mod chunks;
mod divisor;
mod explain;
mod geometry;
mod host;
mod indirect_args;
mod kernel;
mod kernels;
mod loop_steps;
mod nest_dims;
mod nest_size;
mod passes;

pub use explain::{Dispatches, Explanation};
pub use geometry::{Coordinate, Geometry, Loop, LoopDims};
pub use host::HostCall;
pub use passes::BindingLimits;

pub use bag::BagExplanation;
#[cfg(feature = "gpu")]
pub(crate) use bag::{BagKernel, BagParts, BagPass, BagPlaces, FOLD_BYTES, bag_block, bag_passes};
pub(crate) use bag::{BagPlan, BagShapes};
pub(crate) use block::{GeometryBlock, MAX_SEGMENTS, Origins};
pub(crate) use choice::Positions;
pub(crate) use divisor::divisor;
pub(crate) use geometry::output_dims;
pub(crate) use indirect_args::{IndirectArgsBlock, IndirectDispatch};
pub(crate) use kernel::{DecodeKernel, DecodeKind, Kernel};
pub(crate) use kernels::KernelKind;
#[cfg(feature = "gpu")]
pub(crate) use loop_steps::GPU_LOOP_STEPS;
pub(crate) use loop_steps::MAX_LOOP_STEPS;
pub(crate) use nest_dims::NestDims;
pub(crate) use nest_size::NestSize;
pub(crate) use passes::{
    CheckPass, FLAG_BYTES, LookupPass, Part, Parts, Pass, Segment, bind, check_passes,
    lookup_passes, passes, windows,
};

use checks::{check_fill, check_something_to_read};
use geometry::{Lowered, dims_of_loops};

use crate::error::{BadIndices, Error, OpKind, Result, Role};
use crate::index::IndexType;
use crate::op::{Checked, Op};
use crate::operand::{Indices, Params};
use crate::rules::{OutOfBounds, Rules};
use crate::shape::{Dims, Layout, elements, unravel};

/// A gather ready to be executed: everything that follows from shapes, strides, types and rules.
///
/// ```
/// use wgpu_gather::{IndexType, Layout, Op, Plan, Rules};
///
/// // 8 rows of an embedding table
/// let plan = Plan::new(
///     Op::gather(0), &Rules::default(),
///     4, &Layout::contiguous(&[30522, 384]),
///     IndexType::I64, &Layout::contiguous(&[2, 4]),
/// )?;
/// assert_eq!(plan.output_shape(), [2, 4, 384]);
/// assert_eq!(plan.geometry().loops.len(), 2); // positions, slice
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    op: OpKind,
    checked: Checked,
    rules: Rules,
    element_bytes: usize,
    index_type: IndexType,
    output_shape: Dims<usize>,
    output_bytes: usize,
    geometry: Geometry,
    lookups: Geometry,
    params_layout: Layout,
    indices_layout: Layout,
}

impl Plan {
    /// The most loops of a gather on a device.
    pub const MAX_LOOPS: usize = 32;
    /// The most coordinates of a gather on a device: the greatest index depth.
    pub const MAX_COORDINATES: usize = 32;
    /// The most bytes of a fill value on a device.
    pub const MAX_FILL_BYTES: usize = 256;

    /// Plans `op` for params of `element_bytes`-byte elements laid out as `params`, and indices
    /// of `index_type` laid out as `indices`. Strides and offsets of layouts count elements.
    ///
    /// # Errors
    ///
    /// Shapes and attributes that do not fit: those of [`Op::output_shape`]. [`Error::NothingToRead`] and
    /// [`Error::FillWidth`] for rules that cannot be followed; [`Error::SizeOverflow`] for an output that cannot be
    /// addressed.
    pub fn new(
        op: Op,
        rules: &Rules,
        element_bytes: usize,
        params: &Layout,
        index_type: IndexType,
        indices: &Layout,
    ) -> Result<Plan> {
        if element_bytes == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Params });
        }
        let kind = op.kind();
        let checked = op.check(kind, params.shape(), indices.shape(), rules)?;
        Plan::of_checked(
            kind,
            checked,
            rules,
            element_bytes,
            params,
            index_type,
            indices,
        )
    }

    /// [`Plan::new`] for an operator that was checked against the shapes. Errors name it `kind`.
    pub(crate) fn of_checked(
        kind: OpKind,
        checked: Checked,
        rules: &Rules,
        element_bytes: usize,
        params: &Layout,
        index_type: IndexType,
        indices: &Layout,
    ) -> Result<Plan> {
        let output_shape = checked.output_shape(params.shape(), indices.shape());
        let output_elements = elements(Role::Output, &output_shape, element_bytes)?;
        check_fill(kind, rules, element_bytes)?;
        let lowered = match output_elements {
            0 => Lowered::empty(),
            _ => geometry::lower(checked, params, indices),
        };
        check_something_to_read(kind, rules, &lowered.geometry)?;
        Ok(Plan {
            op: kind,
            checked,
            rules: rules.clone(),
            element_bytes,
            index_type,
            output_shape,
            output_bytes: output_elements * element_bytes,
            geometry: lowered.geometry,
            lookups: lowered.lookups,
            params_layout: params.clone(),
            indices_layout: indices.clone(),
        })
    }

    /// A plan that looks up what a gather from params of this shape would, to count bad indices: its
    /// elements are as wide as the fill value, if there is one.
    pub(crate) fn of_lookups(
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        index_type: IndexType,
        indices: &Layout,
    ) -> Result<Plan> {
        let width = match &rules.out_of_bounds {
            OutOfBounds::Fill(fill) => fill.bytes().len(),
            _ => 1,
        };
        let params = Layout::contiguous(params_shape);
        Plan::new(op, rules, width, &params, index_type, indices)
    }

    /// The plan of `op` for the types and layouts of these host tensors. Their data is not read.
    ///
    /// # Errors
    ///
    /// Shapes, attributes and rules that do not fit: those of [`Plan::new`].
    pub fn of(op: Op, rules: &Rules, params: &Params<'_>, indices: &Indices<'_>) -> Result<Plan> {
        Plan::new(
            op,
            rules,
            params.element_bytes(),
            params.layout(),
            indices.index_type(),
            indices.layout(),
        )
    }

    /// The operator, for error messages only.
    pub fn op(&self) -> OpKind {
        self.op
    }

    /// The rules for indices.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// The type of the indices.
    pub fn index_type(&self) -> IndexType {
        self.index_type
    }

    /// Shape, strides and offset of params.
    pub fn params_layout(&self) -> &Layout {
        &self.params_layout
    }

    /// Shape, strides and offset of indices.
    pub fn indices_layout(&self) -> &Layout {
        &self.indices_layout
    }

    /// The shape of the output, which is contiguous and row-major.
    pub fn output_shape(&self) -> &[usize] {
        &self.output_shape
    }

    /// Bytes of the output.
    pub fn output_bytes(&self) -> usize {
        self.output_bytes
    }

    /// True if the output has no elements. Then no index is checked.
    pub fn is_empty(&self) -> bool {
        self.output_bytes == 0
    }

    /// The loop nest over the output.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The dims that each loop over the output was made of.
    pub(crate) fn nest_dims(&self) -> NestDims {
        let (params, indices) = (&self.params_layout, &self.indices_layout);
        let dims = match self.is_empty() {
            true => Vec::new(),
            false => dims_of_loops(self.checked, params, indices),
        };
        NestDims::new(&self.geometry.loops, &dims)
    }

    /// The loop nest over the lookups: each index tuple once, in row-major order of indices.
    /// Its loops have no stride in params.
    pub fn lookups(&self) -> &Geometry {
        &self.lookups
    }

    /// True if the rules make a bad index an error.
    pub fn reports_bad_indices(&self) -> bool {
        self.rules.out_of_bounds == OutOfBounds::Error
    }

    /// The rules make a bad index an error, and there are indices to check.
    pub(crate) fn counts_bad_indices(&self) -> bool {
        self.reports_bad_indices() && self.looks_up()
    }

    /// The plan reads at least one index.
    pub(crate) fn looks_up(&self) -> bool {
        !self.is_empty() && !self.lookups.coordinates.is_empty()
    }

    /// Elements of the output for each entry of the first dim of indices: what a count of entries cuts the
    /// output to.
    ///
    /// # Errors
    ///
    /// [`Error::CountElsewhere`] if that dim is not the first of the output.
    pub fn elements_per_entry(&self) -> Result<usize> {
        if !self.checked.indices_lead(self.indices_layout.rank()) {
            return Err(Error::CountElsewhere { op: self.op() });
        }
        let entries = self.indices_layout.shape()[0].max(1);
        Ok(self.output_bytes / self.element_bytes / entries)
    }

    /// The lookups of each entry of the first dim of indices.
    ///
    /// # Errors
    ///
    /// [`Error::CountElsewhere`] if that dim is not the first of the output.
    #[cfg(feature = "gpu")]
    pub(crate) fn lookups_per_entry(&self) -> Result<usize> {
        self.elements_per_entry()?;
        let entries = self.indices_layout.shape()[0].max(1);
        Ok(self.lookups.elements() / entries)
    }

    /// The loop nest of the first lookup of a `gather`: the loops over one slice.
    pub(crate) fn of_one_index(&self) -> Geometry {
        let scalar = Layout::scalar(self.indices_layout.offset());
        let shape = self.checked.output_shape(self.params_layout.shape(), &[]);
        match shape.contains(&0) {
            true => Geometry::empty(),
            false => geometry::lower(self.checked, &self.params_layout, &scalar).geometry,
        }
    }

    /// The plan with another loop nest, for the same tensors and rules.
    pub(crate) fn over(&self, geometry: Geometry) -> Plan {
        Plan {
            output_bytes: geometry.elements() * self.element_bytes,
            geometry,
            ..self.clone()
        }
    }

    /// The plan with a loop nest that takes each lookup on its own.
    pub(crate) fn of_each_lookup(mut self) -> Plan {
        self.geometry.sliced = false;
        self
    }

    /// The report of `count` bad lookups, of which the first is number `lookup` (in row-major order), whose
    /// coordinates have these index values.
    pub(crate) fn bad_lookups(&self, lookup: u64, values: &[i128], count: u64) -> BadIndices {
        let coordinates = &self.lookups.coordinates;
        let bad = coordinates
            .iter()
            .zip(values)
            .position(|(c, &v)| self.rules.is_bad(v, c.extent))
            .unwrap_or(0);
        let element = lookup as usize * coordinates.len() + bad;
        BadIndices {
            op: self.op(),
            position: unravel(element, self.indices_layout.shape()).into_vec(),
            value: values[bad],
            axis: coordinates[bad].axis,
            extent: coordinates[bad].extent,
            count,
        }
    }
}
