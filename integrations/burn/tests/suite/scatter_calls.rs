//! Random scatters on burn's tensors, against the definitions: all operators, reductions, rules, kinds and
//! ranks that burn has tensors for.

use burn::tensor::{Bool, DType, Float, Int, Shape, Tensor, TensorData};
use gather_conformance::{Call, call_from};
use wgpu_gather::{DType as Elements, Executor, Params};
use wgpu_gather_burn::{Error, GatherError, Gathers, Kind, Reduce, Result};

use crate::calls::{Elements as Kinds, expressible};
use crate::kit::{Numbers, Place, number, places};
use crate::tensors::{index_dtype, ranked, tensor};

/// A gather whose params are scattered into.
struct Scatter {
    gather: Call,
    kinds: Kinds,
    reduce: Reduce,
    base: Vec<u8>,
    updates: Vec<u8>,
    updates_shape: Vec<usize>,
}

#[test]
fn random_scatters_give_what_the_definitions_say() {
    let cases = number("WGPU_GATHER_BURN_CASES", 1500) / 3;
    for place in places() {
        let gathers = place.gathers();
        let mut numbers = Numbers(number("WGPU_GATHER_BURN_SEED", 1) + 1000);
        let (mut ran, mut written, mut refused) = (0, 0, 0);
        while ran < cases {
            let choices: Vec<u32> = (0..200).map(|_| numbers.next() as u32).collect();
            let Some(scatter) = Scatter::from(call_from(&choices), &mut numbers) else {
                continue;
            };
            let expected = scatter.defined();
            let got = match scatter.run(place, &gathers, &mut numbers) {
                Ok(bytes) => Ok(bytes),
                Err(Error::Gather(error)) => Err(error),
                Err(other) => panic!("{}: {other}: {:?}", place.api, scatter.gather),
            };
            written += usize::from(expected.as_ref().is_ok_and(|bytes| *bytes != scatter.base));
            refused += usize::from(expected.is_err());
            assert!(
                expected == got,
                "{}: {:?} of {:?}, {:?}:\n{got:?}, expected\n{expected:?}",
                place.api,
                scatter.reduce,
                scatter.kinds,
                scatter.gather,
            );
            ran += 1;
        }
        println!(
            "{}: {written} of {ran} scatters write, {refused} are errors",
            place.api
        );
        assert!(written > cases as usize / 3, "most scatters write");
    }
}

impl Scatter {
    /// A scatter of the shapes of a gather, if burn has tensors of its ranks and types.
    fn from(gather: Call, numbers: &mut Numbers) -> Option<Scatter> {
        let (gather, kinds) = expressible(gather, numbers)?;
        let reduce = match kinds {
            Kinds::Bool => Reduce::None,
            _ => numbers.of(&Reduce::ALL),
        };
        // What is no gather is no scatter, whatever the updates.
        let updates_shape = gather.output_shape().unwrap_or_else(|_| vec![1]);
        let mut values = |shape: &[usize]| -> Vec<u8> {
            let elements: usize = shape.iter().product();
            (0..elements).flat_map(|_| kinds.element(numbers)).collect()
        };
        Some(Scatter {
            base: values(gather.params_layout.shape()),
            updates: values(&updates_shape),
            gather,
            kinds,
            reduce,
            updates_shape,
        })
    }

    /// What the definition makes of it.
    fn defined(&self) -> Result<Vec<u8>, GatherError> {
        let gather = &self.gather;
        let layout = wgpu_gather::Layout::contiguous(&self.updates_shape);
        let updates = Params::new(&self.updates, self.kinds.dtype(), layout)?;
        let (shape, indices) = (gather.params_layout.shape(), gather.indices()?);
        let (op, reduce, rules) = (gather.op, self.reduce, &gather.rules);
        let mut bytes = self.base.clone();
        Executor::Reference
            .scatter_into(op, reduce, rules, shape, &mut bytes, &indices, &updates)
            .wait()?;
        Ok(bytes)
    }

    /// What burn gives, in bytes.
    fn run(&self, place: &Place, gathers: &Gathers, numbers: &mut Numbers) -> Result<Vec<u8>> {
        let rank = self.gather.params_layout.rank();
        ranked!(rank, [1, 2, 3, 4], D => match self.kinds {
            Kinds::Float => self.run_as::<D, Float>(place, gathers, DType::F32, numbers),
            Kinds::Int(dtype) => self.run_as::<D, Int>(place, gathers, dtype, numbers),
            Kinds::Bool => {
                let of = |bytes: &[u8], shape: &[usize]| {
                    let values: Vec<bool> = bytes.chunks(4).map(|word| word[0] != 0).collect();
                    TensorData::new(values, Shape::from(shape.to_vec()))
                };
                let base = of(&self.base, self.gather.params_layout.shape());
                let base = Tensor::<D, Bool>::from_data(base, &place.device);
                let updates = of(&self.updates, &self.updates_shape);
                let output = ranked!(self.updates_shape.len(), [1, 2, 3, 4, 5], DU => {
                    let updates = Tensor::<DU, Bool>::from_data(updates, &place.device);
                    self.scattered(place, gathers, base, updates, numbers)?
                });
                let word = |is_true: bool| u32::from(is_true).to_le_bytes();
                Ok(output.iter::<bool>().flat_map(word).collect())
            }
        })
    }

    fn run_as<const D: usize, K: Kind>(
        &self,
        place: &Place,
        gathers: &Gathers,
        dtype: DType,
        numbers: &mut Numbers,
    ) -> Result<Vec<u8>> {
        let shape = self.gather.params_layout.shape();
        let base: Tensor<D, K> = tensor(place, &self.base, shape, dtype, numbers);
        let shape = &self.updates_shape;
        let output = ranked!(shape.len(), [1, 2, 3, 4, 5], DU => {
            let updates: Tensor<DU, K> = tensor(place, &self.updates, shape, dtype, numbers);
            self.scattered(place, gathers, base, updates, numbers)?
        });
        Ok(output.as_bytes().to_vec())
    }

    fn scattered<const D: usize, const DU: usize, K: Kind>(
        &self,
        place: &Place,
        gathers: &Gathers,
        base: Tensor<D, K>,
        updates: Tensor<DU, K>,
        numbers: &mut Numbers,
    ) -> Result<TensorData> {
        let gather = &self.gather;
        let (dtype, shape) = (
            index_dtype(gather.index_type),
            gather.indices_layout.shape(),
        );
        ranked!(shape.len(), [1, 2, 3, 4], DI => {
            let indices: Tensor<DI, Int> = tensor(place, &gather.indices, shape, dtype, numbers);
            let (op, rules) = (gather.op, &gather.rules);
            gathers.read(gathers.scatter(op, self.reduce, rules, base, indices, updates)?)
        })
    }
}

impl Kinds {
    fn dtype(self) -> Elements {
        match self {
            Kinds::Float => Elements::F32,
            Kinds::Int(DType::I32) => Elements::I32,
            Kinds::Int(DType::I64) => Elements::I64,
            Kinds::Int(DType::U64) => Elements::U64,
            // A bool is a word on the device.
            Kinds::Int(_) | Kinds::Bool => Elements::U32,
        }
    }

    /// A random element. Sums of the floats are rounded, and no product of them is subnormal.
    fn element(self, numbers: &mut Numbers) -> Vec<u8> {
        let bits = numbers.next();
        match self {
            Kinds::Float => {
                let value = 1.0 + (bits >> 44) as f32 / (1 << 23) as f32;
                let sign = [1.0, -1.0][(bits & 1) as usize];
                (value * sign).to_le_bytes().to_vec()
            }
            Kinds::Int(DType::I64 | DType::U64) => bits.to_le_bytes().to_vec(),
            Kinds::Int(_) => (bits as u32).to_le_bytes().to_vec(),
            Kinds::Bool => (bits as u32 & 1).to_le_bytes().to_vec(),
        }
    }
}
