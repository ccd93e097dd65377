//! Device tensors on the host, as an engine's methods, and what they report of bad indices.
//!
//! Which bytes of a tensor are read; `gpu::transfer` moves them.

use crate::error::{BadIndices, Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::table::DeviceOperand;
use crate::memory::zeroed_bits;
#[cfg(doc)]
use crate::operand::AnyTensor;
use crate::shape::elements;
use crate::table::sealed::Made;
#[cfg(doc)]
use crate::tensor::Tensor;
use crate::waiting::{PollMode, Waiting};

impl Engine {
    /// Downloads a tensor: to a [`Tensor`], or to an [`AnyTensor`] if its type is known at run time.
    ///
    /// If it was made under [`OutOfBounds::Error`](crate::OutOfBounds::Error), bad indices are reported
    /// here, as the CPU path reports them. That is done once: the next download gives the data, with
    /// zeros where an index was bad.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Error, Result, Tensor};
    ///
    /// /// Rows that were gathered under a rule that makes bad indices an error.
    /// fn rows(engine: &Engine, rows: &DeviceTensor<f32>) -> Result<Tensor<f32>> {
    ///     match engine.download(rows).wait() {
    ///         Err(error @ Error::IndexOutOfBounds(_)) => {
    ///             eprintln!("{error}");
    ///             engine.download(rows).wait()
    ///         }
    ///         rows => rows,
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`]; [`Error::MissingUsage`] if a buffer of the caller lacks
    /// `COPY_SRC`; [`Error::HostOutOfMemory`], [`Error::InvalidBits`], and the errors of the
    /// device.
    pub fn download<'a, T: DeviceOperand>(&'a self, tensor: &'a T) -> Waiting<'a, Result<T::Host>> {
        let tensor = tensor.any();
        Waiting::new(move |poll_mode| async move {
            let element = tensor.element_type();
            let bytes = elements(Role::Output, tensor.shape(), element.bytes())? * element.bytes();
            let len = bytes / size_of::<T::HostElement>();
            let mut bits = zeroed_bits::<T::HostElement>(Role::Output, len)?;
            let output = bytemuck::cast_slice_mut(&mut bits);
            self.download_driven(tensor, output, poll_mode).await?;
            T::Host::made(tensor.shape(), element, bits)
        })
    }

    /// Downloads a tensor's elements, row-major, as bytes.
    ///
    /// # Errors
    ///
    /// [`Error::ByteLength`] if `output` has another number of bytes than the tensor; bad indices and errors of the
    /// device as for [`Engine::download`].
    pub fn download_bytes<'a, T: DeviceOperand>(
        &'a self,
        tensor: &'a T,
        output: &'a mut [u8],
    ) -> Waiting<'a, Result<()>> {
        let tensor = tensor.any();
        Waiting::new(move |poll_mode| self.download_driven(tensor, output, poll_mode))
    }

    /// Waits until the calls that wrote to `tensor` are done, and takes what they report of bad indices:
    /// the first one and how many there were, also in what `tensor` was made of. `None`, if all indices
    /// were good. Views of a tensor share its reports, and what was taken once is not told again.
    ///
    /// ```no_run
    /// # use wgpu_gather::{Result, gpu::{DeviceTensor, Engine}};
    /// # async fn look(engine: &Engine, rows: &DeviceTensor<f32>) -> Result<()> {
    /// if let Some(bad) = engine.check(rows).await? {
    ///     println!("{} bad indices, the first at {:?}", bad.count, bad.position);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotCounted`] if there is nothing to report, but calls wrote to `tensor` whose rules do not
    /// ask for an error; the errors of the device.
    pub fn check<'a, T: DeviceOperand>(
        &'a self,
        tensor: &'a T,
    ) -> Waiting<'a, Result<Option<BadIndices>>> {
        let tensor = tensor.any();
        Waiting::new(move |poll_mode| async move {
            let found = self.take_report(tensor, poll_mode).await?;
            if found.is_none() && tensor.storage().reports().is_uncounted() {
                return Err(Error::NotCounted);
            }
            Ok(found)
        })
    }

    /// The tensor itself, if its elements are row-major and without gaps; otherwise a contiguous copy.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`] and other errors of the device, if it makes a copy.
    pub fn contiguous<T: DeviceOperand>(&self, tensor: &T) -> Result<T> {
        self.packed(tensor.any()).map(T::of)
    }

    pub(super) async fn download_driven(
        &self,
        tensor: &AnyDeviceTensor,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        let width = tensor.element_bytes();
        let expected = elements(Role::Output, tensor.shape(), width)? * width;
        if output.len() != expected {
            return Err(Error::ByteLength {
                role: Role::Output,
                shape: tensor.shape().to_vec(),
                expected,
                got: output.len(),
            });
        }
        self.report(tensor, poll_mode).await?;
        let packed = self.packed(tensor)?;
        let placement = packed.placement();
        self.context().read(placement, output, poll_mode).await
    }

    /// Fails if the calls that wrote to `tensor` have met bad indices where their rules ask for an error.
    pub(super) async fn report(&self, tensor: &AnyDeviceTensor, poll_mode: PollMode) -> Result<()> {
        match self.take_report(tensor, poll_mode).await? {
            Some(bad) => Err(Error::IndexOutOfBounds(Box::new(bad))),
            None => Ok(()),
        }
    }

    /// What is known of bad indices once the calls that wrote to `tensor` are submitted.
    async fn take_report(
        &self,
        tensor: &AnyDeviceTensor,
        poll_mode: PollMode,
    ) -> Result<Option<BadIndices>> {
        let (context, storage) = (self.context(), tensor.storage());
        context.queue.flush();
        storage.check_readable(context, Role::Params)?;
        storage.reports().take(context, poll_mode).await
    }

    fn packed(&self, tensor: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        match tensor.layout().is_contiguous() {
            true => Ok(tensor.clone()),
            false => self.one(|batch| batch.packed(tensor)),
        }
    }
}
