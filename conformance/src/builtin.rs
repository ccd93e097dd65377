//! The built-in set: every operator, element width, index type and rule, at sizes around the
//! boundaries where kernels change hands.

use wgpu_gather::{Fill, IndexType, Layout, OutOfBounds, Plan, Rules};

use crate::call::Call;
use crate::operators::{SHAPES, Shape};

/// The element widths of all number types, and of some structs of them.
const WIDTHS: [usize; 9] = [1, 2, 4, 8, 16, 3, 6, 12, 20];

/// The calls of the built-in set: about a sixth of the lookups are out of bounds.
pub fn builtin() -> Vec<Call> {
    let mut calls = Vec::new();
    for (n, &shape) in SHAPES.iter().enumerate() {
        // Every width meets every index type; the rules take turns.
        for (m, (width, index_type)) in pairs(&WIDTHS, &IndexType::ALL).enumerate() {
            let rules = rules(width);
            let rules = rules[(n + m + m / rules.len()) % rules.len()].clone();
            calls.push(call(shape, width, index_type, rules, (n * 100 + m) as u64));
        }
        // One width meets every pair of index type and rules.
        for (rules, index_type) in pairs(&rules(4), &IndexType::ALL) {
            calls.push(call(shape, 4, index_type, rules, n as u64));
        }
    }
    calls
}

/// The extents that the components of an index tuple are looked up in.
fn extents((op, params, indices): Shape) -> Vec<usize> {
    let [params, indices] = [params, indices].map(Layout::contiguous);
    let plan = Plan::new(op, &Rules::default(), 1, &params, IndexType::I32, &indices);
    let plan = plan.expect("shapes that fit");
    let coordinates = plan.geometry().coordinates.iter();
    coordinates.map(|coordinate| coordinate.extent).collect()
}

fn pairs<A: Clone, B: Copy>(first: &[A], second: &[B]) -> impl Iterator<Item = (A, B)> {
    first
        .iter()
        .flat_map(move |a| second.iter().map(move |&b| (a.clone(), b)))
}

/// Each of the rules, with each meaning of a negative index.
fn rules(width: usize) -> Vec<Rules> {
    let fill: Vec<u8> = (0xa1..).take(width).collect();
    let both = OutOfBounds::all(Fill::from_bytes(&fill));
    let with = |base: Rules| {
        both.clone()
            .map(|rule| base.clone().with_out_of_bounds(rule))
    };
    [with(Rules::TENSORFLOW_GPU), with(Rules::ONNX)].concat()
}

fn call(shape: Shape, width: usize, index_type: IndexType, rules: Rules, seed: u64) -> Call {
    let mut random = SplitMix(seed);
    let (op, params, indices) = shape;
    let elements: usize = params.iter().product();
    let extents = extents(shape);
    let count: usize = indices.iter().product();
    let mut index_bytes = Vec::with_capacity(count * index_type.bytes());
    let mut wild = 0;
    for n in 0..count {
        let component = n % extents.len();
        if component == 0 {
            // One component of a tuple may be anywhere; now and then, all of them.
            wild = random.draw() as usize % (extents.len() + 1);
        }
        let extent = extents[component] as i64;
        let value = match wild == component || wild == extents.len() {
            true => index(&mut random, extent),
            false => (random.draw() % extent as u64) as i64,
        };
        // In the narrower and unsigned types, these wrap to other bad values.
        index_type.encode(value.into(), &mut index_bytes);
    }
    Call {
        op,
        rules,
        element_bytes: width,
        params: params_bytes(elements, width, &mut random),
        params_layout: Layout::contiguous(params),
        index_type,
        indices: index_bytes,
        indices_layout: Layout::contiguous(indices),
    }
}

/// Random bits, and in between what arithmetic on floats would change: signalling NaNs, negative
/// zeros.
fn params_bytes(elements: usize, width: usize, random: &mut SplitMix) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..elements * width).map(|_| random.draw() as u8).collect();
    for element in bytes.chunks_exact_mut(width).step_by(3) {
        let nan = random.draw() & 1 == 0;
        let bits: &[u8] = match (width, nan) {
            (2, true) => &0x7d01u16.to_ne_bytes(),
            (2, false) => &0x8000u16.to_ne_bytes(),
            (4, true) => &0x7f80_0001u32.to_ne_bytes(),
            (4, false) => &0x8000_0000u32.to_ne_bytes(),
            (8, true) => &0x7ff0_0000_0000_0001u64.to_ne_bytes(),
            (8, false) => &(1u64 << 63).to_ne_bytes(),
            _ => continue,
        };
        element.copy_from_slice(bits);
    }
    bytes
}

/// Mostly within `extent`; else negative, just outside, far outside, or equal to a valid index in
/// its low 32 bits.
fn index(random: &mut SplitMix, extent: i64) -> i64 {
    let inside = (random.draw() % extent as u64) as i64;
    match random.draw() % 32 {
        0..=3 => -1 - inside,
        4 => extent,
        5 => -extent - 1,
        6 => inside + (1 << 32),
        7 => (random.draw() as i64) | 1 << 40,
        _ => inside,
    }
}

/// The SplitMix64 generator, from a seed: the same numbers on every machine.
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use wgpu_gather::bad_indices;

    use super::*;

    #[test]
    fn most_lookups_of_each_shape_are_good_and_some_are_bad() {
        let calls = builtin();
        for &(op, params, indices) in SHAPES {
            let (mut lookups, mut bad) = (0, 0);
            let shape = |call: &&Call| {
                (
                    call.op,
                    call.params_layout.shape(),
                    call.indices_layout.shape(),
                ) == (op, params, indices)
            };
            for call in calls.iter().filter(shape) {
                lookups += call.plan().unwrap().lookups().elements() as u64;
                let found = bad_indices(call.op, &call.rules, params, &call.indices().unwrap());
                bad += found.unwrap().map_or(0, |bad| bad.count);
            }
            let what = format!("{op} {params:?}: {bad} of {lookups} lookups are bad");
            assert!(bad * 10 <= lookups * 4, "{what}");
            // An empty tuple is never bad.
            assert!(bad * 20 >= lookups || indices.last() == Some(&0), "{what}");
        }
    }
}
