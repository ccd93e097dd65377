//! Tensors to the device and back, through a ring of staging chunks.

use std::ops::Range;

use crate::element::{Element, elements_from_bits, zeroed_bits};
use crate::error::{Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::staging::{Ring, Way, not_mapped};
use crate::gpu::storage::{Located, Storage};
use crate::gpu::tensor::DeviceTensor;
use crate::gpu::wait::Drive;
use crate::index::Index;
use crate::op::Op;
use crate::rules::Rules;
use crate::shape::Layout;
use crate::tensor::{Tensor, TensorView};

/// Up to this many bytes, wgpu's own staging serves: it needs no wait. In a browser, always: what
/// is mapped there is copied twice more.
const SMALL: usize = match cfg!(target_arch = "wasm32") {
    true => isize::MAX as usize,
    false => 256 << 10,
};

/// Called with the bytes transferred so far, and all.
type Progress<'p> = &'p mut (dyn FnMut(u64, u64) + Send);

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
    /// [`Error::IndexOutOfBounds`]; [`Error::TensorUsage`] if a buffer of the caller lacks
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
        let row_bytes = row_elements(&layout) * size_of::<T>();
        let storage = self.allocate("tensor", range.len() as u64, row_bytes)?;
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
        let storage = self.allocate("tensor", wide.len() as u64, row_bytes)?;
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
        self.check_driven(tensor, drive).await?;
        let packed = self.contiguous(tensor)?;
        self.read(packed.reached().1, output, drive, progress).await
    }

    async fn check_driven<T: Element>(&self, tensor: &DeviceTensor<T>, drive: Drive) -> Result<()> {
        for status in tensor.statuses() {
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

    /// Writes `bytes` as the data of `storage`. The rest of the last word becomes zero.
    pub(super) async fn write(
        &self,
        storage: &Storage,
        bytes: &[u8],
        drive: Drive,
        progress: Progress<'_>,
    ) -> Result<()> {
        let total = bytes.len() as u64;
        let mut done = 0;
        for (owned, part) in storage.parts() {
            let end = part.end().min(bytes.len() as i64) as usize;
            let bytes = &bytes[part.start as usize..end];
            let so_far = done;
            let progress = &mut |done, _| progress(so_far + done, total);
            self.write_one(owned.buffer(), bytes, drive, progress)
                .await?;
            done += bytes.len() as u64;
        }
        Ok(())
    }

    async fn write_one(
        &self,
        buffer: &wgpu::Buffer,
        bytes: &[u8],
        drive: Drive,
        progress: Progress<'_>,
    ) -> Result<()> {
        let total = bytes.len() as u64;
        if bytes.len() <= SMALL {
            self.scoped("an upload", || write_small(self.queue(), buffer, bytes))?;
            progress(total, total);
            return Ok(());
        }
        let mut ring = Ring::new(self, Way::Up, drive);
        let chunk_bytes = self.chunk_bytes();
        for (n, part) in bytes.chunks(chunk_bytes).enumerate() {
            if ring.is_full() {
                ring.finish_one(|_, ()| Ok(())).await?;
            }
            let chunk = ring.take()?;
            let size = part.len().next_multiple_of(4);
            let at = (n * chunk_bytes) as u64;
            fill(&chunk, part)?;
            let encoder = self.scoped("an upload", || {
                chunk.unmap();
                let mut encoder = self.device().create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(&chunk, 0, buffer, at, size as u64);
                encoder
            })?;
            ring.submit(encoder, chunk, chunk_bytes as u64, ())?;
            progress(at + part.len() as u64, total);
        }
        while ring.is_busy() {
            ring.finish_one(|_, ()| Ok(())).await?;
        }
        Ok(())
    }

    /// Reads the data at `located` into `output`.
    pub(super) async fn read(
        &self,
        located: Located<'_>,
        output: &mut [u8],
        drive: Drive,
        progress: Progress<'_>,
    ) -> Result<()> {
        let total = output.len() as u64;
        for (buffer, part) in located.buffers.into_iter().zip(located.parts) {
            let start = part.start.clamp(0, total as i64);
            let end = part.end().clamp(start, total as i64);
            let output = &mut output[start as usize..end as usize];
            let at = part.offset as usize + (start - part.start) as usize;
            let progress = &mut |done, _| progress(start as u64 + done, total);
            self.read_one(buffer, at, output, drive, progress).await?;
        }
        Ok(())
    }

    async fn read_one(
        &self,
        buffer: &wgpu::Buffer,
        start: usize,
        output: &mut [u8],
        drive: Drive,
        progress: Progress<'_>,
    ) -> Result<()> {
        if !buffer.usage().contains(wgpu::BufferUsages::COPY_SRC) {
            return Err(Error::TensorUsage { usage: "COPY_SRC" });
        }
        let total = output.len();
        let mut ring = Ring::new(self, Way::Down, drive);
        let (mut sent, mut done) = (0, 0);
        while done < total {
            if sent < total && !ring.is_full() {
                // Copies are whole words: the first may start before the tensor.
                let lead = (start + sent) % 4;
                let len = (total - sent).min(self.chunk_bytes() - lead);
                let size = (lead + len).next_multiple_of(4) as u64;
                let at = (start + sent - lead) as u64;
                let chunk = ring.take()?;
                let encoder = self.scoped("a download", || {
                    let mut encoder = self.device().create_command_encoder(&Default::default());
                    encoder.copy_buffer_to_buffer(buffer, at, &chunk, 0, size);
                    encoder
                })?;
                ring.submit(encoder, chunk, size, (lead, sent..sent + len))?;
                sent += len;
                continue;
            }
            ring.finish_one(|chunk, (lead, to): (usize, Range<usize>)| {
                let size = (lead + to.len()).next_multiple_of(4) as u64;
                let mapped = chunk.slice(..size).get_mapped_range();
                let mapped = mapped.map_err(not_mapped(Way::Down))?;
                done = to.end;
                output[to.clone()].copy_from_slice(&mapped[lead..lead + to.len()]);
                Ok(())
            })
            .await?;
            progress(done as u64, total as u64);
        }
        Ok(())
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

/// Writes through wgpu's own staging.
fn write_small(queue: &wgpu::Queue, buffer: &wgpu::Buffer, bytes: &[u8]) {
    let whole = bytes.len() & !3;
    if whole > 0 {
        queue.write_buffer(buffer, 0, &bytes[..whole]);
    }
    if whole < bytes.len() {
        let mut word = [0; 4];
        word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
        queue.write_buffer(buffer, whole as u64, &word);
    }
}

/// Writes `part` into a mapped chunk, and zeros to the end of its last word.
fn fill(chunk: &wgpu::Buffer, part: &[u8]) -> Result<()> {
    let size = part.len().next_multiple_of(4);
    let mapped = chunk.slice(..size as u64).get_mapped_range_mut();
    let mut mapped = mapped.map_err(not_mapped(Way::Up))?;
    mapped.slice(..part.len()).copy_from_slice(part);
    mapped
        .slice(part.len()..)
        .copy_from_slice(&[0; 3][..size - part.len()]);
    Ok(())
}
