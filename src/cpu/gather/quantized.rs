//! Gathers from a quantized table: rows are looked up as those of a plain one, and decoded.

use super::super::lookups::{BAD, BLOCK, Lookups};
use super::super::report::check;
use super::super::rows::Rows;
use super::super::threads::in_chunks;
use crate::error::Result;
use crate::operand::Indices;
use crate::plan::Plan;
use crate::quantized::{FloatType, QuantizedTable};
use crate::rules::OutOfBounds;

/// How many elements are decoded before they are stored: they stay in the first cache.
const DECODED: usize = 1024;

/// What a thread takes at once, in elements.
const CHUNK: usize = 64 << 10;

/// Gathers from `table`, decoded to a type, writing the output's bytes, row-major.
pub(super) fn execute(
    plan: &Plan,
    (table, to): (&QuantizedTable<'_>, FloatType),
    indices: &Indices<'_>,
    output: &mut [u8],
) -> Result<()> {
    plan.check_output(output.len())?;
    if plan.is_empty() {
        return Ok(());
    }
    let work = Work {
        plan,
        table,
        to,
        lookups: Lookups::new(plan, indices.bytes()),
    };
    let chunk_bytes = CHUNK * to.bytes();
    let any_bad = in_chunks(output, chunk_bytes, |first, chunk| work.write(first, chunk));
    match any_bad && plan.reports_bad_indices() {
        true => check(plan, indices),
        false => Ok(()),
    }
}

/// One execution, shared by all threads.
struct Work<'a> {
    plan: &'a Plan,
    table: &'a QuantizedTable<'a>,
    to: FloatType,
    lookups: Lookups<'a>,
}

impl Work<'_> {
    /// Writes all of `output`, whose first byte is byte `first` of the whole output and the first
    /// of an element; returns whether some index was bad.
    fn write(&self, first: usize, mut output: &mut [u8]) -> bool {
        let width = self.to.bytes();
        let slice = self.plan.geometry().slice();
        let mut rows = Rows::new(self.plan.geometry(), first / width / slice);
        // The elements of the next row that lie before `output`.
        let mut skip = first / width % slice;
        let mut starts = [0; BLOCK];
        let mut any_bad = false;
        while !output.is_empty() {
            let left = (output.len() / width + skip).div_ceil(slice);
            let run = rows.next_run(left.min(BLOCK));
            self.lookups.find(run, &mut starts[..run.rows]);
            for &start in &starts[..run.rows] {
                let count = (slice - skip).min(output.len() / width);
                let (now, later) = output.split_at_mut(count * width);
                match start {
                    BAD => self.fill(now),
                    _ => self.decode(start / width + skip, now),
                }
                any_bad |= start == BAD;
                (output, skip) = (later, 0);
            }
        }
        any_bad
    }

    /// Decodes elements of the table from `first` on.
    fn decode(&self, first: usize, output: &mut [u8]) {
        // Straight to where they belong, if they are not rounded and lie as floats do.
        if let (FloatType::F32, Ok(values)) = (self.to, bytemuck::try_cast_slice_mut(output)) {
            return self.table.decode_within(first, values);
        }
        let mut values = [0.0; DECODED];
        let parts = output.chunks_mut(DECODED * self.to.bytes());
        for (n, part) in parts.enumerate() {
            let values = &mut values[..part.len() / self.to.bytes()];
            self.table.decode_within(first + n * DECODED, values);
            self.to.write(values, part);
        }
    }

    /// Writes what a bad index gives.
    fn fill(&self, row: &mut [u8]) {
        match &self.plan.rules().out_of_bounds {
            OutOfBounds::Fill(value) => {
                let elements = row.chunks_exact_mut(value.bytes().len());
                elements.for_each(|to| to.copy_from_slice(value.bytes()));
            }
            _ => row.fill(0),
        }
    }
}
