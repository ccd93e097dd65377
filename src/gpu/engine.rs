//! A device with its pipelines.

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::gpu::adapter::{self, AdapterSummary};
use crate::gpu::pipeline::Pipelines;
use crate::gpu::scope::{one_line, scoped, scoped_now};

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
    adapter: AdapterSummary,
    pipelines: Pipelines,
    /// What is bound where a kernel reads nothing.
    nothing: wgpu::Buffer,
    /// Why the device was lost, if it was and it is our own.
    lost: Arc<Mutex<Option<String>>>,
}

impl Engine {
    /// An engine on the caller's device and queue.
    ///
    /// Only what the device was requested with is used: its limits bound the size of tensors.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the device cannot hold the bindings (a uniform buffer and three storage buffers).
    pub async fn new(device: wgpu::Device, queue: wgpu::Queue) -> Result<Engine> {
        Engine::with_fault(device, queue, None).await
    }

    /// For tests only: plants a fault in every shader, which a check against the reference must
    /// then report.
    #[doc(hidden)]
    pub async fn with_fault(
        device: wgpu::Device,
        queue: wgpu::Queue,
        fault: Option<fn(String) -> String>,
    ) -> Result<Engine> {
        let what = "the bind group layouts";
        let pipelines = scoped(&device, what, || Pipelines::new(&device, fault)).await?;
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
            device,
            queue,
            limits,
            pipelines,
            nothing,
            lost: Arc::default(),
        })))
    }

    /// An engine with a device of its own: on the first adapter whose name contains `wanted` or
    /// whose API is `wanted` (`vulkan`, `metal`, `dx12`, `gl`), or on the fastest kind of all.
    ///
    /// # Errors
    ///
    /// [`Error::NoAdapter`] with the adapters there are, [`Error::RequestDevice`].
    pub async fn headless(wanted: Option<&str>) -> Result<Engine> {
        let adapter = adapter::choose(&adapter::instance(), wanted).await?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgpu-gather"),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) =
            adapter
                .request_device(&descriptor)
                .await
                .map_err(|error| Error::RequestDevice {
                    adapter: AdapterSummary::of(&adapter).label(),
                    reason: one_line(&error.to_string()),
                })?;
        let engine = Engine::new(device, queue).await?;
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

    pub(super) fn limits(&self) -> &wgpu::Limits {
        &self.0.limits
    }

    pub(super) fn max_workgroups(&self) -> u32 {
        self.limits().max_compute_workgroups_per_dimension
    }

    pub(super) fn nothing(&self) -> &wgpu::Buffer {
        &self.0.nothing
    }

    pub(super) fn pipelines(&self) -> &Pipelines {
        &self.0.pipelines
    }

    /// Runs `work` on the device; wgpu's complaints come back as errors.
    pub(super) fn scoped<T>(&self, what: &'static str, work: impl FnOnce() -> T) -> Result<T> {
        scoped_now(self.device(), what, work).map_err(|error| match error {
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
        scoped_now(self.device(), "a probe", probe).is_ok()
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
}
