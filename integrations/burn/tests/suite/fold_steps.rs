//! Steps of a chain that fold: scatters and pooled lookups, on the device and by their definitions.

use burn::tensor::{Int, Shape, Tensor, TensorData};
use wgpu_gather::{Executor, OutOfBounds};
use wgpu_gather_burn::{BagMode, Bags, Gathers, Number, Op, Reduce, Rules};

use crate::kit::{Numbers, ints};
use crate::pairs::{COLUMNS, Pair, ROWS, SHAPE, Values};

/// A scatter of one tensor into another with random indices.
pub(crate) fn scatter_step<K: Values>(
    gathers: &Gathers,
    numbers: &mut Numbers,
    reductions: &[Reduce],
    tensors: [&Pair<K>; 2],
    indices: &Pair<Int>,
) -> Pair<K> {
    let rules = rules(numbers);
    let indices = &inside(&rules, indices);
    let call = (gathers, &rules, numbers.of(reductions));
    let row = |t: Tensor<2, Int>| t.slice([0..1, 0..ROWS]).reshape([ROWS]);
    let column = |t: Tensor<2, Int>| t.slice([1..2, 0..COLUMNS]).reshape([COLUMNS]);
    let ones = |t: Tensor<2, Int>| t.reshape([ROWS, COLUMNS, 1]);
    let pairs = move |t: Tensor<2, Int>| Tensor::cat(vec![ones(t.clone()), ones(t)], 2);
    match numbers.below(5) {
        0 => scattered(call, Op::gather(0), tensors, indices, row),
        1 => scattered(call, Op::gather(1), tensors, indices, column),
        2 => scattered(call, Op::gather_nd(), tensors, indices, pairs),
        n => {
            let op = Op::gather_elements(n as isize - 3);
            scattered(call, op, tensors, indices, |t| t)
        }
    }
}

/// A scatter on the device, and by its definition on the host.
fn scattered<K: Values, const DI: usize>(
    (gathers, rules, reduce): (&Gathers, &Rules, Reduce),
    op: Op,
    [base, updates]: [&Pair<K>; 2],
    indices: &Pair<Int>,
    of_indices: impl Fn(Tensor<2, Int>) -> Tensor<DI, Int>,
) -> Pair<K> {
    let (b, u) = (base.device.clone(), updates.device.clone());
    let ids = of_indices(indices.device.clone());
    let made = gathers.scatter(op, reduce, rules, b, ids, u);

    let ids = of_indices(indices.host.clone());
    let ids = wgpu_gather::Tensor::new(&ids.dims(), ints(&ids)).expect("indices");
    let (b, u) = (on_host(&base.host), on_host(&updates.host));
    let defined = Executor::Reference
        .scatter(op, reduce, rules, &b, &ids, &u)
        .wait()
        .expect("the call is good");
    paired(made, defined, &base.host)
}

/// Rows of a table, pooled by bags of random indices: as many bags as the table has rows.
pub(crate) fn bag_step<K: Values + Number>(
    gathers: &Gathers,
    numbers: &mut Numbers,
    table: &Pair<K>,
    indices: &Pair<Int>,
) -> Pair<K> {
    let rules = rules(numbers);
    let indices = inside(&rules, indices);
    let bags = Bags::rows(numbers.of(&[BagMode::Sum, BagMode::Max]));
    let bags = match numbers.below(2) {
        0 => bags,
        _ => bags.with_padding_index(numbers.below(ROWS) as isize),
    };
    let (t, ids) = (table.device.clone(), indices.device.clone());
    let made = gathers.embedding_bag(bags, &rules, t, ids);

    let ids = wgpu_gather::Tensor::new(&SHAPE, ints(&indices.host)).expect("indices");
    let t = on_host(&table.host);
    let defined = Executor::Reference
        .embedding_bag(bags, &rules, &t, &ids)
        .wait()
        .expect("the call is good");
    paired(made, defined, &table.host)
}

fn on_host<K: Values>(tensor: &Tensor<2, K>) -> wgpu_gather::Tensor<K::Value> {
    wgpu_gather::Tensor::new(&tensor.dims(), K::values(tensor)).expect("a tensor")
}

fn paired<K: Values>(
    made: wgpu_gather_burn::Result<Tensor<2, K>>,
    defined: wgpu_gather::Tensor<K::Value>,
    host: &Tensor<2, K>,
) -> Pair<K> {
    let shape = Shape::from(defined.shape().to_vec());
    let expected = TensorData::new(defined.data().to_vec(), shape);
    Pair {
        device: made.expect("the call is good"),
        host: Tensor::from_data(expected, &host.device()),
    }
}

fn rules(numbers: &mut Numbers) -> Rules {
    numbers.of(&[
        Rules::TENSORFLOW_GPU,
        Rules::NUMPY_WRAP,
        Rules::NUMPY_CLIP,
        Rules::WEBNN,
        Rules::TORCH,
    ])
}

/// Indices that are good on every axis, where the rules report others.
fn inside(rules: &Rules, indices: &Pair<Int>) -> Pair<Int> {
    match rules.out_of_bounds {
        OutOfBounds::Error => indices.map(|i| i.clamp(0, ROWS as i32 - 1)),
        _ => indices.clone(),
    }
}
