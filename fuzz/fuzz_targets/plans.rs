//! The planner on any shapes, strides and attributes, absurd ones included; small plans are
//! executed too and compared with the reference.

#![no_main]

use gather_conformance::{Call, Outcome, check_call};
use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use wgpu_gather::plan::Geometry;
use wgpu_gather::{BindingLimits, Executor, Explanation, IndexType, Layout, Op, Plan, Rules};

#[allow(dead_code, reason = "other targets use the rest")]
mod any;

use any::{SMALL, View, index_bytes, index_values, op, rules, size, view};

#[derive(Debug)]
struct Input {
    op: Op,
    rules: Rules,
    element_bytes: usize,
    params: View,
    index_type: IndexType,
    indices: View,
    index_values: Vec<i64>,
    limits: BindingLimits,
}

fuzz_target!(|input: Input| {
    let Input { op, rules, .. } = &input;
    let (Ok(params), Ok(indices)) = (input.params.layout(), input.indices.layout()) else {
        return; // not one stride per dim
    };
    let shape = op.output_shape(params.shape(), indices.shape(), rules);
    let plan = Plan::new(
        *op,
        rules,
        input.element_bytes,
        &params,
        input.index_type,
        &indices,
    );
    let plan = match (plan, shape) {
        (Ok(plan), Ok(shape)) => {
            assert_eq!(plan.output_shape(), shape);
            plan
        }
        (Ok(_), Err(error)) => panic!("a plan without an output shape: {error}"),
        (Err(error), _) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    check_geometry(&plan);
    check_kernels(&plan, &input.limits);
    check_answer(&input, &plan, params, indices);
});

/// The loops run over the whole output, and over each lookup once.
fn check_geometry(plan: &Plan) {
    let Some(elements) = Layout::checked_elements(plan.output_shape()) else {
        panic!("a plan whose output overflows");
    };
    assert_eq!(elements * plan.element_bytes(), plan.output_bytes());
    if plan.is_empty() {
        return;
    }
    let (geometry, lookups) = (plan.geometry(), plan.lookups());
    assert_eq!(geometry.elements(), elements);
    assert!(lookups.elements() <= elements);
    assert_eq!(geometry.coordinates, lookups.coordinates);
    let runs = |g: &Geometry| g.loops.iter().all(|l| l.extent > 1);
    assert!(runs(geometry) && runs(lookups));
}

/// What a device of few limits, or of more, would run.
fn check_kernels(plan: &Plan, limits: &BindingLimits) {
    match Explanation::new(plan, limits) {
        Ok(explanation) => {
            let boxes: usize = explanation.dispatches.iter().map(|d| d.count).sum();
            assert!(boxes >= explanation.boxes && plan.is_empty() == (boxes == 0));
            for dispatches in &explanation.dispatches {
                let access = dispatches.access_bytes();
                assert!(access.is_power_of_two() && access <= 16);
                assert_eq!(plan.output_bytes() % access, 0);
                let grid = dispatches.workgroups();
                assert!(grid.iter().all(|n| (1..=limits.workgroups).contains(n)));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Executes the plan if it is small, and compares with the reference.
fn check_answer(input: &Input, plan: &Plan, params: Layout, indices: Layout) {
    let (Some(params_len), Some(indices_len)) = (input.params.len(), input.indices.len()) else {
        return;
    };
    let params_bytes = params_len.saturating_mul(input.element_bytes);
    if plan.output_bytes().max(params_bytes) > SMALL * 16 {
        return;
    }
    let call = Call {
        op: input.op,
        rules: input.rules.clone(),
        element_bytes: input.element_bytes,
        params: (0..params_bytes).map(|n| (n * 7 + n / 256) as u8).collect(),
        params_layout: params,
        index_type: input.index_type,
        indices: index_bytes(&input.index_values, input.index_type, indices_len),
        indices_layout: indices,
    };
    if let Outcome::Failed(difference) = pollster::block_on(check_call(&call, &Executor::Cpu)) {
        panic!("{difference}\n{call:#?}");
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let element_bytes = match u.int_in_range(0..=3)? {
            0 => size(u)?,
            1 => *u.choose(&[3, 5, 6, 12, 20, 256, 257])?,
            _ => *u.choose(&[1, 2, 4, 8, 16])?,
        };
        let params = view(u, &[])?;
        // Batch dims and gather_elements need shapes that begin alike.
        let shared = u.int_in_range(0..=params.shape.len())?;
        let indices = view(u, &params.shape[..shared])?;
        Ok(Input {
            op: op(u)?,
            rules: rules(u, element_bytes)?,
            element_bytes,
            params,
            index_type: *u.choose(&IndexType::ALL)?,
            indices,
            limits: limits(u)?,
            index_values: index_values(u)?,
        })
    }
}

fn limits(u: &mut Unstructured<'_>) -> arbitrary::Result<BindingLimits> {
    let bytes = *u.choose(&[1 << 12, 1 << 16, 128 << 20, (1 << 31) - 16])?;
    Ok(BindingLimits {
        params_bytes: bytes,
        indices_bytes: bytes,
        output_bytes: bytes,
        segments: u.int_in_range(1..=8)?,
        alignment: *u.choose(&[16, 256])?,
        pass_bytes: *u.choose(&[1 << 12, 1 << 30])?,
        workgroups: *u.choose(&[1, 7, 65_535])?,
    })
}
