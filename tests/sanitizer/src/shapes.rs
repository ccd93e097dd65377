//! The calls of the traffic table: the shapes of the benchmarks, small.

use std::collections::BTreeSet;

use gather_conformance::{Bag, Call, Laid, Outcome, Scatter, check_call, tame_values};
use half::f16;
use pollster::block_on;
use wgpu_gather::quantized::{BlockFormat, Float, QuantizedTable};
use wgpu_gather::{BagMode, DType, Executor, IndexType, Layout, Op, Reduce, Rules, Tensor};

use crate::sectors::SECTOR;

/// A call that waits for its ids.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) lookups: usize,
    /// The ids are below.
    pub(crate) rows: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Rows of so many elements of so many bytes.
    Gather(usize, usize, &'static Rules),
    /// The same by 64-bit indices.
    Wide(usize, usize),
    /// Elements of rows, so many of each.
    Elements(usize),
    Quantized(BlockFormat, bool),
    Scatter(DType, Reduce, usize),
    /// Bags of so many lookups of rows of so many elements.
    Bags(DType, usize, usize),
}

/// Elements of a quantized row.
const QUANTIZED: usize = 256;

pub(crate) fn cases() -> Vec<Case> {
    use Kind::{Bags, Elements, Gather, Quantized, Scatter, Wide};
    let zeros = &Rules::TENSORFLOW_GPU;
    #[rustfmt::skip]
    let gathers = [
        ("rows of 3072 bytes", 128, 500, Gather(768, 4, zeros)),
        ("rows of 256 bytes", 1024, 3000, Gather(64, 4, zeros)),
        ("rows of 16 bytes", 4096, 20_000, Gather(4, 4, zeros)),
        ("rows of 4 bytes", 8192, 60_000, Gather(1, 4, zeros)),
        ("rows of 300 bytes", 512, 3000, Gather(300, 1, zeros)),
        ("rows of 3 bytes", 4096, 20_000, Gather(3, 1, zeros)),
        ("rows of 1 byte", 8192, 60_000, Gather(1, 1, zeros)),
        ("rows of 256 bytes, errors", 1024, 3000, Gather(64, 4, &Rules::TORCH)),
        ("rows of 256 bytes, wrapped", 1024, 3000, Gather(64, 4, &Rules::NUMPY_WRAP)),
        ("rows of 4 bytes, wrapped", 8192, 60_000, Gather(1, 4, &Rules::NUMPY_WRAP)),
        ("rows of 256 bytes, i64", 1024, 3000, Wide(64, 4)),
        ("rows of 2048 bytes, i64", 128, 500, Wide(512, 4)),
        ("32 elements of each row", 4096, 500, Elements(32)),
    ];
    // The other rows of `row-bytes` and of models.
    let sizes = [
        2, 8, 32, 64, 128, 384, 385, 512, 1024, 2048, 3584, 4096, 8192, 16_384, 32_768, 65_536,
    ];
    let rows = sizes.map(|bytes: usize| {
        // Whole fours of 16 bytes, as in the benchmarks.
        let lookups = (256 << 10) / bytes.max(64) / 16 * 16;
        let rows = (4 << 20) / bytes.max(256);
        (
            format!("rows of {bytes} bytes"),
            lookups.max(8),
            rows,
            Gather(bytes, 1, zeros),
        )
    });
    #[rustfmt::skip]
    let quantized = [
        ("Q8_0 to f32", 256, 1000, Quantized(BlockFormat::Q8_0, false)),
        ("Q8_0 to f16", 256, 1000, Quantized(BlockFormat::Q8_0, true)),
        ("Q4_0 to f16", 256, 1000, Quantized(BlockFormat::Q4_0, true)),
    ];
    #[rustfmt::skip]
    let scatters = [
        ("add rows of 3072 bytes", 128, 500, Scatter(DType::F32, Reduce::Add, 768)),
        ("add rows of 256 bytes", 1024, 1000, Scatter(DType::F32, Reduce::Add, 64)),
        ("add rows of 16 bytes", 4096, 4000, Scatter(DType::F32, Reduce::Add, 4)),
        ("add single f32", 8192, 8000, Scatter(DType::F32, Reduce::Add, 1)),
        ("add rows of 128 bytes", 1024, 1000, Scatter(DType::F32, Reduce::Add, 32)),
        ("add rows of 1024 bytes", 256, 1000, Scatter(DType::F32, Reduce::Add, 256)),
        ("add rows of 64 f16", 512, 1000, Scatter(DType::F16, Reduce::Add, 64)),
        ("replace rows of 256 bytes", 1024, 1000, Scatter(DType::F32, Reduce::None, 64)),
        ("replace single f32", 8192, 8000, Scatter(DType::F32, Reduce::None, 1)),
        ("max of rows of 300 bytes", 512, 1000, Scatter(DType::F32, Reduce::Max, 75)),
        ("add rows of 64 bf16", 512, 1000, Scatter(DType::BF16, Reduce::Add, 64)),
        ("add rows of 64 bytes of i8", 512, 1000, Scatter(DType::I8, Reduce::Add, 64)),
    ];
    #[rustfmt::skip]
    let bags = [
        ("bags of 32 rows of 256 bytes", 1024, 3000, Bags(DType::F32, 32, 64)),
        ("bags of 1 rows of 256 bytes", 1024, 3000, Bags(DType::F32, 1, 64)),
        ("bags of 32 rows of 512 bytes", 512, 3000, Bags(DType::F32, 32, 128)),
        ("bags of 1000 rows of 256 bytes", 2000, 3000, Bags(DType::F32, 1000, 64)),
        ("bags of 8 rows of 64 bf16", 512, 3000, Bags(DType::BF16, 8, 64)),
        ("bags of 8 rows of 64 bytes of i8", 512, 3000, Bags(DType::I8, 8, 64)),
    ];
    let all = gathers.into_iter().chain(quantized).chain(scatters);
    let all = all
        .chain(bags)
        .map(|(name, lookups, rows, kind)| (name.to_owned(), lookups, rows, kind));
    all.chain(rows)
        .map(|(name, lookups, rows, kind)| Case {
            name,
            lookups,
            rows,
            kind,
        })
        .collect()
}

impl Case {
    /// What is wrong with what the executor makes of it with these ids; nothing, if that is what the reference
    /// makes.
    pub(crate) fn difference(&self, executor: &Executor, ids: &[u32]) -> Option<String> {
        match self.kind {
            Kind::Gather(columns, width, rules) => {
                let table = [self.rows, columns];
                gather(
                    executor,
                    self.call(Op::gather(0), rules, width, &table, ids, &[ids.len()]),
                )
            }
            Kind::Wide(columns, width) => {
                let (rules, table) = (&Rules::TENSORFLOW_GPU, [self.rows, columns]);
                let wide = ids.iter().flat_map(|&id| i64::from(id).to_ne_bytes());
                let call = Call {
                    index_type: IndexType::I64,
                    indices: wide.collect(),
                    ..self.call(Op::gather(0), rules, width, &table, ids, &[ids.len()])
                };
                gather(executor, call)
            }
            Kind::Elements(each) => {
                let (rules, table) = (&Rules::TENSORFLOW_GPU, [ids.len() / each, self.rows]);
                let shape = [ids.len() / each, each];
                gather(
                    executor,
                    self.call(Op::gather_elements(1), rules, 4, &table, ids, &shape),
                )
            }
            Kind::Quantized(format, true) => quantized::<f16>(executor, format, self.rows, ids),
            Kind::Quantized(format, false) => quantized::<f32>(executor, format, self.rows, ids),
            Kind::Scatter(dtype, reduce, columns) => {
                let (op, table) = (Op::gather(0), [self.rows, columns]);
                let scatter = Scatter {
                    call: Call {
                        params: Vec::new(),
                        ..self.call(
                            op,
                            &Rules::TENSORFLOW_GPU,
                            dtype.bytes(),
                            &table,
                            ids,
                            &[ids.len()],
                        )
                    },
                    reduce,
                    dtype,
                    base: tame_values(dtype, reduce, self.rows * columns, 1),
                    updates: tame_values(dtype, reduce, ids.len() * columns, 2),
                    updates_layout: Layout::contiguous(&[ids.len(), columns]),
                };
                scatter.difference(executor)
            }
            Kind::Bags(dtype, each, columns) => {
                let table = [self.rows, columns];
                let bag = Bag {
                    mode: BagMode::Sum,
                    offsets: None,
                    padding: None,
                    rules: Rules::TENSORFLOW_GPU,
                    dtype,
                    params: Laid {
                        bytes: tame_values(dtype, Reduce::Add, self.rows * columns, 3),
                        layout: Layout::contiguous(&table),
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

    /// The bytes of the sectors of all rows that are looked up, if the binding has rows; of a destination, each
    /// row once.
    pub(crate) fn sectors_of_rows(&self, binding: &str, ids: &[u32]) -> Option<u64> {
        if !is_rows(binding) {
            return None;
        }
        let numbers = || 0..ids.len() as u64;
        let ids = ids.iter().map(|&id| u64::from(id));
        let (row_bytes, rows): (u64, Vec<u64>) = match self.kind {
            Kind::Gather(columns, width, _) | Kind::Wide(columns, width) => {
                ((columns * width) as u64, ids.collect())
            }
            Kind::Elements(each) => {
                let row = |n: u64| n / each as u64 * self.rows as u64;
                (4, numbers().zip(ids).map(|(n, id)| row(n) + id).collect())
            }
            Kind::Quantized(format, _) => {
                let bytes = QUANTIZED / format.block_elements() * format.block_bytes();
                (bytes as u64, ids.collect())
            }
            Kind::Scatter(dtype, _, columns) => {
                let rows = match binding {
                    "updates" => numbers().collect(),
                    _ => ids.collect::<BTreeSet<u64>>().into_iter().collect(),
                };
                ((columns * dtype.bytes()) as u64, rows)
            }
            Kind::Bags(dtype, _, columns) => ((columns * dtype.bytes()) as u64, ids.collect()),
        };
        let sectors = |row: u64| {
            let (start, end) = (row * row_bytes, (row + 1) * row_bytes);
            (end.div_ceil(SECTOR) - start / SECTOR) * SECTOR
        };
        Some(rows.into_iter().map(sectors).sum())
    }

    fn call(
        &self,
        op: Op,
        rules: &Rules,
        element_bytes: usize,
        table: &[usize],
        ids: &[u32],
        shape: &[usize],
    ) -> Call {
        let bytes = table.iter().product::<usize>() * element_bytes;
        Call {
            op,
            rules: rules.clone(),
            element_bytes,
            params: (0..bytes).map(|n| (n * 31 + n / 251) as u8).collect(),
            params_layout: Layout::contiguous(table),
            index_type: IndexType::U32,
            indices: bytemuck::cast_slice(ids).to_vec(),
            indices_layout: Layout::contiguous(shape),
        }
    }
}

/// Whether the binding of that name has rows that are looked up.
pub(crate) fn is_rows(binding: &str) -> bool {
    ["params", "updates", "destination"].contains(&binding)
}

fn gather(executor: &Executor, call: Call) -> Option<String> {
    match block_on(check_call(&call, executor)) {
        Outcome::Failed(why) => Some(why),
        _ => None,
    }
}

/// Rows of a table whose scales are 1.
fn quantized<T: Float + PartialEq>(
    executor: &Executor,
    format: BlockFormat,
    rows: usize,
    ids: &[u32],
) -> Option<String> {
    let blocks = rows * QUANTIZED / format.block_elements();
    let code = |n: usize| (n * 37 + n / 101) as u8;
    let block = |n: usize| {
        let codes = (2..format.block_bytes()).map(move |k| code(n * 64 + k));
        f16::ONE.to_le_bytes().into_iter().chain(codes)
    };
    let bytes: Vec<u8> = (0..blocks).flat_map(block).collect();
    let run = |executor: &Executor| {
        let table = QuantizedTable::blocks(format, &[rows, QUANTIZED], &bytes)?;
        let ids = Tensor::new(&[ids.len()], ids.to_vec())?;
        let (op, rules, table) = (Op::gather(0), &Rules::TENSORFLOW_GPU, table.to::<T>());
        executor.gather(op, rules, &table, &ids).wait()
    };
    match (run(executor), run(&Executor::Reference)) {
        (Ok(got), Ok(expected)) if got.data() == expected.data() => None,
        (Ok(_), Ok(_)) => Some("other bits than the reference's".to_owned()),
        (Err(error), _) | (_, Err(error)) => Some(error.to_string()),
    }
}
