//! Random calls on burn's tensors, against the definitions: all operators, rules, kinds, ranks and views
//! that burn has tensors for.

use burn::tensor::{Bool, DType, Float, Int, Shape, Tensor, TensorData};
use gather_conformance::{Call, Outcome, Work, call_from, compare};
use wgpu_gather::{Layout, OutOfBounds};
use wgpu_gather_burn::{Error, Gathers, Kind, Result};

use crate::kit::{Numbers, Place, number, places};
use crate::tensors::{contiguous, index_dtype, ranked, tensor};

/// The elements of params: bools are words on the device.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Elements {
    Float,
    Int(DType),
    Bool,
}

#[test]
fn random_calls_give_what_the_definitions_say() {
    let cases = number("WGPU_GATHER_BURN_CASES", 1500);
    for place in places() {
        let gathers = place.gathers();
        let mut numbers = Numbers(number("WGPU_GATHER_BURN_SEED", 1));
        let (mut ran, mut drawn, mut work) = (0, 0, Work::default());
        while ran < cases {
            assert!(
                drawn <= 100 + 20 * cases,
                "{ran} of {drawn} calls have tensors of burn"
            );
            let choices: Vec<u32> = (0..200).map(|_| numbers.next() as u32).collect();
            drawn += 1;
            let Some((call, elements)) = expressible(call_from(&choices), &mut numbers) else {
                continue;
            };
            let got = run(place, &gathers, &call, elements, &mut numbers);
            let got = got.map_err(|error| match error {
                Error::Gather(error) => error,
                other => panic!("{}: {other}: {call:?}", place.api),
            });
            if let Outcome::Failed(why) = compare(&call, got) {
                panic!("{}: {why}: {elements:?}, {call:?}", place.api);
            }
            work.add(&call);
            ran += 1;
        }
        println!(
            "{}: {ran} random calls of {drawn}: burn has tensors for these; {work:?}",
            place.api
        );
        let enough = work.outputs * 100 >= work.calls * 50 && work.good * 100 >= work.lookups * 60;
        assert!(cases < 500 || enough, "{work:?}");
    }
}

/// The call with contiguous data, if burn has tensors of its ranks and types.
pub(crate) fn expressible(call: Call, numbers: &mut Numbers) -> Option<(Call, Elements)> {
    let ranks = [call.params_layout.rank(), call.indices_layout.rank()];
    let output = call.output_shape().map_or(1, |shape| shape.len());
    if ranks.iter().any(|rank| !(1..=4).contains(rank)) || !(1..=5).contains(&output) {
        return None;
    }
    let elements = match call.element_bytes {
        4 => numbers.of(&[
            Elements::Float,
            Elements::Int(DType::I32),
            Elements::Int(DType::U32),
            Elements::Bool,
        ]),
        8 => numbers.of(&[Elements::Int(DType::I64), Elements::Int(DType::U64)]),
        _ => return None,
    };
    let (width, index_width) = (call.element_bytes, call.index_type.bytes());
    let mut call = Call {
        params: contiguous(&call.params, width, &call.params_layout),
        params_layout: Layout::contiguous(call.params_layout.shape()),
        indices: contiguous(&call.indices, index_width, &call.indices_layout),
        indices_layout: Layout::contiguous(call.indices_layout.shape()),
        ..call
    };
    if matches!(elements, Elements::Bool) {
        let word = |word: &[u8]| u32::from(word[0] & 1).to_le_bytes();
        call.params = call.params.chunks(4).flat_map(word).collect();
        if matches!(call.rules.out_of_bounds, OutOfBounds::Fill(_)) {
            call.rules = call.rules.with_out_of_bounds(OutOfBounds::Zero);
        }
    }
    Some((call, elements))
}

/// What burn gives, in bytes.
fn run(
    place: &Place,
    gathers: &Gathers,
    call: &Call,
    elements: Elements,
    numbers: &mut Numbers,
) -> Result<Vec<u8>> {
    let (bytes, shape) = (&call.params, call.params_layout.shape());
    ranked!(shape.len(), [1, 2, 3, 4], D => match elements {
        Elements::Float => {
            let params: Tensor<D, Float> = tensor(place, bytes, shape, DType::F32, numbers);
            gathered(place, gathers, call, params, numbers).map(|data| data.as_bytes().to_vec())
        }
        Elements::Int(dtype) => {
            let params: Tensor<D, Int> = tensor(place, bytes, shape, dtype, numbers);
            gathered(place, gathers, call, params, numbers).map(|data| data.as_bytes().to_vec())
        }
        Elements::Bool => {
            let values: Vec<bool> = bytes.chunks(4).map(|word| word[0] != 0).collect();
            let data = TensorData::new(values, Shape::from(shape.to_vec()));
            let params: Tensor<D, Bool> = Tensor::from_data(data, &place.device);
            let output = gathered(place, gathers, call, params, numbers)?;
            let word = |is_true: bool| u32::from(is_true).to_le_bytes();
            Ok(output.iter::<bool>().flat_map(word).collect())
        }
    })
}

fn gathered<const DP: usize, K: Kind>(
    place: &Place,
    gathers: &Gathers,
    call: &Call,
    params: Tensor<DP, K>,
    numbers: &mut Numbers,
) -> Result<TensorData> {
    let dtype = index_dtype(call.index_type);
    let output = call.output_shape().map_or(1, |shape| shape.len());
    let shape = call.indices_layout.shape();
    ranked!(shape.len(), [1, 2, 3, 4], DI => {
        let indices: Tensor<DI, Int> = tensor(place, &call.indices, shape, dtype, numbers);
        ranked!(output, [1, 2, 3, 4, 5], DO => {
            let output: Tensor<DO, K> = gathers.gather(call.op, &call.rules, params, indices)?;
            gathers.read(output)
        })
    })
}
