//! A device with its pipelines.

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::gpu::adapter::{self, AdapterSummary};
use crate::gpu::late::{Answers, Late};
use crate::gpu::needs;
use crate::gpu::pipeline::{Fault, Pipelines};
use crate::gpu::pool::Pool;
use crate::gpu::recorder::Recorders;
use crate::gpu::scope::{one_line, scoped};
use crate::gpu::select;
use crate::gpu::shader::Specialisation;
use crate::gpu::staging::Staging;
use crate::gpu::storage::binding_limit;
use crate::plan::{BindingLimits, MAX_SEGMENTS};

/// What an engine may be given besides its device.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where compiled pipelines are looked up and kept (Vulkan; wgpu's feature `PIPELINE_CACHE`).
    /// [`Engine::pipeline_cache_data`] gives what to save for the next run.
    pub pipeline_cache: Option<wgpu::PipelineCache>,
    /// The most bytes of buffers that are kept when their tensors are dropped. By default there is
    /// no limit: what was in use at one time is kept.
    pub max_unused_bytes: u64,
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
}

impl Default for Options {
    fn default() -> Self {
        Options {
            pipeline_cache: None,
            max_unused_bytes: u64::MAX,
            max_memory_bytes: u64::MAX,
            max_pass_bytes: 1 << 30,
            when_full: WhenFull::default(),
        }
    }
}

/// What becomes of a host call that the device has no memory for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The CPU path makes it.
    #[default]
    UseCpu,
    /// [`Error::GpuOutOfMemory`].
    Fail,
}

/// Executes gathers on one device. Cheap to clone; may be used from several threads at once.
///
/// Needs no optional feature and no limit beyond `wgpu::Limits::downlevel_defaults()`.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    limits: wgpu::Limits,
    bounds: BindingLimits,
    adapter: AdapterSummary,
    pipelines: Pipelines,
    recorders: Recorders,
    pool: Pool,
    max_memory: u64,
    when_full: WhenFull,
    staging: Staging,
    /// What is bound where a kernel reads nothing.
    nothing: wgpu::Buffer,
    late: Late,
    /// Why the device was lost, if it was and it is our own.
    lost: Arc<Mutex<Option<String>>>,
}

impl Engine {
    /// An engine on the caller's device and queue.
    ///
    /// Only what the device was requested with is used: its limits bound the size of tensors. See
    /// [`needs`](crate::gpu::needs) for what to request.
    ///
    /// # Errors
    ///
    /// [`Error::MissingLimit`] names a limit of the device that is too low.
    pub async fn new(device: wgpu::Device, queue: wgpu::Queue) -> Result<Engine> {
        Engine::with_options(device, queue, Options::default()).await
    }

    /// For tests only: plants a fault in every shader, which a check against the reference must
    /// then report.
    #[doc(hidden)]
    pub async fn with_fault(
        device: wgpu::Device,
        queue: wgpu::Queue,
        fault: fn(String) -> String,
    ) -> Result<Engine> {
        Engine::make(device, queue, Options::default(), Some(fault)).await
    }

    /// [`Engine::new`], with options.
    ///
    /// # Errors
    ///
    /// As [`Engine::new`]; [`Error::Gpu`] for a pipeline cache of another device.
    pub async fn with_options(
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: Options,
    ) -> Result<Engine> {
        Engine::make(device, queue, options, None).await
    }

    async fn make(
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: Options,
        fault: Option<Fault>,
    ) -> Result<Engine> {
        needs::check(&device.limits())?;
        let what = "the bind group layouts";
        let cache = options.pipeline_cache;
        let segments = binding_limits(&device.limits(), 16).segments as u32;
        let late = Late::default();
        let pipelines = scoped(&device, what, || {
            Pipelines::new(&device, segments, late.clone(), cache, fault)
        })
        .await?;
        let nothing = scoped(&device, "a buffer", || {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("wgpu-gather nothing"),
                size: 16,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        })
        .await?;
        let limits = device.limits();
        Ok(Engine(Arc::new(Inner {
            adapter: AdapterSummary::new(&device.adapter_info(), &limits),
            bounds: binding_limits(&limits, options.max_pass_bytes),
            device,
            queue,
            limits,
            pipelines,
            recorders: Recorders::default(),
            pool: Pool::new(options.max_unused_bytes),
            max_memory: options.max_memory_bytes,
            when_full: options.when_full,
            staging: Staging::default(),
            nothing,
            late,
            lost: Arc::default(),
        })))
    }

    /// An engine with a device of its own: on the first adapter whose name contains `wanted` or
    /// whose API is `wanted` (`vulkan`, `metal`, `dx12`, `gl`), if it compiles gathers; without a
    /// name, on the fastest kind of all that [run](Engine::probe) them.
    ///
    /// # Errors
    ///
    /// [`Error::NoAdapter`] with the adapters there are, [`Error::AdapterLacks`],
    /// [`Error::RequestDevice`]; without a name, [`Error::NoUsableAdapter`] with what each lacks.
    pub async fn headless(wanted: Option<&str>) -> Result<Engine> {
        Engine::headless_with(wanted, Options::default()).await
    }

    /// [`Engine::headless`], with options.
    ///
    /// # Errors
    ///
    /// As [`Engine::headless`].
    pub async fn headless_with(wanted: Option<&str>, options: Options) -> Result<Engine> {
        Engine::choose(wanted, options, None).await
    }

    /// For tests only: [`Engine::headless`] with a fault in every shader, which the adapter must
    /// then be refused for.
    #[doc(hidden)]
    pub async fn headless_with_fault(
        wanted: Option<&str>,
        fault: fn(String) -> String,
    ) -> Result<Engine> {
        Engine::choose(wanted, Options::default(), Some(fault)).await
    }

    async fn choose(
        wanted: Option<&str>,
        options: Options,
        fault: Option<Fault>,
    ) -> Result<Engine> {
        let instance = adapter::instance();
        if wanted.is_none() {
            let (_, engine) = select::choose_usable(&instance, &options, fault).await?;
            return Ok(engine);
        }
        // One that gives wrong results can be had, too: `verify` is there to say which.
        let adapter = adapter::choose(&instance, wanted).await?;
        let engine = Engine::open(&adapter, options, fault).await?;
        engine.probe_compiler().await?;
        Ok(engine)
    }

    /// An engine with a device of its own on `adapter`.
    pub(super) async fn open(
        adapter: &wgpu::Adapter,
        options: Options,
        fault: Option<Fault>,
    ) -> Result<Engine> {
        let label = AdapterSummary::of(adapter).label();
        if let Some(what) = adapter::missing(adapter) {
            let adapter = label;
            return Err(Error::AdapterLacks { adapter, what });
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgpu-gather"),
            required_features: needs::usable_features(adapter),
            required_limits: needs::usable_limits(adapter),
            ..Default::default()
        };
        let (device, queue) =
            adapter
                .request_device(&descriptor)
                .await
                .map_err(|error| Error::RequestDevice {
                    adapter: label,
                    reason: one_line(&error.to_string()),
                })?;
        let engine = Engine::make(device, queue, options, fault).await?;
        let lost = Arc::clone(&engine.0.lost);
        engine.device().set_device_lost_callback(move |_, message| {
            *lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
        });
        Ok(engine)
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.0.device
    }

    /// The queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.0.queue
    }

    /// The adapter, with the limits of the device.
    pub fn adapter(&self) -> &AdapterSummary {
        &self.0.adapter
    }

    /// Compiles every pipeline there is, so that no later call waits for the shader compiler;
    /// says how many there are. [`Engine::prepare`] compiles those of one plan.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub async fn warm_up(&self) -> Result<usize> {
        self.check_alive()?;
        let all = Specialisation::all(self.binding_limits().segments as u32);
        for &specialisation in &all {
            self.pipelines().get(self.device(), specialisation)?;
        }
        self.settle().await?;
        Ok(all.len())
    }

    /// Waits for what the device has to say about the calls so far that wait for nothing, such as
    /// [`Engine::gather`]. In a browser their errors come late: here, or from the next call that
    /// waits. Elsewhere such a call reports its errors itself, and this returns at once.
    ///
    /// # Errors
    ///
    /// The errors of those calls: [`Error::GpuOutOfMemory`], [`Error::Gpu`]; [`Error::DeviceLost`].
    pub async fn settle(&self) -> Result<()> {
        self.settled(self.late().take()).await
    }

    /// Waits for what the device has to say.
    pub(super) async fn settled(&self, late: Answers) -> Result<()> {
        let said = late.settle().await;
        if let Err(Error::GpuOutOfMemory { .. }) = said {
            self.pool().give_up();
        }
        // The scopes of a lost device close as if all were well.
        self.check_alive().and(said)
    }

    /// What the [pipeline cache](Options::pipeline_cache) holds by now, to be saved; nothing,
    /// without one.
    pub fn pipeline_cache_data(&self) -> Option<Vec<u8>> {
        self.pipelines().cache_data()
    }

    pub(super) fn max_memory(&self) -> u64 {
        self.0.max_memory
    }

    pub(crate) fn when_full(&self) -> WhenFull {
        self.0.when_full
    }

    pub(super) fn recorders(&self) -> &Recorders {
        &self.0.recorders
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    pub(super) fn staging(&self) -> &Staging {
        &self.0.staging
    }

    pub(super) fn limits(&self) -> &wgpu::Limits {
        &self.0.limits
    }

    /// What one dispatch can bind and run.
    pub fn binding_limits(&self) -> &BindingLimits {
        &self.0.bounds
    }

    pub(super) fn late(&self) -> &Late {
        &self.0.late
    }

    pub(super) fn nothing(&self) -> &wgpu::Buffer {
        &self.0.nothing
    }

    pub(super) fn pipelines(&self) -> &Pipelines {
        &self.0.pipelines
    }

    /// Runs `work` on the device; wgpu's complaints come back as errors.
    pub(super) fn scoped<T>(&self, what: &'static str, work: impl FnOnce() -> T) -> Result<T> {
        let made = self.late().scoped(self.device(), what, work);
        made.map_err(|error| match error {
            Error::Gpu { reason, .. } if !self.answers() => Error::DeviceLost { reason },
            other => other,
        })
    }

    /// Whether the device still makes buffers that can be used. A lost device gives invalid ones
    /// without a word, and what uses them is then refused for a reason that does not name it.
    fn answers(&self) -> bool {
        let probe = || {
            let buffer = self.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some("wgpu-gather probe"),
                size: 4,
                usage: wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.queue().write_buffer(&buffer, 0, &[0; 4]);
        };
        let probed = self.late().scoped(self.device(), "a probe", probe);
        probed.is_ok()
    }

    /// The error for a device that stopped answering.
    pub(super) fn lost(&self, symptom: &str) -> Error {
        let lost = self.0.lost.lock().unwrap_or_else(PoisonError::into_inner);
        Error::DeviceLost {
            reason: lost.clone().unwrap_or_else(|| symptom.to_owned()),
        }
    }

    /// Fails if the device is known to be lost.
    pub(super) fn check_alive(&self) -> Result<()> {
        let lost = self.0.lost.lock().unwrap_or_else(PoisonError::into_inner);
        match &*lost {
            Some(reason) => Err(Error::DeviceLost {
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }

    /// A buffer of `bytes` bytes, in whole 16-byte lanes and never empty.
    pub(super) fn create_buffer(
        &self,
        label: &'static str,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        let size = bytes.next_multiple_of(16).max(16);
        let made = self.scoped(label, || {
            self.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        });
        made.map_err(|error| match error {
            Error::GpuOutOfMemory { .. } => Error::GpuOutOfMemory {
                what: format!("{label} of {size} bytes"),
            },
            other => other,
        })
    }
}

/// What one dispatch can bind and run on a device with these limits, if it makes at most so many
/// bytes of output.
pub fn binding_limits(limits: &wgpu::Limits, pass_bytes: u64) -> BindingLimits {
    let buffers = limits.max_storage_buffers_per_shader_stage as usize;
    BindingLimits {
        params_bytes: binding_limit(limits),
        indices_bytes: binding_limit(limits),
        output_bytes: binding_limit(limits),
        segments: buffers.saturating_sub(2).clamp(1, MAX_SEGMENTS),
        alignment: u64::from(limits.min_storage_buffer_offset_alignment).max(16),
        pass_bytes: pass_bytes.max(16),
        workgroups: limits.max_compute_workgroups_per_dimension,
    }
}
