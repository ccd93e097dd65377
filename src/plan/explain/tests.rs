//! That an explanation says what the planner does.

use super::*;
use crate::plan::KernelKind;
use crate::plan::kernels::{KindReason, NotFour};
use crate::plan::nest_size::NestReason;
use crate::{IndexType, Layout, Op, OutOfBounds, Rules};

/// What 128 bytes of binding make of small tensors.
const SMALL: BindingLimits = BindingLimits {
    params_bytes: 128,
    indices_bytes: 128,
    output_bytes: 128,
    segments: 2,
    alignment: 16,
    pass_bytes: 1 << 20,
    workgroups: 65_535,
};

const LARGE: BindingLimits = BindingLimits {
    params_bytes: 1 << 31,
    indices_bytes: 1 << 31,
    output_bytes: 1 << 31,
    segments: 6,
    ..SMALL
};

fn plan(op: Op, rules: &Rules, width: usize, params: &[usize], indices: &[usize]) -> Plan {
    let (params, indices) = (Layout::contiguous(params), Layout::contiguous(indices));
    Plan::new(op, rules, width, &params, IndexType::I32, &indices).unwrap()
}

fn rows(row: usize, width: usize, count: usize) -> Explanation {
    let plan = plan(
        Op::gather(0),
        &Rules::default(),
        width,
        &[100, row],
        &[count],
    );
    Explanation::new(&plan, &LARGE).unwrap()
}

/// The kernel of the first dispatch, and why it has its copy part.
fn kind(explanation: &Explanation) -> (KernelKind, KindReason) {
    let kernel = &explanation.dispatches[0].kernel;
    (kernel.kind, kernel.reason.kind)
}

#[test]
fn the_kernel_tells_its_reason() {
    use KernelKind::{Bytes, BytesVec4, BytesX4, Elements, ElementsX4, Rows, Subword};
    use KindReason as Why;
    let length = NotFour::OutputLength;
    assert_eq!(kind(&rows(384, 4, 10)), (Rows, Why::SeveralAccesses));
    assert_eq!(kind(&rows(4, 4, 10)), (Elements, Why::OneVector));
    let runs = NotFour::RunLength;
    assert_eq!(kind(&rows(1, 4, 10)), (Elements, Why::OneAccess(runs)));
    assert_eq!(kind(&rows(1, 4, 12)), (ElementsX4, Why::FourNeighbours));
    assert_eq!(kind(&rows(385, 1, 10)), (BytesX4, Why::LongRows(length)));
    assert_eq!(kind(&rows(385, 1, 16)), (BytesVec4, Why::WholeVectors));
    assert_eq!(kind(&rows(15, 1, 16)), (Bytes, Why::ShortRows));
    assert_eq!(kind(&rows(3, 1, 16)), (Subword, Why::PartsOfWords));
}

#[test]
fn the_nest_tells_its_reason() {
    let nest = |rules: &Rules, params: &[usize], indices: &[usize]| {
        let plan = plan(Op::gather_nd(), rules, 4, params, indices);
        let explanation = Explanation::new(&plan, &LARGE).unwrap();
        explanation.dispatches[0].kernel.reason.nest
    };
    let zero = Rules::default();
    assert_eq!(nest(&zero, &[9, 5], &[7, 2]), NestReason::Enough);
    assert_eq!(nest(&zero, &[9, 5], &[7, 0]), NestReason::Coordinates);
    assert_eq!(nest(&zero, &[9, 5, 2, 3], &[7, 4]), NestReason::Coordinates);
    assert_eq!(
        nest(&Rules::NUMPY_WRAP, &[9, 5], &[7, 2]),
        NestReason::Enough
    );
    let odd =
        Rules::default().with_out_of_bounds(OutOfBounds::Fill(crate::Fill::from_bytes(&[1; 12])));
    let plan = plan(Op::gather(0), &odd, 12, &[9], &[7]);
    let explanation = Explanation::new(&plan, &LARGE).unwrap();
    assert_eq!(
        explanation.dispatches[0].kernel.reason.nest,
        NestReason::Fill
    );
}

#[test]
fn the_access_is_as_narrow_as_what_it_divides() {
    let limits = |row, width| rows(row, width, 10).dispatches[0].access_limits.clone();
    assert_eq!(limits(384, 4), []);
    let row = [AccessLimit::Row, AccessLimit::Coordinate(0)];
    assert_eq!(limits(6, 4), row);
    let rules =
        Rules::default().with_out_of_bounds(OutOfBounds::Fill(crate::Fill::from_bytes(&[1; 12])));
    let plan = plan(Op::gather(0), &rules, 12, &[100, 4], &[10]);
    let filled = Explanation::new(&plan, &LARGE).unwrap();
    assert_eq!(filled.dispatches[0].access_limits, [AccessLimit::Fill]);
}

#[test]
fn every_dispatch_is_counted() {
    // 1,600 bytes of params in segments of 128, and 40 rows of 16 bytes in boxes of 128
    let plan = plan(Op::gather(0), &Rules::ONNX, 4, &[100, 4], &[40]);
    let explanation = Explanation::new(&plan, &SMALL).unwrap();
    let part = plan.tensor_ends().map(one_part);
    let [params, indices, output] = &part;
    let parts = Parts {
        params,
        indices,
        output,
    };
    let all = passes(&plan, parts, &SMALL).unwrap();
    let counts = explanation.dispatches.iter().map(|d| d.count);
    assert_eq!(counts.sum::<usize>(), all.len());
    let first = explanation.dispatches.iter().filter(|d| d.first);
    assert_eq!(first.map(|d| d.count).sum::<usize>(), explanation.boxes);
    assert_eq!(explanation.boxes, 5);
    assert!(explanation.segments > 12, "{}", explanation.segments);
    assert_eq!(explanation.check_passes, 2);
    let reason = explanation.dispatches[0].kernel.reason;
    assert_eq!(reason.kind, KindReason::OneVector);
}

#[test]
fn passes_beyond_number_are_refused_at_once() {
    let shape = [1 << (usize::BITS - 4)];
    let plan = plan(Op::gather(0), &Rules::default(), 4, &shape, &shape);
    let error = Explanation::new(&plan, &SMALL).unwrap_err();
    assert!(matches!(
        error,
        Error::TooMany {
            limit: MAX_PASSES,
            ..
        }
    ));
}

#[test]
fn the_host_call_follows_from_the_memory_given() {
    let explanation = rows(1024, 4, 1000);
    assert_eq!(explanation.host_call, HostCall::Device);
    let needed = explanation.plan.host_bytes();
    let explanation = explanation.with_memory(needed);
    assert_eq!(explanation.host_call, HostCall::Device);
    assert_eq!(explanation.with_memory(needed - 1).host_call, HostCall::Cpu);
}
