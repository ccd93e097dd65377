//! The kernels that decode quantized tables: which one, and its numbers. What they decode is not known
//! here: positions are elements of the table, counted from the start of a window of it.

use crate::error::{Error, Result};
use crate::plan::block::{GeometryBlock, Origins, Scale, fill, narrow};
use crate::plan::choice::Positions;
use crate::plan::divisor::divisor;
use crate::plan::kernel::{fold, padded};
use crate::plan::kernels::WORKGROUP;
use crate::plan::loop_steps::parts_of_row;
use crate::plan::nest_size::NestSize;
use crate::plan::{Geometry, Pass, Plan};
use crate::shape::Layout;

/// Elements that are stored at once.
const FOUR: usize = 4;
/// Groups of four elements that an invocation has in flight, as in `shaders/decode/rows.wgsl`.
const IN_FLIGHT: u64 = 4;

/// The traversal of rows in a decode kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum DecodeKind {
    /// Rows of whole fours or blocks: `shaders/decode/rows.wgsl`.
    Rows,
    /// Any rows, element by element: `shaders/decode/elements.wgsl`.
    Elements,
}

impl DecodeKind {
    /// All of them.
    pub(crate) const ALL: [DecodeKind; 2] = [DecodeKind::Rows, DecodeKind::Elements];

    /// The name of its shader.
    #[cfg(feature = "gpu")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            DecodeKind::Rows => "rows",
            DecodeKind::Elements => "elements",
        }
    }

    /// The nests that each is compiled for: the usual one, and any.
    pub(crate) const NESTS: [NestSize; 2] = [NestSize::new(2, 1), NestSize::ANY];

    /// Bytes of one store: `Out` of its shader.
    fn store_bytes(self) -> usize {
        match self {
            DecodeKind::Rows => 8,
            DecodeKind::Elements => 4,
        }
    }
}

/// A kernel with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecodeKernel {
    pub(crate) kind: DecodeKind,
    /// Size of nest that it is specialised for. With [`NestSize::ANY`], positions take 64 bits.
    pub(crate) nest: NestSize,
    /// Workgroups in x, y and z.
    pub(crate) workgroups: [u32; 3],
    /// The uniform block.
    pub(crate) block: GeometryBlock,
}

impl DecodeKernel {
    /// The kernel for a pass over `plan`, which is the part of a plan that the pass makes, from the
    /// elements of the table from `first` to `end`, on a device of at most `max_workgroups` workgroups
    /// per dimension. So many neighbours are decoded `together`; `None`, if not even four can be.
    ///
    /// # Errors
    ///
    /// [`Error::TooComplex`] for what the uniform block cannot hold.
    pub(crate) fn new(
        plan: &Plan,
        pass: &Pass,
        [first, end]: [usize; 2],
        together: Option<usize>,
        max_workgroups: u32,
    ) -> Result<DecodeKernel> {
        // Cannot fail: a table has no more elements than can be addressed.
        let elements = Layout::checked_elements(plan.params_layout().shape()).unwrap_or(0);
        let whole = |&n: &usize| has_whole(plan, pass, n) && has_ends(first, end, elements, n);
        let kind = match together.filter(whole) {
            Some(_) => DecodeKind::Rows,
            None => DecodeKind::Elements,
        };
        let (nest, _) = NestSize::of(plan);
        let [small, _] = DecodeKind::NESTS;
        // Positions that wrap around stay apart from those in the window.
        if nest == small && elements <= 1 << 31 {
            match DecodeKernel::of(plan, pass, kind, small, first, max_workgroups) {
                Err(Error::TooMany { .. }) => {}
                made => return made,
            }
        }
        DecodeKernel::of(plan, pass, kind, NestSize::ANY, first, max_workgroups)
    }

    /// Each row of the plan lies within one aligned group of `row` elements.
    #[cfg(feature = "gpu")]
    pub(crate) fn rows_lie_within(plan: &Plan, row: usize) -> bool {
        let slice = plan.geometry().slice();
        row.is_multiple_of(slice) && are_whole(plan.geometry(), slice)
    }

    fn of(
        plan: &Plan,
        pass: &Pass,
        kind: DecodeKind,
        nest: NestSize,
        first: usize,
        max_workgroups: u32,
    ) -> Result<DecodeKernel> {
        let (geometry, width) = (plan.geometry(), plan.element_bytes());
        let origins = Origins {
            params: (first as i64).wrapping_mul(width as i64),
            ..pass.origins()
        };
        let positions = match nest == NestSize::ANY {
            true => Positions::Wide,
            false => Positions::Bound,
        };
        let scale = Scale {
            plan,
            access_bytes: width,
            origins,
            positions,
        };
        let mut block = scale.block(geometry, &padded(geometry.row_loops(), nest))?;
        let slice = geometry.slice() as u64;
        let rows = geometry.elements() as u64 / slice;
        block.row_count = narrow(plan, "the number of lookups", rows)?;
        block.fill_length = fill(plan, 16, &mut block.fill);
        if let Some(depth) = nest.depth {
            block.pad_coordinates(depth);
        }
        let output = origins.output_offset() / width as u64;
        let (groups, z) = match kind {
            DecodeKind::Rows => {
                let fours = slice / FOUR as u64;
                block.row_length = narrow(plan, "the number of elements in a row", fours)?;
                block.output_offset = (output / FOUR as u64) as u32;
                let sharers = fours.div_ceil(IN_FLIGHT).next_power_of_two().min(WORKGROUP);
                block.sharers_log2 = sharers.ilog2();
                let chunks = fours.div_ceil(sharers * IN_FLIGHT);
                let z = parts_of_row(plan, chunks, max_workgroups)?;
                (rows.div_ceil(WORKGROUP / sharers), z)
            }
            DecodeKind::Elements => {
                block.row_length = narrow(plan, "the number of elements in a row", slice)?;
                block.output_offset = output as u32;
                let per_word = 4 / width as u64;
                let words = (rows * slice + output % per_word).div_ceil(per_word);
                (words.div_ceil(WORKGROUP), 1)
            }
        };
        block.row_divisor = divisor(block.row_length);
        let [x, y] = fold(plan, groups, max_workgroups)?;
        (block.grid_x, block.chunks) = (x, z);
        if pass.flagged {
            block.set_flag(pass.output.size, kind.store_bytes());
        }
        Ok(DecodeKernel {
            kind,
            nest,
            workgroups: [x, y, z],
            block,
        })
    }
}

/// Rows are whole groups of `together` elements, aligned to that in the table and to four in the output.
fn has_whole(plan: &Plan, pass: &Pass, together: usize) -> bool {
    let output = pass.output_offset as usize;
    are_whole(plan.geometry(), together) && output.is_multiple_of(FOUR * plan.element_bytes())
}

/// Rows are whole, aligned groups of `together` elements.
fn are_whole(geometry: &Geometry, together: usize) -> bool {
    let is_whole = |n: usize| n.is_multiple_of(together);
    is_whole(geometry.slice())
        && is_whole(geometry.params_offset)
        && strides(geometry).all(is_whole)
}

fn strides(geometry: &Geometry) -> impl Iterator<Item = usize> {
    let loops = geometry.row_loops().iter().map(|l| l.params_stride);
    let coordinates = geometry.coordinates.iter().map(|c| c.stride);
    loops.chain(coordinates).map(isize::unsigned_abs)
}

/// No group of `together` elements crosses a bound of the window.
fn has_ends(first: usize, end: usize, elements: usize, together: usize) -> bool {
    first.is_multiple_of(together) && (end.is_multiple_of(together) || end == elements)
}
