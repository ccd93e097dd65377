//! Tensors to the device and back, through a ring of staging chunks.

use std::ops::Range;

use crate::element::{Element, elements_from_bits, zeroed_bits};
use crate::error::{Error, Result, Role};
use crate::gpu::chunks::Progress;
use crate::gpu::engine::Engine;
use crate::gpu::tensor::DeviceTensor;
use crate::gpu::wait::Drive;
use crate::index::Index;
use crate::op::Op;
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
        self.upload_driven(view, Drive::Aside, &mut |_, _| ()).await
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
        self.upload_driven(view, Drive::Aside, &mut progress).await
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
        self.upload_indices_driven(view, Drive::Aside).await
    }

    /// Downloads a tensor.
    ///
    /// If it was gathered under [`OutOfBounds::Error`](crate::OutOfBounds::Error), a bad index is
    /// reported here, as the CPU path reports it.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`]; [`Error::MissingUsage`] if a buffer of the caller lacks
    /// `COPY_SRC`; [`Error::HostOutOfMemory`], [`Error::InvalidBits`], and the errors of the
    /// device.
    pub async fn download<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<Tensor<T>> {
        self.download_driven(tensor, Drive::Aside, &mut |_, _| ())
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
        self.download_driven(tensor, Drive::Aside, &mut progress)
            .await
    }

    /// Downloads a tensor's elements, row-major, as bytes.
    ///
    /// # Errors
    ///
    /// As [`Engine::download`], and [`Error::DataLength`] if `output` has not as many bytes.
    pub async fn download_bytes<T: Element>(
        &self,
        tensor: &DeviceTensor<T>,
        output: &mut [u8],
    ) -> Result<()> {
        self.download_bytes_driven(tensor, output, Drive::Aside, &mut |_, _| ())
            .await
    }

    /// Waits until the gathers that made `tensor` are done, and reports a bad index if their rules
    /// ask for an error.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`] of the first such gather, and the errors of the device.
    pub async fn check<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<()> {
        self.check_driven(tensor, Drive::Aside).await
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
        pollster::block_on(self.upload_driven(view, Drive::Here, &mut |_, _| ()))
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
        pollster::block_on(self.upload_indices_driven(view, Drive::Here))
    }

    /// [`Engine::download`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::download`].
    pub fn download_blocking<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<Tensor<T>> {
        pollster::block_on(self.download_driven(tensor, Drive::Here, &mut |_, _| ()))
    }

    /// [`Engine::download_bytes`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::download_bytes`].
    pub fn download_bytes_blocking<T: Element>(
        &self,
        tensor: &DeviceTensor<T>,
        output: &mut [u8],
    ) -> Result<()> {
        pollster::block_on(self.download_bytes_driven(tensor, output, Drive::Here, &mut |_, _| ()))
    }

    /// [`Engine::check`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::check`].
    pub fn check_blocking<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<()> {
        pollster::block_on(self.check_driven(tensor, Drive::Here))
    }
}

impl Engine {
    async fn upload_driven<T: Element>(
        &self,
        view: &TensorView<'_, T>,
        drive: Drive,
        progress: Progress<'_>,
    ) -> Result<DeviceTensor<T>> {
        if size_of::<T>() == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Params });
        }
        let bytes = bytemuck::cast_slice(view.data());
        let (layout, range) = reached(view.layout(), size_of::<T>());
        let width = size_of::<T>();
        let units = [row_elements(&layout) * width, width];
        let storage = self.allocate("tensor", range.len() as u64, &units)?;
        self.write(&storage, &bytes[range], drive, progress).await?;
        self.settle().await?;
        Ok(DeviceTensor::new(storage, layout))
    }

    async fn upload_indices_driven<I: Index>(
        &self,
        view: &TensorView<'_, I>,
        drive: Drive,
    ) -> Result<DeviceTensor<I::Wide>> {
        let (layout, range) = reached(view.layout(), 1);
        let wide = I::widened(&view.data()[range]);
        let row_bytes = row_elements(&layout) * I::TYPE.bytes();
        let storage = self.allocate("tensor", wide.len() as u64, &[row_bytes])?;
        self.write(&storage, &wide, drive, &mut |_, _| ()).await?;
        self.settle().await?;
        Ok(DeviceTensor::new(storage, layout))
    }

    async fn download_driven<T: Element>(
        &self,
        tensor: &DeviceTensor<T>,
        drive: Drive,
        progress: Progress<'_>,
    ) -> Result<Tensor<T>> {
        let len = crate::shape::elements(Role::Output, tensor.shape(), size_of::<T>())?;
        let mut bits = zeroed_bits::<T>(Role::Output, len)?;
        let output = bytemuck::cast_slice_mut(&mut bits);
        self.download_bytes_driven(tensor, output, drive, progress)
            .await?;
        Tensor::new(tensor.shape(), elements_from_bits(Role::Output, bits)?)
    }

    pub(super) async fn download_bytes_driven<T: Element>(
        &self,
        tensor: &DeviceTensor<T>,
        output: &mut [u8],
        drive: Drive,
        progress: Progress<'_>,
    ) -> Result<()> {
        let len = crate::shape::elements(Role::Output, tensor.shape(), size_of::<T>())?;
        if output.len() != len * size_of::<T>() {
            return Err(Error::DataLength {
                role: Role::Output,
                shape: tensor.shape().to_vec(),
                expected: len * size_of::<T>(),
                got: output.len(),
            });
        }
        tensor.storage().check_engine(self, Role::Params)?;
        self.check_driven(tensor, drive).await?;
        let packed = self.contiguous(tensor)?;
        self.read(packed.reached().1, output, drive, progress).await
    }

    async fn check_driven<T: Element>(&self, tensor: &DeviceTensor<T>, drive: Drive) -> Result<()> {
        for status in tensor.statuses().iter().filter(|s| !s.is_clean()) {
            status.read_driven(drive).await?;
        }
        Ok(())
    }

    /// The tensor, if its elements lie row-major without gaps; else a copy in which they do.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`].
    pub fn contiguous<T: Element>(&self, tensor: &DeviceTensor<T>) -> Result<DeviceTensor<T>> {
        if tensor.layout().is_contiguous() {
            return Ok(tensor.clone());
        }
        // An index tuple of no coordinates selects the whole tensor.
        let nothing =
            DeviceTensor::<i32>::wrap(self.nothing().slice(..), Layout::contiguous(&[0]))?;
        self.gather(Op::gather_nd(), &Rules::default(), tensor, &nothing)
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

/// The part of the data that `layout` reaches, in units of `unit`, and the layout within it.
pub(super) fn reached(layout: &Layout, unit: usize) -> (Layout, Range<usize>) {
    match layout.reached() {
        None => (layout.clone(), 0..0),
        Some((first, last)) => (layout.moved(first), first * unit..(last + 1) * unit),
    }
}
