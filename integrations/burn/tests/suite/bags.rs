//! Pooled lookups on burn's tensors, and burn's own operators on its flex backend; errors, and bad indices.

use burn::tensor::{Device, Int, Shape, Tensor, TensorData};
use wgpu_gather::{OpKind, Role};
use wgpu_gather_burn::{BagMode, Bags, Error, GatherError, Rules};

use crate::kit::{Numbers, places};

/// Sums and maxima of small integers: with burn's select and reductions, on its flex backend.
#[test]
fn bags_are_those_of_burn() {
    let host = Device::flex();
    for place in places() {
        let gathers = place.gathers();
        let mut n = Numbers(21);
        for _ in 0..20 {
            let (rows, bags, each) = (1 + n.below(30), 1 + n.below(20), 1 + n.below(10));
            let values: Vec<f32> = (0..rows * 8).map(|_| n.below(33) as f32 - 16.0).collect();
            let table = TensorData::new(values, [rows, 8]);
            let ids: Vec<i32> = (0..bags * each).map(|_| n.below(rows) as i32).collect();
            let ids = TensorData::new(ids, Shape::new([bags, each]));
            let by_burn = Tensor::<2>::from_data(table.clone(), &host)
                .select(
                    0,
                    Tensor::<2, Int>::from_data(ids.clone(), &host).reshape([bags * each]),
                )
                .reshape([bags, each, 8]);
            let ours = |mode| {
                let table = Tensor::<2>::from_data(table.clone(), &place.device);
                let ids = Tensor::<2, Int>::from_data(ids.clone(), &place.device);
                let made = gathers.embedding_bag(Bags::rows(mode), &Rules::TORCH, table, ids);
                bits(made.expect("the call is good"))
            };
            let sums: Tensor<2> = by_burn.clone().sum_dim(1).reshape([bags, 8]);
            // A sum of burn's may be a negative zero.
            assert_eq!(
                ours(BagMode::Sum),
                bits(sums.add_scalar(0)),
                "{}",
                place.api
            );
            let maxima: Tensor<2> = by_burn.max_dim(1).reshape([bags, 8]);
            assert_eq!(ours(BagMode::Max), bits(maxima), "{}", place.api);
        }
        assert_eq!(gathers.check(), Ok(()));
    }
}

fn bits(tensor: Tensor<2>) -> Vec<u32> {
    tensor.to_data().iter::<f32>().map(f32::to_bits).collect()
}

#[test]
fn bad_indices_of_bags_are_reported() {
    for place in places() {
        let (gathers, device) = (place.gathers(), &place.device);
        let table = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0]], device);
        let ids = Tensor::<1, Int>::from_ints([0, 1, 9], device);
        let bags = Bags::offsets(BagMode::Sum, &[0, 1]);
        let sums = gathers.embedding_bag(bags, &Rules::TORCH, table, ids);
        let sums: Vec<f32> = sums.expect("the call is good").to_data().iter().collect();
        assert_eq!(sums, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(
            gathers.check().unwrap_err().to_string(),
            "embedding_bag: indices[2] = 9 is out of bounds for params axis 0 of extent 2"
        );
        assert_eq!(gathers.check(), Ok(()));
    }
}

#[test]
fn what_is_no_bag_is_refused_by_the_call() {
    for place in places() {
        let (gathers, device) = (place.gathers(), &place.device);
        let ids = || Tensor::<1, Int>::from_ints([0, 1], device);
        let table = || Tensor::<2>::ones([3, 2], device);
        let rules = &Rules::TORCH;

        let bags = Bags::offsets(BagMode::Sum, &[0, 5]);
        let got = gathers.embedding_bag(bags, rules, table(), ids());
        match got.unwrap_err() {
            Error::Gather(GatherError::OffsetOutOfRange {
                op: OpKind::EmbeddingBag,
                position: 1,
                value: 5,
                ..
            }) => (),
            other => panic!("{other}"),
        }

        let bags = Bags::offsets(BagMode::Mean, &[0]);
        let got = gathers.embedding_bag(bags, rules, table().int(), ids());
        match got.unwrap_err() {
            Error::Gather(GatherError::BagModeType { mode: "mean", .. }) => (),
            other => panic!("{other}"),
        }

        let bags = Bags::offsets(BagMode::Max, &[0]);
        let weights = Tensor::<1>::ones([2], device);
        let got = gathers.embedding_bag_weighted(bags, rules, table(), ids(), weights);
        match got.unwrap_err() {
            Error::Gather(GatherError::WeightsWithout { mode: "max", .. }) => (),
            other => panic!("{other}"),
        }

        let bags = Bags::offsets(BagMode::Sum, &[0]);
        let weights = Tensor::<1>::ones([2], &Device::flex());
        let got = gathers.embedding_bag_weighted(bags, rules, table(), ids(), weights);
        match got.unwrap_err() {
            Error::OtherDevice {
                role: Role::Weights,
                ..
            } => (),
            other => panic!("{other}"),
        }
        assert_eq!(gathers.check(), Ok(()));
    }
}
