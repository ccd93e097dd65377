//! What every operator does on burn's tensors: gets memory for an output, records, and hands it out.
//!
//! **Order.** burn keeps commands in an encoder for each of its streams. Asking it for the buffer of a
//! tensor makes it submit what waits on the tensor's stream and on that of the calling thread, so what
//! makes the inputs is on the queue before. The engine submits at once, as the buffers are not its own,
//! and what burn records later is submitted later: on the one queue, that is the order of execution.
//! Writes of burn (`Queue::write_buffer`) land before the next submission, which may now be the engine's
//! instead of burn's own. No operator can see that: it only reads tensors that are held here until
//! it is submitted, and burn writes to none that is held.
//!
//! **Memory.** Inputs and output are held until the submission is made. Afterwards burn may give their
//! memory to other tensors, as whoever writes to it is submitted later.

use burn::backend::Bytes;
use burn::tensor::{DType, Shape};
use burn_cubecl::CubeDevice;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::server::Handle;
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::gpu::AnyDeviceTensor;
use wgpu_gather::{ElementType, Layout, OpKind, OutOfBounds, Rules};

use crate::error::{Error, Result};
use crate::handle::Gathers;
use crate::place::{Held, apart};

/// The tensor that a call makes.
pub(crate) struct Target<'a> {
    gathers: &'a Gathers,
    op: OpKind,
    rules: &'a Rules,
    shape: &'a [usize],
    client: Client,
    device: CubeDevice,
    dtype: DType,
    even_if_empty: bool,
}

impl<'a> Target<'a> {
    /// A tensor of the elements of `input`.
    pub(crate) fn like(
        input: &CubeTensor,
        op: OpKind,
        gathers: &'a Gathers,
        rules: &'a Rules,
        shape: &'a [usize],
    ) -> Target<'a> {
        Target {
            gathers,
            op,
            rules,
            shape,
            client: input.client.clone(),
            device: input.device.clone(),
            dtype: input.dtype,
            even_if_empty: false,
        }
    }

    /// The same, but what is recorded runs for an output without elements, too: it may have an index to
    /// report.
    pub(crate) fn even_if_empty(self) -> Self {
        Target {
            even_if_empty: true,
            ..self
        }
    }

    /// Makes the tensor: `record` has it written. An error is reported by
    /// [`Gathers::check`](crate::Gathers::check), as burn's operators return none; the tensor is zeros
    /// then.
    pub(crate) fn made(
        self,
        record: impl FnOnce(&Self) -> Result<(Handle, AnyDeviceTensor)>,
    ) -> CubeTensor {
        let made = match self.bytes() {
            0 if !self.even_if_empty => Ok(self.client.empty(0)),
            0 => self.recorded(record).map(|_| self.client.empty(0)),
            _ => self.recorded(record),
        };
        let handle = made.unwrap_or_else(|error| {
            self.gathers.reports().fail(error);
            let zeros = vec![0; self.bytes()];
            self.client.create(Bytes::from_bytes_vec(zeros))
        });
        let shape = Shape::from(self.shape.to_vec());
        CubeTensor::new_contiguous(self.client, self.device, shape, handle, self.dtype)
    }

    /// Memory for the tensor, in another buffer than the inputs: at least a word, as no buffer is empty.
    /// `element` is what its elements are taken for.
    pub(crate) fn memory(
        &self,
        inputs: &[&Held],
        element: impl Into<ElementType>,
    ) -> Result<(Handle, AnyDeviceTensor)> {
        let (handle, place) = apart(&self.client, self.bytes().max(4), inputs, self.op)?;
        let output = place.wrap(element, Layout::contiguous(self.shape))?;
        Ok((handle, output))
    }

    fn recorded(
        &self,
        record: impl FnOnce(&Self) -> Result<(Handle, AnyDeviceTensor)>,
    ) -> Result<Handle> {
        if self.client.is_capturing() {
            return Err(Error::Capturing { op: self.op });
        }
        let (handle, output) = record(self)?;
        if matches!(self.rules.out_of_bounds, OutOfBounds::Error) {
            let (gathers, engine) = (self.gathers, self.gathers.engine());
            gathers.reports().expect(engine, output);
        }
        Ok(handle)
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }
}
