//! Host tensors into device memory, as an engine's methods: new tensors, zeros, writes to parts of tensors.
//!
//! Which bytes of a tensor go, and into what; `gpu::transfer` moves them.

use crate::element::{Element, ElementType};
use crate::error::{Error, Result, Role};
use crate::fold::Reduce;
use crate::gpu::batch::zero_indices;
use crate::gpu::engine::Engine;
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::quantized::DeviceQuantizedTable;
use crate::gpu::tensor::storage::Storage;
use crate::gpu::tensor::table::DeviceOperand;
use crate::gpu::tensor::table::sealed::AsTensor;
use crate::gpu::tensor::typed::DeviceTensor;
use crate::op::Op;
use crate::operand::{AnyTensor, Indices, Params};
use crate::quantized::{QuantizedTable, TableLayout};
use crate::rules::Rules;
use crate::shape::Layout;
use crate::tensor::{Tensor, TensorView};
use crate::waiting::{BoxFuture, PollMode, Waiting};

/// What can be uploaded: a [`Tensor`] or [`TensorView`], [`Params`] or [`AnyTensor`] of a type known at run
/// time, [`Indices`] (of any integer type: those of 8 and 16 bits are widened), a [`QuantizedTable`].
pub trait Upload: sealed::Upload + Sync {}

mod sealed {
    use super::{BoxFuture, Engine, PollMode, Result};

    pub trait Upload {
        /// The tensor on the device.
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
    /// [`Error::UpdatesShape`] and [`Error::OtherElements`] for data of another shape or type;
    /// [`Error::OverlappingDestination`] for a view in which two elements may lie in one place;
    /// [`Error::ElementsWithout`] for a view with gaps whose elements have no
    /// [`DType`](crate::DType); as [`Engine::upload`].
    pub fn write<'a, U: Upload<Uploaded: DeviceOperand>>(
        &'a self,
        tensor: &'a mut U::Uploaded,
        data: &'a U,
    ) -> Waiting<'a, Result<()>> {
        let to = tensor.any().clone();
        Waiting::new(move |poll_mode| async move {
            let data = data.upload(self, poll_mode).await?.any().clone();
            // An index tuple of no coordinates selects the whole tensor.
            let (op, rules) = (Op::gather_nd(), Rules::default());
            let nothing = zero_indices(self.context(), &[0]);
            let kind = op.transposed_kind();
            if data.shape() != to.shape() {
                return Err(Error::UpdatesShape {
                    op: kind,
                    expected: to.shape().to_vec(),
                    got: data.shape().to_vec(),
                });
            }
            if data.element_type() != to.element_type() {
                return Err(Error::OtherElements {
                    op: kind,
                    role: Role::Updates,
                    expected: to.element_type().to_string(),
                    got: data.element_type().to_string(),
                });
            }
            let (mut to, data) = match to.shape() {
                [] => (to.reshape(&[1])?, data.reshape(&[1])?),
                _ => (to, data),
            };
            match to.layout().is_contiguous() {
                true => self.gather_into(op, &rules, &data, &nothing, &mut to),
                false => self.scatter_into(op, Reduce::None, &rules, &mut to, &nothing, &data),
            }
        })
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
