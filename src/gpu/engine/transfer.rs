//! Transfers of tensors, as an engine's methods.
//!
//! Which bytes of a tensor are transferred, and into what; `gpu::transfer` moves them.

use crate::element::{Element, ElementType};
use crate::error::{BadIndices, Error, Result, Role};
use crate::fold::Reduce;
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::engine::Engine;
use crate::gpu::quantized_table::DeviceQuantizedTable;
use crate::gpu::storage::Storage;
use crate::gpu::table::DeviceOperand;
use crate::gpu::table::sealed::AsTensor;
use crate::gpu::tensor::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::operand::{AnyTensor, Indices, Params};
use crate::quantized::{QuantizedTable, TableLayout};
use crate::rules::Rules;
use crate::shape::{Layout, elements};
use crate::table::sealed::Made;
use crate::tensor::{Tensor, TensorView};
use crate::waiting::{BoxFuture, PollMode, Waiting};

/// What can be uploaded: a [`Tensor`] or [`TensorView`], [`Params`] or [`AnyTensor`] of a type known at run
/// time, [`Indices`], a [`QuantizedTable`].
pub trait Upload: sealed::Upload + Sync {}

mod sealed {
    use super::{BoxFuture, Engine, PollMode, Result};

    pub trait Upload {
        /// What it becomes on the device.
        type Uploaded;

        fn upload<'a>(
            &'a self,
            engine: &'a Engine,
            poll_mode: PollMode,
        ) -> BoxFuture<'a, Result<Self::Uploaded>>;
    }
}

macro_rules! uploads {
    ($([$($generic:tt)*] $host:ty => $device:ty, |$this:ident, $engine:ident, $mode:ident| $body:expr;)*) => {$(
        impl<$($generic)*> sealed::Upload for $host {
            type Uploaded = $device;

            fn upload<'a>(
                &'a self,
                $engine: &'a Engine,
                $mode: PollMode,
            ) -> BoxFuture<'a, Result<$device>> {
                let $this = self;
                Box::pin(async move { $body })
            }
        }

        impl<$($generic)*> Upload for $host {}
    )*};
}

uploads! {
    [T: Element] Tensor<T> => DeviceTensor<T>, |tensor, engine, mode| {
        let params = Params::try_from(&tensor.view())?;
        engine.upload_params(&params, mode).await.map(DeviceTensor::of)
    };
    [T: Element] TensorView<'_, T> => DeviceTensor<T>, |view, engine, mode| {
        let params = Params::try_from(view)?;
        engine.upload_params(&params, mode).await.map(DeviceTensor::of)
    };
    [] Params<'_> => AnyDeviceTensor, |params, engine, mode| engine.upload_params(params, mode).await;
    [] AnyTensor => AnyDeviceTensor, |tensor, engine, mode| {
        engine.upload_params(&tensor.view(), mode).await
    };
    [] Indices<'_> => AnyDeviceTensor, |indices, engine, mode| {
        engine.upload_erased(indices, mode).await
    };
    [] QuantizedTable<'_> => DeviceQuantizedTable, |table, engine, mode| {
        engine.upload_quantized(table, mode).await
    };
}

impl Engine {
    /// Uploads the part of a host tensor that its view reaches, and keeps its strides; of a quantized table,
    /// codes and scales.
    ///
    /// Goes in chunks of 4 MiB through 16 MiB of staging memory, which the engine keeps. While a future waits,
    /// a thread of the engine polls the device, and ends when nothing is under way.
    ///
    /// ```no_run
    /// # fn table(engine: &wgpu_gather::gpu::Engine) -> wgpu_gather::Result<()> {
    /// use wgpu_gather::Tensor;
    ///
    /// let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let table = engine.upload(&table).wait()?; // or `.await?`
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`], [`Error::ZeroSizedElement`], and the errors of the device.
    pub fn upload<'a, T: Upload>(&'a self, tensor: &'a T) -> Waiting<'a, Result<T::Uploaded>> {
        Waiting::new(|poll_mode| tensor.upload(self, poll_mode))
    }

    /// Uploads indices: the types of 8 and 16 bits are widened to 32.
    ///
    /// ```no_run
    /// # fn ids(engine: &wgpu_gather::gpu::Engine) -> wgpu_gather::Result<()> {
    /// use wgpu_gather::{Tensor, gpu::DeviceTensor};
    ///
    /// let ids = Tensor::new(&[3], vec![7u8, 0, 255])?;
    /// let ids: DeviceTensor<u32> = engine.upload_indices(&ids.view()).wait()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Engine::upload`].
    pub fn upload_indices<'a, I: Index>(
        &'a self,
        view: &'a TensorView<'_, I>,
    ) -> Waiting<'a, Result<DeviceTensor<I::Wide>>> {
        Waiting::new(move |poll_mode| async move {
            let (layout, range) = view.layout().trimmed(1);
            let wide = I::widened(&view.data()[range]);
            let wide = Params::new(&wide, I::TYPE.dtype(), layout)?;
            let made = self.upload_params(&wide, poll_mode).await;
            made.map(DeviceTensor::of)
        })
    }

    /// A new tensor of zeros. Waits for nothing.
    ///
    /// ```no_run
    /// # fn cache(engine: &wgpu_gather::gpu::Engine) -> wgpu_gather::Result<()> {
    /// let cache = engine.zeros::<f32>(&[32, 4096, 128])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::SizeOverflow`], [`Error::ZeroSizedElement`], [`Error::GpuOutOfMemory`], and the errors of the
    /// device.
    pub fn zeros<T: Element>(&self, shape: &[usize]) -> Result<DeviceTensor<T>> {
        let element = ElementType::of::<T>();
        if element.bytes() == 0 {
            return Err(Error::ZeroSizedElement { role: Role::Tensor });
        }
        let made = self.one(|batch| batch.zeros("zeros", shape, element))?;
        Ok(DeviceTensor::of(made))
    }

    /// Writes host data to a tensor, or to a part of one: `tensor` may be a view of any strides. Goes through
    /// memory of the same size on the device.
    ///
    /// ```no_run
    /// # use wgpu_gather::{Result, TensorView, gpu::{DeviceTensor, Engine}};
    /// /// Writes the newest position of a cache.
    /// fn append(
    ///     engine: &Engine,
    ///     cache: &DeviceTensor<f32>, // [sequences, positions, width]
    ///     position: usize,
    ///     rows: &TensorView<'_, f32>, // [sequences, 1, width]
    /// ) -> Result<()> {
    ///     let mut newest = cache.slice(1, position..position + 1)?;
    ///     engine.write(&mut newest, rows).wait()
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UpdatesShape`] for data of another shape, [`Error::ElementWidth`] and
    /// [`Error::OtherElements`] of another type; [`Error::OverlappingDestination`] for a view in which two
    /// elements may lie in one place; [`Error::ElementsWithout`] for a view with gaps whose elements have no
    /// [`DType`](crate::DType); as [`Engine::upload`].
    pub fn write<'a, U: Upload<Uploaded: DeviceOperand>>(
        &'a self,
        tensor: &'a mut U::Uploaded,
        data: &'a U,
    ) -> Waiting<'a, Result<()>> {
        let mut to = tensor.any().clone();
        Waiting::new(move |poll_mode| async move {
            let data = data.upload(self, poll_mode).await?.any().clone();
            // An index tuple of no coordinates selects the whole tensor.
            let (op, rules) = (Op::gather_nd(), Rules::default());
            let nothing = self.no_indices()?;
            if to.layout().is_contiguous() && to.shape() == data.shape() && !to.shape().is_empty() {
                return self.gather_into(op, &rules, &data, &nothing, &mut to);
            }
            let (shape, expected) = (data.shape().to_vec(), to.shape().to_vec());
            if shape != expected {
                return Err(Error::UpdatesShape {
                    op: op.transposed_kind(),
                    expected,
                    got: shape,
                });
            }
            let dims = if shape.is_empty() { vec![1] } else { shape };
            let (to, data) = (to.reshape(&dims)?, data.reshape(&dims)?);
            self.one(|batch| batch.scatter_to(op, Reduce::None, &rules, &to, &nothing, &data))
        })
    }

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
    /// As [`Engine::download`], and [`Error::ByteLength`] if `output` has not as many bytes.
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

    /// The tensor, if its elements lie row-major without gaps; else a copy in which they do.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`].
    pub fn contiguous<T: DeviceOperand>(&self, tensor: &T) -> Result<T> {
        self.packed(tensor.any()).map(T::of)
    }
}

impl Engine {
    pub(super) async fn upload_params(
        &self,
        tensor: &Params<'_>,
        poll_mode: PollMode,
    ) -> Result<AnyDeviceTensor> {
        let width = tensor.element_bytes();
        let (layout, range) = tensor.layout().trimmed(width);
        let units = [row_elements(&layout), inner_elements(&layout), 1].map(|n| n * width);
        let bytes = &tensor.bytes()[range];
        let storage = self.upload_to(bytes, &units, poll_mode).await?;
        Ok(AnyDeviceTensor::new(storage, layout, tensor.element_type()))
    }

    pub(super) async fn upload_quantized(
        &self,
        table: &QuantizedTable<'_>,
        poll_mode: PollMode,
    ) -> Result<DeviceQuantizedTable> {
        let context = self.context();
        let layout = TableLayout::new(*table.format(), table.shape())?;
        let (made, ranges) = DeviceQuantizedTable::allocate(context, layout)?;
        context
            .write(made.codes(), table.codes(), poll_mode)
            .await?;
        for (storage, range) in made.scales().iter().zip(ranges) {
            let bytes = table.device_scales(range);
            context.write(storage, &bytes, poll_mode).await?;
        }
        context.settle().await?;
        Ok(made)
    }

    /// Uploads bytes into memory of their own, which breaks between units if it must.
    async fn upload_to(
        &self,
        bytes: &[u8],
        units: &[usize],
        poll_mode: PollMode,
    ) -> Result<Storage> {
        let context = self.context();
        let storage = context.allocate("tensor", bytes.len() as u64, units)?;
        context.write(&storage, bytes, poll_mode).await?;
        context.settle().await?;
        Ok(storage)
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
        let placement = packed.reached().1;
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

    fn no_indices(&self) -> Result<AnyDeviceTensor> {
        let (nothing, none) = (self.context().nothing.slice(..), Layout::contiguous(&[0]));
        AnyDeviceTensor::wrap(nothing, IndexType::I32.dtype(), none)
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

/// The elements of the innermost dim, if they lie one after the other: an index tuple, for example, which no
/// buffer may break.
fn inner_elements(layout: &Layout) -> usize {
    match (layout.shape().last(), layout.strides().last()) {
        (Some(&extent), Some(1)) => extent.max(1),
        _ => 1,
    }
}
