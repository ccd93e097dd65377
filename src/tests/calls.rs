//! The calls of the crate `conformance` in the types of these tests: that crate has the library as a
//! dependency, of which a unit test is another copy.

use gather_conformance::{Call, wgpu_gather as library};

use crate::{
    ElementsShapes, Executor, Fill, IndexType, Indices, Layout, Negative, Op, OutOfBounds, Params,
    Plan, Result, Rules,
};

fn op(op: library::Op) -> Op {
    match op {
        library::Op::Gather { axis, batch_dims } => Op::Gather { axis, batch_dims },
        library::Op::GatherNd { batch_dims } => Op::GatherNd { batch_dims },
        library::Op::GatherElements { axis } => Op::GatherElements { axis },
        other => panic!("{other:?} is not known here"),
    }
}

fn rules(rules: &library::Rules) -> Rules {
    Rules {
        negative: match rules.negative {
            library::Negative::OutOfBounds => Negative::OutOfBounds,
            library::Negative::FromEnd => Negative::FromEnd,
        },
        out_of_bounds: match &rules.out_of_bounds {
            library::OutOfBounds::Zero => OutOfBounds::Zero,
            library::OutOfBounds::Fill(fill) => OutOfBounds::Fill(Fill::from_bytes(fill.bytes())),
            library::OutOfBounds::Clip => OutOfBounds::Clip,
            library::OutOfBounds::Wrap => OutOfBounds::Wrap,
            library::OutOfBounds::Error => OutOfBounds::Error,
            other => panic!("{other:?} is not known here"),
        },
        elements_shapes: match rules.elements_shapes {
            library::ElementsShapes::Onnx => ElementsShapes::Onnx,
            library::ElementsShapes::Torch => ElementsShapes::Torch,
        },
    }
}

fn index_type(index_type: library::IndexType) -> IndexType {
    match IndexType::ALL
        .into_iter()
        .find(|t| t.name() == index_type.name())
    {
        Some(index_type) => index_type,
        None => panic!("{index_type:?} is not known here"),
    }
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
    Indices::new(bytes, index_type(call.index_type), layout)
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
