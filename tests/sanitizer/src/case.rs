//! A call of the traffic table: what it makes of ids, and which rows these name.

use std::collections::BTreeSet;

use gather_conformance::{Bag, Call, Laid, Scatter, tame_values};
use half::f16;
use wgpu_gather::quantized::{BlockFormat, Float, QuantizedTable};
use wgpu_gather::{
    BagMode, Bags, DType, Executor, IndexType, Layout, Op, Reduce, Result, Rules, Tensor,
};

use crate::gather::Gather;
use crate::patterns::Pattern;
use crate::sectors::SECTOR;

/// A call that waits for its ids.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) lookups: usize,
    /// The ids are below.
    pub(crate) rows: usize,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Gather(Gather),
    /// Rows of so many elements, decoded to f16 or f32.
    Quantized(BlockFormat, usize, DType),
    /// Bags of so many lookups of rows of so many elements, decoded to f32.
    QuantizedBags(BlockFormat, usize, usize),
    Scatter(DType, Reduce, usize),
    /// Bags of so many lookups of rows of so many elements.
    Bags(DType, usize, usize),
}

const ZEROS: &Rules = &Rules::TENSORFLOW_GPU;

impl Case {
    /// The ids of a pattern.
    pub(crate) fn ids(&self, pattern: Pattern) -> Vec<u32> {
        match &self.kind {
            Kind::Gather(gather) => {
                let mut ids = pattern.ids(self.lookups, self.rows, gather.run());
                gather.spoil(&mut ids);
                ids
            }
            _ => pattern.ids(self.lookups, self.rows, (self.lookups, 1)),
        }
    }

    /// What is wrong with what the executor makes of it with these ids; nothing, if that is what the reference
    /// makes.
    pub(crate) fn difference(&self, executor: &Executor, ids: &[u32]) -> Option<String> {
        match &self.kind {
            Kind::Gather(gather) => gather.difference(executor, ids),
            &Kind::Quantized(format, elements, to) => {
                let bytes = blocks(format, self.rows * elements);
                let table = QuantizedTable::blocks(format, &[self.rows, elements], &bytes);
                let table = table.expect("whole blocks");
                match to {
                    DType::F16 => same(executor, |on| rows::<f16>(on, &table, ids)),
                    _ => same(executor, |on| rows::<f32>(on, &table, ids)),
                }
            }
            &Kind::QuantizedBags(format, each, elements) => {
                let bytes = blocks(format, self.rows * elements);
                let table = QuantizedTable::blocks(format, &[self.rows, elements], &bytes);
                let table = table.expect("whole blocks");
                same(executor, |on| sums(on, &table, ids, each))
            }
            &Kind::Scatter(dtype, reduce, columns) => {
                let scatter = Scatter {
                    call: Call {
                        op: Op::gather(0),
                        rules: ZEROS.clone(),
                        element_bytes: dtype.bytes(),
                        params: Vec::new(),
                        params_layout: Layout::contiguous(&[self.rows, columns]),
                        index_type: IndexType::U32,
                        indices: bytemuck::cast_slice(ids).to_vec(),
                        indices_layout: Layout::contiguous(&[ids.len()]),
                    },
                    reduce,
                    dtype,
                    base: tame_values(dtype, reduce, self.rows * columns, 1),
                    updates: tame_values(dtype, reduce, ids.len() * columns, 2),
                    updates_layout: Layout::contiguous(&[ids.len(), columns]),
                };
                scatter.difference(executor)
            }
            &Kind::Bags(dtype, each, columns) => {
                let bag = Bag {
                    mode: BagMode::Sum,
                    offsets: None,
                    padding: None,
                    rules: ZEROS.clone(),
                    dtype,
                    params: Laid {
                        bytes: tame_values(dtype, Reduce::Add, self.rows * columns, 3),
                        layout: Layout::contiguous(&[self.rows, columns]),
                    },
                    index_type: IndexType::U32,
                    indices: Laid {
                        bytes: bytemuck::cast_slice(ids).to_vec(),
                        layout: Layout::contiguous(&[ids.len() / each, each]),
                    },
                    weights: None,
                };
                bag.difference(executor)
            }
        }
    }

    /// The bytes of the sectors of all rows that are looked up, if the binding of the pipeline has rows; of a
    /// destination, each row once.
    pub(crate) fn sectors_of_rows(
        &self,
        pipeline: &str,
        binding: &str,
        ids: &[u32],
    ) -> Option<u64> {
        if !is_rows(binding) {
            return None;
        }
        let rows_of = |row_bytes: usize, rows: Vec<u64>| {
            let row_bytes = row_bytes as u64;
            let bytes = rows
                .into_iter()
                .map(|n| (n * row_bytes, (n + 1) * row_bytes));
            bytes.collect()
        };
        let numbers = || (0..ids.len() as u64).collect();
        let ids_of = || ids.iter().map(|&id| u64::from(id));
        let rows: Vec<(u64, u64)> = match &self.kind {
            Kind::Gather(gather) => gather.slice_bytes(ids),
            // The rows are decoded first, in order.
            Kind::QuantizedBags(_, _, elements) if pipeline.starts_with("bag") => {
                rows_of(elements * DType::F32.bytes(), numbers())
            }
            Kind::Quantized(format, elements, _) | Kind::QuantizedBags(format, _, elements) => {
                let bytes = elements / format.block_elements() * format.block_bytes();
                rows_of(bytes, ids_of().collect())
            }
            Kind::Scatter(dtype, _, columns) => {
                let rows = match binding {
                    "updates" => numbers(),
                    _ => ids_of().collect::<BTreeSet<u64>>().into_iter().collect(),
                };
                rows_of(columns * dtype.bytes(), rows)
            }
            Kind::Bags(dtype, _, columns) => rows_of(columns * dtype.bytes(), ids_of().collect()),
        };
        let sectors = |(start, end): (u64, u64)| (end.div_ceil(SECTOR) - start / SECTOR) * SECTOR;
        Some(rows.into_iter().map(sectors).sum())
    }
}

/// Whether the binding of that name has rows that are looked up.
pub(crate) fn is_rows(binding: &str) -> bool {
    ["params", "updates", "destination"].contains(&binding)
}

/// Blocks of so many elements whose scales are 1.
fn blocks(format: BlockFormat, elements: usize) -> Vec<u8> {
    let code = |n: usize| (n * 37 + n / 101) as u8;
    let block = |n: usize| {
        let codes = (2..format.block_bytes()).map(move |k| code(n * 64 + k));
        f16::ONE.to_le_bytes().into_iter().chain(codes)
    };
    let blocks = elements / format.block_elements();
    (0..blocks).flat_map(block).collect()
}

fn rows<T: Float>(
    executor: &Executor,
    table: &QuantizedTable<'_>,
    ids: &[u32],
) -> Result<Tensor<T>> {
    let ids = Tensor::new(&[ids.len()], ids.to_vec())?;
    let decoded = table.to::<T>();
    let call = executor.gather(Op::gather(0), ZEROS, &decoded, &ids);
    call.wait()
}

fn sums(
    executor: &Executor,
    table: &QuantizedTable<'_>,
    ids: &[u32],
    each: usize,
) -> Result<Tensor<f32>> {
    let ids = Tensor::new(&[ids.len() / each, each], ids.to_vec())?;
    let bags = Bags::rows(BagMode::Sum);
    let decoded = table.to::<f32>();
    let call = executor.embedding_bag(bags, ZEROS, &decoded, &ids);
    call.wait()
}

/// What is wrong with what the executor makes; nothing, if that is what the reference makes.
fn same<T: Float + PartialEq>(
    executor: &Executor,
    run: impl Fn(&Executor) -> Result<Tensor<T>>,
) -> Option<String> {
    match (run(executor), run(&Executor::Reference)) {
        (Ok(got), Ok(expected)) if got.data() == expected.data() => None,
        (Ok(_), Ok(_)) => Some("other bits than the reference's".to_owned()),
        (Err(error), _) | (_, Err(error)) => Some(error.to_string()),
    }
}
