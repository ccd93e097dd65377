//! Gathers on burn's tensors.

use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::{Layout, Plan, Role};

use crate::launch::Target;
use crate::place::{Held, layout};
use crate::queued::QueuedGather;

/// The output of a gather.
pub(crate) fn launch_gather(
    params: CubeTensor,
    indices: CubeTensor,
    call: &QueuedGather,
) -> CubeTensor {
    let (params, indices) = readable(untile(params), untile(indices), call);
    let (op, gathers, width) = (call.op.kind(), &call.gathers, params.dtype.size());
    let target = Target::like(&params, op, gathers, &call.rules, &call.output_shape);
    target.made(|target| {
        let params = Held::new(params, op, Role::Params)?;
        let indices = Held::new(indices, op, Role::Indices)?;
        let (handle, mut output) = target.memory(&[&params, &indices], width)?;
        gathers.engine().gather_into(
            call.op,
            &call.rules,
            &params.tensor(width)?,
            &indices.tensor(call.index_type.dtype())?,
            &mut output,
        )?;
        Ok((handle, output))
    })
}

/// The tensors as they lie, if a plan can have their strides; else contiguous copies.
fn readable(
    params: CubeTensor,
    indices: CubeTensor,
    call: &QueuedGather,
) -> (CubeTensor, CubeTensor) {
    let (op, rules, width) = (call.op, &call.rules, params.dtype.size());
    let plan = |p: &Layout, i: &Layout| Plan::new(op, rules, width, p, call.index_type, i);
    match (layout(&params), layout(&indices)) {
        // What is contiguous was planned before burn queued it.
        (Ok(p), Ok(i)) if p.is_contiguous() && i.is_contiguous() => (params, indices),
        (Ok(p), Ok(i)) if plan(&p, &i).is_ok() => (params, indices),
        _ => (into_contiguous(params), into_contiguous(indices)),
    }
}
