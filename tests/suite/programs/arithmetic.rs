//! What calls compute, in a few lines each: from the documentation of the operators, not from the crate.

use wgpu_gather::{BadIndices, BagMode, DType, Negative, Op, OpKind, OutOfBounds, Reduce, Rules};

use super::view::coordinates;

/// The coordinate that an index selects, if any.
pub(super) fn resolve(rules: &Rules, index: i128, extent: usize) -> Option<usize> {
    let extent = extent as i128;
    let from_end = rules.negative == Negative::FromEnd && index < 0;
    let index = if from_end { index + extent } else { index };
    let moved = match rules.out_of_bounds {
        OutOfBounds::Clip if extent > 0 => index.clamp(0, extent - 1),
        OutOfBounds::Wrap if extent > 0 => index.rem_euclid(extent),
        _ => index,
    };
    (0..extent).contains(&moved).then_some(moved as usize)
}

/// A gather's shapes, and where each element comes from.
#[derive(Debug, Clone)]
pub(super) struct Lookups<'a> {
    pub(super) op: Op,
    pub(super) params: &'a [usize],
    pub(super) indices: &'a [usize],
}

/// A shape of few indices that fits params of shape `p`.
pub(super) fn fitting_indices(op: Op, p: &[usize], number: u8) -> Vec<usize> {
    let few = 1 + usize::from(number) % 4;
    match op {
        Op::Gather { batch_dims: 0, .. } => vec![few],
        Op::Gather { .. } => vec![p[0], few],
        Op::GatherNd { .. } => vec![few, (usize::from(number) / 4 % 3).min(p.len())],
        _ => p.iter().map(|&d| d.min(2)).collect(),
    }
}

#[test]
fn every_operator_has_a_model() {
    for op in Op::ALL {
        let op = op.with_axis(0).unwrap_or(op);
        let (params, indices) = (&[3, 4], &fitting_indices(op, &[3, 4], 5));
        let shape = Lookups {
            op,
            params,
            indices,
        }
        .output_shape();
        let expected = op.output_shape(params, indices, &Rules::default());
        assert_eq!(shape, expected.ok(), "{op}");
    }
}

/// An element of the output: the places of its indices, and the params that they complete.
struct Source {
    /// The position in indices, and the axis of params.
    looked_up: Vec<(Vec<usize>, usize)>,
    /// Coordinates in params; those that are looked up are 0.
    params: Vec<usize>,
}

impl Lookups<'_> {
    /// The shape of the output; `None`, if the shapes do not fit.
    pub(super) fn output_shape(&self) -> Option<Vec<usize>> {
        let (p, i) = (self.params, self.indices);
        match self.op {
            Op::Gather { axis, batch_dims } => {
                let (axis, b) = (axis? as usize, batch_dims as usize);
                let fits = axis < p.len() && b <= axis && b <= i.len() && p[..b] == i[..b];
                fits.then(|| [&p[..axis], &i[b..], &p[axis + 1..]].concat())
            }
            Op::GatherNd { batch_dims } => {
                let b = batch_dims as usize;
                let (&depth, positions) = i.split_last()?;
                let fits = b < p.len() && b < i.len() && b + depth <= p.len() && p[..b] == i[..b];
                fits.then(|| [positions, &p[b + depth..]].concat())
            }
            Op::GatherElements { axis } => {
                let axis = axis as usize;
                let fits = axis < p.len() && p.len() == i.len();
                let larger = |d: usize| d != axis && i[d] > p[d];
                (fits && !(0..p.len()).any(larger)).then(|| i.to_vec())
            }
            _ => None,
        }
    }

    /// The axes of params that a lookup selects from; none, if the shapes do not fit.
    pub(super) fn axes(&self) -> Vec<usize> {
        let first = self.output_shape().map(|shape| vec![0; shape.len()]);
        let looked_up = first.map_or(Vec::new(), |first| self.source(&first).looked_up);
        looked_up.into_iter().map(|(_, axis)| axis).collect()
    }

    fn source(&self, output: &[usize]) -> Source {
        let q = self.indices.len();
        match self.op {
            Op::Gather { axis, batch_dims } => {
                let (axis, b) = (axis.expect("an axis") as usize, batch_dims as usize);
                let inner = axis + q - b;
                Source {
                    looked_up: vec![([&output[..b], &output[axis..inner]].concat(), axis)],
                    params: [&output[..axis], &[0], &output[inner..]].concat(),
                }
            }
            Op::GatherNd { batch_dims } => {
                let (b, depth) = (batch_dims as usize, self.indices[q - 1]);
                let index = |k: usize| ([&output[..q - 1], &[k]].concat(), b + k);
                Source {
                    looked_up: (0..depth).map(index).collect(),
                    params: [&output[..b], &vec![0; depth], &output[q - 1..]].concat(),
                }
            }
            Op::GatherElements { axis } => {
                let mut params = output.to_vec();
                params[axis as usize] = 0;
                Source {
                    looked_up: vec![(output.to_vec(), axis as usize)],
                    params,
                }
            }
            _ => unreachable!("no other operator"),
        }
    }

    /// For each element of the output its coordinates in params, if all of its indices select something;
    /// and what is to be reported of those that lie outside, whatever the rules make of them.
    pub(super) fn find(
        &self,
        kind: OpKind,
        rules: &Rules,
        index: impl Fn(&[usize]) -> i128,
    ) -> (Vec<Option<Vec<usize>>>, Option<BadIndices>) {
        let shape = self.output_shape().expect("shapes that fit");
        let strict = Rules::new(rules.negative, OutOfBounds::Error);
        let mut bad: Vec<BadIndices> = Vec::new();
        let find = |output: &Vec<usize>| {
            let source = self.source(output);
            let mut params = source.params;
            let (mut is_found, mut worst) = (true, None);
            for (position, axis) in source.looked_up {
                let (value, extent) = (index(&position), self.params[axis]);
                match resolve(rules, value, extent) {
                    Some(coordinate) => params[axis] = coordinate,
                    None => is_found = false,
                }
                if resolve(&strict, value, extent).is_none() {
                    worst.get_or_insert(BadIndices {
                        op: kind,
                        position,
                        value,
                        axis,
                        extent,
                        count: 1,
                    });
                }
            }
            bad.extend(worst);
            is_found.then_some(params)
        };
        let found = coordinates(&shape).iter().map(find).collect();
        (found, first_of(bad))
    }
}

/// One report of the bad lookups of a call: a lookup is met once for each element that it selects.
fn first_of(mut bad: Vec<BadIndices>) -> Option<BadIndices> {
    let nd = |b: &BadIndices| matches!(b.op, OpKind::GatherNd | OpKind::ScatterNd);
    let lookup = |b: &BadIndices| match nd(b) {
        true => b.position[..b.position.len() - 1].to_vec(),
        false => b.position.clone(),
    };
    bad.sort_by_key(lookup);
    bad.dedup_by_key(|b| lookup(b));
    let count = bad.len() as u64;
    let first = bad.into_iter().next()?;
    Some(BadIndices { count, ..first })
}

/// A step of a fold, on the bits of elements.
pub(super) fn fold(dtype: DType, reduce: Reduce, a: u64, b: u64) -> u64 {
    match dtype {
        DType::F32 => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            u64::from(floats(reduce, a, b).to_bits())
        }
        DType::I64 => integers(reduce, a, b, (a as i64) < (b as i64)),
        DType::U8 => integers(reduce, a, b, a < b) & 0xff,
        _ => integers(reduce, a, b, a < b) & 0xffff_ffff,
    }
}

fn integers(reduce: Reduce, a: u64, b: u64, is_less: bool) -> u64 {
    match reduce {
        Reduce::Add => a.wrapping_add(b),
        Reduce::Mul => a.wrapping_mul(b),
        Reduce::Min if is_less => a,
        Reduce::Max if !is_less => a,
        _ => b,
    }
}

fn floats(reduce: Reduce, a: f32, b: f32) -> f32 {
    let is_less = a.total_cmp(&b).is_lt();
    match reduce {
        Reduce::Add => a + b,
        Reduce::Mul => a * b,
        Reduce::Min | Reduce::Max if a.is_nan() || b.is_nan() => f32::NAN,
        Reduce::Min if is_less => a,
        Reduce::Max if !is_less => a,
        _ => b,
    }
}

/// The end of a fold: a NaN has the bits that the documentation says.
pub(super) fn folded(dtype: DType, bits: u64) -> u64 {
    match dtype == DType::F32 && f32::from_bits(bits as u32).is_nan() {
        true => 0x7fc0_0000,
        false => bits,
    }
}

/// One column of a bag, of which the rows of each lookup are given.
pub(super) fn pool(dtype: DType, mode: BagMode, values: &[u64]) -> u64 {
    let reduce = if mode == BagMode::Max {
        Reduce::Max
    } else {
        Reduce::Add
    };
    let step = |a: u64, &b: &u64| fold(dtype, reduce, a, b);
    // A sum starts from zero, so that of negative zeros is +0.
    let sum = match (mode, values) {
        (BagMode::Max, [first, rest @ ..]) => rest.iter().fold(*first, step),
        _ => values.iter().fold(0, step),
    };
    folded(dtype, sum)
}
