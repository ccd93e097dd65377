//! Scatters on burn's tensors, and burn's own on its flex backend; errors, and bad indices.

use burn::tensor::{DType, Device, IndexingUpdateOp, Int, Shape, Tensor, TensorData};
use wgpu_gather::{OpKind, OutOfBounds, Role};
use wgpu_gather_burn::{Error, GatherError, Op, Reduce, Rules};

use crate::kit::{Numbers, places};

/// Sums of small integers, which are exact in any order: with burn's own operators, on its flex backend.
#[test]
fn sums_are_those_of_burn() {
    let host = Device::flex();
    for place in places() {
        let gathers = place.gathers();
        let mut n = Numbers(11);
        for _ in 0..20 {
            let (rows, count) = (1 + n.below(30), 1 + n.below(50));
            let mut floats = |shape: [usize; 2]| {
                let values = (0..shape[0] * shape[1]).map(|_| n.below(17) as f32 - 8.0);
                TensorData::new(values.collect::<Vec<f32>>(), shape)
            };
            let (base, updates) = (floats([rows, 6]), floats([count, 6]));
            let mut below = |shape: &[usize], extent: usize| {
                let count: usize = shape.iter().product();
                let values: Vec<i32> = (0..count).map(|_| n.below(extent) as i32).collect();
                TensorData::new(values, Shape::from(shape.to_vec()))
            };
            let ids = below(&[count], rows);
            let each = below(&[count, 6], rows);
            let pairs: Vec<i32> = {
                let (r, c) = (below(&[count], rows), below(&[count], 6));
                let both = r.iter::<i32>().zip(c.iter::<i32>());
                both.flat_map(|(r, c)| [r, c]).collect()
            };
            let pairs = TensorData::new(pairs, [count, 2]);

            let of = |device: &Device| {
                let base = Tensor::<2>::from_data(base.clone(), device);
                let updates = Tensor::<2>::from_data(updates.clone(), device);
                (base, updates)
            };
            let (rules, add) = (&Rules::TORCH, Reduce::Add);
            let ours = |op, ids: &TensorData| {
                let (base, updates) = of(&place.device);
                let made = match op {
                    Op::GatherElements { .. } => {
                        let ids = Tensor::<2, Int>::from_data(ids.clone(), &place.device);
                        gathers.scatter(op, add, rules, base, ids, updates)
                    }
                    Op::GatherNd { .. } => {
                        let ids = Tensor::<2, Int>::from_data(ids.clone(), &place.device);
                        let updates = updates.slice_dim(1, 0..1).reshape([count]);
                        gathers.scatter(op, add, rules, base, ids, updates)
                    }
                    _ => {
                        let ids = Tensor::<1, Int>::from_data(ids.clone(), &place.device);
                        gathers.scatter(op, add, rules, base, ids, updates)
                    }
                };
                bits(made.expect("the call is good"))
            };

            let (b, u) = of(&host);
            let by_burn = b.select_assign(
                0,
                Tensor::<1, Int>::from_data(ids.clone(), &host),
                u,
                IndexingUpdateOp::Add,
            );
            assert_eq!(ours(Op::gather(0), &ids), bits(by_burn), "{}", place.api);

            let (b, u) = of(&host);
            let by_burn = b.scatter(
                0,
                Tensor::<2, Int>::from_data(each.clone(), &host),
                u,
                IndexingUpdateOp::Add,
            );
            assert_eq!(
                ours(Op::gather_elements(0), &each),
                bits(by_burn),
                "{}",
                place.api
            );

            let (b, u) = of(&host);
            let by_burn: Tensor<2> = b.scatter_nd(
                Tensor::<2, Int>::from_data(pairs.clone(), &host),
                u.slice_dim(1, 0..1).reshape([count]),
                IndexingUpdateOp::Add,
            );
            assert_eq!(
                ours(Op::gather_nd(), &pairs),
                bits(by_burn),
                "{}",
                place.api
            );
        }
        assert_eq!(gathers.check(), Ok(()));
    }
}

fn bits(tensor: Tensor<2>) -> Vec<u32> {
    tensor.to_data().iter::<f32>().map(f32::to_bits).collect()
}

/// The base of a call stays what it was, and updates that are broadcast are read where they lie.
#[test]
fn base_is_copied_and_updates_may_be_repeated() {
    for place in places() {
        let gathers = place.gathers();
        let base = Tensor::<2>::ones([3, 2], &place.device);
        let ids = Tensor::<1, Int>::from_ints([2, 0, 2], &place.device);
        let row = Tensor::<2>::from_floats([[10.0, 20.0]], &place.device);
        let updates: Tensor<2> = row.expand([3, 2]);
        let (op, rules) = (Op::gather(0), &Rules::TORCH);
        let sums = gathers.scatter(op, Reduce::Add, rules, base.clone(), ids, updates);
        let sums = gathers
            .read(sums.expect("the call is good"))
            .expect("no index is bad");
        let sums: Vec<f32> = sums.iter().collect();
        assert_eq!(sums, [11.0, 21.0, 1.0, 1.0, 21.0, 41.0]);
        let base: Vec<f32> = base.to_data().iter().collect();
        assert_eq!(base, [1.0; 6]);
    }
}

#[test]
fn bad_indices_write_nothing_and_are_reported() {
    for place in places() {
        let gathers = place.gathers();
        let scatter = |rules: &Rules| {
            let base = Tensor::<1>::from_floats([1.0, 2.0, 3.0], &place.device);
            let ids = Tensor::<1, Int>::from_ints([0, 7, -1], &place.device);
            let updates = Tensor::<1>::from_floats([10.0, 20.0, 40.0], &place.device);
            let made = gathers.scatter(Op::gather(0), Reduce::Add, rules, base, ids, updates);
            made.expect("the call is good")
        };
        let values = |tensor: Tensor<1>| tensor.to_data().iter().collect::<Vec<f32>>();
        assert_eq!(values(scatter(&Rules::TENSORFLOW_GPU)), [11.0, 2.0, 3.0]);
        assert_eq!(values(scatter(&Rules::NUMPY_CLIP)), [51.0, 2.0, 23.0]);
        assert_eq!(gathers.check(), Ok(()));
        assert_eq!(values(scatter(&Rules::TORCH)), [11.0, 2.0, 3.0]);
        assert_eq!(
            gathers.check().unwrap_err().to_string(),
            "scatter: indices[1] = 7 is out of bounds for params axis 0 of extent 3 (the first of 2 bad indices)"
        );
        assert_eq!(gathers.check(), Ok(()));
    }
}

#[test]
fn what_is_no_scatter_is_refused_by_the_call() {
    for place in places() {
        let (gathers, device) = (place.gathers(), &place.device);
        let ids = || Tensor::<1, Int>::from_ints([0, 1], device);
        let (op, rules) = (Op::gather(0), &Rules::TORCH);
        let base = Tensor::<1>::ones([3], device);

        let longer = Tensor::<1>::ones([4], device);
        let got = gathers.scatter(op, Reduce::Add, rules, base.clone(), ids(), longer);
        assert_eq!(
            got.unwrap_err(),
            Error::Gather(GatherError::UpdatesShape {
                op: OpKind::Scatter,
                expected: vec![2],
                got: vec![4],
            })
        );

        let truths = Tensor::<1>::ones([3], device).greater_elem(0);
        let updates = Tensor::<1>::ones([2], device).greater_elem(0);
        let got = gathers.scatter(op, Reduce::Max, rules, truths, ids(), updates);
        match got.unwrap_err() {
            Error::ElementType {
                op: OpKind::Scatter,
                role: Role::Params,
                got: DType::Bool(_),
                ..
            } => (),
            other => panic!("{other}"),
        }

        let elsewhere = Tensor::<1>::ones([2], &Device::flex());
        let got = gathers.scatter(op, Reduce::Add, rules, base.clone(), ids(), elsewhere);
        match got.unwrap_err() {
            Error::OtherDevice {
                role: Role::Updates,
                ..
            } => (),
            other => panic!("{other}"),
        }

        let words =
            Tensor::<1, Int>::from_data(TensorData::new(vec![1u32; 3], [3]), (device, DType::U32));
        let signed = Tensor::<1, Int>::from_ints([1, 2], device);
        let got = gathers.scatter(op, Reduce::Add, rules, words, ids(), signed);
        assert_eq!(
            got.unwrap_err(),
            Error::MixedTypes {
                op: OpKind::Scatter,
                role: Role::Updates,
                got: DType::I32,
                expected: DType::U32,
            }
        );
        assert_eq!(gathers.check(), Ok(()));
    }
}

/// Nothing to write, and nothing to write to.
#[test]
fn empty_tensors_are_scattered() {
    for place in places() {
        let (gathers, device) = (place.gathers(), &place.device);
        let (op, rules) = (
            Op::gather(0),
            Rules::TORCH.with_out_of_bounds(OutOfBounds::Zero),
        );
        let none = Tensor::<1, Int>::empty([0], device);
        let base = Tensor::<2>::ones([2, 3], device);
        let updates = Tensor::<2>::empty([0, 3], device);
        let same = gathers.scatter(op, Reduce::Add, &rules, base, none, updates);
        let same: Vec<f32> = same.expect("the call is good").to_data().iter().collect();
        assert_eq!(same, [1.0; 6]);

        let ids = Tensor::<1, Int>::from_ints([0, 4], device);
        let base = Tensor::<2>::empty([0, 3], device);
        let updates = Tensor::<2>::ones([2, 3], device);
        let made = gathers.scatter(op, Reduce::Add, &rules, base, ids, updates);
        assert_eq!(made.expect("the call is good").dims(), [0, 3]);
        assert_eq!(gathers.check(), Ok(()));

        let ids = Tensor::<1, Int>::from_ints([0, 4], device);
        let base = Tensor::<2>::empty([0, 3], device);
        let updates = Tensor::<2>::ones([2, 3], device);
        let made = gathers.scatter(op, Reduce::Add, &Rules::TORCH, base, ids, updates);
        let made = made.expect("the call is good");
        // Under fusion, what is dropped before it is needed is not made.
        assert_eq!(made.to_data().shape(), &Shape::new([0, 3]));
        assert_eq!(
            gathers.check().unwrap_err().to_string(),
            "scatter: indices[0] = 0 is out of bounds for params axis 0 of extent 0 (the first of 2 bad indices)"
        );
    }
}
