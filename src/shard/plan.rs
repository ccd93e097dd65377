//! What one gather asks of each shard, and where the rows that come back belong.
//!
//! Two orders meet here. The rows come back ordered by shard, and within a shard as they were asked
//! for. The output wants them in the order of the indices. So:
//!
//! ```text
//! indices    7  2  7  9  0      rules: 9 is bad
//! resolved   7  2  7  -  0      by the asker, against the extent of the whole table
//! ordered    0  2 | 7  7        by owner; here shard 0 has rows 0 to 3
//! asked      0  2 | 3           each once, as the owner numbers them
//! sources    2  1  2  -  0      which of the rows that came back
//! ```
//!
//! The output is then a gather of the rows that came back at `sources`, in which what has no source is
//! a bad index under the rule "zero" or "fill".

use std::borrow::Cow;
use std::ops::Range;

use super::format::RowFormat;
use super::order::{NONE, ordered_all, ordered_once, resolved};
use super::partition::Partition;
use crate::cpu;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::index::IndexType;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::plan::Plan;
use crate::rules::{Negative, OutOfBounds, Rules};
use crate::shape::{Layout, check_output_bytes};

/// A `gather` along the first axis of a table whose rows lie on several shards.
///
/// It says which rows to ask each shard for ([`ShardPlan::asked_of`]), and how those that come back
/// make the output ([`ShardPlan::sources`], [`ShardPlan::assemble`]). See the
/// [module](crate::shard) for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardPlan {
    format: RowFormat,
    /// The rows asked for, as their owners number them, ordered by owner.
    asked: Vec<u64>,
    /// Where the rows of each owner start in `asked`, and its length.
    starts: Vec<usize>,
    sources: Vec<u64>,
    /// What a lookup without a source gives.
    missing: Rules,
    /// Lookups that have a source.
    found: usize,
    output_shape: Vec<usize>,
    output_bytes: usize,
}

impl ShardPlan {
    /// In [`ShardPlan::sources`]: no row; the output holds zeros or the fill value.
    pub const NONE: u64 = NONE;

    /// Plans a gather at `indices` from a table of such rows.
    ///
    /// The rules are applied here, against the extent of the whole table, so that every row asked for
    /// exists. With `dedupe`, a row that several indices select is asked for once; otherwise once for
    /// each of them, in their order. If the output is empty, nothing is asked for.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`] under the rule [`OutOfBounds::Error`], [`Error::NothingToRead`],
    /// [`Error::FillWidth`], [`Error::SizeOverflow`], and [`Error::HostOutOfMemory`].
    pub fn new(
        partition: &Partition,
        format: &RowFormat,
        rules: &Rules,
        indices: &Indices<'_>,
        dedupe: bool,
    ) -> Result<ShardPlan> {
        let (plan, rows) = resolved(partition, format, rules, indices)?;
        let ordered = match dedupe {
            true => ordered_once(partition, rows)?,
            false => ordered_all(partition, rows)?,
        };
        Ok(ShardPlan {
            format: format.clone(),
            asked: ordered.asked,
            starts: ordered.starts,
            found: ordered.sources.iter().filter(|&&s| s != Self::NONE).count(),
            sources: ordered.sources,
            missing: missing(rules),
            output_shape: plan.output_shape().to_vec(),
            output_bytes: plan.output_bytes(),
        })
    }

    /// Checks a call, and under the rule [`OutOfBounds::Error`] its indices: for one that is to be made
    /// part by part, and not to begin where it would fail.
    ///
    /// # Errors
    ///
    /// Rules that cannot be followed, and bad indices: those of [`ShardPlan::new`].
    pub fn check(
        partition: &Partition,
        format: &RowFormat,
        rules: &Rules,
        indices: &Indices<'_>,
    ) -> Result<()> {
        resolved(partition, format, rules, indices).map(|_| ())
    }

    /// The format of a row.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// The shape of the output: that of indices, then that of a row.
    pub fn output_shape(&self) -> &[usize] {
        &self.output_shape
    }

    /// Bytes of the output.
    pub fn output_bytes(&self) -> usize {
        self.output_bytes
    }

    /// The rows to ask a shard for, as it numbers them: ascending if each is asked for once. None, if
    /// there is no such shard.
    pub fn asked_of(&self, shard: usize) -> &[u64] {
        &self.asked[self.range_of(shard)]
    }

    /// The range of a shard's rows among the rows that come back.
    pub(super) fn range_of(&self, shard: usize) -> Range<usize> {
        match self.starts.get(shard..=shard.saturating_add(1)) {
            Some(&[start, end]) => start..end,
            _ => 0..0,
        }
    }

    /// Number of rows that are requested.
    pub fn rows(&self) -> usize {
        self.asked.len()
    }

    /// Bytes of the rows that come back, which [`ShardPlan::assemble`] takes.
    pub fn row_bytes(&self) -> usize {
        // No more than the output has.
        self.asked.len() * self.format.bytes()
    }

    /// Number of lookups that share a row requested by another lookup.
    pub fn duplicates(&self) -> usize {
        self.found - self.asked.len()
    }

    /// For each index, in row-major order, which of the rows that come back it selects, or
    /// [`ShardPlan::NONE`].
    pub fn sources(&self) -> &[u64] {
        &self.sources
    }

    /// True if the rows that come back already are the output, in order.
    pub fn is_in_order(&self) -> bool {
        self.sources.len() == self.asked.len()
            && (0u64..).zip(&self.sources).all(|(n, &source)| n == source)
    }

    /// Writes the output, given the rows that came back: those of the first shard, as they were asked
    /// for, then those of the next.
    ///
    /// # Errors
    ///
    /// [`Error::ViewOutOfRange`] if rows are missing, [`Error::OutputLength`].
    pub fn assemble(&self, rows: &[u8], output: &mut [u8]) -> Result<()> {
        self.check_output(output.len())?;
        let width = self.format.element_bytes();
        let row_elements = self.format.bytes() / width;
        let params = Layout::contiguous(&[self.rows(), row_elements]);
        let params = Params::new(rows, width, params)?;
        let sources = Cow::Borrowed(bytemuck::cast_slice(&self.sources));
        let indices = Layout::contiguous(&[self.sources.len()]);
        let indices = Indices::new(sources, IndexType::U64, indices)?;
        let plan = Plan::of(Op::gather(0), &self.missing, &params, &indices)?;
        cpu::gather::plain::execute(&plan, &params, &indices, output)
    }

    /// Checks the length of the output, before anything is asked for.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`].
    pub fn check_output(&self, bytes: usize) -> Result<()> {
        check_output_bytes(Op::gather(0).kind(), self.output_bytes, bytes)
    }
}

/// What is left of the rules once good indices have a source: what the others give.
fn missing(rules: &Rules) -> Rules {
    let out_of_bounds = match &rules.out_of_bounds {
        OutOfBounds::Fill(fill) => OutOfBounds::Fill(fill.clone()),
        _ => OutOfBounds::Zero,
    };
    Rules::new(Negative::OutOfBounds, out_of_bounds)
}
