//! Where the rows of the output start in params: reads the indices and applies the rules.
//!
//! Indices that are plainly inside mean themselves under all rules; [`Packed`] has those of a run, in
//! groups. [`Lookups::find`] goes by the rules, without a branch that depends on an index.

use std::hint::select_unpredictable;
use std::iter::zip;

use smallvec::SmallVec;

use super::coordinate::Coordinate;
use super::rows::{Rows, Run, forward};
use crate::index::{Bits, IndexType, Word, with_index_type};
use crate::plan::{Geometry, Plan};
use crate::rules::Rules;

/// The start of a row with a bad index. No row starts there, as a row has at least one byte.
pub(super) const BAD: usize = usize::MAX;

/// What the lookup of a row costs, as bytes that could be copied or folded meanwhile.
pub(super) const LOOKUP_BYTES: usize = 64;

/// How many rows are looked up by the rules at a time.
pub(super) const BLOCK: usize = 64;

/// How many rows [`Packed`] looks up at once.
pub(super) const GROUP: usize = 8;

/// The lookups of one execution.
pub(super) struct Lookups<'a> {
    index_type: IndexType,
    geometry: &'a Geometry,
    /// Bytes per unit of the strides through params.
    element_bytes: usize,
    indices: &'a [u8],
    coordinates: SmallVec<[Coordinate; 1]>,
    /// How many indices a row has, if those of neighbouring rows follow each other; else 0.
    pub(super) packed_depth: usize,
    /// How far indices that are plainly inside lead: the least and the greatest number of bytes.
    /// Nothing if none is plainly inside, or the numbers are too large.
    reach: Option<[isize; 2]>,
}

impl<'a> Lookups<'a> {
    pub(super) fn new(plan: &'a Plan, indices: &'a [u8]) -> Self {
        let (rules, index_type) = (plan.rules(), plan.index_type());
        Lookups::over(
            plan.geometry(),
            plan.element_bytes(),
            rules,
            index_type,
            indices,
        )
    }

    /// The lookups of `geometry`, whose strides through params count elements of `element_bytes` bytes.
    pub(super) fn over(
        geometry: &'a Geometry,
        element_bytes: usize,
        rules: &Rules,
        index_type: IndexType,
        indices: &'a [u8],
    ) -> Self {
        let coordinates = geometry.coordinates.iter().map(|c| {
            let stride = c.stride.wrapping_mul(element_bytes as isize);
            Coordinate::new(rules, index_type, c.extent, stride)
        });
        let coordinates: SmallVec<[Coordinate; 1]> = coordinates.collect();
        let depth = coordinates.len();
        let inner = geometry.row_loops().last();
        let packed = (depth == 1 || geometry.index_step == 1)
            && inner.is_none_or(|l| l.indices_stride == depth as isize);
        let reach = coordinates.iter().try_fold([0, 0], |reach, c| {
            let last = isize::try_from(c.plainly_inside.checked_sub(1)?).ok()?;
            extended(reach, last.checked_mul(c.stride)?)
        });
        Lookups {
            index_type,
            geometry,
            element_bytes,
            indices,
            coordinates,
            packed_depth: if packed { depth } else { 0 },
            reach,
        }
    }

    /// The indices, one after the other, and a bound below which each is itself the start of its row, under all
    /// rules; nothing where they lie otherwise, or where rows start elsewhere.
    pub(super) fn that_are_starts(&self) -> Option<(&'a [u8], u64)> {
        let geometry = self.geometry;
        let (&[only], &[rows]) = (&self.coordinates[..], geometry.row_loops()) else {
            return None;
        };
        let each_is = rows.params_stride == 0 && geometry.params_offset == 0 && only.stride == 1;
        let first = geometry.indices_offset * self.index_type.bytes();
        (each_is && rows.indices_stride == 1).then(|| (&self.indices[first..], only.plainly_inside))
    }

    /// How far apart indices that are plainly inside lead, in bytes.
    pub(super) fn reach_bytes(&self) -> usize {
        self.reach
            .map_or(0, |[least, greatest]| greatest.abs_diff(least))
    }

    /// How many rows follow each other at even distances.
    pub(super) fn in_run(&self) -> usize {
        let inner = self.geometry.row_loops().last();
        inner.map_or(1, |l| l.extent)
    }

    pub(super) fn index_type(&self) -> IndexType {
        self.index_type
    }

    /// Writes to `starts` where the rows from number `first` on start in params by the rules, in bytes, or
    /// [`BAD`].
    pub(super) fn find_from(&self, first: usize, starts: &mut [usize]) {
        let mut rows = Rows::new(self.geometry, first);
        let mut done = 0;
        while done < starts.len() {
            let run = rows.next_run(starts.len() - done);
            self.find(run, &mut starts[done..done + run.rows]);
            done += run.rows;
        }
    }

    /// Writes to `starts` where the rows of `run` start in params by the rules, in bytes, or [`BAD`].
    pub(super) fn find(&self, run: Run, starts: &mut [usize]) {
        with_index_type!(self.index_type, I => match &self.coordinates[..] {
            [only] => self.find_one::<<I as Word>::Bits>(only, run, starts),
            all => self.find_by::<<I as Word>::Bits>(all, run, starts),
        });
    }

    /// [`Lookups::find`] for rows of one index: as long as groups of neighbours are plainly inside, without the
    /// rules.
    fn find_one<W: Bits>(&self, only: &Coordinate, mut run: Run, mut starts: &mut [usize]) {
        while run.indices_stride == 1 && run.rows >= GROUP {
            let (mut start, step) = self.affine(run);
            let group = &self.indices[run.indices * size_of::<W>()..][..GROUP * size_of::<W>()];
            let bits: [u64; GROUP] = std::array::from_fn(|n| load::<W>(group, n).into());
            if bits.iter().any(|&bits| bits >= only.plainly_inside) {
                break;
            }
            let (now, later) = starts.split_at_mut(GROUP);
            for (found, bits) in zip(now, bits) {
                *found = forward(start, bits as isize, only.stride);
                start = start.wrapping_add_signed(step);
            }
            (_, run) = run.split_at(GROUP);
            starts = later;
        }
        self.find_by::<W>(&[*only], run, starts);
    }

    #[inline(always)]
    fn find_by<W: Bits>(&self, coordinates: &[Coordinate], run: Run, starts: &mut [usize]) {
        let index_step = self.geometry.index_step;
        let (mut start, step) = self.affine(run);
        let mut first = run.indices;
        for found in starts {
            let (mut row, mut inside, mut position) = (start, true, first);
            for c in coordinates {
                let bits = load::<W>(self.indices, position).into();
                let (coordinate, is_inside) = c.by_rules(bits);
                row = forward(row, coordinate as isize, c.stride);
                inside &= is_inside;
                position = position.wrapping_add_signed(index_step);
            }
            *found = select_unpredictable(inside, row, BAD);
            start = start.wrapping_add_signed(step);
            first = first.wrapping_add_signed(run.indices_stride);
        }
    }

    /// The lookups of `run`, if its rows have `DEPTH` indices each that follow each other, and rows
    /// of `row_bytes` lie within `params_bytes` wherever indices that are plainly inside lead.
    pub(super) fn packed<W: Bits, const DEPTH: usize>(
        &self,
        run: Run,
        row_bytes: usize,
        params_bytes: usize,
    ) -> Option<Packed<'a, W, DEPTH>> {
        let (start, step) = self.affine(run);
        let along = step.checked_mul(isize::try_from(run.rows).ok()? - 1)?;
        let [least, greatest] = extended(self.reach?, along)?;
        let first = isize::try_from(start).ok()?.checked_add(least)?;
        let end = start.checked_add_signed(greatest)?.checked_add(row_bytes)?;
        if first < 0 || end > params_bytes || self.packed_depth != DEPTH {
            return None;
        }
        let coordinates: &[Coordinate; DEPTH] = self.coordinates.first_chunk()?;
        let mut last = [W::zeroed(); DEPTH];
        for (last, c) in zip(&mut last, coordinates) {
            *last = W::try_from(c.plainly_inside - 1).ok()?;
        }
        let indices = &self.indices[run.indices * size_of::<W>()..];
        Some(Packed {
            indices: &indices[..run.rows * DEPTH * size_of::<W>()],
            start,
            step: step as usize,
            last,
            strides: coordinates.map(|c| c.stride as usize),
        })
    }

    /// Where `run` starts in params before its indices are added, and its step there, in bytes.
    fn affine(&self, run: Run) -> (usize, isize) {
        let bytes = self.element_bytes;
        let step = run.params_stride.wrapping_mul(bytes as isize);
        (run.params.wrapping_mul(bytes), step)
    }
}

/// The least and the greatest of the numbers in `range` and of those plus `more`.
fn extended([least, greatest]: [isize; 2], more: isize) -> Option<[isize; 2]> {
    Some([
        least.checked_add(more.min(0))?,
        greatest.checked_add(more.max(0))?,
    ])
}

/// The lookups of a run whose rows have `DEPTH` indices each, one tuple after the other.
///
/// Where tuples are [inside](Packed::all_inside), their rows lie in params.
pub(super) struct Packed<'a, W, const DEPTH: usize> {
    pub(super) indices: &'a [u8],
    /// Where the first row starts before its indices are added, and the step from row to row.
    pub(super) start: usize,
    step: usize,
    /// The largest indices that are plainly inside.
    last: [W; DEPTH],
    strides: [usize; DEPTH],
}

impl<W: Bits, const DEPTH: usize> Packed<'_, W, DEPTH> {
    /// Whether the indices of a group are all plainly inside.
    #[inline(always)]
    pub(super) fn all_inside(&self, group: &[u8]) -> bool {
        let mut all_inside = true;
        for n in 0..GROUP * DEPTH {
            all_inside &= load::<W>(group, n) <= self.last[n % DEPTH];
        }
        all_inside
    }

    /// The last index of each tuple counts rows of so many bytes, and nothing else leads from row to row.
    pub(super) fn is_dense(&self, row_bytes: usize) -> bool {
        self.step == 0 && self.strides[DEPTH - 1] == row_bytes
    }

    /// Where the row of tuple number `n` of a group starts; `start` is where before its indices are added. Where
    /// tuples are [`DENSE`](Packed::is_dense), the last stride is `row_bytes`, which the caller may know when it is
    /// compiled.
    #[inline(always)]
    pub(super) fn row<const DENSE: bool>(
        &self,
        group: &[u8],
        n: usize,
        mut start: usize,
        row_bytes: usize,
    ) -> usize {
        for k in 0..DEPTH {
            let index: u64 = load::<W>(group, n * DEPTH + k).into();
            let stride = match DENSE && k + 1 == DEPTH {
                true => row_bytes,
                false => self.strides[k],
            };
            start = start.wrapping_add(stride.wrapping_mul(index as usize));
        }
        start
    }

    /// The step from row to row: none where tuples are [`DENSE`](Packed::is_dense).
    #[inline(always)]
    pub(super) fn step<const DENSE: bool>(&self) -> usize {
        if DENSE { 0 } else { self.step }
    }
}

/// The index at `position`.
#[inline]
pub(super) fn load<W: Bits>(indices: &[u8], position: usize) -> W {
    bytemuck::pod_read_unaligned(&indices[position * size_of::<W>()..][..size_of::<W>()])
}
