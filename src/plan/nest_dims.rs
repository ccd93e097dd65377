//! Which dims of the tensors the loops of a plan come from.

use crate::plan::geometry::{DimsOfLoop, Loop, LoopDims};

/// The loops of a plan, each with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NestDims {
    /// The loops as the plan has them, outermost first, each with the dims that became it: more
    /// than one, where loops were merged.
    pub(crate) loops: Vec<(Loop, Vec<LoopDims>)>,
    /// Dims of extent 1, which need no loop.
    pub(crate) dropped: Vec<LoopDims>,
}

impl NestDims {
    /// The dims of `loops`.
    pub(super) fn new(loops: &[Loop], nest_dims: &[DimsOfLoop]) -> NestDims {
        let of = |n: Option<usize>| {
            let these = nest_dims.iter().filter(|o| o.becomes == n);
            these.map(|o| o.dims).collect()
        };
        let loops = loops.iter().enumerate();
        NestDims {
            loops: loops.map(|(n, &l)| (l, of(Some(n)))).collect(),
            dropped: of(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexType, Layout, Op, Plan, Rules};

    fn nest_dims(op: Op, params: &[usize], indices: &[usize]) -> NestDims {
        let (params, indices) = (Layout::contiguous(params), Layout::contiguous(indices));
        let plan = Plan::new(op, &Rules::default(), 4, &params, IndexType::I32, &indices);
        plan.unwrap().nest_dims()
    }

    #[test]
    fn a_loop_runs_over_all_its_dims_and_every_dim_is_somewhere() {
        let batched = Op::Gather {
            axis: Some(4),
            batch_dims: 2,
        };
        let calls: [(Op, &[usize], &[usize]); 5] = [
            (batched, &[2, 3, 4, 5, 6, 7], &[2, 3, 8, 9]),
            (Op::gather(1), &[3, 1, 4, 1], &[1, 2]),
            (Op::gather_nd(), &[5, 4, 3, 2], &[7, 2, 2]),
            (Op::gather_elements(0), &[4, 5, 6], &[9, 5, 3]),
            (Op::gather(0), &[4], &[]),
        ];
        for (op, params, indices) in calls {
            let nest_dims = nest_dims(op, params, indices);
            let extent = |d: &LoopDims| match (d.indices, d.params) {
                (Some(d), _) => indices[d],
                (None, Some(d)) => params[d],
                (None, None) => panic!("{op:?}: a loop from nowhere"),
            };
            for (l, dims) in &nest_dims.loops {
                let steps: usize = dims.iter().map(extent).product();
                assert_eq!(steps, l.extent, "{op:?}");
            }
            assert!(nest_dims.dropped.iter().all(|d| extent(d) == 1), "{op:?}");
            let dims = nest_dims.loops.iter().flat_map(|(_, dims)| dims);
            let output = op.output_shape(params, indices, &Rules::default()).unwrap();
            let count = dims.chain(&nest_dims.dropped).count();
            assert_eq!(count, output.len(), "{op:?}");
        }
    }

    #[test]
    fn merged_and_dropped_dims_are_noted() {
        let of = |params, indices| LoopDims { params, indices };
        let op = Op::Gather {
            axis: Some(2),
            batch_dims: 1,
        };
        let nest_dims = nest_dims(op, &[2, 1, 6, 7, 8], &[2, 5, 4]);
        let dims: Vec<_> = nest_dims.loops.into_iter().map(|(_, dims)| dims).collect();
        assert_eq!(
            dims,
            [
                vec![of(Some(0), Some(0))],
                vec![of(None, Some(1)), of(None, Some(2))],
                vec![of(Some(3), None), of(Some(4), None)],
            ]
        );
        assert_eq!(nest_dims.dropped, [of(Some(1), None)]);
    }
}
