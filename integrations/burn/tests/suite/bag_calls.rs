//! Random pooled lookups on burn's tensors, against the definitions.

use burn::tensor::{DType, Float, Int, Tensor};
use gather_conformance::within_ulps;
use wgpu_gather::{DType as Elements, Executor, IndexType, Indices, Layout, Params};
use wgpu_gather_burn::{BagMode, Bags, Error, GatherError, Gathers, Number, Result, Rules};

use crate::kit::{Numbers, Place, number, places};
use crate::tensors::{index_dtype, ranked, tensor};

/// One pooled lookup.
#[derive(Debug)]
struct Bag {
    mode: BagMode,
    /// Offsets, and whether the end of the last bag is among them.
    offsets: Option<(Vec<usize>, bool)>,
    padding: Option<isize>,
    rules: Rules,
    dtype: Elements,
    params: Vec<u8>,
    params_shape: Vec<usize>,
    index_type: IndexType,
    indices: Vec<u8>,
    indices_shape: Vec<usize>,
    weights: Option<Vec<u8>>,
}

#[test]
fn random_bags_give_what_the_definitions_say() {
    let cases = number("WGPU_GATHER_BURN_CASES", 1500) / 3;
    for place in places() {
        let gathers = place.gathers();
        let mut numbers = Numbers(number("WGPU_GATHER_BURN_SEED", 1) + 2000);
        let mut good = 0;
        for _ in 0..cases {
            let bag = Bag::random(&mut numbers);
            let got = match bag.run(place, &gathers, &mut numbers) {
                Ok(bytes) => Ok(bytes),
                Err(Error::Gather(error)) => Err(error),
                Err(other) => panic!("{}: {other}: {bag:?}", place.api),
            };
            let expected = bag.defined();
            let agree = match (&expected, &got) {
                (Ok(expected), Ok(got)) => bag.agree(expected, got),
                (expected, got) => expected == got,
            };
            assert!(
                agree,
                "{}: {got:?}, expected {expected:?}: {bag:?}",
                place.api
            );
            good += usize::from(expected.is_ok());
        }
        println!(
            "{}: {good} of {cases} random bags are good calls",
            place.api
        );
        assert!(good > cases as usize / 2, "most calls are good");
    }
}

impl Bag {
    fn random(n: &mut Numbers) -> Bag {
        let mode = n.of(&BagMode::ALL);
        let dtype = match mode {
            BagMode::Mean => Elements::F32,
            _ => n.of(&[Elements::F32, Elements::I32, Elements::U32, Elements::I64]),
        };
        let rows = 1 + n.below(40);
        let params_shape = match n.below(3) {
            0 => vec![rows],
            1 => vec![rows, n.of(&[1, 3, 4, 16, 33])],
            _ => vec![rows, n.of(&[1, 2, 5]), n.of(&[1, 3, 8])],
        };
        let (bags, each) = (n.below(12), n.below(9));
        let (offsets, indices_shape) = match n.below(2) {
            0 => (None, vec![bags, each]),
            _ => {
                let lookups = n.below(60);
                let mut offsets: Vec<usize> = (0..bags).map(|_| n.below(lookups + 1)).collect();
                offsets.sort_unstable();
                // Rarely an offset that is none.
                let first = if n.below(20) == 0 { 1 } else { 0 };
                let offsets = [vec![first], offsets].concat();
                (Some((offsets, n.below(2) == 0)), vec![lookups])
            }
        };
        let weighted = mode == BagMode::Sum && dtype == Elements::F32 && n.below(3) == 0;
        let index_type = n.of(&IndexType::ALL);
        let lookups: usize = indices_shape.iter().product();
        let reach = rows as i64;
        let mut index = || match n.below(12) {
            0 => reach + n.below(3) as i64,
            1 => -1 - n.below(rows) as i64,
            _ => n.below(rows) as i64,
        };
        let mut indices = Vec::new();
        for _ in 0..lookups {
            index_type.encode(index().into(), &mut indices);
        }
        let elements: usize = params_shape.iter().product();
        let params = (0..elements)
            .flat_map(|_| element(dtype, weighted, n))
            .collect();
        // Small integers: products and their sums are exact, however they are rounded.
        let weight = |n: &mut Numbers| (n.below(9) as f32 - 4.0).to_le_bytes();
        let weights = weighted.then(|| (0..lookups).flat_map(|_| weight(n)).collect());
        Bag {
            mode,
            offsets,
            padding: (n.below(3) == 0).then(|| n.below(2 * rows) as isize - reach as isize),
            rules: n.of(&[
                Rules::TENSORFLOW_GPU,
                Rules::NUMPY_WRAP,
                Rules::NUMPY_CLIP,
                Rules::WEBNN,
                Rules::TORCH,
            ]),
            dtype,
            params,
            params_shape,
            index_type,
            indices,
            indices_shape,
            weights,
        }
    }

    fn bags(&self) -> Bags<'_> {
        let bags = match &self.offsets {
            None => Bags::rows(self.mode),
            Some((offsets, false)) => Bags::offsets(self.mode, offsets),
            Some((offsets, true)) => Bags::offsets_with_last(self.mode, offsets),
        };
        self.padding
            .map_or(bags, |padding| bags.with_padding_index(padding))
    }

    /// What the definition makes of it.
    fn defined(&self) -> Result<Vec<u8>, GatherError> {
        let dtype = self.dtype;
        let params = Params::new(&self.params, dtype, Layout::contiguous(&self.params_shape))?;
        let layout = Layout::contiguous(&self.indices_shape);
        let weights = self.weights.as_ref();
        let weights = weights
            .map(|w| Params::new(w, dtype, layout.clone()))
            .transpose()?;
        let indices = Indices::new(self.indices.as_slice(), self.index_type, layout)?;
        let call = Executor::Reference.embedding_bag(self.bags(), &self.rules, &params, &indices);
        let call = match &weights {
            Some(weights) => call.weights(weights),
            None => call,
        };
        let elements: usize = call.output_shape()?.iter().product();
        let mut output = vec![0xa5; elements * dtype.bytes()];
        call.into(&mut output).wait()?;
        Ok(output)
    }

    /// Whether the bits are equal, but for means: a division may be rounded in more than one way.
    fn agree(&self, expected: &[u8], got: &[u8]) -> bool {
        let width = self.dtype.bytes();
        let mut pairs = expected.chunks(width).zip(got.chunks(width));
        let near = |(e, g): (&[u8], &[u8])| match self.mode {
            BagMode::Mean => within_ulps(self.dtype, e, g, 3),
            _ => e == g,
        };
        expected.len() == got.len() && pairs.all(near)
    }

    /// What burn gives, in bytes.
    fn run(&self, place: &Place, gathers: &Gathers, n: &mut Numbers) -> Result<Vec<u8>> {
        let rank = self.params_shape.len();
        ranked!(rank, [1, 2, 3], D => match self.dtype {
            Elements::F32 => self.run_as::<D, Float>(place, gathers, DType::F32, n),
            Elements::I32 => self.run_as::<D, Int>(place, gathers, DType::I32, n),
            Elements::U32 => self.run_as::<D, Int>(place, gathers, DType::U32, n),
            _ => self.run_as::<D, Int>(place, gathers, DType::I64, n),
        })
    }

    fn run_as<const D: usize, K: Pooled>(
        &self,
        place: &Place,
        gathers: &Gathers,
        dtype: DType,
        n: &mut Numbers,
    ) -> Result<Vec<u8>> {
        let params: Tensor<D, K> = tensor(place, &self.params, &self.params_shape, dtype, n);
        let shape = &self.indices_shape;
        let index_dtype = index_dtype(self.index_type);
        let output = ranked!(shape.len(), [1, 2], DI => {
            let indices: Tensor<DI, Int> = tensor(place, &self.indices, shape, index_dtype, n);
            match &self.weights {
                None => gathers.embedding_bag(self.bags(), &self.rules, params, indices)?,
                Some(weights) => {
                    let weights: Tensor<DI> = tensor(place, weights, shape, DType::F32, n);
                    K::weighted(self, gathers, params, indices, weights)?
                }
            }
        });
        Ok(gathers.read(output)?.as_bytes().to_vec())
    }
}

/// Kinds that bags are drawn of; only floats have weights.
trait Pooled: Number {
    fn weighted<const D: usize, const DI: usize>(
        bag: &Bag,
        gathers: &Gathers,
        params: Tensor<D, Self>,
        indices: Tensor<DI, Int>,
        weights: Tensor<DI>,
    ) -> Result<Tensor<D, Self>>;
}

impl Pooled for Float {
    fn weighted<const D: usize, const DI: usize>(
        bag: &Bag,
        gathers: &Gathers,
        params: Tensor<D>,
        indices: Tensor<DI, Int>,
        weights: Tensor<DI>,
    ) -> Result<Tensor<D>> {
        gathers.embedding_bag_weighted(bag.bags(), &bag.rules, params, indices, weights)
    }
}

impl Pooled for Int {
    fn weighted<const D: usize, const DI: usize>(
        bag: &Bag,
        _: &Gathers,
        _: Tensor<D, Int>,
        _: Tensor<DI, Int>,
        _: Tensor<DI>,
    ) -> Result<Tensor<D, Int>> {
        panic!("no weights are drawn for integers: {bag:?}")
    }
}

/// A random element: sums of the floats are rounded, unless they are to be weighted.
fn element(dtype: Elements, weighted: bool, n: &mut Numbers) -> Vec<u8> {
    let bits = n.next();
    match dtype {
        Elements::F32 if weighted => (n.below(65) as f32 - 32.0).to_le_bytes().to_vec(),
        Elements::F32 => ((bits >> 40) as f32 / 4096.0 - 2000.0)
            .to_le_bytes()
            .to_vec(),
        Elements::I64 => bits.to_le_bytes().to_vec(),
        _ => (bits as u32).to_le_bytes().to_vec(),
    }
}
