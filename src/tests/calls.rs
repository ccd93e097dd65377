//! The calls of the crate `conformance` in the types of these tests: that crate has the library as a
//! dependency, of which a unit test is another copy.

use std::fmt::Display;
use std::str::FromStr;

use gather_conformance::{Call, wgpu_gather as library};

use crate::{Error, Executor, Indices, Layout, Op, Params, Plan, Result, Rules};

fn op(there: library::Op) -> Op {
    let mut op = Op::of(as_here(there.kind())).unwrap();
    if let Some(axis) = there.axis() {
        op = op.with_axis(axis).unwrap();
    }
    if let Some(batch_dims) = there.batch_dims() {
        op = op.with_batch_dims(batch_dims).unwrap();
    }
    op
}

fn rules(rules: &library::Rules) -> Rules {
    Rules {
        negative: as_here(rules.negative),
        out_of_bounds: as_here(&rules.out_of_bounds),
        elements_shapes: as_here(rules.elements_shapes),
    }
}

/// The value that prints as that one does.
fn as_here<T: FromStr<Err = Error>>(there: impl Display) -> T {
    there.to_string().parse().unwrap()
}

fn layout(layout: &library::Layout) -> Layout {
    Layout::strided(layout.shape(), layout.strides(), layout.offset()).unwrap()
}

pub(super) fn params(call: &Call) -> Result<Params<'_>> {
    Params::new(
        &call.params,
        call.element_bytes,
        layout(&call.params_layout),
    )
}

pub(super) fn indices(call: &Call) -> Result<Indices<'_>> {
    let (bytes, layout) = (call.indices.as_slice(), layout(&call.indices_layout));
    Indices::new(bytes, as_here(call.index_type), layout)
}

pub(super) fn plan(call: &Call) -> Result<Plan> {
    let (params, indices) = (params(call)?, indices(call)?);
    Plan::of(op(call.op), &rules(&call.rules), &params, &indices)
}

/// What the reference makes of the call, in an output of so many bytes.
pub(super) fn expected(call: &Call, output_bytes: usize) -> Result<Vec<u8>> {
    let (op, rules) = (op(call.op), rules(&call.rules));
    let (params, indices) = (params(call)?, indices(call)?);
    let mut output = vec![0xa5; output_bytes];
    let call = Executor::Reference.gather(op, &rules, &params, &indices);
    call.into(&mut output).wait()?;
    Ok(output)
}
