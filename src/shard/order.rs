//! From indices to rows, and from rows to the order in which their owners are asked for them.

use super::format::RowFormat;
use super::partition::Partition;
use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::index::{Word, load, with_index_type};
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::packed::packed;
use crate::plan::Plan;
use crate::rules::Rules;
use crate::shape::Layout;

/// The source of a lookup that has none.
pub(super) const NONE: u64 = u64::MAX;

/// No row, among resolved ones: the last row of the largest table has a lower number.
const BAD: usize = usize::MAX;

/// The gather as a plan on the whole table, and the row that each index selects by the rules, or
/// [`BAD`]. No row, if the output is empty.
pub(super) fn resolved(
    partition: &Partition,
    format: &RowFormat,
    rules: &Rules,
    indices: &Indices<'_>,
) -> Result<(Plan, Vec<usize>)> {
    let (index_type, layout) = (indices.index_type(), indices.layout());
    let width = format.element_bytes();
    let table = Layout::contiguous(&format.shape_of(partition.rows()));
    let plan = Plan::new(Op::gather(0), rules, width, &table, index_type, layout)?;
    if plan.is_empty() {
        return Ok((plan, Vec::new()));
    }
    let values = Params::new(indices.bytes(), index_type.dtype(), layout.clone())?;
    let bytes = packed(Role::Indices, &values)?;
    let extent = partition.rows();
    let rows = with_index_type!(index_type, I => each::<I>(&bytes, rules, extent))?;
    if plan.reports_bad_indices()
        && let Some(first) = rows.iter().position(|&row| row == BAD)
    {
        let count = rows.iter().filter(|&&row| row == BAD).count();
        let value = index_type.load(&bytes, first);
        let bad = plan.bad_lookups(first as u64, &[value], count as u64);
        return Err(Error::IndexOutOfBounds(Box::new(bad)));
    }
    Ok((plan, rows))
}

fn each<W: Word>(bytes: &[u8], rules: &Rules, extent: usize) -> Result<Vec<usize>> {
    let mut rows = memory(bytes.len() / size_of::<W>())?;
    for (n, row) in rows.iter_mut().enumerate() {
        *row = rules.resolve(load::<W>(bytes, n), extent).unwrap_or(BAD);
    }
    Ok(rows)
}

/// The rows asked for, where each shard's start among them, and the source of each lookup.
pub(super) struct Ordered {
    pub(super) asked: Vec<u64>,
    pub(super) starts: Vec<usize>,
    pub(super) sources: Vec<u64>,
}

/// Each row once: lookups sorted by owner and row, equal neighbours taken together.
pub(super) fn ordered_once(partition: &Partition, rows: Vec<usize>) -> Result<Ordered> {
    let mut sources = memory(rows.len())?;
    let mut lookups = memory::<[usize; 2]>(rows.len())?;
    for (lookup, (n, &row)) in lookups.iter_mut().zip(rows.iter().enumerate()) {
        let ordinal = if row == BAD {
            BAD
        } else {
            partition.ordinal(row)
        };
        *lookup = [ordinal, n];
    }
    drop(rows);
    lookups.sort_unstable();
    let mut asked = Vec::new();
    let mut last = None;
    for &[ordinal, lookup] in &lookups {
        if ordinal == BAD {
            sources[lookup] = NONE;
            continue;
        }
        if last != Some(ordinal) {
            asked.push(ordinal as u64);
            last = Some(ordinal);
        }
        sources[lookup] = asked.len() as u64 - 1;
    }
    drop(lookups);
    let before = |&start: &usize| asked.partition_point(|&ordinal| ordinal < start as u64);
    let starts: Vec<usize> = partition.starts().iter().map(before).collect();
    for (shard, range) in starts.windows(2).enumerate() {
        let first = partition.starts()[shard] as u64;
        asked[range[0]..range[1]]
            .iter_mut()
            .for_each(|row| *row -= first);
    }
    Ok(Ordered {
        asked,
        starts,
        sources,
    })
}

/// A row for each lookup: distributed to their owners in the order of the lookups.
pub(super) fn ordered_all(partition: &Partition, rows: Vec<usize>) -> Result<Ordered> {
    let mut starts = vec![0; partition.shards() + 1];
    for (shard, _) in rows.iter().filter_map(|&row| partition.place(row)) {
        starts[shard + 1] += 1;
    }
    for shard in 0..partition.shards() {
        starts[shard + 1] += starts[shard];
    }
    let mut next = starts.clone();
    let mut asked = memory(starts[partition.shards()])?;
    let mut sources = memory(rows.len())?;
    for (source, &row) in sources.iter_mut().zip(&rows) {
        let Some((shard, local)) = partition.place(row) else {
            *source = NONE;
            continue;
        };
        asked[next[shard]] = local as u64;
        *source = next[shard] as u64;
        next[shard] += 1;
    }
    Ok(Ordered {
        asked,
        starts,
        sources,
    })
}

/// Zeroed memory for what goes with each index.
fn memory<T: Element<Bits = T>>(len: usize) -> Result<Vec<T>> {
    zeroed_bits::<T>(Role::Indices, len)
}
