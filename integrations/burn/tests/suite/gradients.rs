//! Gradients in burn's autodiff: against burn's own for good indices, and against JAX's modes for bad
//! ones, which were run and written down here (jax 0.10.2, `jax.grad` of `jnp.sum(jnp.take(...) * g)`).

use burn::tensor::{Device, Int, Tensor, TensorData};
use wgpu_gather::Rules;
use wgpu_gather_burn::{Gathers, Op};

use crate::kit::{Numbers, Place, places};

/// The gradient of the sum of `look_up(params, indices) * weights` with respect to params.
fn gradient<const DP: usize, const DO: usize>(
    params: &Tensor<DP>,
    weights: &Tensor<DO>,
    look_up: impl FnOnce(Tensor<DP>) -> Tensor<DO>,
) -> Vec<u32> {
    let params = params.clone().detach().require_grad();
    let loss = (look_up(params.clone()) * weights.clone()).sum();
    let gradients = loss.backward();
    let gradient = params.grad(&gradients).expect("params are looked up");
    gradient.to_data().iter::<f32>().map(f32::to_bits).collect()
}

/// Small integers, so that sums are exact in any order.
pub(crate) fn floats<const D: usize>(
    shape: [usize; D],
    numbers: &mut Numbers,
    device: &Device,
) -> Tensor<D> {
    let values = (0..shape.iter().product()).map(|_| numbers.below(17) as f32 - 8.0);
    Tensor::from_data(TensorData::new(values.collect::<Vec<f32>>(), shape), device)
}

pub(crate) fn below<const D: usize>(
    extent: usize,
    shape: [usize; D],
    numbers: &mut Numbers,
    device: &Device,
) -> Tensor<D, Int> {
    let values = (0..shape.iter().product()).map(|_| numbers.below(extent) as i32);
    Tensor::from_data(TensorData::new(values.collect::<Vec<i32>>(), shape), device)
}

fn ours<const DP: usize, const DI: usize, const DO: usize>(
    gathers: &Gathers,
    op: Op,
    rules: &Rules,
    indices: &Tensor<DI, Int>,
) -> impl FnOnce(Tensor<DP>) -> Tensor<DO> {
    let made = (gathers.clone(), rules.clone(), indices.clone());
    move |params| {
        let (gathers, rules, indices) = made;
        gathers
            .gather(op, &rules, params, indices)
            .expect("the call is good")
    }
}

#[test]
fn gradients_for_good_indices_are_those_of_burn() {
    for place in places() {
        let (gathers, device) = (place.gathers(), place.device.clone().autodiff());
        let mut n = Numbers(5);
        for _ in 0..20 {
            let rows = 1 + n.below(40);
            let params = floats([rows, 6], &mut n, &device);
            let rules = n.of(&[
                Rules::TORCH,
                Rules::TENSORFLOW_GPU,
                Rules::NUMPY_WRAP,
                Rules::XLA,
            ]);

            let ids = below(rows, [30], &mut n, &device);
            let weights = floats([30, 6], &mut n, &device);
            let by_burn = gradient(&params, &weights, |p| p.select(0, ids.clone()));
            let look_up = ours(&gathers, Op::gather(0), &rules, &ids);
            assert_eq!(
                gradient(&params, &weights, look_up),
                by_burn,
                "{}: gather",
                place.api
            );

            let ids = below(rows, [25, 6], &mut n, &device);
            let weights = floats([25, 6], &mut n, &device);
            let by_burn = gradient(&params, &weights, |p| p.gather(0, ids.clone()));
            let look_up = ours(&gathers, Op::gather_elements(0), &rules, &ids);
            assert_eq!(
                gradient(&params, &weights, look_up),
                by_burn,
                "{}: elements",
                place.api
            );
        }
        assert_eq!(gathers.check(), Ok(()));
    }
}

/// burn's own gradient of gather_nd loses duplicates on wgpu, so this one is by hand.
#[test]
fn the_gradient_of_gather_nd_adds_up_duplicates() {
    for place in places() {
        let (gathers, device) = (place.gathers(), place.device.clone().autodiff());
        let params = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0]], &device);
        let places = Tensor::<2, Int>::from_ints([[0, 1], [1, 0], [0, 1]], &device);
        let weights = Tensor::<1>::from_floats([10.0, 20.0, 40.0], &device);
        let look_up = ours(&gathers, Op::gather_nd(), &Rules::TORCH, &places);
        let got = gradient(&params, &weights, look_up);
        assert_eq!(
            got,
            [0.0f32, 50.0, 20.0, 0.0].map(f32::to_bits),
            "{}",
            place.api
        );
    }
}

fn gradient_of_rows(place: &Place, rules: &Rules) -> Vec<u32> {
    let device = place.device.clone().autodiff();
    let params = Tensor::<1>::from_floats([1.0, 2.0, 3.0], &device);
    let ids = Tensor::<1, Int>::from_ints([0, 5, -1, 2, -7, 1, 3], &device);
    let weights = Tensor::<1>::from_floats([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], &device);
    gradient(
        &params,
        &weights,
        ours(&place.gathers(), Op::gather(0), rules, &ids),
    )
}

#[test]
fn gradients_for_bad_indices_are_those_of_jax() {
    let fill = Rules::jax_fill(wgpu_gather::DType::F32);
    let table = [
        ("fill", fill, [1.0f32, 32.0, 12.0]),
        ("clip", Rules::JAX_CLIP, [21.0, 32.0, 74.0]),
        ("wrap", Rules::NUMPY_WRAP, [65.0, 32.0, 30.0]),
    ];
    for place in places() {
        for (mode, rules, expected) in &table {
            let got = gradient_of_rows(place, rules);
            assert_eq!(got, expected.map(f32::to_bits), "{}: {mode}", place.api);
        }
    }
}

/// Bools and integers have no gradient, and go through an autodiff device as they are.
#[test]
fn what_has_no_gradient_goes_through() {
    for place in places() {
        let (gathers, device) = (place.gathers(), place.device.clone().autodiff());
        let params = Tensor::<1, Int>::from_ints([5, 6, 7], &device);
        let ids = Tensor::<1, Int>::from_ints([2, 2, 9], &device);
        let rules = Rules::default();
        let got: Tensor<1, Int> = gathers
            .gather(Op::gather(0), &rules, params.clone(), ids.clone())
            .unwrap();
        assert_eq!(crate::kit::ints(&got), [7, 7, 0]);
        let got: Tensor<1, burn::tensor::Bool> = gathers
            .gather(Op::gather(0), &rules, params.greater_elem(6), ids)
            .unwrap();
        assert_eq!(
            got.to_data().iter::<bool>().collect::<Vec<_>>(),
            [true, true, false]
        );
    }
}
