//! Quantized tables on the device, as an engine's methods: uploads, gathers, pipelines.

use crate::error::Result;
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::engine::Engine;
use crate::gpu::quantized::{DeviceQuantizedTable, QuantizedPipeline};
use crate::gpu::tensor::DeviceTensor;
use crate::gpu::wait::PollMode;
use crate::index::{Index, IndexType};
use crate::op::Op;
use crate::plan::Plan;
use crate::quantized::{Float, FloatType, QuantizedTable, TableLayout};
use crate::rules::Rules;
use crate::shape::Layout;

impl Engine {
    /// Uploads a quantized table as it is: the device's memory holds the codes. Zero points take a byte
    /// each there.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`](crate::Error::GpuOutOfMemory), and the errors of the device.
    pub async fn upload_quantized(
        &self,
        table: &QuantizedTable<'_>,
    ) -> Result<DeviceQuantizedTable> {
        self.upload_quantized_driven(table, PollMode::Aside).await
    }

    /// [`Engine::upload_quantized`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Engine::upload_quantized`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn upload_quantized_blocking(
        &self,
        table: &QuantizedTable<'_>,
    ) -> Result<DeviceQuantizedTable> {
        pollster::block_on(self.upload_quantized_driven(table, PollMode::Here))
    }

    /// Gathers from a quantized table into a new tensor, whose elements are decoded to `T`, without
    /// waiting for the device. As [`Engine::gather`] in everything else.
    ///
    /// ```no_run
    /// # use wgpu_gather::{Op, Result, Rules, Tensor, gpu::Engine};
    /// # use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
    /// # fn rows(engine: &Engine, bytes: &[u8]) -> Result<Tensor<f32>> {
    /// let table = QuantizedTable::blocks(BlockFormat::Q4K, &[151_936, 1024], bytes)?;
    /// let table = engine.upload_quantized_blocking(&table)?;
    /// let ids = engine.upload_indices_blocking(&Tensor::new(&[2], vec![7u32, 9])?.view())?;
    /// let rows = engine.gather_quantized::<f32, _>(Op::gather(0), &Rules::default(), &table, &ids)?;
    /// engine.download_blocking(&rows)
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`]; [`Error::TensorTooLarge`](crate::Error::TensorTooLarge) if a row with scale
    /// and bias is larger than a binding.
    pub fn gather_quantized<T: Float, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
    ) -> Result<DeviceTensor<T>> {
        self.gather_one(|batch| batch.gather_quantized(op, rules, table, indices))
    }

    /// [`Engine::gather_quantized`] for types that are known at run time.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_quantized`] and [`Engine::gather_any`].
    pub fn gather_quantized_any(
        &self,
        op: Op,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &AnyDeviceTensor,
        index_type: IndexType,
        to: FloatType,
    ) -> Result<AnyDeviceTensor> {
        self.gather_one(|batch| {
            batch.gather_quantized_any(op, rules, table, indices, index_type, to)
        })
    }

    /// [`Engine::gather_quantized`] into a tensor of the caller, which must be contiguous.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_quantized`] and [`Engine::gather_into`].
    pub fn gather_quantized_into<T: Float, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        self.gather_one(|batch| batch.gather_quantized_into(op, rules, table, indices, output))
    }

    /// Prepares a gather from a quantized table by indices of this type and layout, to be recorded into an
    /// encoder of the caller. Its pipelines are compiled when it is [bound](QuantizedPipeline::bind), as
    /// far as they are not yet.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`], and the errors of the device.
    pub async fn quantized_pipeline(
        &self,
        op: Op,
        rules: &Rules,
        table: &DeviceQuantizedTable,
        index_type: IndexType,
        indices: &Layout,
        to: FloatType,
    ) -> Result<QuantizedPipeline> {
        self.context().check_alive()?;
        let params = Layout::contiguous(table.shape());
        let plan = Plan::new(op, rules, to.bytes(), &params, index_type, indices)?;
        let pipeline = QuantizedPipeline::new(self.context(), plan, table, to)?;
        self.context().settle().await?;
        Ok(pipeline)
    }

    pub(super) async fn upload_quantized_driven(
        &self,
        table: &QuantizedTable<'_>,
        poll_mode: PollMode,
    ) -> Result<DeviceQuantizedTable> {
        let context = self.context();
        let layout = TableLayout::new(*table.format(), table.shape())?;
        let (made, ranges) = DeviceQuantizedTable::allocate(context, layout)?;
        let silent = &mut |_, _| ();
        context
            .write(made.codes(), table.codes(), poll_mode, silent)
            .await?;
        for (storage, range) in made.scales().iter().zip(ranges) {
            let bytes = table.device_scales(range);
            context.write(storage, &bytes, poll_mode, silent).await?;
        }
        context.settle().await?;
        Ok(made)
    }
}
