//! State shared by all files of `gpu`: device, queue and limits, error scopes, compiled pipelines, buffer
//! pool, staging memory and poller.
//!
//! Created by `engine`; everything that outlives a call (a status, a pipeline) holds it. It must never know
//! a plan, a tensor or an engine.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::gpu::device::adapter::AdapterSummary;
use crate::gpu::device::commands::{Command, encode};
use crate::gpu::device::deferred::{DeferredErrors, Pending};
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::poller::Poller;
use crate::gpu::device::pool::Pool;
use crate::gpu::device::queue::Queue;
use crate::gpu::device::requirements;
use crate::gpu::device::scope::{one_line, scoped};
use crate::gpu::device::staging::{Direction, Staging};
use crate::gpu::device::turns::NUMBERS;
use crate::gpu::device::uniforms::Uniforms;
use crate::gpu::pipeline::Pipelines;
use crate::gpu::pipeline::watch::Watch;
use crate::plan::{BindingLimits, MAX_SEGMENTS};

/// A device with what is made for it once.
#[derive(Debug)]
pub(crate) struct Context {
    pub(super) device: wgpu::Device,
    pub(super) queue: Arc<Queue>,
    pub(super) limits: wgpu::Limits,
    pub(super) binding_limits: BindingLimits,
    pub(super) adapter: AdapterSummary,
    /// Steps that loops over data take in a dispatch.
    pub(super) loop_steps: u32,
    pub(super) pipelines: Pipelines,
    pub(super) uniforms: Uniforms,
    pub(super) pool: Pool,
    pub(super) staging: Staging,
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) poller: Poller,
    /// Zeros that nothing writes: a placeholder for bindings that a kernel does not read.
    pub(super) nothing: wgpu::Buffer,
    /// The words from 0 on, [`NUMBERS`] of them, to be copied from.
    pub(super) numbers: wgpu::Buffer,
    pub(super) deferred: DeferredErrors,
    /// The test that watches.
    pub(super) watch: Option<Arc<dyn Watch>>,
    /// Why the device was lost, if it is known.
    lost: Arc<Mutex<Option<String>>>,
}

/// Options of a context.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) pipeline_cache: Option<wgpu::PipelineCache>,
    pub(super) max_pool_bytes: u64,
    pub(super) max_pass_bytes: u64,
    pub(super) watch: Option<Arc<dyn Watch>>,
}

impl Context {
    pub(super) async fn new(
        device: wgpu::Device,
        queue: wgpu::Queue,
        settings: Settings,
    ) -> Result<Context> {
        let watch = settings.watch;
        let limits = device.limits();
        let limits = match &watch {
            Some(watch) => watch.limits(limits),
            None => limits,
        };
        requirements::check(&limits)?;
        let adapter = AdapterSummary::new(&device.adapter_info(), &limits);
        let binding_limits = BindingLimits::new(&limits, settings.max_pass_bytes);
        let deferred = DeferredErrors::default();
        let pipelines = scoped(&device, "the bind group layouts", || {
            Pipelines::new(
                &device,
                binding_limits.segments as u32,
                deferred.clone(),
                settings.pipeline_cache,
                watch.clone(),
            )
        })
        .await?;
        let (nothing, numbers) = scoped(&device, "a buffer", || {
            let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
            let numbers = small_buffer(&device, "numbers", 4 * u64::from(NUMBERS), usage);
            let words: Vec<u32> = (0..NUMBERS).collect();
            queue.write_buffer(&numbers, 0, bytemuck::cast_slice(&words));
            let usage = wgpu::BufferUsages::STORAGE;
            (small_buffer(&device, "nothing", 16, usage), numbers)
        })
        .await?;
        if let Some(watch) = &watch {
            watch.memory(&nothing, nothing.size(), nothing.size());
        }
        Ok(Context {
            loop_steps: match &watch {
                Some(watch) => watch.loop_steps(adapter.loop_steps()),
                None => adapter.loop_steps(),
            },
            adapter,
            binding_limits,
            queue: Arc::new(Queue::new(
                queue,
                device.clone(),
                deferred.clone(),
                settings.max_pass_bytes,
                numbers.clone(),
            )),
            numbers,
            device,
            limits,
            pipelines,
            uniforms: Uniforms::default(),
            pool: Pool::new(settings.max_pool_bytes),
            staging: Staging::default(),
            #[cfg(not(target_arch = "wasm32"))]
            poller: Poller::default(),
            nothing,
            deferred,
            watch,
            lost: Arc::default(),
        })
    }

    /// Remembers why the device is lost. For a device of our own: the caller may want the callback.
    pub(super) fn watch_loss(&self) {
        let lost = Arc::clone(&self.lost);
        self.device.set_device_lost_callback(move |_, message| {
            *lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
        });
    }

    /// Submits what waits. Fails, once, if something that waited could not be submitted.
    pub(super) fn flush(&self) -> Result<()> {
        self.queue.flush();
        self.check_alive()?;
        self.queue.failure().map_err(|error| self.with_loss(error))
    }

    /// Submits commands, after what waits.
    pub(super) fn submit_commands(
        &self,
        what: &'static str,
        commands: wgpu::CommandBuffer,
    ) -> Result<wgpu::SubmissionIndex> {
        let submitted = self.queue.submit(what, commands);
        submitted.map_err(|error| self.with_loss(error))
    }

    /// Encodes and submits commands, after what waits.
    pub(super) fn submit_all(&self, what: &'static str, commands: &[Command]) -> Result<()> {
        let commands = self.scoped(what, || encode(&self.device, commands))?;
        self.submit_commands(what, commands).map(drop)
    }

    /// Waits for what the device has still to say about the calls so far.
    pub(super) async fn settle(&self) -> Result<()> {
        self.queue.flush();
        self.settled(self.deferred.take()).await
    }

    /// Waits for what the device has still to say.
    pub(super) async fn settled(&self, deferred: Pending) -> Result<()> {
        let said = deferred.settle().await;
        if let Err(Error::GpuOutOfMemory { .. }) = said {
            self.pool.discard();
        }
        // The scopes of a lost device close as if all were well.
        self.check_alive().and(said)
    }

    /// Runs `work` on the device; wgpu's complaints come back as errors.
    pub(super) fn scoped<T>(&self, what: &'static str, work: impl FnOnce() -> T) -> Result<T> {
        let made = self.deferred.scoped(&self.device, what, work);
        made.map_err(|error| self.with_loss(error))
    }

    /// The error for a staging chunk whose memory cannot be had although it was mapped.
    pub(super) fn not_mapped(&self, direction: Direction, error: &wgpu::MapRangeError) -> Error {
        self.with_loss(Error::Gpu {
            what: direction.what(),
            reason: one_line(&error.to_string()),
        })
    }

    /// The error, or that the device is lost if that is its cause.
    fn with_loss(&self, error: Error) -> Error {
        match error {
            Error::Gpu { reason, .. } if !self.answers() => Error::DeviceLost { reason },
            other => other,
        }
    }

    /// Tests whether the device still creates valid buffers. A lost device silently returns invalid ones, and the
    /// errors of their use do not mention the loss.
    fn answers(&self) -> bool {
        let probe = || {
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("wgpu-gather probe"),
                size: 4,
                usage: wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.queue.write_new_buffer(&buffer, &[0; 4]);
        };
        self.deferred.scoped(&self.device, "a probe", probe).is_ok()
    }

    /// The error for a device that stopped answering.
    pub(super) fn lost(&self, symptom: &str) -> Error {
        let reason = self.loss().unwrap_or_else(|| symptom.to_owned());
        Error::DeviceLost { reason }
    }

    /// Fails if the device is known to be lost.
    pub(super) fn check_alive(&self) -> Result<()> {
        match self.loss() {
            Some(reason) => Err(Error::DeviceLost { reason }),
            None => Ok(()),
        }
    }

    fn loss(&self) -> Option<String> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.clone()
    }

    /// A buffer of `bytes` bytes, in whole 16-byte vectors and never empty.
    pub(super) fn create_buffer(
        &self,
        label: &'static str,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        let size = bytes.next_multiple_of(16).max(16);
        let made = self.scoped(label, || {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        });
        let made = made.map_err(|error| match error {
            Error::GpuOutOfMemory { .. } => Error::GpuOutOfMemory {
                what: format!("{label} of {size} bytes"),
            },
            other => other,
        })?;
        self.note_memory(&made, bytes, bytes);
        Ok(made)
    }

    /// Tells the test that watches what a buffer is for.
    pub(super) fn note_memory(&self, buffer: &wgpu::Buffer, bytes: u64, room: u64) {
        if let Some(watch) = &self.watch {
            watch.memory(buffer, bytes, room);
        }
    }
}

fn small_buffer(
    device: &wgpu::Device,
    label: &'static str,
    size: u64,
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    })
}

impl BindingLimits {
    /// Binding limits of a device with `limits`, whose dispatches each write at most `pass_bytes` of output.
    pub fn new(limits: &wgpu::Limits, pass_bytes: u64) -> BindingLimits {
        let buffers = limits.max_storage_buffers_per_shader_stage as usize;
        let binding = binding_limit(limits);
        BindingLimits {
            params_bytes: binding,
            indices_bytes: binding,
            output_bytes: binding,
            segments: buffers.saturating_sub(2).clamp(1, MAX_SEGMENTS),
            alignment: u64::from(limits.min_storage_buffer_offset_alignment).max(16),
            pass_bytes: pass_bytes.max(16),
            workgroups: limits.max_compute_workgroups_per_dimension,
        }
    }
}

/// The most bytes of a binding, in whole vectors. Byte positions in shaders stay below 2^31;
/// bindings of 2 GiB are beyond Vulkan and DX12, of 4 GiB beyond what Metal computes.
fn binding_limit(limits: &wgpu::Limits) -> u64 {
    limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size)
        .min(i32::MAX as u64)
        & !15
}
