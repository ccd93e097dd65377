//! The face of the GPU executor: an engine, its options and the plans that it met.
//!
//! The files in `engine/` are its methods. It stands on everything else in `gpu`; nothing outside
//! them knows it.

mod bag;
mod execute;
mod gather;
mod indices;
#[cfg(feature = "internals")]
pub mod internals;
mod probe;
mod quantized;
mod quantized_host;
mod scatter;
pub(super) mod select;
mod stream;
mod transfer;

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::adapter::AdapterSummary;
use crate::gpu::context::{Context, Settings};
use crate::gpu::gather_pipeline::GatherPipeline;
use crate::gpu::quantized::DecodeRecorders;
use crate::gpu::recorder::Recorders;
use crate::gpu::shader::PipelineKey;
use crate::gpu::watch::Watch;
use crate::plan::{BindingLimits, Plan};

/// How many plans an engine keeps, with what executes them: those that it met last.
const PLANS: usize = 16;

/// What an engine may be given besides its device.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where compiled pipelines are looked up and kept (Vulkan; wgpu's feature `PIPELINE_CACHE`).
    /// [`Engine::pipeline_cache_data`] gives what to save for the next run.
    pub pipeline_cache: Option<wgpu::PipelineCache>,
    /// The most bytes of buffers that are kept when their tensors are dropped.
    ///
    /// By default 256 MiB: twice what WebGPU lets every device bind, so the outputs of a step are
    /// used again in the next, and an engine that idles holds no more than that of a GPU's memory.
    /// Raise it for larger tensors, or write into tensors of your own ([`Engine::gather_into`]).
    pub max_pool_bytes: u64,
    /// The most bytes of tensors that a call between host tensors has in the device's memory at a
    /// time. Larger tensors go through it segment by segment: see
    /// [`Plan::host_call`](crate::Plan::host_call). By default there is no limit.
    pub max_memory_bytes: u64,
    /// The most bytes of output that one dispatch makes, and one submission of the engine's own:
    /// so other users of the device get their turn, and no driver takes the work for a hang. By
    /// default 1 GiB, which takes some tens of milliseconds on a slow GPU.
    pub max_pass_bytes: u64,
    /// What [`Executor`](crate::Executor) does where the device has no memory for a host call, or
    /// would have to be sent far more of params than is gathered.
    pub when_full: WhenFull,
    /// The test that watches the engine (`internals`).
    watch: Option<Arc<dyn Watch>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            pipeline_cache: None,
            max_pool_bytes: 256 << 20,
            max_memory_bytes: u64::MAX,
            max_pass_bytes: 1 << 30,
            when_full: WhenFull::default(),
            watch: None,
        }
    }
}

/// What becomes of a host call that the device has no memory for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The CPU path makes it.
    #[default]
    UseCpu,
    /// [`Error::GpuOutOfMemory`](crate::Error::GpuOutOfMemory).
    Fail,
}

/// Executes gathers on one device. Cheap to clone; may be used from several threads at once.
///
/// Needs no optional feature and no limit beyond `wgpu::Limits::downlevel_defaults()`.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    context: Arc<Context>,
    recorders: Recorders,
    decoders: DecodeRecorders,
    max_memory: u64,
    when_full: WhenFull,
}

impl Engine {
    /// An engine on the caller's device and queue.
    ///
    /// Only what the device was requested with is used: its limits bound the size of tensors. See
    /// [`requirements`](crate::gpu::requirements) for what to request.
    ///
    /// # Errors
    ///
    /// [`Error::MissingLimit`](crate::Error::MissingLimit) names a limit of the device that is too
    /// low.
    pub async fn new(device: wgpu::Device, queue: wgpu::Queue) -> Result<Engine> {
        Engine::with_options(device, queue, Options::default()).await
    }

    /// [`Engine::new`], with options.
    ///
    /// # Errors
    ///
    /// As [`Engine::new`]; [`Error::Gpu`](crate::Error::Gpu) for a pipeline cache of another device.
    pub async fn with_options(
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: Options,
    ) -> Result<Engine> {
        let settings = Settings {
            pipeline_cache: options.pipeline_cache,
            max_pool_bytes: options.max_pool_bytes,
            max_pass_bytes: options.max_pass_bytes,
            watch: options.watch,
        };
        let context = Context::new(device, queue, settings).await?;
        Ok(Engine(Arc::new(Inner {
            context: Arc::new(context),
            recorders: Recorders::new(PLANS),
            decoders: DecodeRecorders::new(PLANS),
            max_memory: options.max_memory_bytes,
            when_full: options.when_full,
        })))
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.context().device
    }

    /// The queue.
    pub fn queue(&self) -> &wgpu::Queue {
        self.context().queue.inner()
    }

    /// The adapter, with the limits of the device.
    pub fn adapter(&self) -> &AdapterSummary {
        &self.context().adapter
    }

    /// What one dispatch can bind and run.
    pub fn binding_limits(&self) -> &BindingLimits {
        &self.context().binding_limits
    }

    /// Compiles every pipeline there is, so that no later call waits for the shader compiler;
    /// says how many there are. [`Engine::pipeline`] compiles those of one plan.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub async fn warm_up(&self) -> Result<usize> {
        let context = self.context();
        context.check_alive()?;
        let all = PipelineKey::all(context.binding_limits.segments as u32);
        for &key in &all {
            context.pipelines.get(&context.device, key)?;
        }
        context.settle().await?;
        Ok(all.len())
    }

    /// Compiles the pipelines of `plan`, as far as they are not yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooComplex`](crate::Error::TooComplex) and
    /// [`Error::TooMany`](crate::Error::TooMany) for what the shaders cannot hold, and the errors of
    /// the device.
    pub async fn pipeline(&self, plan: &Plan) -> Result<GatherPipeline> {
        self.context().check_alive()?;
        let pipeline = GatherPipeline::new(self.context(), plan.clone())?;
        self.context().settle().await?;
        Ok(pipeline)
    }

    /// Submits the gathers that are held back: see [`Engine::gather`]. Waits for nothing.
    ///
    /// Results need no flush. The time that the device takes for them does:
    ///
    /// ```no_run
    /// # use wgpu_gather::{Op, Result, Rules, gpu::{DeviceTensor, Engine}, wgpu};
    /// fn time(engine: &Engine, table: &DeviceTensor<f32>, ids: &DeviceTensor<u32>) -> Result<f64> {
    ///     let start = std::time::Instant::now();
    ///     for _ in 0..1000 {
    ///         engine.gather(Op::gather(0), &Rules::default(), table, ids)?;
    ///     }
    ///     engine.flush()?;
    ///     let _ = engine.device().poll(wgpu::PollType::wait_indefinitely());
    ///     Ok(start.elapsed().as_secs_f64() / 1000.0)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub fn flush(&self) -> Result<()> {
        self.context().flush()
    }

    /// Waits for what the device has to say about the calls so far that wait for nothing, such as
    /// [`Engine::gather`]. In a browser their errors come late: here, or from the next call that
    /// waits. Elsewhere such a call reports its errors itself, or [`Engine::flush`] does, and this is that.
    ///
    /// # Errors
    ///
    /// The errors of those calls: [`Error::GpuOutOfMemory`](crate::Error::GpuOutOfMemory),
    /// [`Error::Gpu`](crate::Error::Gpu); [`Error::DeviceLost`](crate::Error::DeviceLost).
    pub async fn settle(&self) -> Result<()> {
        let flushed = self.flush();
        self.context().settle().await.and(flushed)
    }

    /// What the [pipeline cache](Options::pipeline_cache) holds by now, to be saved; nothing,
    /// without one.
    pub fn pipeline_cache_data(&self) -> Option<Vec<u8>> {
        self.context().pipelines.cache_data()
    }

    /// Bytes of buffers that dropped tensors left for later ones.
    pub fn pool_bytes(&self) -> u64 {
        self.context().pool.bytes()
    }

    /// Frees the buffers that dropped tensors left; says how many bytes they had.
    pub fn trim_pool(&self) -> u64 {
        self.context().trim_pool()
    }

    pub(crate) fn when_full(&self) -> WhenFull {
        self.0.when_full
    }

    pub(crate) fn max_memory(&self) -> u64 {
        self.0.max_memory
    }

    fn recorders(&self) -> &Recorders {
        &self.0.recorders
    }

    fn decoders(&self) -> &DecodeRecorders {
        &self.0.decoders
    }

    fn context(&self) -> &Arc<Context> {
        &self.0.context
    }
}
