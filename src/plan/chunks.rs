//! Chunks: the output in consecutive boxes of bounded size, one plan each.
//!
//! Unlike `passes`, which asks what a device can bind, this asks for a size
//! only, and makes no list: an output of terabytes has more boxes than fit memory.

use std::ops::Range;

use crate::plan::{Geometry, Plan};

impl Plan {
    /// Calls `emit` with plans that make the output part by part, and which elements each makes:
    /// consecutive ones, at most `most_elements` (which is not 0).
    pub(crate) fn chunks<E>(
        &self,
        most_elements: usize,
        emit: &mut impl FnMut(Plan, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_empty() {
            return Ok(());
        }
        cut(self.geometry(), 0, most_elements, &mut |nest, elements| {
            emit(self.over(nest), elements)
        })
    }
}

/// Cuts a nest whose output starts at element `first`.
fn cut<E>(
    nest: &Geometry,
    first: usize,
    most: usize,
    emit: &mut dyn FnMut(Geometry, Range<usize>) -> Result<(), E>,
) -> Result<(), E> {
    let size = nest.elements();
    if size <= most {
        return emit(nest.clone(), first..first + size);
    }
    // More than one element, so there is a loop.
    let outer = nest.loops[0].extent;
    let inner = size / outer;
    let steps = (most / inner).max(1);
    for at in (0..outer).step_by(steps) {
        let part = nest.range(at, steps.min(outer - at));
        cut(&part, first + at * inner, most, emit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexType;
    use crate::op::Op;
    use crate::rules::Rules;
    use crate::shape::Layout;

    fn plan(op: Op, params: &[usize], indices: &[usize]) -> Plan {
        let (params, indices) = (Layout::contiguous(params), Layout::contiguous(indices));
        let rules = Rules::default();
        Plan::new(op, &rules, 2, &params, IndexType::I32, &indices).unwrap()
    }

    /// The chunks' elements and slices.
    fn chunks(plan: &Plan, most: usize) -> Vec<(Range<usize>, usize)> {
        let mut chunks = Vec::new();
        let made: Result<(), ()> = plan.chunks(most, &mut |part, elements| {
            assert_eq!(part.output_bytes(), elements.len() * 2);
            assert_eq!(part.geometry().elements(), elements.len());
            chunks.push((elements, part.geometry().slice()));
            Ok(())
        });
        made.unwrap();
        chunks
    }

    #[test]
    fn chunks_follow_each_other_and_none_is_too_large() {
        let plans = [
            plan(Op::gather(1), &[3, 50, 7], &[5, 4]),
            plan(Op::gather_nd(), &[9, 8, 7], &[6, 2]),
            plan(Op::gather_elements(0), &[4, 5, 6], &[9, 5, 3]),
            plan(Op::gather(0), &[4], &[]),
        ];
        for plan in &plans {
            let all = plan.output_bytes() / 2;
            for most in 1..=all + 1 {
                let mut made = 0;
                for (elements, _) in chunks(plan, most) {
                    assert!(elements.start == made && elements.len() <= most);
                    made = elements.end;
                }
                assert_eq!(made, all, "chunks of {most}");
            }
        }
    }

    #[test]
    fn rows_stay_whole_where_they_fit() {
        let rows = plan(Op::gather(0), &[100, 8], &[5]);
        let whole = [(0..16, 8), (16..32, 8), (32..40, 8)];
        assert_eq!(chunks(&rows, 23), whole);
        assert_eq!(chunks(&rows, 5)[..3], [(0..5, 5), (5..8, 3), (8..13, 5)]);
        assert_eq!(chunks(&plan(Op::gather(0), &[0, 8], &[0]), 5), []);
    }

    #[test]
    fn an_error_ends_the_cutting() {
        let rows = plan(Op::gather(0), &[100, 8], &[5]);
        let mut calls = 0;
        let made = rows.chunks(8, &mut |_, elements| {
            calls += 1;
            if elements.start < 16 {
                Ok(())
            } else {
                Err("full")
            }
        });
        assert_eq!((made, calls), (Err("full"), 3));
    }
}
