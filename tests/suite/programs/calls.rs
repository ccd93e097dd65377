//! What calls are given: operators, indices and tensors that fit, or do not.

use wgpu_gather::gpu::{AnyDeviceTensor, DeviceTensor};
use wgpu_gather::{DType, Fill, IndexType, Negative, Op, OutOfBounds, Rules};

use super::arithmetic::{Lookups, fitting_indices};
use super::expected::{Difference, Expected};
use super::machine::Machine;
use super::slots::{Slot, Way};
use super::view::View;

pub(super) const DTYPES: [DType; 5] = [DType::U32, DType::F32, DType::I64, DType::U8, DType::U32];

/// The type that the elements of a tensor have as indices.
pub(super) fn index_type(view: &View, number: u8) -> IndexType {
    match (view.dtype, number % 3) {
        (DType::I64, _) => IndexType::I64,
        (_, 0) => IndexType::I32,
        _ => IndexType::U32,
    }
}

pub(super) fn rules(number: u8, dtype: DType) -> Rules {
    let filled: &[u8] = match dtype {
        DType::F32 => &2.5f32.to_ne_bytes(),
        _ => &[1, 2, 3, 4, 0, 0, 0, 0][..dtype.bytes()],
    };
    match number % 10 {
        0 => Rules::TENSORFLOW_GPU,
        1..4 => Rules::ONNX,
        4 | 5 => Rules::TENSORFLOW_CPU,
        _ => {
            let kinds = OutOfBounds::all(Fill::from_bytes(filled));
            let kind = kinds[usize::from(number / 10) % kinds.len()].clone();
            Rules::new(Negative::ALL[usize::from(number % 2)], kind)
        }
    }
}

/// Whether integers are taken for floats, which would be subnormal: adapters may take such for zeros.
pub(super) fn makes_subnormals(from: DType, to: DType) -> bool {
    to == DType::F32 && from != DType::F32 && from.bytes() == 4
}

/// An operator for params of this rank: along the first axis, as most calls are, or any.
pub(super) fn op(number: u8, rank: usize) -> Op {
    let axis = usize::from(number / 8) % rank.max(1);
    match number % 8 {
        0 | 2 => Op::gather(0),
        1 | 3 => Op::gather(axis as isize),
        4 => Op::Gather {
            axis: Some(axis as isize),
            batch_dims: axis.min(1) as isize,
        },
        _ => {
            let op = Op::ALL[usize::from(number / 4) % Op::ALL.len()];
            op.with_axis(axis as isize).unwrap_or(op)
        }
    }
}

/// Whether a rule that moves indices has nothing to move them to.
pub(super) fn has_nothing(
    op: Op,
    params: &View,
    indices: &View,
    rules: &Rules,
    is_empty: bool,
) -> bool {
    let lookups = Lookups {
        op,
        params: &params.shape,
        indices: &indices.shape,
    };
    let has_nothing = |axis: usize| params.shape[axis] == 0;
    rules.out_of_bounds.moves() && !is_empty && lookups.axes().into_iter().any(has_nothing)
}

/// What a gather or scatter selects by.
pub(super) struct Chosen {
    pub(super) op: Op,
    pub(super) indices: Slot,
    pub(super) index_type: IndexType,
}

impl Chosen {
    /// The indices, of the type that they are to have.
    pub(super) fn at(&self) -> AnyDeviceTensor {
        indices_as(&self.indices, self.index_type)
    }
}

/// A tensor of integers as indices of a type that is as wide; another tensor as it is.
pub(super) fn indices_as(slot: &Slot, index_type: IndexType) -> AnyDeviceTensor {
    let tensor = slot.tensor.clone();
    match index_type {
        IndexType::I32 if can_be_indices(slot) => DeviceTensor::<i32>::try_from(tensor)
            .expect("elements of 32 bits")
            .into(),
        _ => tensor,
    }
}

pub(super) fn can_be_indices(slot: &Slot) -> bool {
    matches!(slot.view.dtype, DType::U32 | DType::I64)
}

impl Machine {
    /// Indices for params, and an operator: such as fit, unless they are to be any. If there are none,
    /// some are uploaded.
    pub(super) fn choose(
        &mut self,
        number: u8,
        params: &Slot,
        indices: u8,
        is_stray: bool,
    ) -> std::result::Result<Option<Chosen>, Difference> {
        let op = op(number, params.view.rank());
        let engine = params.engine;
        let found = match is_stray {
            true => self.pick(indices, None, Slot::is_the_engines),
            false => self.pick(indices, Some(engine), |slot| {
                can_be_indices(slot) && Machine::fits(op, &params.view, &slot.view).is_some()
            }),
        };
        let indices_slot = match found {
            Some(slot) => slot,
            None => {
                let shape = fitting_indices(op, &params.view.shape, indices);
                let dtype = if indices.is_multiple_of(3) {
                    DType::I64
                } else {
                    DType::U32
                };
                let seed = u16::from(indices);
                self.uploaded(engine, dtype, &shape, seed)?
            }
        };
        let indices_view = &indices_slot.view;
        let is_large = Machine::shape(op, &params.view, indices_view).is_some()
            && Machine::fits(op, &params.view, indices_view).is_none();
        if is_large {
            return Ok(None);
        }
        Ok(Some(Chosen {
            op,
            index_type: index_type(&indices_slot.view, indices / 3),
            indices: indices_slot,
        }))
    }

    /// The way of a call with this tensor, and a slot of it: of the batch's engine, if there is a batch.
    pub(super) fn start<'a, 'b>(
        &self,
        number: u8,
        way: Option<Way<'a, 'b>>,
        is_good: impl Fn(&Slot) -> bool,
    ) -> Option<(Slot, Way<'a, 'b>)> {
        let engine = way.as_ref().map(Way::engine);
        let slot = self.pick(number, engine, is_good)?;
        let own = || Way::Engine(self.engines[slot.engine].clone(), slot.engine);
        let way = way.unwrap_or_else(own);
        Some((slot, way))
    }

    /// A tensor of this shape to be written to that shares no buffer with what is read; made, if there is
    /// none.
    pub(super) fn target(
        &mut self,
        number: u8,
        (engine, dtype, shape): (usize, DType, &[usize]),
        read: &[&View],
    ) -> std::result::Result<Slot, Difference> {
        let found = self.pick(number, Some(engine), |slot| {
            let fits = slot.view.shape == shape && slot.view.dtype == dtype;
            let is_apart = read.iter().all(|view| !self.model.share(view, &slot.view));
            fits && is_apart && slot.view.is_contiguous()
        });
        match found {
            Some(slot) => Ok(slot),
            None => self.uploaded(engine, dtype, shape, u16::from(number)),
        }
    }

    /// What is wrong with the types and owners of tensors.
    pub(super) fn expected(&self, engine: usize, chosen: &Chosen, tensors: &[&Slot]) -> Expected {
        let mut expected = self.expects(engine);
        let mut all = tensors.iter().copied().chain([&chosen.indices]);
        expected.when(all.any(|slot| slot.is_stray(engine)), "OtherEngine");
        expected.when(!can_be_indices(&chosen.indices), "ElementsWithout");
        expected
    }
}
