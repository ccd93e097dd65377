//! Scatters on burn's tensors: base is copied to where the output will be, and folded with the updates
//! there.

use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::gpu::{AnyDeviceTensor, Batch, Engine};
use wgpu_gather::{DType, IndexType, Layout, Op, Plan, Role, Rules};

use crate::launch::Target;
use crate::place::{Held, layout};
use crate::queued::QueuedScatter;

/// An index tuple of no coordinates selects the whole tensor.
const COPY: Op = Op::gather_nd();

/// The output of a scatter.
pub(crate) fn launch_scatter(
    base: CubeTensor,
    indices: CubeTensor,
    updates: CubeTensor,
    call: &QueuedScatter,
) -> CubeTensor {
    let base = copyable(untile(base));
    let (indices, updates) = readable(untile(indices), untile(updates), call);
    let gather = &call.gather;
    let (op, gathers, rules) = (gather.op.transposed_kind(), &gather.gathers, &gather.rules);
    let target = Target::like(&base, op, gathers, rules, &gather.params_shape);
    // Into a base without elements, every index is bad.
    let target = target.even_if_empty();
    target.made(|target| {
        let base = Held::new(base, op, Role::Params)?;
        let indices = Held::new(indices, op, Role::Indices)?;
        let updates = Held::new(updates, op, Role::Updates)?;
        let dtype = call.dtype;
        let (handle, mut output) = target.memory(&[&base, &indices, &updates], dtype)?;
        let (from, nothing) = (base.tensor(dtype)?, indices.nothing(DType::I32, &[0])?);
        let indices = indices.tensor(gather.index_type.dtype())?;
        let updates = updates.tensor(dtype)?;
        gathers.engine().batch(|batch| {
            batch.gather_into(COPY, &Rules::default(), &from, &nothing, &mut output)?;
            let updates = in_order(gathers.engine(), batch, updates, &nothing)?;
            let (op, reduce) = (gather.op, call.reduce);
            batch.scatter_into(op, reduce, rules, &mut output, &indices, &updates)
        })?;
        Ok((handle, output))
    })
}

/// Base as it lies, if a plan can have its strides; else a contiguous copy.
fn copyable(base: CubeTensor) -> CubeTensor {
    let width = base.dtype.size();
    let none = Layout::contiguous(&[0]);
    let plan = |base: &Layout| {
        let index_type = IndexType::I32;
        Plan::new(COPY, &Rules::default(), width, base, index_type, &none)
    };
    match layout(&base) {
        Ok(lies) if plan(&lies).is_ok() => base,
        _ => into_contiguous(base),
    }
}

/// Updates as they lie, if one binding reaches them. What takes several must lie in the order of its
/// lookups: then a copy, which burn could not make, as its kernels take each tensor by one binding.
pub(crate) fn in_order(
    engine: &Engine,
    batch: &mut Batch<'_>,
    updates: AnyDeviceTensor,
    nothing: &AnyDeviceTensor,
) -> wgpu_gather::Result<AnyDeviceTensor> {
    let layout = updates.layout();
    let bytes = layout.shape().iter().product::<usize>() * updates.element_bytes();
    let most = engine.device().limits().max_storage_buffer_binding_size;
    if layout.is_contiguous() || bytes as u64 <= most {
        return Ok(updates);
    }
    batch.gather(COPY, &Rules::default(), &updates, nothing)
}

/// The tensors as they lie, if a plan can have their strides; else contiguous copies.
pub(crate) fn readable(
    indices: CubeTensor,
    updates: CubeTensor,
    call: &QueuedScatter,
) -> (CubeTensor, CubeTensor) {
    match (layout(&indices), layout(&updates)) {
        (Ok(i), Ok(u)) if call.plan(&i, &u).is_ok() => (indices, updates),
        _ => (into_contiguous(indices), into_contiguous(updates)),
    }
}
