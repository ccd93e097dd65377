//! Executes a gather, or the transpose of one, on burn's tensors.
//!
//! **Order.** burn keeps commands in an encoder for each of its streams. Asking it for the buffer of a
//! tensor makes it submit what waits on the tensor's stream and on that of the calling thread, so what
//! makes the inputs is on the queue before. The engine submits at once, as the buffers are not its own,
//! and what burn records later is submitted later: on the one queue, that is the order of execution.
//! Writes of burn (`Queue::write_buffer`) land before the next submission, which may now be the engine's
//! instead of burn's own. No gather can see that: it only reads tensors that are held here until it is
//! submitted, and burn writes to none that is held.
//!
//! **Memory.** Inputs and output are held until the submission is made. Afterwards burn may give their
//! memory to other tensors, as whoever writes to it is submitted later.

use burn::backend::Bytes;
use burn::tensor::Shape;
use burn_cubecl::cubecl::server::Handle;
use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::gpu::AnyDeviceTensor;
use wgpu_gather::{Layout, OutOfBounds, Plan, Role};

use crate::call::Call;
use crate::error::{Error, Result};
use crate::place::{Held, apart, layout};

/// The output of a gather.
pub(crate) fn launch(params: CubeTensor, indices: CubeTensor, call: &Call) -> CubeTensor {
    let (params, indices) = readable(untile(params), untile(indices), call);
    made(
        params,
        indices,
        Role::Params,
        &call.output_shape,
        call,
        |params, indices, output| {
            let engine = call.gathers.engine();
            engine.gather_any_into(
                call.op,
                &call.rules,
                params,
                indices,
                call.index_type,
                output,
            )?;
            Ok(())
        },
    )
}

/// Makes a tensor of the elements of `input`. An error is reported by
/// [`Gathers::check`](crate::Gathers::check), as burn's operators return none; the tensor is zeros then.
pub(crate) fn made(
    input: CubeTensor,
    indices: CubeTensor,
    role: Role,
    shape: &[usize],
    call: &Call,
    record: impl Fn(&AnyDeviceTensor, &AnyDeviceTensor, &mut AnyDeviceTensor) -> Result<()>,
) -> CubeTensor {
    let (client, device, dtype) = (input.client.clone(), input.device.clone(), input.dtype);
    let bytes = shape.iter().product::<usize>() * dtype.size();
    let record = || -> Result<Handle> {
        let op = call.op.kind();
        if client.is_capturing() {
            return Err(Error::Capturing { op });
        }
        let input = Held::new(input, op, role)?;
        let indices = Held::new(indices, op, Role::Indices)?;
        let (handle, place) = apart(&client, bytes, [&input, &indices], op)?;
        let mut output = place.wrap(dtype.size(), Layout::contiguous(shape))?;
        record(&input.tensor()?, &indices.tensor()?, &mut output)?;
        if matches!(call.rules.out_of_bounds, OutOfBounds::Error) {
            call.gathers.reports().expect(call.gathers.engine(), output);
        }
        Ok(handle)
    };
    let made = match bytes {
        0 => Ok(client.empty(0)),
        _ => record(),
    };
    let handle = made.unwrap_or_else(|error| {
        call.gathers.reports().fail(error);
        client.create(Bytes::from_bytes_vec(vec![0; bytes]))
    });
    CubeTensor::new_contiguous(client, device, Shape::from(shape.to_vec()), handle, dtype)
}

/// The tensors as they lie, if a plan can have their strides; else contiguous copies.
fn readable(params: CubeTensor, indices: CubeTensor, call: &Call) -> (CubeTensor, CubeTensor) {
    let (op, rules, width) = (call.op, &call.rules, params.dtype.size());
    let plan = |p: &Layout, i: &Layout| Plan::new(op, rules, width, p, call.index_type, i);
    match (layout(&params), layout(&indices)) {
        // What is contiguous was planned before burn queued it.
        (Ok(p), Ok(i)) if p.is_contiguous() && i.is_contiguous() => (params, indices),
        (Ok(p), Ok(i)) if plan(&p, &i).is_ok() => (params, indices),
        _ => (into_contiguous(params), into_contiguous(indices)),
    }
}
