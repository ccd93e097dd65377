//! The transpose of a gather on burn's tensors: what params get from the gradient of the output.
//!
//! It is the library's scatter, over zeros: sums in the order of the indices, the same bits each time.

use burn::tensor::DType as BurnDType;
use burn_cubecl::kernel::untile;
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::gpu::{AnyDeviceTensor, Engine};
use wgpu_gather::{DType, OutOfBounds, Reduce, Role};

use crate::call::Call;
use crate::error::{Error, Result};
use crate::launch::made;

/// The gradient of params. An index that the gather found bad adds nothing; the gather reports it, where
/// its rules ask for an error.
pub(crate) fn launch_gradient(
    gradient: CubeTensor,
    indices: CubeTensor,
    call: &Call,
) -> CubeTensor {
    let (gradient, indices) = (untile(gradient), untile(indices));
    let mut call = call.clone();
    if matches!(call.rules.out_of_bounds, OutOfBounds::Error) {
        call.rules = call.rules.with_out_of_bounds(OutOfBounds::Zero);
    }
    let (shape, dtype) = (call.params_shape.clone(), gradient.dtype);
    made(
        gradient,
        indices,
        Role::Updates,
        &shape,
        &call,
        |gradient, indices, output| {
            let updates = (gradient, summed(&call, dtype)?);
            let (engine, indices) = (call.gathers.engine(), (indices, call.index_type));
            clear(engine, output);
            engine.scatter_any_into(call.op, Reduce::Add, &call.rules, output, indices, updates)?;
            Ok(())
        },
    )
}

/// The type that the elements are added as.
fn summed(call: &Call, dtype: BurnDType) -> Result<DType> {
    match dtype {
        BurnDType::F32 => Ok(DType::F32),
        BurnDType::F16 => Ok(DType::F16),
        BurnDType::BF16 => Ok(DType::BF16),
        _ => Err(Error::ElementType {
            op: call.op.kind(),
            role: Role::Updates,
            got: dtype,
            allowed: "F32, F16 or BF16",
        }),
    }
}

/// Fills a tensor that has its buffer for itself with zeros.
fn clear(engine: &Engine, tensor: &AnyDeviceTensor) {
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    let slice = tensor.buffer_slice();
    encoder.clear_buffer(slice.buffer(), slice.offset(), Some(slice.size()));
    engine.queue().submit([encoder.finish()]);
}
