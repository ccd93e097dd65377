//! The levels of a device call: a batch in one submission, the caller's encoder, a binding that is encoded often;
//! and the one unchecked level, a plan on slices of bare buffers.

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::batch::Batch;
use crate::gpu::binding::Binding;
use crate::gpu::engine::Engine;
use crate::gpu::gather_pipeline::GatherPipeline;
use crate::gpu::pipeline::shader::PipelineKey;
use crate::gpu::record::recording::{Level, Recorded};
use crate::plan::Plan;
use crate::waiting::Waiting;

impl Engine {
    /// Records any number of calls, which may read what earlier ones wrote, and submits them
    /// together when `record` returns `Ok`. Else nothing is submitted. (A call that makes more than
    /// [`Options::max_pass_bytes`](crate::gpu::Options::max_pass_bytes) takes several submissions,
    /// which are made at the end, too.)
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// /// Names and prices of the products that other products point to.
    /// fn look_up(
    ///     engine: &Engine,
    ///     successors: &DeviceTensor<u32>,
    ///     ids: &DeviceTensor<i64>,
    ///     names: &DeviceTensor<[u8; 32]>,
    ///     prices: &DeviceTensor<f64>,
    /// ) -> Result<(DeviceTensor<[u8; 32]>, DeviceTensor<f64>)> {
    ///     engine.batch(|batch| {
    ///         let next = batch.gather(Op::gather(0), &Rules::default(), successors, ids)?;
    ///         Ok((
    ///             batch.gather(Op::gather(0), &Rules::default(), names, &next)?,
    ///             batch.gather(Op::gather(0), &Rules::default(), prices, &next)?,
    ///         ))
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What `record` returns, and the errors of the device.
    pub fn batch<R>(&self, record: impl FnOnce(&mut Batch<'_>) -> Result<R>) -> Result<R> {
        let context = self.context();
        context.submit(|recording| record(&mut Batch { context, recording }))
    }

    /// Records calls into an encoder of yours, which you submit, at any time, or never.
    ///
    /// All tensors are checked now; what is in them is read when the encoder is executed. Calls of the engine
    /// so far are submitted before. The buffers that the calls use are taken from the pool for good, as
    /// [`share_buffer`](crate::gpu::AnyDeviceTensor::share_buffer) does: outputs that are made anew each time
    /// cost an allocation, so write into tensors that stay, or [bind](Engine::bind) the calls once.
    ///
    /// Under [`OutOfBounds::Error`](crate::OutOfBounds::Error), bad indices are reported by the tensor that was
    /// written to, as those of [`Engine::gather`] are, once the encoder was submitted.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Reduce, Result, Rules, wgpu};
    ///
    /// /// Writes a token's keys to the cache, and gathers the pages that it attends to.
    /// fn step(
    ///     engine: &Engine,
    ///     encoder: &mut wgpu::CommandEncoder,
    ///     cache: &mut DeviceTensor<f32>,
    ///     place: &DeviceTensor<u32>,
    ///     keys: &DeviceTensor<f32>,
    ///     pages: &DeviceTensor<u32>,
    /// ) -> Result<DeviceTensor<f32>> {
    ///     engine.record(encoder, |r| {
    ///         r.scatter_into(Op::gather(0), Reduce::None, &Rules::ONNX, cache, place, keys)?;
    ///         r.gather(Op::gather(0), &Rules::ONNX, cache, pages)
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What `record` returns, and the errors of the device; then nothing is recorded. What is wrong with the
    /// encoder (one of another device), wgpu reports when it is finished or submitted.
    pub fn record<R>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        record: impl FnOnce(&mut Batch<'_>) -> Result<R>,
    ) -> Result<R> {
        let (result, recorded) = self.outside(Level::Encoder, record)?;
        Binding::new(recorded).encode(encoder);
        Ok(result)
    }

    /// Binds calls once, to be encoded often: into encoders and passes of yours. Recording them then costs
    /// what their dispatches cost.
    ///
    /// All tensors are checked now, and offsets of bags are taken now; what is in the tensors is read when a
    /// recording is executed. Tensors may be in buffers of yours
    /// ([`DeviceTensor::wrap`](crate::gpu::DeviceTensor::wrap)). Bad indices are counted if rules ask for an
    /// error, and reported by [`Binding::check`], not by the tensors.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{Binding, DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Reduce, Result, Rules};
    ///
    /// /// A token's write to the cache and its read, as one.
    /// fn step(
    ///     engine: &Engine,
    ///     cache: &mut DeviceTensor<f32>,
    ///     place: &DeviceTensor<u32>,
    ///     keys: &DeviceTensor<f32>,
    ///     pages: &DeviceTensor<u32>,
    ///     read: &mut DeviceTensor<f32>,
    /// ) -> Result<Binding> {
    ///     engine.bind(|r| {
    ///         r.scatter_into(Op::gather(0), Reduce::None, &Rules::ONNX, cache, place, keys)?;
    ///         r.gather_into(Op::gather(0), &Rules::ONNX, cache, pages, read)
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What `record` returns, and the errors of the device.
    pub fn bind(&self, record: impl FnOnce(&mut Batch<'_>) -> Result<()>) -> Result<Binding> {
        let ((), recorded) = self.outside(Level::Binding, record)?;
        Ok(Binding::new(recorded))
    }

    fn outside<R>(
        &self,
        level: Level,
        record: impl FnOnce(&mut Batch<'_>) -> Result<R>,
    ) -> Result<(R, Recorded)> {
        let context = self.context();
        context.record_outside(level, |recording| record(&mut Batch { context, recording }))
    }

    /// A plan with its pipelines, for bare slices of your buffers: the one level that does not check what its
    /// slices hold. Compiles what the plan needs, as far as it is not yet. [`guide`](crate::guide#bare-buffers) has
    /// an example.
    ///
    /// # Errors
    ///
    /// [`Error::TooComplex`] and [`Error::TooMany`] for what the shaders cannot hold, and the errors of
    /// the device.
    pub fn pipeline<'a>(&'a self, plan: &'a Plan) -> Waiting<'a, Result<GatherPipeline>> {
        Waiting::new(move |_| async move {
            self.context().check_alive()?;
            let pipeline = GatherPipeline::new(self.context(), plan.clone())?;
            self.context().settle().await?;
            Ok(pipeline)
        })
    }

    /// Compiles the pipelines of the calls that `record` records, so that no such call waits for the shader
    /// compiler later. Nothing is submitted.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// fn prepare(engine: &Engine, table: &DeviceTensor<f32>) -> Result<()> {
    ///     let ids = engine.zeros::<u32>(&[512])?; // as many as there will be
    ///     engine.warm_up(|r| r.gather(Op::gather(0), &Rules::TORCH, table, &ids).map(drop))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What `record` returns, and the errors of the device.
    pub fn warm_up(&self, record: impl FnOnce(&mut Batch<'_>) -> Result<()>) -> Result<()> {
        let context = self.context();
        context.rehearse(|recording| record(&mut Batch { context, recording }))
    }

    /// Compiles every pipeline there is, to find out whether a driver can, and says how many there are.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub fn compile_all(&self) -> Waiting<'_, Result<usize>> {
        Waiting::new(|_| async {
            let context = self.context();
            context.check_alive()?;
            let all = PipelineKey::all(context.binding_limits.segments as u32);
            for &key in &all {
                context.pipelines.get(&context.device, key)?;
            }
            context.settle().await?;
            Ok(all.len())
        })
    }
}
