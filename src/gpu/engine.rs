//! The face of the GPU executor: an engine, its options and the plans that it met.
//!
//! The files in `engine/` are its methods. It stands on everything else in `gpu`; nothing outside
//! them knows it.

mod download;
mod host;
mod indices;
#[cfg(feature = "internals")]
pub mod internals;
mod levels;
mod probe;
pub(super) mod select;
mod upload;
mod verbs;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::gpu::context::{Context, Settings};
use crate::gpu::device::adapter::AdapterSummary;
use crate::gpu::pipeline::watch::Watch;
use crate::plan::BindingLimits;
use crate::waiting::Waiting;

pub use upload::Upload;

/// Options of an [`Engine`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Cache of compiled pipelines (Vulkan; wgpu's feature `PIPELINE_CACHE`). To save it for the next run,
    /// keep a clone and call its `get_data`.
    pub pipeline_cache: Option<wgpu::PipelineCache>,
    /// The most bytes of buffers that are kept when their tensors are dropped.
    ///
    /// By default 256 MiB: twice what WebGPU lets every device bind, so the outputs of a step are
    /// used again in the next, and an engine that idles holds no more than that of a GPU's memory.
    /// Raise it for larger tensors, or write into tensors of your own ([`Engine::gather_into`]).
    pub max_pool_bytes: u64,
    /// The most bytes of device memory that the tensors of a call between host tensors take at a time. A
    /// call that needs more is treated as if the device were out of memory: see [`Options::when_full`]. By
    /// default there is no limit.
    pub max_memory_bytes: u64,
    /// The most bytes of output that one dispatch makes, and one submission of the engine's own:
    /// so other users of the device get their turn, and no driver takes the work for a hang. By
    /// default 1 GiB, which takes some tens of milliseconds on a slow GPU.
    pub max_pass_bytes: u64,
    /// How [`Executor`](crate::Executor) handles a host call that needs more memory than the device has, or
    /// than [`Options::max_memory_bytes`] allows.
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

/// The same options with one of them changed.
///
/// ```
/// use wgpu_gather::gpu::{Options, WhenFull};
///
/// let options = Options::default().with_max_pool_bytes(1 << 30).with_when_full(WhenFull::Fail);
/// assert_eq!(options.max_pool_bytes, 1 << 30);
/// ```
impl Options {
    /// With this [`Options::pipeline_cache`].
    pub fn with_pipeline_cache(self, cache: wgpu::PipelineCache) -> Self {
        Options {
            pipeline_cache: Some(cache),
            ..self
        }
    }

    /// With so many [`Options::max_pool_bytes`].
    pub fn with_max_pool_bytes(self, max_pool_bytes: u64) -> Self {
        Options {
            max_pool_bytes,
            ..self
        }
    }

    /// With so many [`Options::max_memory_bytes`].
    pub fn with_max_memory_bytes(self, max_memory_bytes: u64) -> Self {
        Options {
            max_memory_bytes,
            ..self
        }
    }

    /// With so many [`Options::max_pass_bytes`].
    pub fn with_max_pass_bytes(self, max_pass_bytes: u64) -> Self {
        Options {
            max_pass_bytes,
            ..self
        }
    }

    /// With this [`Options::when_full`].
    pub fn with_when_full(self, when_full: WhenFull) -> Self {
        Options { when_full, ..self }
    }
}

/// How a host call is handled that exceeds the memory of the device, or the limit in [`Options`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// Run it on the CPU path, and count it in [`Engine::fallbacks`].
    #[default]
    UseCpu,
    /// Return [`Error::GpuOutOfMemory`](crate::Error::GpuOutOfMemory).
    Fail,
}

/// Calls that an executor made on the CPU path in place of its device: see [`Engine::fallbacks`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Fallbacks {
    /// Number of such calls.
    pub calls: u64,
    /// Why the device did not make the last one.
    pub last: Option<Error>,
}

/// Executes the verbs on one device. Cheap to clone; may be used from several threads at once.
///
/// Needs no optional feature and no limit beyond `wgpu::Limits::downlevel_defaults()`.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    context: Arc<Context>,
    max_memory: u64,
    when_full: WhenFull,
    fallbacks: Mutex<Fallbacks>,
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
    pub fn new(device: wgpu::Device, queue: wgpu::Queue) -> Waiting<'static, Result<Engine>> {
        Engine::with_options(device, queue, Options::default())
    }

    /// An engine on the caller's device and queue, with [`Options`].
    ///
    /// # Errors
    ///
    /// [`Error::MissingLimit`](crate::Error::MissingLimit) names a limit of the device that is too low;
    /// [`Error::Gpu`](crate::Error::Gpu) for a pipeline cache of another device.
    pub fn with_options(
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: Options,
    ) -> Waiting<'static, Result<Engine>> {
        Waiting::new(|_| Engine::open_with(device, queue, options))
    }

    async fn open_with(
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
            max_memory: options.max_memory_bytes,
            when_full: options.when_full,
            fallbacks: Mutex::default(),
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

    /// The limits of one dispatch on this device, in bytes and in bindings.
    pub fn binding_limits(&self) -> &BindingLimits {
        &self.context().binding_limits
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
    pub fn settle(&self) -> Waiting<'_, Result<()>> {
        Waiting::new(|_| async {
            let flushed = self.flush();
            self.context().settle().await.and(flushed)
        })
    }

    /// Bytes of buffers that dropped tensors left for later ones.
    pub fn pool_bytes(&self) -> u64 {
        self.context().pool.bytes()
    }

    /// Frees the buffers that dropped tensors left; says how many bytes they had.
    pub fn trim_pool(&self) -> u64 {
        self.context().trim_pool()
    }

    /// The host calls that the CPU path made, as the device had no memory for them
    /// ([`WhenFull::UseCpu`]).
    pub fn fallbacks(&self) -> Fallbacks {
        self.lock_fallbacks().clone()
    }

    fn note_fallback(&self, error: &Error) {
        let mut fallbacks = self.lock_fallbacks();
        fallbacks.calls += 1;
        fallbacks.last = Some(error.clone());
    }

    fn lock_fallbacks(&self) -> MutexGuard<'_, Fallbacks> {
        let fallbacks = self.0.fallbacks.lock();
        fallbacks.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn when_full(&self) -> WhenFull {
        self.0.when_full
    }

    pub(crate) fn max_memory(&self) -> u64 {
        self.0.max_memory
    }

    fn context(&self) -> &Arc<Context> {
        &self.0.context
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let adapter = self.adapter().label();
        f.debug_tuple("Engine").field(&adapter).finish()
    }
}
