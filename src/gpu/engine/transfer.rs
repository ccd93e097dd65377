//! Transfers of tensors, as an engine's methods.
//!
//! Which bytes of a tensor are transferred, and into what; `gpu::transfer` moves them.

use crate::element::{Element, elements_from_bits};
use crate::error::{BadIndices, Error, Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::engine::Engine;
use crate::gpu::storage::Storage;
use crate::gpu::tensor::DeviceTensor;
use crate::gpu::transfer::Progress;
use crate::gpu::wait::PollMode;
use crate::index::{Index, IndexType};
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::operand::Params;
use crate::rules::Rules;
use crate::shape::Layout;
use crate::tensor::{Tensor, TensorView};

impl Engine {
    /// Uploads the part of a host tensor that its view reaches, and keeps its strides.
    ///
    /// Goes in chunks of 4 MiB through 16 MiB of staging memory, which the engine keeps.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`], and the errors of the device.
    pub async fn upload<T: Element>(&self, view: &TensorView<'_, T>) -> Result<DeviceTensor<T>> {
        self.upload_driven(view, PollMode::Aside, &mut |_, _| ())
            .await
    }

    /// [`Engine::upload`], calling `progress` with the bytes uploaded so far, and all.
    ///
    /// # Errors
    ///
    /// As [`Engine::upload`].
    pub async fn upload_with_progress<T: Element>(
        &self,
        view: &TensorView<'_, T>,
        mut progress: impl FnMut(u64, u64) + Send,
    ) -> Result<DeviceTensor<T>> {
        self.upload_driven(view, PollMode::Aside, &mut progress)
            .await
    }

    /// [`Engine::upload`] for elements that are known at run time; for indices, too: 4 or 8 bytes
    /// each.
    ///
    /// # Errors
    ///
    /// As [`Engine::upload`].
    pub async fn upload_any(&self, tensor: &Params<'_>) -> Result<AnyDeviceTensor> {
        self.upload_any_driven(tensor, PollMode::Aside, &mut |_, _| ())
            .await
    }

    /// Uploads indices: the types of 8 and 16 bits are widened to 32.
    ///
    /// # Errors
    ///
    /// As [`Engine::upload`].
    pub async fn upload_indices<I: Index>(
        &self,
        view: &TensorView<'_, I>,
    ) -> Result<DeviceTensor<I::Wide>> {
        self.upload_indices_driven(view, PollMode::Aside).await
    }

    /// Downloads a tensor.
    ///
    /// If it was made under [`OutOfBounds::Error`](crate::OutOfBounds::Error), bad indices are reported
    /// here, as the CPU path reports them. That is done once: the next download gives the data, with
    /// zeros where an index was bad.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`]; [`Error::MissingUsage`] if a buffer of the caller lacks
    /// `COPY_SRC`; [`Error::HostOutOfMemory`], [`Error::InvalidBits`], and the errors of the
    /// device.
    pub async fn download<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<Tensor<T>> {
        self.download_driven(tensor, PollMode::Aside, &mut |_, _| ())
            .await
    }

    /// [`Engine::download`], calling `progress` with the bytes downloaded so far, and all.
    ///
    /// # Errors
    ///
    /// As [`Engine::download`].
    pub async fn download_with_progress<T: Element>(
        &self,
        tensor: &DeviceTensor<T>,
        mut progress: impl FnMut(u64, u64) + Send,
    ) -> Result<Tensor<T>> {
        self.download_driven(tensor, PollMode::Aside, &mut progress)
            .await
    }

    /// Downloads a tensor's elements, row-major, as bytes.
    ///
    /// # Errors
    ///
    /// As [`Engine::download`], and [`Error::DataLength`] if `output` has not as many bytes.
    pub async fn download_bytes(
        &self,
        tensor: &impl AsRef<AnyDeviceTensor>,
        output: &mut [u8],
    ) -> Result<()> {
        self.download_bytes_driven(tensor.as_ref(), output, PollMode::Aside, &mut |_, _| ())
            .await
    }

    /// Waits until the calls that wrote to `tensor` are done, and takes what they report of bad indices:
    /// the first one and how many there were, also in what `tensor` was made of. `None`, if all indices
    /// were good. Views of a tensor share its reports, and what was taken once is not told again.
    ///
    /// # Errors
    ///
    /// [`Error::NotCounted`] if there is nothing to report, but calls wrote to `tensor` whose rules do not
    /// ask for an error; the errors of the device.
    pub async fn check(&self, tensor: &impl AsRef<AnyDeviceTensor>) -> Result<Option<BadIndices>> {
        self.check_driven(tensor.as_ref(), PollMode::Aside).await
    }
}

/// The blocking twins. In a browser nothing may block, so there they do not exist.
#[cfg(not(target_arch = "wasm32"))]
impl Engine {
    /// [`Engine::upload`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::upload`].
    pub fn upload_blocking<T: Element>(&self, view: &TensorView<'_, T>) -> Result<DeviceTensor<T>> {
        pollster::block_on(self.upload_driven(view, PollMode::Here, &mut |_, _| ()))
    }

    /// [`Engine::upload_any`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::upload_any`].
    pub fn upload_any_blocking(&self, tensor: &Params<'_>) -> Result<AnyDeviceTensor> {
        pollster::block_on(self.upload_any_driven(tensor, PollMode::Here, &mut |_, _| ()))
    }

    /// [`Engine::upload_indices`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::upload`].
    pub fn upload_indices_blocking<I: Index>(
        &self,
        view: &TensorView<'_, I>,
    ) -> Result<DeviceTensor<I::Wide>> {
        pollster::block_on(self.upload_indices_driven(view, PollMode::Here))
    }

    /// [`Engine::download`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::download`].
    pub fn download_blocking<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<Tensor<T>> {
        pollster::block_on(self.download_driven(tensor, PollMode::Here, &mut |_, _| ()))
    }

    /// [`Engine::download_bytes`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::download_bytes`].
    pub fn download_bytes_blocking(
        &self,
        tensor: &impl AsRef<AnyDeviceTensor>,
        output: &mut [u8],
    ) -> Result<()> {
        let tensor = tensor.as_ref();
        pollster::block_on(self.download_bytes_driven(
            tensor,
            output,
            PollMode::Here,
            &mut |_, _| (),
        ))
    }

    /// [`Engine::check`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::check`].
    pub fn check_blocking(
        &self,
        tensor: &impl AsRef<AnyDeviceTensor>,
    ) -> Result<Option<BadIndices>> {
        pollster::block_on(self.check_driven(tensor.as_ref(), PollMode::Here))
    }
}

impl Engine {
    async fn upload_driven<T: Element>(
        &self,
        view: &TensorView<'_, T>,
        poll_mode: PollMode,
        progress: Progress<'_>,
    ) -> Result<DeviceTensor<T>> {
        let params = Params::try_from(view)?;
        let made = self.upload_any_driven(&params, poll_mode, progress).await;
        made.map(DeviceTensor::of)
    }

    pub(super) async fn upload_any_driven(
        &self,
        tensor: &Params<'_>,
        poll_mode: PollMode,
        progress: Progress<'_>,
    ) -> Result<AnyDeviceTensor> {
        let width = tensor.element_bytes();
        let (layout, range) = tensor.layout().trimmed(width);
        let units = [row_elements(&layout) * width, width];
        let bytes = &tensor.bytes()[range];
        let storage = self.upload_to(bytes, &units, poll_mode, progress).await?;
        Ok(AnyDeviceTensor::new(storage, layout, width))
    }

    async fn upload_indices_driven<I: Index>(
        &self,
        view: &TensorView<'_, I>,
        poll_mode: PollMode,
    ) -> Result<DeviceTensor<I::Wide>> {
        let (layout, range) = view.layout().trimmed(1);
        let wide = I::widened(&view.data()[range]);
        let width = I::TYPE.bytes();
        let units = [row_elements(&layout) * width];
        let storage = self
            .upload_to(&wide, &units, poll_mode, &mut |_, _| ())
            .await?;
        let any = AnyDeviceTensor::new(storage, layout, width);
        Ok(DeviceTensor::of(any))
    }

    /// Uploads bytes into memory of their own, which breaks between units if it must.
    async fn upload_to(
        &self,
        bytes: &[u8],
        units: &[usize],
        poll_mode: PollMode,
        progress: Progress<'_>,
    ) -> Result<Storage> {
        let context = self.context();
        let storage = context.allocate("tensor", bytes.len() as u64, units)?;
        context.write(&storage, bytes, poll_mode, progress).await?;
        context.settle().await?;
        Ok(storage)
    }

    async fn download_driven<T: Element>(
        &self,
        tensor: &DeviceTensor<T>,
        poll_mode: PollMode,
        progress: Progress<'_>,
    ) -> Result<Tensor<T>> {
        let len = crate::shape::elements(Role::Output, tensor.shape(), size_of::<T>())?;
        let mut bits = zeroed_bits::<T>(Role::Output, len)?;
        let output = bytemuck::cast_slice_mut(&mut bits);
        self.download_bytes_driven(tensor.as_ref(), output, poll_mode, progress)
            .await?;
        Tensor::new(tensor.shape(), elements_from_bits(Role::Output, bits)?)
    }

    async fn download_bytes_driven(
        &self,
        tensor: &AnyDeviceTensor,
        output: &mut [u8],
        poll_mode: PollMode,
        progress: Progress<'_>,
    ) -> Result<()> {
        let width = tensor.element_bytes();
        let expected = crate::shape::elements(Role::Output, tensor.shape(), width)? * width;
        if output.len() != expected {
            return Err(Error::DataLength {
                role: Role::Output,
                shape: tensor.shape().to_vec(),
                expected,
                got: output.len(),
            });
        }
        self.report(tensor, poll_mode).await?;
        let packed = self.packed(tensor)?;
        let placement = packed.reached().1;
        self.context()
            .read(placement, output, poll_mode, progress)
            .await
    }

    async fn check_driven(
        &self,
        tensor: &AnyDeviceTensor,
        poll_mode: PollMode,
    ) -> Result<Option<BadIndices>> {
        let found = self.take_report(tensor, poll_mode).await?;
        if found.is_none() && tensor.storage().reports().is_uncounted() {
            return Err(Error::NotCounted);
        }
        Ok(found)
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

    /// The tensor, if its elements lie row-major without gaps; else a copy in which they do.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`].
    pub fn contiguous<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<DeviceTensor<T>> {
        self.packed(tensor.as_ref()).map(DeviceTensor::of)
    }

    fn packed(&self, tensor: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        if tensor.layout().is_contiguous() {
            return Ok(tensor.clone());
        }
        // An index tuple of no coordinates selects the whole tensor.
        let (nothing, none) = (self.context().nothing.slice(..), Layout::contiguous(&[0]));
        let nothing = AnyDeviceTensor::wrap(nothing, IndexType::I32.bytes(), none)?;
        let (op, rules) = (Op::gather_nd(), Rules::default());
        self.gather_any(op, &rules, tensor, &nothing, IndexType::I32)
    }
}

/// The elements of a step of the outermost dim that is larger than 1: where a tensor that is too
/// large for one buffer may best break.
fn row_elements(layout: &Layout) -> usize {
    let dims = layout.shape().iter().zip(layout.strides());
    dims.filter(|&(&extent, _)| extent > 1)
        .map(|(_, stride)| stride.unsigned_abs())
        .max()
        .unwrap_or(1)
        .max(1)
}
