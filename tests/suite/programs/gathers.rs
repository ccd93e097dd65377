//! Steps that gather: into a new tensor, into one that is there, and those by tensors whose types are known
//! when the program is compiled; and that count bad indices.

use wgpu_gather::gpu::{AnyDeviceTensor, DeviceTensor};
use wgpu_gather::{
    BadIndices, DType, Element, Fill, Index, IndexType, Op, OutOfBounds, Result, Rules,
    with_index_type,
};

use super::arithmetic::Lookups;
use super::calls::{Chosen, can_be_indices, has_nothing, indices_as, makes_subnormals, rules};
use super::expected::{Expected, Outcome, Stepped};
use super::machine::Machine;
use super::model::{Call, Gather};
use super::slots::{Slot, Way, by};
use super::view::{View, index};

/// Does `$work` with a type as wide as elements.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $work:expr) => {
        match $dtype.bytes() {
            1 => {
                type $T = u8;
                $work
            }
            4 => {
                type $T = u32;
                $work
            }
            _ => {
                type $T = u64;
                $work
            }
        }
    };
}

/// A gather whose operator, rules and indices are chosen.
struct Asked<'a> {
    op: Op,
    rules: &'a Rules,
    params: &'a Slot,
    indices: &'a Slot,
    index_type: IndexType,
}

impl Asked<'_> {
    fn call(&self, params: &View, indices: &View, output: &View) -> Call {
        Call::Gather(Gather {
            op: self.op,
            rules: self.rules.clone(),
            params: params.clone(),
            indices: indices.clone(),
            index_type: self.index_type,
            output: output.clone(),
            count: None,
        })
    }

    fn at(&self) -> AnyDeviceTensor {
        indices_as(self.indices, self.index_type)
    }

    fn typed(&self, way: Way<'_, '_>, output: &AnyDeviceTensor) -> Result<()> {
        with_element!(self.params.view.dtype, T => {
            with_index_type!(self.index_type, I => self.typed_as::<T, I>(way, output))
        })
    }

    fn typed_as<T: Element, I: Index<Wide = I>>(
        &self,
        way: Way<'_, '_>,
        output: &AnyDeviceTensor,
    ) -> Result<()> {
        let params = DeviceTensor::<T>::try_from(self.params.tensor.clone())?;
        let indices = DeviceTensor::<I>::try_from(self.indices.tensor.clone())?;
        let mut output = DeviceTensor::<T>::try_from(output.clone())?;
        by!(
            way,
            gather_into(self.op, self.rules, &params, &indices, &mut output)
        )
    }
}

impl Machine {
    pub(super) fn gather(
        &mut self,
        way: Option<Way<'_, '_>>,
        [number, params, indices, rule, into, stray]: [u8; 6],
    ) -> Stepped {
        let has_dims = |slot: &Slot| slot.view.rank() > 0;
        let Some((params, way)) = self.start(params, way, has_dims) else {
            return Ok(Outcome::Skipped);
        };
        let Some(chosen) = self.choose(number, &params, indices, stray == 1)? else {
            return Ok(Outcome::Skipped);
        };
        let dtype = params.view.dtype;
        let other = if dtype == DType::U8 {
            DType::U32
        } else {
            DType::U8
        };
        let rules = if stray == 2 {
            let fill = Fill::from_bytes(&[1, 2, 3, 4][..other.bytes()]);
            Rules::ONNX.with_out_of_bounds(OutOfBounds::Fill(fill))
        } else {
            rules(rule, dtype)
        };
        let mut expected = self.expected(way.engine(), &chosen, &[&params]);
        expected.when(stray == 2, "FillWidth");
        let Chosen {
            op,
            indices,
            index_type,
        } = chosen;
        let asked = Asked {
            op,
            rules: &rules,
            params: &params,
            indices: &indices,
            index_type,
        };
        let shape = Machine::fits(op, &params.view, &indices.view);
        expected.shapes(shape.is_some());
        if let Some(shape) = &shape {
            let is_empty = shape.contains(&0);
            let nothing = has_nothing(op, &params.view, &indices.view, &rules, is_empty);
            expected.when(nothing, "NothingToRead");
        }
        let shape = shape.unwrap_or_default();
        match into % 4 {
            0 | 1 => self.gather_new(way, &asked, &shape, &expected),
            how => {
                let typed = how == 3 && can_be_indices(&indices);
                let how = (into / 4, typed, stray == 3);
                self.gather_into(way, &asked, &shape, expected, how)
            }
        }
    }

    fn gather_new(
        &mut self,
        way: Way<'_, '_>,
        asked: &Asked<'_>,
        shape: &[usize],
        expected: &Expected,
    ) -> Stepped {
        let (engine, is_new) = (way.engine(), way.is_batch());
        let (from, at) = (&asked.params.tensor, asked.at());
        let got = by!(way, gather(asked.op, asked.rules, from, &at));
        let Some(tensor) = expected.check("a gather", got)? else {
            return Ok(Outcome::Refused);
        };
        let read = [&asked.params.view, &asked.indices.view];
        let view = self.model.output(asked.params.view.dtype, shape);
        let call = asked.call(read[0], read[1], &view);
        self.model.record(call, &view, &read, true);
        self.keep(tensor, view, engine, is_new);
        Ok(Outcome::Done)
    }

    fn gather_into(
        &mut self,
        way: Way<'_, '_>,
        asked: &Asked<'_>,
        shape: &[usize],
        mut expected: Expected,
        (number, typed, any): (u8, bool, bool),
    ) -> Stepped {
        let (engine, dtype) = (way.engine(), asked.params.view.dtype);
        let read = [&asked.params.view, &asked.indices.view];
        let found = match any {
            true => self.pick(number, None, |slot| {
                slot.is_the_engines() && !makes_subnormals(dtype, slot.view.dtype)
            }),
            false => None,
        };
        let output = match found {
            Some(output) => output,
            None => self.target(number, (engine, dtype, shape), &read)?,
        };
        let is_empty = shape.contains(&0);
        expected.when(output.is_stray(engine), "OtherEngine");
        expected.when(output.view.shape != shape, "OutputShape");
        expected.when(!output.view.is_contiguous(), "OutputStrided");
        expected.when(output.view.dtype.bytes() != dtype.bytes(), "ElementWidth");
        let shares = |view: &View| !view.is_empty() && self.model.share(view, &output.view);
        let is_shared = read.iter().any(|view| shares(view));
        expected.when(is_shared && !is_empty, "SameBuffer");
        let mut to = output.tensor.clone();
        let (from, at) = (&asked.params.tensor, asked.at());
        let got = match typed {
            true => {
                let widths = expected.allowed.contains(&"ElementWidth");
                expected.when(widths, "TensorWidth");
                asked.typed(way, &to)
            }
            false => {
                let (op, rules) = (asked.op, asked.rules);
                by!(way, gather_into(op, rules, from, &at, &mut to))
            }
        };
        if expected.check("a gather into a tensor", got)?.is_none() {
            return Ok(Outcome::Refused);
        }
        self.tally.add(if typed {
            "gathers into typed tensors"
        } else {
            "gathers into tensors"
        });
        let replaces = self.model.is_whole(&output.view);
        let call = asked.call(read[0], read[1], &output.view);
        self.model.record(call, &output.view, &read, replaces);
        Ok(Outcome::Done)
    }

    /// Counts the bad indices of a call that is not made.
    pub(super) fn count_bad(&mut self, [number, params, indices, rule]: [u8; 4]) -> Stepped {
        let has_dims = |slot: &Slot| slot.view.rank() > 0;
        let Some((params, way)) = self.start(params, None, has_dims) else {
            return Ok(Outcome::Skipped);
        };
        let Some(chosen) = self.choose(number, &params, indices, false)? else {
            return Ok(Outcome::Skipped);
        };
        let Chosen {
            op,
            indices,
            index_type,
        } = chosen;
        if indices.is_new || !self.model.is_written(&indices.view) {
            return Ok(Outcome::Skipped);
        }
        let rules = rules(rule, params.view.dtype);
        let lookups = Lookups {
            op,
            params: &params.view.shape,
            indices: &indices.view.shape,
        };
        let index_at = |at: &[usize]| index(self.model.element(&indices.view, at), index_type);
        let (_, expected) = lookups.find(op.kind(), &rules, index_at);
        let engine = &self.engines[way.engine()];
        let got: Result<Option<BadIndices>> = with_index_type!(index_type, I => {
            let indices = DeviceTensor::<I>::try_from(indices.tensor.clone());
            let shape = &params.view.shape;
            indices.and_then(|i| engine.bad_indices(op, &rules, shape, &i).wait())
        });
        let mut errors = self.expects(way.engine());
        let is_empty =
            Machine::shape(op, &params.view, &indices.view).is_none_or(|s| s.contains(&0));
        let nothing = has_nothing(op, &params.view, &indices.view, &rules, is_empty);
        errors.when(nothing, "NothingToRead");
        match errors.check("a count", got)? {
            None => Ok(Outcome::Refused),
            Some(got) if got == expected => Ok(Outcome::Done),
            Some(got) => Err(format!("a count: {got:?}, expected {expected:?}")),
        }
    }
}
