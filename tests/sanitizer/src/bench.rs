//! A device with a recorder, an engine on both, and what came of the calls on it.

use std::sync::Arc;

use gather_conformance::Outcome;
use wgpu_gather::gpu::{Engine, internals};
use wgpu_gather::{Executor, wgpu};

use crate::checks::complaints;
use crate::figures::Figures;
use crate::recorder::{Fault, Pipelines, Recorded, Recorder};

/// The most storage buffers of a shader: those of eight segments, indices and output.
pub(crate) const STORAGE_BUFFERS: u32 = 10;
/// The segments of params that this binds.
pub(crate) const SEGMENTS: u32 = 8;

/// An engine that records.
pub(crate) struct Bench {
    pub(crate) engine: Engine,
    pub(crate) recorder: Arc<Recorder>,
}

/// What came of calls.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: Vec<String>,
    /// Whether failures are printed as they come.
    pub(crate) says_at_once: bool,
    pub(crate) figures: Figures,
}

/// What the engine plans with: bindings of so many bytes.
pub(crate) fn limits(binding: u64) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffers_per_shader_stage: STORAGE_BUFFERS,
        max_storage_buffer_binding_size: binding,
        ..wgpu::Limits::downlevel_defaults()
    }
}

/// A device of lavapipe, with one storage buffer more than shaders of the engine bind.
///
/// # Errors
///
/// That there is none.
pub(crate) fn device() -> Result<(wgpu::Device, wgpu::Queue, String), String> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN,
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let adapter = adapters
        .into_iter()
        .find(|adapter| adapter.get_info().name.contains("llvmpipe"))
        .ok_or("no lavapipe (Debian/Ubuntu: apt-get install mesa-vulkan-drivers)")?;
    let descriptor = wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits {
            max_storage_buffers_per_shader_stage: STORAGE_BUFFERS + 1,
            ..limits(128 << 20)
        },
        ..Default::default()
    };
    let requested = pollster::block_on(adapter.request_device(&descriptor));
    let (device, queue) = requested.map_err(|error| error.to_string())?;
    let info = adapter.get_info();
    Ok((
        device,
        queue,
        format!("{}, {}", info.name, info.driver_info),
    ))
}

/// The pipelines of the library.
pub(crate) fn pipelines() -> Pipelines {
    let all = internals::pipelines(SEGMENTS).into_iter();
    all.map(|source| (source.name, (source.wgsl, source.entry_point)))
        .collect()
}

impl Bench {
    /// An engine with bindings of at most so many bytes.
    ///
    /// # Errors
    ///
    /// What keeps lavapipe from being used.
    pub(crate) fn new(binding: u64, fault: Option<Fault>) -> Result<Self, String> {
        let (device, queue, _) = device()?;
        let recorder = Recorder::new(&device, &queue, limits(binding), pipelines(), fault);
        let recorder = Arc::new(recorder);
        let options = internals::watched(Arc::clone(&recorder) as Arc<dyn internals::Watch>);
        let engine = Engine::with_options(device, queue, options);
        Ok(Bench {
            engine: engine.wait().map_err(|error| error.to_string())?,
            recorder,
        })
    }

    pub(crate) fn executor(&self) -> Executor {
        Executor::Gpu(self.engine.clone())
    }

    /// Runs a call; gives its outcome and what its dispatches did.
    ///
    /// # Errors
    ///
    /// As [`Recorder::take`].
    pub(crate) fn record(
        &self,
        call: impl FnOnce(&Self) -> Outcome,
    ) -> Result<(Outcome, Vec<Recorded>), String> {
        let outcome = call(self);
        self.engine.flush().map_err(|error| error.to_string())?;
        Ok((outcome, self.recorder.take()?))
    }

    /// Runs a call that is to be right and clean.
    pub(crate) fn run(&self, tally: &mut Tally, name: &str, call: impl FnOnce(&Self) -> Outcome) {
        let mut wrong = Vec::new();
        match self.record(call) {
            Err(error) => wrong.push(error),
            Ok((outcome, recorded)) => {
                if let Outcome::Failed(why) = outcome {
                    wrong.push(why);
                }
                for one in &recorded {
                    wrong.extend(complaints(one));
                    tally.figures.add(one);
                }
            }
        }
        if wrong.is_empty() {
            tally.passed += 1;
            return;
        }
        let text = format!("{name}: {}", wrong.join("\n  "));
        if tally.says_at_once {
            println!("FAILED: {text}");
        }
        tally.failed.push(text);
    }
}
