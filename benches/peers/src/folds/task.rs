//! A case with its tensors.

use anyhow::{Result, bail};
use memmap2::MmapMut;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use wgpu_gather::quantized::{BlockFormat, FloatType, QuantizedTable};
use wgpu_gather::{AnyTable, IndexType, Indices, Layout, Op, Params, Rules};

use super::cases::{Case, Kind, Stored};
use crate::bench;
use crate::bench::inputs::draw;
use crate::bench::values::Values;
use crate::bench::verb::Verb;
use crate::serve::huge;
use crate::task::SETS;

/// Numbers are whole and small, so that their sums are the same in any order. All memory begins with a page, as
/// that of other libraries begins with a cache line.
pub(crate) struct Task {
    pub(crate) case: Case,
    pub(crate) rows: Memory,
    pub(crate) ids: [Vec<i32>; SETS],
    /// Of a scatter.
    pub(crate) updates: Memory,
    /// Of weighted bags.
    pub(crate) weights: Memory,
}

/// Bytes in large pages, where the system has them.
pub(crate) struct Memory {
    map: MmapMut,
    len: usize,
}

impl Memory {
    pub(crate) fn new(bytes: &[u8]) -> Result<Self> {
        Ok(Memory {
            map: huge(bytes)?,
            len: bytes.len(),
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map[..self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map[..self.len]
    }

    pub(crate) fn floats(&self) -> &[f32] {
        bytemuck::cast_slice(self.bytes())
    }
}

impl Task {
    pub(crate) fn new(case: Case) -> Result<Self> {
        let drawn = bench::case::Case {
            name: String::new(),
            group: "",
            what: "",
            verb: Verb::SumBags,
            op: Op::gather(0),
            dtype: case.stored.dtype(),
            format: None,
            index_type: IndexType::I32,
            params: vec![case.rows, case.columns],
            indices: vec![case.ids],
            divided: [None, None],
            pattern: case.pattern,
            bad: 0.0,
        };
        let scaled = drawn.scaled(1, &Rules::default())?;
        let width = case.stored.dtype().bytes();
        let numbers = |stream: u64, count: usize| -> Result<Memory> {
            let mut bytes = vec![0; count * width];
            match case.stored {
                Stored::As(wgpu_gather::DType::F64) => doubles(stream, &mut bytes),
                _ => Values::of(&drawn)?.fill(stream, &mut bytes),
            }
            Memory::new(&bytes)
        };
        let rows = match case.stored {
            Stored::As(_) => numbers(0, case.rows * case.columns)?,
            Stored::Blocks(_) | Stored::Bytes => Memory::new(&codes(&case)?)?,
        };
        let updates = match case.kind {
            Kind::Scatter(_) | Kind::InPlace(_) | Kind::Gradient => case.ids * case.columns,
            Kind::Bags { .. } => 0,
        };
        let weights = match case.kind {
            Kind::Bags { weighted: true, .. } => case.ids,
            _ => 0,
        };
        let mut ids = Vec::new();
        for set in 0..SETS as u64 {
            ids.push(bytemuck::pod_collect_to_vec(&draw(&scaled, set)?));
        }
        let Ok(ids) = ids.try_into() else {
            bail!("not {SETS} sets of ids");
        };
        Ok(Task {
            case,
            rows,
            ids,
            updates: numbers(1, updates)?,
            weights: numbers(2, weights)?,
        })
    }

    /// Bytes that have to be read and written: rows that are read, and those that are written.
    pub(crate) fn bytes(&self) -> u64 {
        let case = &self.case;
        let stored = (self.rows.len / case.rows) as u64;
        let written = (case.columns * case.stored.dtype().bytes()) as u64;
        let ids = case.ids as u64 * (stored + 4);
        ids + match case.kind {
            // The copy reads and writes the base; what the sums read and write of it is beside that.
            // In place, they do at most as much.
            Kind::Scatter(_) | Kind::InPlace(_) => written * 2 * case.rows as u64,
            Kind::Gradient => written * case.rows as u64,
            Kind::Bags { each, .. } => written * (case.ids / each) as u64,
        }
    }

    pub(crate) fn params<'a>(&self, bytes: &'a [u8], shape: &[usize]) -> Result<Params<'a>> {
        let layout = Layout::contiguous(shape);
        Ok(Params::new(bytes, self.case.stored.dtype(), layout)?)
    }

    /// The set of ids with this number.
    pub(crate) fn indices(&self, set: usize) -> Result<Indices<'_>> {
        let layout = Layout::contiguous(&self.case.ids_shape());
        let bytes: &[u8] = bytemuck::cast_slice(&self.ids[set]);
        Ok(Indices::new(bytes, IndexType::I32, layout)?)
    }

    /// The quantized table, if it is one.
    pub(crate) fn quantized(&self) -> Result<Option<QuantizedTable<'_>>> {
        let (shape, bytes) = ([self.case.rows, self.case.columns], self.rows.bytes());
        Ok(match self.case.stored {
            Stored::As(_) => None,
            Stored::Blocks(format) => Some(QuantizedTable::blocks(format, &shape, bytes)?),
            Stored::Bytes => Some(QuantizedTable::rows(&shape, bytes)?),
        })
    }

    /// What bags read.
    pub(crate) fn table<'a>(
        &'a self,
        quantized: &'a Option<QuantizedTable<'a>>,
    ) -> Result<AnyTable<'a>> {
        Ok(match quantized {
            Some(table) => AnyTable::Quantized(table, FloatType::F32),
            None => {
                let shape = [self.case.rows, self.case.columns];
                AnyTable::Plain(self.params(self.rows.bytes(), &shape)?)
            }
        })
    }
}

fn doubles(stream: u64, bytes: &mut [u8]) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(stream);
    for element in bytes.chunks_exact_mut(8) {
        let number = f64::from(random.random_range(-8i8..8));
        element.copy_from_slice(&number.to_ne_bytes());
    }
}

/// A quantized table whose scales are 1, so that its elements are whole numbers: any codes, with the scale before
/// each block; or those from 0 to 15, with scale and bias behind each row.
fn codes(case: &Case) -> Result<Vec<u8>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let one = half::f16::ONE.to_le_bytes();
    let count = case.rows * case.columns;
    let mut bytes = match case.stored {
        Stored::Blocks(format) => vec![0; count / format.block_elements() * format.block_bytes()],
        _ => vec![0; count + 8 * case.rows],
    };
    random.fill(&mut bytes[..]);
    match case.stored {
        Stored::Blocks(format @ (BlockFormat::Q8_0 | BlockFormat::Q4_0)) => {
            let blocks = bytes.chunks_exact_mut(format.block_bytes());
            blocks.for_each(|block| block[..2].copy_from_slice(&one));
        }
        Stored::Bytes => {
            for row in bytes.chunks_exact_mut(case.columns + 8) {
                let (codes, tail) = row.split_at_mut(case.columns);
                codes.iter_mut().for_each(|code| *code %= 16);
                tail[..4].copy_from_slice(&1f32.to_le_bytes());
                tail[4..].copy_from_slice(&(-8f32).to_le_bytes());
            }
        }
        other => bail!("no codes of {} are drawn", other.name()),
    }
    Ok(bytes)
}
