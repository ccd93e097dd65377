//! Pooled lookups on burn's tensors.

use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::{Op, OpKind, Plan, Role};

use crate::launch::Target;
use crate::place::{Held, layout};
use crate::queued::QueuedBags;

const OP: OpKind = OpKind::EmbeddingBag;

/// The output of a pooled lookup.
pub(crate) fn launch_bags(
    params: CubeTensor,
    indices: CubeTensor,
    weights: Option<CubeTensor>,
    call: &QueuedBags,
) -> CubeTensor {
    let (params, indices) = readable(untile(params), untile(indices), call);
    let weights = weights.map(|weights| into_contiguous(untile(weights)));
    let gathers = &call.gathers;
    let target = Target::like(&params, OP, gathers, &call.rules, &call.output_shape);
    target.made(|target| {
        let params = Held::new(params, OP, Role::Params)?;
        let indices = Held::new(indices, OP, Role::Indices)?;
        let weights = weights.map(|weights| Held::new(weights, OP, Role::Weights));
        let weights = weights.transpose()?;
        let inputs: Vec<&Held> = [&params, &indices].into_iter().chain(&weights).collect();
        let (handle, mut output) = target.memory(&inputs, call.dtype)?;
        let weights = weights.as_ref().map(|weights| weights.tensor(call.dtype));
        let weights = weights.transpose()?;
        gathers.engine().embedding_bag_into(
            call.bags(),
            &call.rules,
            &params.tensor(call.dtype)?,
            &indices.tensor(call.index_type.dtype())?,
            weights.as_ref(),
            &mut output,
        )?;
        Ok((handle, output))
    })
}

/// The tensors as they lie, if a plan of the lookups can have their strides; else contiguous copies.
fn readable(
    params: CubeTensor,
    indices: CubeTensor,
    call: &QueuedBags,
) -> (CubeTensor, CubeTensor) {
    let (op, rules, width) = (Op::gather(0), &call.rules, params.dtype.size());
    match (layout(&params), layout(&indices)) {
        (Ok(p), Ok(i)) if Plan::new(op, rules, width, &p, call.index_type, &i).is_ok() => {
            (params, indices)
        }
        _ => (into_contiguous(params), into_contiguous(indices)),
    }
}
