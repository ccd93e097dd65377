//! Elements that are looked up across the rows of a table, column by column:
//! `output[i, j] = params[index[i, j], j]`.
//!
//! Read as they come, neighbouring elements lie in different rows of params, often in the same few
//! sets of a cache. So the columns are cut into strips. The strip of params is first copied row
//! after row into a buffer that stays in the cache of one core, and its elements are taken from
//! there.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use bytemuck::Pod;

use super::copy::{Work, as_uninit};
use super::line;
use super::sources::{BAD, Coordinate};
use super::walk::{Walk, forward};
use crate::plan::Loop;

/// Bytes of a row in a strip: lines of a cache.
const LINE_BYTES: usize = 64;
const LEAST_BYTES: usize = LINE_BYTES;
const MOST_BYTES: usize = 256;

/// How large a buffer should be, to stay in the cache of a core, and how large it may be.
const BUFFER_BYTES: usize = 512 << 10;
const MOST_BUFFER_BYTES: usize = 4 << 20;

/// Tables below this many bytes stay in the cache of a core as they are.
const FROM_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// How many rows before it is needed a part of params or of indices is asked for: 1.3 to 1.4 times as
/// fast as without.
const AHEAD: usize = 8;

/// How the output is cut.
pub(super) struct Strips {
    /// Tables, which follow each other in the output.
    tables: usize,
    /// Rows and columns of the output of one table.
    rows: usize,
    columns: usize,
    /// The step in indices from row to row.
    indices_stride: isize,
    /// Columns of one strip.
    width: usize,
    /// Columns that the first strip has less, so that the others start with a line of the output.
    /// Lines that two strips share are read and written twice: 1.0 to 1.1 times as long in memory
    /// that starts 16 bytes behind a line, as that of a large `Vec` often does.
    shift: usize,
}

impl Strips {
    /// How many strips there are.
    pub(super) fn count(&self) -> usize {
        self.tables * self.per_table()
    }

    fn per_table(&self) -> usize {
        (self.columns + self.shift).div_ceil(self.width)
    }

    /// The columns of strip number `n` of a table.
    fn columns_of(&self, n: usize) -> Range<usize> {
        let start = (n * self.width).saturating_sub(self.shift);
        start..((n + 1) * self.width - self.shift).min(self.columns)
    }
}

/// An output whose strips are written by different threads.
pub(super) struct Shared<'a> {
    start: *mut MaybeUninit<u8>,
    len: usize,
    lives: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

#[allow(unsafe_code, reason = "the parts of a strip do not follow each other")]
// SAFETY: it is as an exclusive reference to bytes, which may go to other threads; whoever takes
// parts of it sees to it that they are disjoint.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    pub(super) fn new(output: &'a mut [MaybeUninit<u8>]) -> Self {
        Shared {
            start: output.as_mut_ptr(),
            len: output.len(),
            lives: PhantomData,
        }
    }

    /// The bytes from `at` on.
    ///
    /// # Safety
    ///
    /// No other part that overlaps may be in use.
    #[allow(unsafe_code, reason = "the parts of a strip do not follow each other")]
    #[expect(clippy::mut_from_ref, reason = "the parts are disjoint")]
    unsafe fn part(&self, at: usize, len: usize) -> &mut [MaybeUninit<u8>] {
        assert!(at <= self.len && len <= self.len - at);
        // SAFETY: the part lies in the output, which is borrowed for `'a`, and the caller has no
        // other to the same bytes.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(at), len) }
    }
}

impl Work<'_> {
    /// How to cut the output, which starts at this address, into strips, where that pays.
    pub(super) fn strips(&self, address: usize) -> Option<Strips> {
        let [only] = self.lookups.tuples()?;
        let width = self.row_bytes;
        let [tables @ .., down, across] = self.plan.geometry().row_loops() else {
            return None;
        };
        let tables = tables.iter().map(|l| l.extent).product();
        let Loop {
            extent: columns,
            params_stride: 1,
            indices_stride: 1,
        } = *across
        else {
            return None;
        };
        let row_bytes = only.stride_bytes.unsigned_abs();
        let fits = matches!(width, 1 | 2 | 4 | 8 | 16)
            && down.params_stride == 0
            && only.stride_bytes > 0
            && only.inside == only.extent as u64
            && only.extent <= MOST_BUFFER_BYTES / LEAST_BYTES
            && only.extent.saturating_mul(row_bytes) >= FROM_BYTES
            // Every row of params is copied, wanted or not.
            && only.extent <= down.extent.saturating_mul(2)
            && columns * width >= LEAST_BYTES;
        let strip_bytes = (BUFFER_BYTES / only.extent.max(1)).clamp(LEAST_BYTES, MOST_BYTES);
        let lines = (columns * width).is_multiple_of(LINE_BYTES) && address.is_multiple_of(width);
        fits.then_some(Strips {
            tables,
            rows: down.extent,
            columns,
            indices_stride: down.indices_stride,
            width: strip_bytes / width,
            shift: if lines {
                address % LINE_BYTES / width
            } else {
                0
            },
        })
    }

    /// Writes strip number `n` with the help of `buffer`; returns whether some index was bad.
    ///
    /// # Safety
    ///
    /// `output` is that of `strips`, and no strip is written twice at the same time.
    #[allow(unsafe_code, reason = "the parts of a strip do not follow each other")]
    pub(super) unsafe fn write_strip(
        &self,
        strips: &Strips,
        n: usize,
        output: &Shared<'_>,
        buffer: &mut Vec<MaybeUninit<u8>>,
    ) -> bool {
        let Some([only]) = self.lookups.tuples() else {
            return false;
        };
        macro_rules! strip {
            ($($width:literal)*) => {
                match (self.row_bytes, self.plan.index_type().bytes()) {
                    // SAFETY: as the caller says.
                    $(($width, 4) => unsafe {
                        self.strip::<u32, $width>(strips, n, only, output, buffer)
                    },
                    ($width, _) => unsafe {
                        self.strip::<u64, $width>(strips, n, only, output, buffer)
                    },)*
                    _ => unreachable!("strips are of single elements"),
                }
            };
        }
        strip!(1 2 4 8 16)
    }

    /// # Safety
    ///
    /// As [`Work::write_strip`].
    #[allow(unsafe_code, reason = "the parts of a strip do not follow each other")]
    unsafe fn strip<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        strips: &Strips,
        n: usize,
        only: &Coordinate,
        output: &Shared<'_>,
        buffer: &mut Vec<MaybeUninit<u8>>,
    ) -> bool {
        let per_table = strips.per_table();
        let (table, columns) = (n / per_table, strips.columns_of(n % per_table));
        let (column, width) = (columns.start, columns.len());
        let first_row = table * strips.rows * strips.columns;
        let run = Walk::new(self.plan.geometry(), first_row + column).run(1);
        self.pack(self.lookups.start(run).0, width * WIDTH, only, buffer);
        let mut bad = false;
        for row in 0..strips.rows {
            let first = forward(run.indices, row as isize, strips.indices_stride);
            let ahead = forward(first, AHEAD as isize, strips.indices_stride);
            line::prefetch(
                as_uninit(self.lookups.indices()),
                ahead.wrapping_mul(size_of::<W>()),
                width * size_of::<W>(),
            );
            let at = (first_row + row * strips.columns + column) * WIDTH;
            // SAFETY: the rows of a table, the tables and the columns of the strips are disjoint.
            let part = unsafe { output.part(at, width * WIDTH) };
            bad |= self.take::<W, WIDTH>(part, first, only, buffer);
        }
        bad
    }

    /// Copies a strip of params, which is `row_bytes` wide and starts at `at`.
    fn pack(
        &self,
        mut at: usize,
        row_bytes: usize,
        only: &Coordinate,
        buffer: &mut Vec<MaybeUninit<u8>>,
    ) {
        buffer.clear();
        for _ in 0..only.extent {
            let ahead = forward(at, AHEAD as isize, only.stride_bytes);
            line::prefetch(self.params, ahead, row_bytes);
            buffer.extend_from_slice(&self.params[at..at + row_bytes]);
            at = at.wrapping_add_signed(only.stride_bytes);
        }
    }

    /// Writes a part of a row, whose indices start at position `first`, from a strip.
    #[inline]
    fn take<W: Pod + Into<u64>, const WIDTH: usize>(
        &self,
        part: &mut [MaybeUninit<u8>],
        first: usize,
        only: &Coordinate,
        strip: &[MaybeUninit<u8>],
    ) -> bool {
        let row_bytes = part.len();
        let columns = row_bytes / WIDTH;
        let start = first * size_of::<W>();
        let indices = &self.lookups.indices()[start..start + columns * size_of::<W>()];
        let mut bad = false;
        let elements = part.chunks_exact_mut(WIDTH);
        for (n, (element, index)) in elements
            .zip(indices.chunks_exact(size_of::<W>()))
            .enumerate()
        {
            let bits: u64 = bytemuck::pod_read_unaligned::<W>(index).into();
            let row = match bits < only.inside {
                true => Some(bits as usize),
                false => self.lookups.look_up::<W>(first + n, only),
            };
            match row {
                Some(row) => {
                    let at = row * row_bytes + n * WIDTH;
                    element.copy_from_slice(&strip[at..at + WIDTH]);
                }
                None => bad |= self.write_bad(element, BAD),
            }
        }
        bad
    }
}
