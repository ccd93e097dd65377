//! What operators lower to.

use super::*;
use crate::op::Op;
use crate::rules::Rules;

fn lowered(op: Op, params: &Layout, indices: &Layout) -> (Geometry, Geometry) {
    let checked = op
        .check(
            op.kind(),
            params.shape(),
            indices.shape(),
            &Rules::default(),
        )
        .unwrap();
    let lowered = lower(checked, params, indices);
    (lowered.geometry, lowered.lookups)
}

fn loops(geometry: &Geometry) -> Vec<(usize, isize, isize)> {
    let triple = |l: &Loop| (l.extent, l.params_stride, l.indices_stride);
    geometry.loops.iter().map(triple).collect()
}

#[test]
fn contiguous_tensors_need_at_most_four_loops_whatever_their_rank() {
    let params = Layout::contiguous(&[2, 3, 4, 5, 6, 7]);
    let indices = Layout::contiguous(&[2, 3, 8, 9]);
    let op = Op::Gather {
        axis: Some(4),
        batch_dims: 2,
    };
    let (g, lookups) = lowered(op, &params, &indices);
    // batch [2, 3], outer [4, 5], positions [8, 9], inner [7]
    assert_eq!(
        loops(&g),
        [(6, 840, 72), (20, 42, 0), (72, 0, 1), (7, 1, 0)]
    );
    assert_eq!((g.slice(), g.row_loops().len()), (7, 3));
    assert_eq!(
        g.coordinates[0],
        Coordinate {
            axis: 4,
            extent: 6,
            stride: 7
        }
    );
    assert_eq!(loops(&lookups), [(432, 0, 1)]);
}

#[test]
fn gather_nd_loops_over_positions_and_slice() {
    let (g, lookups) = lowered(
        Op::GatherNd { batch_dims: 1 },
        &Layout::contiguous(&[5, 4, 3, 2]),
        &Layout::contiguous(&[5, 7, 2]),
    );
    assert_eq!(loops(&g), [(5, 24, 14), (7, 0, 2), (2, 1, 0)]);
    assert_eq!(g.coordinates.len(), 2);
    assert_eq!(g.index_step, 1);
    assert_eq!(loops(&lookups), [(35, 0, 2)]);
}

#[test]
fn gather_elements_with_smaller_indices_keeps_its_loops_apart() {
    let params = Layout::contiguous(&[4, 5, 6]);
    let same = lowered(
        Op::gather_elements(0),
        &params,
        &Layout::contiguous(&[9, 5, 6]),
    )
    .0;
    assert_eq!(loops(&same), [(9, 0, 30), (30, 1, 1)]);
    let smaller = lowered(
        Op::gather_elements(0),
        &params,
        &Layout::contiguous(&[9, 5, 3]),
    )
    .0;
    assert_eq!(loops(&smaller), [(9, 0, 15), (5, 6, 3), (3, 1, 1)]);
    assert_eq!(smaller.slice(), 1);
}

#[test]
fn views_fold_into_strides_and_offsets() {
    let transposed = Layout::strided(&[6, 4], &[1, 6], 5).unwrap();
    let broadcast = Layout::strided(&[3, 2], &[0, 1], 7).unwrap();
    let (g, lookups) = lowered(Op::gather(0), &transposed, &broadcast);
    assert_eq!(loops(&g), [(3, 0, 0), (2, 0, 1), (4, 6, 0)]);
    assert_eq!((g.params_offset, g.indices_offset), (5, 7));
    assert_eq!(g.slice(), 1);
    assert_eq!(lookups.elements(), 6);
}

#[test]
fn whole_scalars_have_no_loops() {
    let (g, lookups) = lowered(
        Op::gather(0),
        &Layout::contiguous(&[4]),
        &Layout::contiguous(&[]),
    );
    assert!(g.loops.is_empty() && lookups.loops.is_empty());
    assert_eq!((g.elements(), g.slice()), (1, 1));
}
