//! The built-in set: every operator, element width, index type and rule, at sizes around the
//! boundaries where kernels change hands.

use crate::element::DType;
use crate::index::IndexType;
use crate::op::Op;
use crate::rules::{Fill, OutOfBounds, Rules};
use crate::shape::Layout;
use crate::verify::call::Call;

/// One shape of call: operator, dims of params, dims of indices.
type Shape = (Op, &'static [usize], &'static [usize]);

/// Rows from one element to beyond a workgroup, positions around a workgroup, batches, outer
/// loops, index depths 0 to 3, and ranks up to 9.
const SHAPES: &[Shape] = &[
    (Op::gather(0), &[37], &[1021]),
    (Op::gather(0), &[7], &[]),
    (Op::gather(0), &[19, 2], &[257]),
    (Op::gather(0), &[19, 3], &[85]),
    (Op::gather(0), &[19, 4], &[64]),
    (Op::gather(0), &[19, 5], &[63]),
    (Op::gather(0), &[11, 16], &[33]),
    (Op::gather(0), &[11, 31], &[9]),
    (Op::gather(0), &[5, 256], &[7]),
    (Op::gather(0), &[5, 1027], &[7]),
    (Op::gather(0), &[3, 5000], &[3]),
    (Op::gather(-1), &[6, 5, 23], &[4, 3]),
    (Op::gather(1), &[6, 9, 4], &[2, 5]),
    (
        Op::Gather {
            axis: Some(2),
            batch_dims: 1,
        },
        &[4, 3, 8, 6],
        &[4, 5],
    ),
    (
        Op::Gather {
            axis: Some(1),
            batch_dims: 1,
        },
        &[9, 30],
        &[9],
    ),
    (
        Op::Gather {
            axis: None,
            batch_dims: -1,
        },
        &[2, 3, 10, 2],
        &[2, 3, 7],
    ),
    (Op::gather_nd(), &[9, 8, 7], &[101, 3]),
    (Op::gather_nd(), &[9, 8, 7], &[5, 6, 2]),
    (Op::gather_nd(), &[9, 8, 12], &[21, 1]),
    (Op::gather_nd(), &[3, 4], &[5, 0]),
    (Op::GatherNd { batch_dims: 1 }, &[4, 6, 5, 3], &[4, 11, 2]),
    (Op::gather_elements(0), &[13, 17], &[21, 17]),
    (Op::gather_elements(1), &[13, 17], &[13, 29]),
    (Op::gather_elements(1), &[5, 9, 6], &[4, 14, 3]),
    (
        Op::gather_elements(-2),
        &[2, 1, 3, 2, 1, 2, 1, 5, 3],
        &[2, 1, 3, 2, 1, 2, 1, 8, 2],
    ),
];

/// The calls of the built-in set: about a quarter of the indices are out of bounds.
pub fn builtin() -> Vec<Call> {
    let mut calls = Vec::new();
    for (n, &shape) in SHAPES.iter().enumerate() {
        for (m, dtype) in DType::ALL.into_iter().enumerate() {
            // Every shape meets every width; index types and rules take turns.
            let index_type = IndexType::ALL[(n + m) % 4];
            let rules = rules(dtype);
            let rules = rules[(n + m) % rules.len()].clone();
            calls.push(call(shape, dtype, index_type, rules, (n * 100 + m) as u64));
        }
        for index_type in IndexType::ALL {
            for rules in rules(DType::U32) {
                calls.push(call(shape, DType::U32, index_type, rules, n as u64));
            }
        }
    }
    calls
}

/// Each of the rules, with each meaning of a negative index.
fn rules(dtype: DType) -> Vec<Rules> {
    let fill: Vec<u8> = (0xe1..).take(dtype.bytes()).collect();
    let both = [
        OutOfBounds::Zero,
        OutOfBounds::Fill(Fill::from_bytes(&fill)),
        OutOfBounds::Clip,
        OutOfBounds::Wrap,
        OutOfBounds::Error,
    ];
    let with = |base: Rules| {
        both.clone().map(|out_of_bounds| Rules {
            out_of_bounds,
            ..base.clone()
        })
    };
    [with(Rules::TENSORFLOW_GPU), with(Rules::ONNX)].concat()
}

fn call(
    (op, params, indices): Shape,
    dtype: DType,
    index_type: IndexType,
    rules: Rules,
    seed: u64,
) -> Call {
    let mut random = SplitMix(seed);
    let elements: usize = params.iter().product();
    let extent = params.iter().copied().max().unwrap_or(1) as i64;
    let count: usize = indices.iter().product();
    let mut index_bytes = Vec::with_capacity(count * index_type.bytes());
    for _ in 0..count {
        let value = index(&mut random, extent);
        // In the narrower and unsigned types, these wrap to other bad values.
        match index_type {
            IndexType::I32 => index_bytes.extend((value as i32).to_ne_bytes()),
            IndexType::U32 => index_bytes.extend((value as u32).to_ne_bytes()),
            IndexType::I64 => index_bytes.extend(value.to_ne_bytes()),
            IndexType::U64 => index_bytes.extend((value as u64).to_ne_bytes()),
        }
    }
    Call {
        op,
        rules,
        element_bytes: dtype.bytes(),
        params: (0..elements * dtype.bytes())
            .map(|_| random.next() as u8)
            .collect(),
        params_layout: Layout::contiguous(params),
        index_type,
        indices: index_bytes,
        indices_layout: Layout::contiguous(indices),
    }
}

/// Mostly within `extent`; else negative, just outside, far outside, or equal to a valid index in
/// its low 32 bits.
fn index(random: &mut SplitMix, extent: i64) -> i64 {
    let inside = (random.next() % extent as u64) as i64;
    match random.next() % 32 {
        0..=3 => -1 - inside,
        4 => extent,
        5 => -extent - 1,
        6 => inside + (1 << 32),
        7 => (random.next() as i64) | 1 << 40,
        _ => inside,
    }
}

/// The SplitMix64 generator: the same numbers on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
