//! The transpose of a gather on burn's tensors: what params get from the gradient of the output.
//!
//! It is the library's scatter, over zeros: sums in the order of the indices, the same bits each time.

use burn_cubecl::kernel::untile;
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::gpu::{AnyDeviceTensor, Engine};
use wgpu_gather::{Reduce, Role};

use crate::call::Call;
use crate::elements::number;
use crate::launch::Target;
use crate::place::Held;

/// The gradient of params. An index that the gather found bad adds nothing; the gather reports it, where
/// its rules ask for an error.
pub(crate) fn launch_gradient(
    gradient: CubeTensor,
    indices: CubeTensor,
    call: &Call,
) -> CubeTensor {
    let (gradient, indices) = (untile(gradient), untile(indices));
    let call = call.clone().with_zeros();
    let (op, gathers, dtype) = (call.op.kind(), &call.gathers, gradient.dtype);
    let target = Target::like(&gradient, op, gathers, &call.rules, &call.params_shape);
    target.made(|target| {
        let gradient = Held::new(gradient, op, Role::Updates)?;
        let indices = Held::new(indices, op, Role::Indices)?;
        let (handle, mut output) = target.memory(&[&gradient, &indices])?;
        clear(gathers.engine(), &output);
        gathers.engine().scatter_any_into(
            call.op,
            Reduce::Add,
            &call.rules,
            &mut output,
            (&indices.tensor()?, call.index_type),
            (&gradient.tensor()?, number(op, Role::Updates, dtype)?),
        )?;
        Ok((handle, output))
    })
}

/// Fills a tensor that has its buffer for itself with zeros.
fn clear(engine: &Engine, tensor: &AnyDeviceTensor) {
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    let slice = tensor.buffer_slice();
    encoder.clear_buffer(slice.buffer(), slice.offset(), Some(slice.size()));
    engine.queue().submit([encoder.finish()]);
}
