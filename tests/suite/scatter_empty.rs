//! Scatters in which an extent of zero stands beside extents whose product overflows.

use wgpu_gather::{
    DType, Error, Executor, IndexType, Indices, Layout, Op, OutOfBounds, Params, Reduce, Result,
    Rules, ScatterLayouts, ScatterPlan,
};

use crate::common::executors;

const HUGE: usize = 1 << (usize::BITS * 5 / 8);

/// The operator, the shape of the destination, and that of the indices.
const CALLS: [(Op, &[usize], &[usize]); 12] = [
    (Op::gather(0), &[HUGE, HUGE, 0], &[3]),
    (Op::gather(1), &[HUGE, HUGE, 0], &[3]),
    (Op::gather(2), &[HUGE, HUGE, 0], &[0]),
    (Op::gather(0), &[0, HUGE, HUGE], &[0]),
    (Op::gather(0), &[HUGE, 0, HUGE, HUGE], &[HUGE, HUGE, 0]),
    (Op::gather(-1), &[HUGE, HUGE, HUGE, 0], &[0, HUGE, HUGE]),
    (Op::gather_nd(), &[HUGE, HUGE, 0], &[3, 1]),
    (Op::gather_nd(), &[HUGE, HUGE, 0], &[3, 3]),
    (Op::gather_nd(), &[0, HUGE, HUGE], &[2, 2, 3]),
    (Op::gather_nd(), &[HUGE, 0, HUGE], &[0, HUGE, HUGE, 2]),
    (Op::gather_elements(0), &[0, HUGE, HUGE], &[0, HUGE, HUGE]),
    (Op::gather_elements(2), &[HUGE, HUGE, 0], &[1, 2, 3]),
];

/// A scatter of zeros at index 0, of which one of each tensor is in memory.
fn scatter(
    executor: &Executor,
    (op, shape, ids): (Op, &[usize], &[usize]),
    rules: &Rules,
) -> Result<()> {
    let updates = op.output_shape(shape, ids, rules)?;
    let repeated = |shape: &[usize]| Layout::strided(shape, &vec![0; shape.len()], 0);
    let indices = Indices::new(&[0; 4][..], IndexType::U32, repeated(ids)?)?;
    let updates = Params::new(&[0; 4][..], DType::F32, repeated(&updates)?)?;
    executor
        .scatter_into(op, Reduce::Add, rules, shape, &mut [], &indices, &updates)
        .wait()
}

#[test]
fn a_zero_beside_extents_that_overflow_is_no_product() {
    let mut executors = executors();
    executors.push(Executor::Reference);
    let (mut written, mut bad) = (0, 0);
    for call in CALLS {
        let (op, shape, ids) = call;
        let updates = op
            .output_shape(shape, ids, &Rules::default())
            .expect("a shape");
        let is_empty = updates.contains(&0);
        for executor in &executors {
            let run = |rule| scatter(executor, call, &Rules::default().with_out_of_bounds(rule));
            let what = format!("{call:?} on {}", executor.describe());
            assert_eq!(run(OutOfBounds::Zero), Ok(()), "{what}");
            match run(OutOfBounds::Error) {
                Ok(()) if is_empty => written += 1,
                Err(Error::IndexOutOfBounds(_)) if !is_empty => bad += 1,
                other => panic!("{what}: {other:?}"),
            }
            match run(OutOfBounds::Clip) {
                Ok(()) if is_empty => {}
                Err(Error::NothingToRead { .. }) if !is_empty => {}
                other => panic!("{what}: {other:?}"),
            }
        }
    }
    assert!(written > 0 && bad > 0, "{written} {bad}");
}

#[test]
fn such_a_scatter_can_be_explained() {
    for (op, shape, ids) in CALLS {
        let updates = op
            .output_shape(shape, ids, &Rules::default())
            .expect("a shape");
        let layouts = ScatterLayouts {
            dtype: DType::F32,
            destination: &Layout::contiguous(shape),
            index_type: IndexType::U32,
            indices: &Layout::contiguous(ids),
            updates: &Layout::contiguous(&updates),
        };
        let plan = ScatterPlan::new(op, Reduce::Add, &Rules::default(), layouts).expect("a plan");
        let explanation = plan.explain();
        let lookups: usize = match updates.contains(&0) {
            true => 0,
            false => updates.iter().product(),
        };
        assert_eq!(explanation.lookups, lookups, "{shape:?}");
        assert!(explanation.to_string().contains("lookups"), "{explanation}");
    }
}
