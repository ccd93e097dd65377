//! Gradients of scatters that add: against burn's own, and by hand for bad indices. What has no gradient.

use burn::tensor::{IndexingUpdateOp, Int, Tensor};
use wgpu_gather::{OpKind, Role, Rules};
use wgpu_gather_burn::{BagMode, Bags, Error, Op, Reduce};

use crate::gradients::{below, floats};
use crate::kit::{Numbers, places};

/// The gradients of the sum of `scatter(base, updates) * weights` with respect to base and updates.
fn gradients_of_scatter<const D: usize, const DU: usize>(
    [base, weights]: [&Tensor<D>; 2],
    updates: &Tensor<DU>,
    scatter: impl FnOnce(Tensor<D>, Tensor<DU>) -> Tensor<D>,
) -> [Vec<u32>; 2] {
    let base = base.clone().detach().require_grad();
    let updates = updates.clone().detach().require_grad();
    let loss = (scatter(base.clone(), updates.clone()) * weights.clone()).sum();
    let gradients = loss.backward();
    let of_base = base.grad(&gradients).expect("base is added to");
    let of_updates = updates.grad(&gradients).expect("updates are added");
    [bits(of_base), bits(of_updates)]
}

fn bits<const D: usize>(tensor: Tensor<D>) -> Vec<u32> {
    tensor.to_data().iter::<f32>().map(f32::to_bits).collect()
}

#[test]
fn gradients_of_sums_are_those_of_burn() {
    for place in places() {
        let (gathers, device) = (place.gathers(), place.device.clone().autodiff());
        let mut n = Numbers(6);
        for _ in 0..20 {
            let (rows, count) = (1 + n.below(40), 1 + n.below(30));
            let base = floats([rows, 6], &mut n, &device);
            let weights = floats([rows, 6], &mut n, &device);
            let updates = floats([count, 6], &mut n, &device);
            let both = [&base, &weights];
            let rules = n.of(&[Rules::TORCH, Rules::TENSORFLOW_GPU, Rules::XLA]);

            let ids: Tensor<1, Int> = below(rows, [count], &mut n, &device);
            let add = IndexingUpdateOp::Add;
            let by_burn = gradients_of_scatter(both, &updates, |b, u| {
                b.select_assign(0, ids.clone(), u, add)
            });
            let by_ours = gradients_of_scatter(both, &updates, |b, u| {
                let made = gathers.scatter(Op::gather(0), Reduce::Add, &rules, b, ids.clone(), u);
                made.expect("the call is good")
            });
            assert_eq!(by_ours, by_burn, "{}: scatter", place.api);

            let ids: Tensor<2, Int> = below(rows, [count, 6], &mut n, &device);
            let by_burn =
                gradients_of_scatter(both, &updates, |b, u| b.scatter(0, ids.clone(), u, add));
            let by_ours = gradients_of_scatter(both, &updates, |b, u| {
                let op = Op::gather_elements(0);
                let made = gathers.scatter(op, Reduce::Add, &rules, b, ids.clone(), u);
                made.expect("the call is good")
            });
            assert_eq!(by_ours, by_burn, "{}: elements", place.api);
        }
        assert_eq!(gathers.check(), Ok(()));
    }
}

/// An update that was not written has no gradient, and base has that of the output.
#[test]
fn gradients_of_sums_leave_out_bad_indices() {
    let fill = Rules::jax_fill(wgpu_gather::DType::F32);
    let table = [
        (fill, [1.0f32, 0.0, 4.0, 4.0, 0.0]),
        (Rules::JAX_CLIP, [1.0, 4.0, 1.0, 4.0, 1.0]),
        (Rules::NUMPY_WRAP, [1.0, 4.0, 4.0, 4.0, 4.0]),
        (Rules::TORCH, [1.0, 0.0, 0.0, 4.0, 0.0]),
    ];
    for place in places() {
        let (gathers, device) = (place.gathers(), place.device.clone().autodiff());
        for (rules, expected) in &table {
            let base = Tensor::<1>::zeros([3], &device);
            let weights = Tensor::<1>::from_floats([1.0, 2.0, 4.0], &device);
            let updates = Tensor::<1>::ones([5], &device);
            let [of_base, of_updates] =
                gradients_of_scatter([&base, &weights], &updates, |b, u| {
                    let ids = Tensor::<1, Int>::from_ints([0, 5, -1, 2, -7], &device);
                    let made = gathers.scatter(Op::gather(0), Reduce::Add, rules, b, ids, u);
                    made.expect("the call is good")
                });
            assert_eq!(
                of_base,
                [1.0f32, 2.0, 4.0].map(f32::to_bits),
                "{}",
                place.api
            );
            assert_eq!(
                of_updates,
                expected.map(f32::to_bits),
                "{}: {rules:?}",
                place.api
            );
        }
        // The scatter of the error rule, once.
        assert_eq!(
            gathers.check().unwrap_err().to_string(),
            "scatter: indices[1] = 5 is out of bounds for params axis 0 of extent 3 (the first of 3 bad indices)"
        );
        assert_eq!(gathers.check(), Ok(()));
    }
}

/// No gradient is lost: what has none refuses a tensor that needs one, and takes it detached.
#[test]
fn what_loses_a_gradient_is_refused() {
    for place in places() {
        let (gathers, device) = (place.gathers(), place.device.clone().autodiff());
        let rules = &Rules::TORCH;
        let ids = || Tensor::<1, Int>::from_ints([0, 2], &device);
        let plain = || Tensor::<1>::ones([3], &device);
        // Not a leaf, but tracked all the same.
        let tracked = |n| Tensor::<1>::ones([n], &device).require_grad() * 2.0;
        for reduce in [Reduce::None, Reduce::Mul, Reduce::Min, Reduce::Max] {
            let scatter =
                |base, updates| gathers.scatter(Op::gather(0), reduce, rules, base, ids(), updates);
            let updates = Tensor::<1>::ones([2], &device);
            let refused = |role| Error::NoGradient {
                op: OpKind::Scatter,
                role,
                what: format!("reduce = {reduce}"),
            };
            let got = scatter(tracked(3), updates.clone());
            assert_eq!(got.unwrap_err(), refused(Role::Params));
            let got = scatter(plain(), tracked(2));
            assert_eq!(got.unwrap_err(), refused(Role::Updates));
            let got = scatter(tracked(3).detach(), updates);
            assert!(!got.expect("nothing is tracked").is_tracked());
        }

        let bags = Bags::offsets(BagMode::Sum, &[0]);
        let table = Tensor::<2>::ones([3, 2], &device);
        let got = gathers.embedding_bag(bags, rules, table.clone().require_grad(), ids());
        let error = got.unwrap_err();
        assert_eq!(
            error.to_string(),
            "embedding_bag: params is tracked by autodiff, but a pooled lookup has no gradient; it needs a tensor that is not tracked (detach)"
        );
        let got = gathers.embedding_bag_weighted(bags, rules, table.clone(), ids(), tracked(2));
        match got.unwrap_err() {
            Error::NoGradient {
                role: Role::Weights,
                ..
            } => (),
            other => panic!("{other}"),
        }
        let sums = gathers.embedding_bag(bags, rules, table, ids());
        let sums: Vec<f32> = sums.expect("nothing is tracked").to_data().iter().collect();
        assert_eq!(sums, [2.0, 2.0]);
        assert_eq!(gathers.check(), Ok(()));
    }
}
