//! Chains of random steps: burn's operators and ours on a device, and the same on the host.
//!
//! burn's operators run on burn's flex backend as well; ours are made by their definitions there. All
//! values are small integers and no zero is negative, so sums and products are exact in any order, fused
//! or not, and the bits of both sides must be equal.

use burn::tensor::{Bool, Device, Float, Int, Shape, Tensor, TensorData};
use wgpu_gather::{Op, OutOfBounds, Rules};
use wgpu_gather_burn::{Gathers, Kind, Reduce};

use crate::fold_steps::{bag_step, scatter_step};
use crate::kit::{Numbers, Place, data, defined, ints};
use crate::pairs::{COLUMNS, Pair, ROWS, SHAPE, Values};

/// Tensors of a kind that a chain has at a time.
const ALIVE: usize = 5;

/// The tensors of a chain.
pub(crate) struct Chain<'a> {
    place: &'a Place,
    gathers: Gathers,
    numbers: Numbers,
    pub(crate) floats: Vec<Pair<Float>>,
    ints: Vec<Pair<Int>>,
    bools: Vec<Pair<Bool>>,
    /// How many steps were ours.
    pub(crate) ours: usize,
}

impl<'a> Chain<'a> {
    pub(crate) fn new(place: &'a Place, gathers: Gathers, seed: u64) -> Chain<'a> {
        let (mut numbers, host) = (Numbers(seed), Device::flex());
        let mut values = || -> Vec<i32> {
            (0..ROWS * COLUMNS)
                .map(|_| numbers.below(41) as i32 - 20)
                .collect()
        };
        let float = |values: Vec<i32>, device: &Device| {
            let values: Vec<f32> = values.into_iter().map(|v| v as f32).collect();
            Tensor::<2>::from_data(data(values, &SHAPE), device)
        };
        let pair = |values: Vec<i32>| Pair {
            device: float(values.clone(), &place.device),
            host: float(values, &host),
        };
        let (a, b) = (pair(values()), pair(values()));
        let int = |a: &Pair<Float>| a.map(|a| a.int());
        Chain {
            ints: vec![int(&a), int(&b)],
            bools: vec![a.with(&b, |a, b| a.greater(b))],
            floats: vec![a, b],
            place,
            gathers,
            numbers,
            ours: 0,
        }
    }

    /// One step, which makes a tensor and may forget another.
    pub(crate) fn step(&mut self) {
        if self.numbers.below(2) == 0 {
            return self.step_of_burn();
        }
        self.ours += 1;
        if self.numbers.below(2) == 0 {
            return self.step_that_folds();
        }
        match self.numbers.below(6) {
            0 => {
                let params = self.numbers.of(&self.ints);
                let made = self.gather(&params);
                keep(&mut self.ints, made, &mut self.numbers);
            }
            1 => {
                let params = self.numbers.of(&self.bools);
                let made = self.gather(&params);
                keep(&mut self.bools, made, &mut self.numbers);
            }
            _ => {
                let params = self.numbers.of(&self.floats);
                let made = self.gather(&params);
                keep(&mut self.floats, made, &mut self.numbers);
            }
        }
    }

    /// A scatter or a pooled lookup. Numbers are kept small, so that sums are exact.
    fn step_that_folds(&mut self) {
        let (gathers, n) = (&self.gathers, &mut self.numbers);
        let indices = n.of(&self.ints);
        let small = |t: Tensor<2>| t.clamp(-500, 500);
        let small_ints = |t: Tensor<2, Int>| t.clamp(-30, 30);
        let reductions = [Reduce::None, Reduce::Add, Reduce::Min, Reduce::Max];
        match n.below(6) {
            0 => {
                let (base, updates) = (n.of(&self.ints), n.of(&self.ints));
                let both = [&base, &updates];
                let made = scatter_step(gathers, n, &reductions, both, &indices);
                keep(&mut self.ints, made.map(small_ints), n);
            }
            1 => {
                let (base, updates) = (n.of(&self.bools), n.of(&self.bools));
                let both = [&base, &updates];
                let made = scatter_step(gathers, n, &[Reduce::None], both, &indices);
                keep(&mut self.bools, made, n);
            }
            2 => {
                let table = n.of(&self.ints);
                let made = bag_step(gathers, n, &table, &indices);
                keep(&mut self.ints, made.map(small_ints), n);
            }
            3 => {
                let table = n.of(&self.floats);
                let made = bag_step(gathers, n, &table, &indices);
                keep(&mut self.floats, made.map(small), n);
            }
            _ => {
                let (base, updates) = (n.of(&self.floats), n.of(&self.floats));
                let both = [&base, &updates];
                let made = scatter_step(gathers, n, &reductions, both, &indices);
                keep(&mut self.floats, made.map(small), n);
            }
        }
    }

    /// Fails unless all tensors that are alive agree.
    pub(crate) fn check(&self, step: usize) {
        let agree = [
            ("float", self.floats.iter().all(Pair::agree)),
            ("int", self.ints.iter().all(Pair::agree)),
            ("bool", self.bools.iter().all(Pair::agree)),
        ];
        for (kind, agrees) in agree {
            assert!(
                agrees,
                "{}: a {kind} differs at step {step}",
                self.place.api
            );
        }
        self.gathers
            .check()
            .expect("no index of the error rule is bad");
    }

    fn step_of_burn(&mut self) {
        let numbers = &mut self.numbers;
        let (a, b) = (numbers.of(&self.floats), numbers.of(&self.floats));
        let (i, j, mask) = (
            numbers.of(&self.ints),
            numbers.of(&self.ints),
            numbers.of(&self.bools),
        );
        match numbers.below(13) {
            10 => keep(&mut self.bools, a.with(&b, |a, b| a.greater(b)), numbers),
            11 => {
                let made = a.with(&i, |a, i| (a.int() - i).clamp(-4, 24));
                keep(&mut self.ints, made, numbers);
            }
            12 => keep(
                &mut self.ints,
                i.with(&j, |i, j| (i - j).clamp(-30, 30)),
                numbers,
            ),
            n => keep(&mut self.floats, float_step(n, &a, &b, &i, &mask), numbers),
        }
    }

    /// A gather with random indices, from params as they lie, or transposed.
    fn gather<K: Values>(&mut self, params: &Pair<K>) -> Pair<K> {
        let indices = self.numbers.of(&self.ints);
        let rules = self.rules::<K>();
        let inside = matches!(rules.out_of_bounds, OutOfBounds::Error);
        let indices = match inside {
            true => indices.map(|i| i.clamp(0, ROWS as i32 - 1)),
            false => indices,
        };
        let call = (&self.gathers, &rules);
        let row = |t: Tensor<2, Int>| t.slice([0..1, 0..ROWS]).reshape([ROWS]);
        let column = |t: Tensor<2, Int>| t.slice([1..2, 0..COLUMNS]).reshape([COLUMNS]);
        let two = |t: Tensor<2, Int>| t.slice([2..5, 0..4]);
        let ones = |t: Tensor<2, Int>| t.reshape([ROWS, COLUMNS, 1]);
        let pairs = move |t: Tensor<2, Int>| Tensor::cat(vec![ones(t.clone()), ones(t)], 2);
        let (p, i) = (params, &indices);
        match self.numbers.below(8) {
            0 => ours(call, Op::gather(0), p, |p| p, i, row, |o: Tensor<2, K>| o),
            1 => ours(
                call,
                Op::gather(-1),
                p,
                |p| p,
                i,
                column,
                |o: Tensor<2, K>| o,
            ),
            2 => ours(
                call,
                Op::gather(0),
                p,
                |p| p,
                i,
                two,
                |o: Tensor<3, K>| o.reshape(SHAPE),
            ),
            3 => {
                let op = Op::Gather {
                    axis: Some(1),
                    batch_dims: 1,
                };
                ours(call, op, p, |p| p, i, |i| i, |o: Tensor<2, K>| o)
            }
            4 => ours(
                call,
                Op::gather_nd(),
                p,
                |p| p,
                i,
                pairs,
                |o: Tensor<2, K>| o,
            ),
            5 => {
                let op = Op::GatherNd { batch_dims: 1 };
                ours(call, op, p, |p| p, i, ones, |o: Tensor<2, K>| o)
            }
            6 => {
                let op = Op::gather_elements(self.numbers.below(2) as isize);
                ours(call, op, p, |p| p, i, |i| i, |o: Tensor<2, K>| o)
            }
            _ => {
                let back = |o: Tensor<2, K>| o.transpose();
                ours(call, Op::gather(1), p, |p| p.transpose(), i, row, back)
            }
        }
    }

    fn rules<K: Values>(&mut self) -> Rules {
        let fill = K::fill().map_or(OutOfBounds::Zero, OutOfBounds::Fill);
        self.numbers.of(&[
            Rules::TENSORFLOW_GPU,
            Rules::NUMPY_WRAP,
            Rules::NUMPY_CLIP,
            Rules::WEBNN,
            Rules::ONNX_CUDA,
            Rules::ONNX.with_out_of_bounds(fill),
            Rules::TORCH,
        ])
    }
}

/// A gather of ours on the device, and by its definition on the host.
fn ours<K: Values, const DI: usize, const DO: usize>(
    (gathers, rules): (&Gathers, &Rules),
    op: Op,
    params: &Pair<K>,
    of_params: impl Fn(Tensor<2, K>) -> Tensor<2, K>,
    indices: &Pair<Int>,
    of_indices: impl Fn(Tensor<2, Int>) -> Tensor<DI, Int>,
    of_output: impl Fn(Tensor<DO, K>) -> Tensor<2, K>,
) -> Pair<K> {
    let (p, i) = (
        of_params(params.device.clone()),
        of_indices(indices.device.clone()),
    );
    let made: Tensor<DO, K> = gathers.gather(op, rules, p, i).expect("the call is good");

    let (p, i) = (
        of_params(params.host.clone()),
        of_indices(indices.host.clone()),
    );
    let (p_shape, i_shape, device) = (p.dims(), i.dims(), p.device());
    let (values, shape) = defined(op, rules, (K::values(&p), &p_shape), (ints(&i), &i_shape));
    let expected = TensorData::new(values, Shape::from(shape));
    Pair {
        device: of_output(made),
        host: of_output(Tensor::from_data(expected, &device)),
    }
}

fn float_step(
    n: usize,
    a: &Pair<Float>,
    b: &Pair<Float>,
    i: &Pair<Int>,
    mask: &Pair<Bool>,
) -> Pair<Float> {
    let small = |t: Tensor<2>| t.clamp(-500, 500);
    match n {
        0 => a.with(b, |a, b| small(a + b)),
        1 => a.with(b, |a, b| small(a - b).add_scalar(1)).map(small),
        // A product may be a negative zero, which a sum is not.
        2 => a.with(b, |a, b| small((a * b).add_scalar(1))),
        // Of another shape than its neighbours: fusion in burn 0.22.1 panics where a sum is queued between
        // other tensors' operators of its shape ("None" in `engine/trace/fuser.rs`), also without ours.
        3 => a.map(|a| {
            let part = a.slice([0..ROWS, 0..COLUMNS - 1]);
            small(part.sum_dim(1)).expand(SHAPE)
        }),
        4 => a.with(b, |a, b| {
            let square = small(a.matmul(b.transpose()).add_scalar(1));
            Tensor::cat(
                vec![square.clone(), square.slice([0..ROWS, 0..COLUMNS - ROWS])],
                1,
            )
        }),
        5 => a.map(|a| a.transpose().flip([0]).transpose()),
        6 => a.with(b, |a, b| {
            Tensor::cat(
                vec![a.slice([0..5, 0..COLUMNS]), b.slice([5..ROWS, 0..COLUMNS])],
                0,
            )
        }),
        7 => a.with(b, |a, b| {
            a.slice_assign([2..7, 3..9], b.slice([0..5, 0..6]))
        }),
        8 => a
            .with(mask, |a, mask| a.clone().mask_where(mask, a.add_scalar(3)))
            .map(small),
        _ => a.with(i, |a, i| {
            let rows = i
                .clamp(0, ROWS as i32 - 1)
                .slice([0..1, 0..ROWS])
                .reshape([ROWS]);
            a.select(0, rows)
        }),
    }
}

/// Adds a tensor; one of the others goes if there are enough.
fn keep<K: Kind>(alive: &mut Vec<Pair<K>>, made: Pair<K>, numbers: &mut Numbers) {
    if alive.len() == ALIVE {
        alive.swap_remove(numbers.below(ALIVE));
    }
    alive.push(made);
}
