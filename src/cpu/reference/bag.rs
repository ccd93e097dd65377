//! The definition of a pooled lookup, one output element at a time. It shares the checks and the arithmetic of one
//! step with the CPU path. What the plan makes of the call (ranges, rows, shapes) it does not look at.

use std::ops::Range;

use super::definition::{Coordinates, joined};
use crate::bag::{BagMode, Split};
use crate::call::EmbeddingBag;
use crate::error::{BadIndices, Error, OpKind, Result, Role};
use crate::fold::{Fold, Pool, Pooling, pool_with};
use crate::operand::{AnyTable, Params};
use crate::rules::OutOfBounds;
use crate::shape::{Dims, Layout, check_output_bytes, elements};

/// Executes `call`, writing the output's bytes, row-major.
pub(crate) fn embedding_bag(call: &EmbeddingBag<'_>, output: &mut [u8]) -> Result<()> {
    let dtype = call.dtype()?;
    call.plan()?; // for what is wrong with the call
    let shape = [&[bags(call)], &call.table.shape()[1..]].concat();
    let expected = elements(Role::Output, &shape, dtype.bytes())? * dtype.bytes();
    check_output_bytes(OpKind::EmbeddingBag, expected, output.len())?;
    if output.is_empty() {
        return Ok(());
    }
    for (bag, row) in output.chunks_exact_mut(expected / shape[0]).enumerate() {
        let lookups = &lookups(call, bag);
        let elements = row.chunks_exact_mut(dtype.bytes());
        for (column, element) in Coordinates::new(&shape[1..]).zip(elements) {
            let column = Column {
                call,
                lookups,
                at: &column,
            };
            element.copy_from_slice(&pool_with(call.bags.mode, dtype, column)?);
        }
    }
    match call.rules.out_of_bounds {
        OutOfBounds::Error => report(call),
        _ => Ok(()),
    }
}

/// How many bags there are.
fn bags(call: &EmbeddingBag<'_>) -> usize {
    match call.bags.split {
        Split::Rows => call.indices.layout().shape()[0],
        Split::OffsetsWithLast(offsets) => offsets.len() - 1,
        Split::Offsets(offsets) => offsets.len(),
    }
}

/// The row that stands for nothing.
fn padding(call: &EmbeddingBag<'_>) -> Option<usize> {
    let index = call.bags.padding_index?;
    let rows = call.table.shape()[0];
    Some(match index {
        0.. => index as usize,
        _ => rows - index.unsigned_abs(),
    })
}

/// The positions of the indices of a bag, in order: coordinates of the indices.
fn lookups(call: &EmbeddingBag<'_>, bag: usize) -> Vec<Dims<usize>> {
    let shape = call.indices.layout().shape();
    let of_vector = |range: Range<usize>| range.map(|n| Dims::from_slice(&[n])).collect();
    match call.bags.split {
        Split::Rows => (0..shape[1]).map(|n| Dims::from_slice(&[bag, n])).collect(),
        Split::OffsetsWithLast(offsets) => of_vector(offsets[bag]..offsets[bag + 1]),
        Split::Offsets(offsets) => {
            let end = offsets.get(bag + 1).copied().unwrap_or(shape[0]);
            of_vector(offsets[bag]..end)
        }
    }
}

/// One column of one bag.
struct Column<'a> {
    call: &'a EmbeddingBag<'a>,
    lookups: &'a [Dims<usize>],
    at: &'a [usize],
}

impl Column<'_> {
    /// The row of the table that a lookup selects.
    fn row(&self, lookup: &[usize]) -> Option<usize> {
        row(self.call, lookup)
    }

    fn value<T: Fold>(&self, row: Option<usize>) -> T {
        match (row, &self.call.rules.out_of_bounds) {
            (Some(row), _) => element(&self.call.table, &joined(&[&[row], self.at])),
            (None, OutOfBounds::Fill(fill)) => bytemuck::pod_read_unaligned(fill.bytes()),
            (None, _) => T::zeroed(),
        }
    }
}

impl Pooling for Column<'_> {
    type Output = Vec<u8>;

    fn pool<T: Fold, C: Pool<T>>(self) -> Vec<u8> {
        let mode = self.call.bags.mode;
        let mut fold: Option<T::Sum> = None;
        let mut count = 0;
        for lookup in self.lookups {
            let row = self.row(lookup);
            if row.is_some() && row == padding(self.call) {
                continue;
            }
            let mut value = self.value::<T>(row).widen();
            if let Some(weights) = &self.call.weights {
                value = T::mul(load::<T>(weights, lookup).widen(), value);
            }
            fold = Some(match (fold, mode) {
                (None, BagMode::Max) => value,
                (before, _) => C::combine(before.unwrap_or(T::zeroed().widen()), value),
            });
            count += 1;
        }
        let end = fold.map_or(T::zeroed(), |sum| match mode {
            BagMode::Mean => T::narrow(T::mean(sum, count)),
            BagMode::Sum | BagMode::Max => T::narrow(sum),
        });
        bytemuck::bytes_of(&end).to_vec()
    }
}

/// The element of a table at these coordinates.
fn element<T: Fold>(table: &AnyTable<'_>, coordinates: &[usize]) -> T {
    match table {
        AnyTable::Plain(params) => load(params, coordinates),
        AnyTable::Quantized(table, _) => {
            let mut value = [0.0];
            table.decode_within(
                Layout::contiguous(table.shape()).position(coordinates),
                &mut value,
            );
            bytemuck::pod_read_unaligned(bytemuck::cast_slice(&value))
        }
    }
}

/// The element at these coordinates.
fn load<T: Fold>(tensor: &Params<'_>, coordinates: &[usize]) -> T {
    let start = tensor.layout().position(coordinates) * size_of::<T>();
    bytemuck::pod_read_unaligned(&tensor.bytes()[start..start + size_of::<T>()])
}

/// The row of the table that the index there selects.
fn row(call: &EmbeddingBag<'_>, lookup: &[usize]) -> Option<usize> {
    let value = call.indices.load(call.indices.layout().position(lookup));
    call.rules.resolve(value, call.table.shape()[0])
}

/// The first bad index, and how many there are, as an error; nothing if there is none.
fn report(call: &EmbeddingBag<'_>) -> Result<()> {
    let all = (0..bags(call)).flat_map(|bag| lookups(call, bag));
    let mut bad = all.filter(|lookup| row(call, lookup).is_none());
    let Some(position) = bad.next() else {
        return Ok(());
    };
    Err(Error::IndexOutOfBounds(Box::new(BadIndices {
        op: OpKind::EmbeddingBag,
        value: call.indices.load(call.indices.layout().position(&position)),
        position: position.into_vec(),
        axis: 0,
        extent: call.table.shape()[0],
        count: 1 + bad.count() as u64,
    })))
}
