//! The transpose of a gather on burn's tensors: what params get from the gradient of the output.
//!
//! It is the library's scatter, over zeros: sums in the order of the indices, the same bits each time.

use burn_cubecl::kernel::untile;
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::{DType, Op, Reduce, Role, Rules};

use crate::elements::number;
use crate::launch::Target;
use crate::place::Held;
use crate::queued::{QueuedGather, QueuedScatter};
use crate::scatter::{in_order, readable};

/// Rows of a table without rows: each index is out of bounds, whatever it is, and gives zeros.
const ZEROS: (Op, Rules) = (Op::gather(0), Rules::TENSORFLOW_GPU);

/// The gradient of params. An index that the gather found bad adds nothing; the gather reports it, where
/// its rules ask for an error.
pub(crate) fn launch_gradient(
    gradient: CubeTensor,
    indices: CubeTensor,
    call: &QueuedGather,
) -> CubeTensor {
    let gather = call.clone().with_zeros();
    let (kind, element, shape) = (gather.op.kind(), gradient.dtype, &call.params_shape);
    let target = Target::like(&gradient, kind, &call.gathers, &gather.rules, shape);
    target.made(|target| {
        let dtype = number(kind, Role::Updates, element)?;
        let adds = QueuedScatter {
            gather: gather.clone(),
            reduce: Reduce::Add,
            dtype,
        };
        let (indices, gradient) = readable(untile(indices), untile(gradient), &adds);
        let gradient = Held::new(gradient, kind, Role::Updates)?;
        let indices = Held::new(indices, kind, Role::Indices)?;
        let (handle, mut output) = target.memory(&[&gradient, &indices], dtype)?;
        let no_rows = [&[0], &shape[1..]].concat();
        let no_rows = indices.nothing(dtype, &no_rows)?;
        let any_index = indices.any_word(shape[0])?;
        let no_index = indices.nothing(DType::I32, &[0])?;
        let indices = indices.tensor(gather.index_type.dtype())?;
        let updates = gradient.tensor(dtype)?;
        let engine = call.gathers.engine();
        engine.batch(|batch| {
            let (zeros, rules) = ZEROS;
            batch.gather_into(zeros, &rules, &no_rows, &any_index, &mut output)?;
            let updates = in_order(engine, batch, updates, &no_index)?;
            let (op, reduce, rules) = (gather.op, adds.reduce, &gather.rules);
            batch.scatter_into(op, reduce, rules, &mut output, &indices, &updates)
        })?;
        Ok((handle, output))
    })
}
