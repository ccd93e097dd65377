//! All that the calls of this crate know of single operators: shapes that fit them.

use wgpu_gather::{Op, OpKind};

use crate::choices::Choices;

/// One shape of call: operator, dims of params, dims of indices.
pub(crate) type Shape = (Op, &'static [usize], &'static [usize]);

/// Rows from one element to beyond a workgroup, positions around a workgroup, batches, outer
/// loops, index depths 0 to 3, and ranks up to 9.
pub(crate) const SHAPES: &[Shape] = &[
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
    (Op::gather(0), &[41], &[1032]),
    (Op::gather(0), &[11, 15], &[128]),
    (Op::gather(0), &[11, 17], &[272]),
    (Op::gather(0), &[9, 43], &[16]),
    (Op::gather(-1), &[6, 5, 23], &[4, 3]),
    (Op::gather(1), &[6, 9, 4], &[2, 5]),
    (Op::gather(1), &[4, 9], &[12]),
    (Op::gather(1), &[4, 9, 19], &[8]),
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
            axis: Some(2),
            batch_dims: 1,
        },
        &[3, 2, 8, 19],
        &[3, 16],
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
    (Op::gather_nd(), &[4, 5, 6, 19], &[7, 3]),
    (Op::gather_nd(), &[3, 4], &[5, 0]),
    (Op::GatherNd { batch_dims: 1 }, &[4, 6, 5, 3], &[4, 11, 2]),
    (Op::gather_elements(0), &[13, 17], &[21, 17]),
    (Op::gather_elements(0), &[13, 24], &[21, 20]),
    (Op::gather_elements(1), &[13, 17], &[13, 29]),
    (Op::gather_elements(1), &[5, 9, 6], &[4, 14, 3]),
    (
        Op::gather_elements(-2),
        &[2, 1, 3, 2, 1, 2, 1, 5, 3],
        &[2, 1, 3, 2, 1, 2, 1, 8, 2],
    ),
];

/// An operator with shapes that mostly fit it.
pub(crate) struct Shapes {
    pub(crate) op: Op,
    pub(crate) params: Vec<usize>,
    pub(crate) indices: Vec<usize>,
    /// The extents of the axes that are looked up.
    pub(crate) extents: Vec<usize>,
}

/// An operator of this kind with random attributes, and shapes that fit it.
pub(crate) fn fitting(kind: OpKind, choices: &mut Choices<'_>) -> Shapes {
    match kind {
        OpKind::Gather => gather(choices),
        OpKind::GatherNd => gather_nd(choices),
        OpKind::GatherElements => gather_elements(choices),
        other => unreachable!("no shapes for {other}"),
    }
}

fn gather(choices: &mut Choices<'_>) -> Shapes {
    let rank = 1 + choices.below(8);
    let params = choices.dims(rank, 1);
    let batch = choices.below(rank);
    let axis = batch + choices.below(rank - batch);
    let used = bulk(&params[..axis]) * bulk(&params[axis + 1..]);
    let positions = choices.below(4);
    let indices = [&params[..batch], &choices.dims(positions, used)].concat();
    let axis_given = match choices.below(3) {
        0 => Some(axis as isize),
        1 => Some(axis as isize - rank as isize),
        _ if axis == batch => None,
        _ => Some(axis as isize),
    };
    let from_back = positions > 0 && choices.rarely(3);
    let batch_dims = if from_back {
        -(positions as isize)
    } else {
        batch as isize
    };
    Shapes {
        op: Op::Gather {
            axis: axis_given,
            batch_dims,
        },
        extents: vec![params[axis]],
        params,
        indices,
    }
}

fn gather_nd(choices: &mut Choices<'_>) -> Shapes {
    let rank = 1 + choices.below(8);
    let params = choices.dims(rank, 1);
    let batch = choices.below(rank);
    let depth = choices.below(rank - batch + 1);
    let used = bulk(&params[..batch]) * bulk(&params[batch + depth..]);
    let positions = choices.below(4);
    let positions = choices.dims(positions, used);
    Shapes {
        op: Op::GatherNd {
            batch_dims: batch as isize,
        },
        indices: [&params[..batch], &positions, &[depth]].concat(),
        extents: params[batch..batch + depth].to_vec(),
        params,
    }
}

fn gather_elements(choices: &mut Choices<'_>) -> Shapes {
    let rank = 1 + choices.below(8);
    let params = choices.dims(rank, 1);
    let axis = choices.below(rank);
    let mut indices = params.clone();
    for (d, dim) in indices.iter_mut().enumerate() {
        if d == axis {
            let used = bulk(&params[..axis]) * bulk(&params[axis + 1..]);
            *dim = choices.dims(1, used)[0];
        } else if choices.rarely(4) {
            *dim = choices.below(*dim + 1);
        }
    }
    let from_back = choices.rarely(3);
    Shapes {
        op: Op::GatherElements {
            axis: axis as isize - if from_back { rank as isize } else { 0 },
        },
        extents: vec![params[axis]],
        params,
        indices,
    }
}

/// The product of dims without the zeros: nothing is to be large because it goes with a zero.
pub(crate) fn bulk(dims: &[usize]) -> usize {
    dims.iter().filter(|&&d| d > 0).product()
}

/// An operator of this kind that fits params of this shape, with the shape of its indices, of which there are more with a
/// larger `factor`. `below` draws numbers.
pub(crate) fn of_params(
    kind: OpKind,
    shape: &[usize],
    factor: usize,
    below: &mut impl FnMut(usize) -> usize,
) -> (Op, Vec<usize>) {
    let rank = shape.len();
    match kind {
        OpKind::Gather => {
            let axis = below(rank);
            let batch = below(axis.min(1) + 1);
            let mut indices = shape[..batch].to_vec();
            indices.push(if axis == 0 {
                3 * some(factor, below)
            } else {
                1 + below(5)
            });
            if below(3) == 0 {
                indices.push(1 + below(3));
            }
            let (axis, batch_dims) = (Some(axis as isize), batch as isize);
            (Op::Gather { axis, batch_dims }, indices)
        }
        OpKind::GatherNd => {
            let batch = below(rank.min(2));
            let depth = below(rank - batch + 1);
            let mut indices = shape[..batch].to_vec();
            let count = if depth == 0 { 2 } else { some(factor, below) };
            indices.extend([count, depth]);
            (
                Op::GatherNd {
                    batch_dims: batch as isize,
                },
                indices,
            )
        }
        OpKind::GatherElements => {
            let axis = below(rank);
            let mut indices = shape.to_vec();
            for (d, extent) in indices.iter_mut().enumerate() {
                *extent = match d == axis {
                    true => 1 + below(9),
                    false if below(2) == 0 => *extent,
                    false => 1 + below(*extent),
                };
            }
            (Op::gather_elements(axis as isize), indices)
        }
        other => unreachable!("no shapes for {other}"),
    }
}

/// A number of lookups.
fn some(factor: usize, below: &mut impl FnMut(usize) -> usize) -> usize {
    factor * (1 + below(5)) + factor / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_built_in_shapes_and_random_ones() {
        for op in Op::ALL {
            let kind = op.kind();
            let built_in = SHAPES.iter().filter(|(op, ..)| op.kind() == kind);
            assert!(built_in.count() >= 5, "{kind}");
            assert_eq!(fitting(kind, &mut Choices::new(&[])).op.kind(), kind);
            let (op, _) = of_params(kind, &[4, 5], 1, &mut |_| 0);
            assert_eq!(op.kind(), kind);
        }
    }
}
