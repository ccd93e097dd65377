//! Which dims of the tensors the loops of a plan come from.

use crate::op::Checked;
use crate::plan::geometry::{Loop, LoopDims, Nest, joined};
use crate::shape::Layout;

/// The loops of a plan, each with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origins {
    /// The loops as the plan has them, outermost first, each with the dims that became it: more
    /// than one, where loops were merged.
    pub loops: Vec<(Loop, Vec<LoopDims>)>,
    /// What has an extent of 1, and needs no loop.
    pub dropped: Vec<LoopDims>,
}

impl Origins {
    /// Lowers once more, and takes notes.
    pub(super) fn new(op: Checked, params: &Layout, indices: &Layout) -> Origins {
        let (params, indices) = (&params.at_least_1d(), &indices.at_least_1d());
        let mut nest = Nest::new(params, indices);
        nest.dims = Some(Vec::new());
        nest.add(op);
        let dims = nest.dims.take().unwrap_or_default();
        let mut origins = Origins::default();
        for (l, dims) in nest.loops.into_iter().zip(dims) {
            origins.push(l, dims);
        }
        origins
    }

    fn push(&mut self, inner: Loop, dims: LoopDims) {
        if inner.extent == 1 {
            self.dropped.push(dims);
            return;
        }
        if let Some((outer, all)) = self.loops.last_mut()
            && let Some(one) = joined(outer, &inner)
        {
            *outer = one;
            all.push(dims);
            return;
        }
        self.loops.push((inner, vec![dims]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexType, Op, Plan, Rules};

    fn origins(op: Op, params: &[usize], indices: &[usize]) -> (Origins, Plan) {
        let (params, indices) = (Layout::contiguous(params), Layout::contiguous(indices));
        let rules = Rules::default();
        let checked = op.check(params.shape(), indices.shape(), &rules).unwrap();
        let plan = Plan::new(op, &rules, 4, &params, IndexType::I32, &indices).unwrap();
        (Origins::new(checked, &params, &indices), plan)
    }

    #[test]
    fn the_loops_are_those_of_the_plan() {
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
            let (origins, plan) = origins(op, params, indices);
            let loops: Vec<Loop> = origins.loops.iter().map(|&(l, _)| l).collect();
            assert_eq!(loops, plan.geometry().loops, "{op:?}");
        }
    }

    #[test]
    fn merged_and_dropped_dims_are_noted() {
        let of = |params, indices| LoopDims { params, indices };
        let op = Op::Gather {
            axis: Some(2),
            batch_dims: 1,
        };
        let (origins, _) = origins(op, &[2, 1, 6, 7, 8], &[2, 5, 4]);
        let dims: Vec<_> = origins.loops.into_iter().map(|(_, dims)| dims).collect();
        assert_eq!(
            dims,
            [
                vec![of(Some(0), Some(0))],
                vec![of(None, Some(1)), of(None, Some(2))],
                vec![of(Some(3), None), of(Some(4), None)],
            ]
        );
        assert_eq!(origins.dropped, [of(Some(1), None)]);
    }
}
