//! Steps that pool rows, and that read quantized tables.

use wgpu_gather::quantized::{BlockFormat, FloatType, QuantizedTable};
use wgpu_gather::{BagMode, Bags, DType, Op, with_index_type};

use super::calls::{
    Chosen, can_be_indices, has_nothing, index_type, indices_as, makes_subnormals, rules,
};
use super::expected::{Outcome, Stepped};
use super::machine::Machine;
use super::model::{Bag, Call, Gather};
use super::slots::{Slot, Table, Way, by};
use super::view::View;

/// Bags of indices: where each starts and ends; rows of two dims, or cut from one.
pub(super) fn cut(number: u8, indices: &View) -> Option<(Vec<usize>, Vec<usize>, bool)> {
    match indices.shape[..] {
        [bags, each] => {
            let ends = (1..=bags).map(|bag| bag * each).collect();
            Some((Vec::new(), ends, true))
        }
        [all] => {
            let first = usize::from(number) % (all + 1);
            let second = first + usize::from(number / 8) % (all - first + 1);
            Some((vec![0, first, second], vec![first, second, all], false))
        }
        _ => None,
    }
}

pub(super) fn bags_of(
    offsets: &[usize],
    is_rows: bool,
    mode: BagMode,
    padding: Option<usize>,
) -> Bags<'_> {
    let bags = match is_rows {
        true => Bags::rows(mode),
        false => Bags::offsets(mode, offsets),
    };
    match padding {
        Some(padding) => bags.with_padding_index(padding as isize),
        None => bags,
    }
}

/// A padding index for some of the calls.
pub(super) fn padding(number: u8, rows: usize) -> Option<usize> {
    (number % 5 == 4 && rows > 0).then(|| usize::from(number / 5) % rows)
}

impl Machine {
    pub(super) fn bag_indices(&mut self, number: u8, engine: usize) -> Result<Slot, String> {
        let found = self.pick(number, Some(engine), |slot| {
            can_be_indices(slot) && matches!(slot.view.rank(), 1 | 2)
        });
        match found {
            Some(slot) => Ok(slot),
            None => {
                let few = 1 + usize::from(number) % 4;
                self.uploaded(engine, DType::U32, &[few, 3], u16::from(number))
            }
        }
    }

    /// Whether weighted sums of a tensor's elements are exact: devices may round them once or twice.
    fn is_exact(&self, table: &View) -> bool {
        let elements = self.model.elements(table).into_iter();
        let mut values = elements.map(|bits| f32::from_bits(bits as u32));
        values.all(|value| value.abs() <= 1024.0 && (value * 16.0).fract() == 0.0)
    }

    pub(super) fn bag(
        &mut self,
        way: Option<Way<'_, '_>>,
        [params, indices, bags, mode, rule, into, stray]: [u8; 7],
    ) -> Stepped {
        let is_good = |slot: &Slot| slot.view.rank() > 0;
        let Some((params, way)) = self.start(params, way, is_good) else {
            return Ok(Outcome::Skipped);
        };
        let (engine, is_new, dtype) = (way.engine(), way.is_batch(), params.view.dtype);
        let chosen = Chosen {
            op: Op::gather(0),
            indices: match stray {
                1 => self
                    .pick(indices, None, Slot::is_the_engines)
                    .unwrap_or_else(|| params.clone()),
                _ => self.bag_indices(indices, engine)?,
            },
            index_type: wgpu_gather::IndexType::U32,
        };
        let index_type = index_type(&chosen.indices.view, indices / 3);
        let chosen = Chosen {
            index_type,
            ..chosen
        };
        let indices = &chosen.indices;
        let rules = rules(rule, dtype);
        let mode = if mode.is_multiple_of(3) {
            BagMode::Max
        } else {
            BagMode::Sum
        };
        let is_weighted = bags % 3 == 1
            && (dtype, mode) == (DType::F32, BagMode::Sum)
            && !is_new
            && self.is_exact(&params.view);
        let weights = match is_weighted {
            true => Some(self.uploaded(engine, dtype, &indices.view.shape, u16::from(bags))?),
            false => None,
        };
        let row_shape = &params.view.shape[1..];
        let cut = cut(bags, &indices.view);
        let (offsets, ends, is_rows) = cut.clone().unwrap_or_else(|| (vec![0], vec![0], false));
        let shape = [&[ends.len()], row_shape].concat();
        let lookups = ends.last().copied().unwrap_or(0);
        let is_empty = lookups == 0 || row_shape.contains(&0);
        let mut expected = self.expected(engine, &chosen, &[&params]);
        expected.shapes(cut.is_some());
        let nothing = has_nothing(Op::gather(0), &params.view, &indices.view, &rules, is_empty);
        expected.when(nothing, "NothingToRead");
        let padding = padding(bags / 3, params.view.shape[0]);
        let call = |output: &View| {
            Call::Bag(Bag {
                mode,
                rules: rules.clone(),
                ends: ends.clone(),
                padding,
                params: params.view.clone(),
                indices: indices.view.clone(),
                index_type,
                weights: weights.as_ref().map(|w| w.view.clone()),
                output: output.clone(),
            })
        };
        let (from, at) = (&params.tensor, chosen.at());
        let by_weights = weights.as_ref().map(|w| &w.tensor);
        let bags = bags_of(&offsets, is_rows, mode, padding);
        let read = [&params.view, &indices.view].into_iter();
        let read: Vec<&View> = read.chain(weights.as_ref().map(|w| &w.view)).collect();
        if into == 0 || !expected.allowed.is_empty() {
            let got = by!(way, embedding_bag(bags, &rules, from, &at, by_weights));
            let Some(tensor) = expected.check("a pooled lookup", got)? else {
                return Ok(Outcome::Refused);
            };
            let view = self.model.output(dtype, &shape);
            self.model.record(call(&view), &view, &read, true);
            self.keep(tensor, view, engine, is_new);
            return Ok(Outcome::Done);
        }
        let output = match stray {
            3 => self
                .pick(rule, None, |slot| {
                    slot.is_the_engines() && !makes_subnormals(dtype, slot.view.dtype)
                })
                .unwrap_or_else(|| params.clone()),
            _ => self.target(rule, (engine, dtype, &shape), &read)?,
        };
        expected.when(output.is_stray(engine), "OtherEngine");
        expected.when(output.view.shape != shape, "OutputShape");
        expected.when(!output.view.is_contiguous(), "OutputStrided");
        expected.when(output.view.dtype.bytes() != dtype.bytes(), "ElementWidth");
        let shares = |view: &&View| !view.is_empty() && self.model.share(view, &output.view);
        let is_shared = read.iter().any(shares) && !shape.contains(&0);
        expected.when(is_shared, "SameBuffer");
        let mut to = output.tensor.clone();
        let got = by!(
            way,
            embedding_bag_into(bags, &rules, from, &at, by_weights, &mut to)
        );
        if expected
            .check("a pooled lookup into a tensor", got)?
            .is_none()
        {
            return Ok(Outcome::Refused);
        }
        let replaces = self.model.is_whole(&output.view);
        self.model
            .record(call(&output.view), &output.view, &read, replaces);
        Ok(Outcome::Done)
    }

    /// A table of Q8_0: rows of 32 elements, each a byte times a scale that is a power of two.
    pub(super) fn table(&mut self, engine: u8, seed: u16) -> Stepped {
        let engine = usize::from(engine) % self.engines.len();
        let rows = 1 + usize::from(seed) % 4;
        let (mut bytes, mut decoded) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let (half, scale) =
                [(0x3800u16, 0.5f32), (0x3c00, 1.0), (0x4000, 2.0)][(row + usize::from(seed)) % 3];
            bytes.extend(half.to_le_bytes());
            for column in 0..32u8 {
                let code = (column.wrapping_mul(7) ^ seed as u8 ^ row as u8) as i8;
                bytes.push(code as u8);
                decoded.push(u64::from((f32::from(code) * scale).to_bits()));
            }
        }
        let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[rows, 32], &bytes);
        let table = table.and_then(|table| self.engines[engine].upload(&table).wait());
        let Some(table) = self.expects(engine).check("a quantized table", table)? else {
            return Ok(Outcome::Refused);
        };
        let decoded = self.model.upload(DType::F32, &[rows, 32], decoded);
        self.tables.push(Table {
            table,
            decoded,
            engine,
        });
        Ok(Outcome::Done)
    }

    /// Gathers from a quantized table, or pools rows of it.
    pub(super) fn decode(
        &mut self,
        way: Option<Way<'_, '_>>,
        [table, indices, bags, rule, into]: [u8; 5],
    ) -> Stepped {
        let engine = way.as_ref().map(Way::engine);
        let of = |table: &&Table| engine.is_none_or(|engine| table.engine == engine);
        let all: Vec<&Table> = self.tables.iter().filter(of).collect();
        let Some(&table) = all.get(usize::from(table) % all.len().max(1)) else {
            return Ok(Outcome::Skipped);
        };
        let Table {
            table,
            decoded,
            engine,
        } = table.clone();
        let way = way.unwrap_or_else(|| Way::Engine(self.engines[engine].clone(), engine));
        let is_new = way.is_batch();
        let indices = self.bag_indices(indices, engine)?;
        let index_type = index_type(&indices.view, bags / 3);
        let rules = rules(rule, DType::F32);
        let (read, expected) = ([&indices.view], self.expects(engine));
        let (to_floats, at) = (
            table.to_type(FloatType::F32),
            indices_as(&indices, index_type),
        );
        if into == 0 {
            let shape = [&indices.view.shape[..], &[32]].concat();
            let got = by!(way, gather(Op::gather(0), &rules, &to_floats, &at));
            let Some(tensor) = expected.check("a gather of codes", got)? else {
                return Ok(Outcome::Refused);
            };
            let view = self.model.output(DType::F32, &shape);
            let call = Call::Gather(Gather {
                op: Op::gather(0),
                rules,
                params: decoded,
                indices: indices.view.clone(),
                index_type,
                output: view.clone(),
                count: None,
            });
            self.model.record(call, &view, &read, true);
            self.keep(tensor, view, engine, is_new);
            return Ok(Outcome::Done);
        }
        let Some((offsets, ends, is_rows)) = cut(bags, &indices.view) else {
            return Ok(Outcome::Skipped);
        };
        let padding = padding(bags / 3, decoded.shape[0]);
        let pooled = bags_of(&offsets, is_rows, BagMode::Sum, padding);
        let got = with_index_type!(index_type, I => {
            let at = wgpu_gather::gpu::DeviceTensor::<I>::try_from(at);
            let to_floats = table.to::<f32>();
            at.and_then(|at| by!(way, embedding_bag(pooled, &rules, &to_floats, &at, None)))
        });
        let Some(tensor) = expected.check("a pooled lookup of codes", got)? else {
            return Ok(Outcome::Refused);
        };
        let view = self.model.output(DType::F32, &[ends.len(), 32]);
        let call = Call::Bag(Bag {
            mode: BagMode::Sum,
            rules,
            ends,
            padding,
            params: decoded,
            indices: indices.view.clone(),
            index_type,
            weights: None,
            output: view.clone(),
        });
        self.model.record(call, &view, &read, true);
        self.keep(tensor.into(), view, engine, is_new);
        Ok(Outcome::Done)
    }
}
