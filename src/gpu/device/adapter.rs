//! The adapters of a machine, and how one is chosen by name.

use crate::error::{Error, Result};
use crate::gpu::device::requirements;
use crate::plan::{GPU_LOOP_STEPS, MAX_LOOP_STEPS};
use crate::waiting::Waiting;

/// Name, API, kind, driver and limits of an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterSummary {
    /// The name that the driver gives.
    pub name: String,
    /// The API.
    pub api: wgpu::Backend,
    /// The kind of device.
    pub kind: wgpu::DeviceType,
    /// The driver's name and version, as far as it tells.
    pub driver: String,
    /// The most bytes of one binding.
    pub max_binding_bytes: u64,
    /// The most bytes of one buffer.
    pub max_buffer_bytes: u64,
}

impl AdapterSummary {
    pub(in crate::gpu) fn of(adapter: &wgpu::Adapter) -> Self {
        AdapterSummary::new(&adapter.get_info(), &adapter.limits())
    }

    pub(in crate::gpu) fn new(info: &wgpu::AdapterInfo, limits: &wgpu::Limits) -> Self {
        AdapterSummary {
            name: info.name.clone(),
            api: info.backend,
            kind: info.device_type,
            driver: [info.driver.as_str(), info.driver_info.as_str()]
                .join(" ")
                .trim()
                .to_owned(),
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            max_buffer_bytes: limits.max_buffer_size,
        }
    }

    /// True for a software adapter: shaders run on the CPU.
    pub fn is_software(&self) -> bool {
        self.kind == wgpu::DeviceType::Cpu
    }

    /// The steps that loops over data take in a dispatch: many on a GPU. What is virtual, or does not say what it is,
    /// may be llvmpipe.
    pub(in crate::gpu) fn loop_steps(&self) -> u32 {
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};
        match self.kind {
            DiscreteGpu | IntegratedGpu => GPU_LOOP_STEPS,
            Cpu | Other | VirtualGpu => MAX_LOOP_STEPS,
        }
    }

    /// The kind in a word: `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "other",
        }
    }

    /// The name and the API, as errors list adapters: `llvmpipe (LLVM 15) (vulkan)`.
    /// A browser may keep the name to itself.
    pub fn label(&self) -> String {
        if self.name.is_empty() {
            return self.api.to_string();
        }
        format!("{} ({})", self.name, self.api)
    }
}

/// The adapters whose drivers say that they have what the shaders need, the fastest kind first.
///
/// Makes no device, so it is cheap; [`probe_adapters`](crate::gpu::probe_adapters) finds out what
/// they are good for.
///
/// The environment variables of wgpu apply (`WGPU_BACKEND`, …).
pub fn adapters() -> Waiting<'static, Vec<AdapterSummary>> {
    Waiting::new(|_| summaries())
}

async fn summaries() -> Vec<AdapterSummary> {
    let found = enumerate().await;
    let able = found.iter().filter(|a| missing(a).is_none());
    able.map(AdapterSummary::of).collect()
}

/// An instance without the API's own validation, in debug builds too: wgpu validates every call
/// already. `WGPU_VALIDATION=1` turns it on. None, if no backend is compiled in.
fn instance() -> Option<wgpu::Instance> {
    let descriptor = wgpu::InstanceDescriptor {
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    let has_backends = !wgpu::Instance::enabled_backend_features().is_empty();
    has_backends.then(|| wgpu::Instance::new(descriptor.with_env()))
}

/// What the driver itself says the adapter lacks.
pub(in crate::gpu) fn missing(adapter: &wgpu::Adapter) -> Option<String> {
    let downlevel = adapter.get_downlevel_capabilities();
    let compute = wgpu::DownlevelFlags::COMPUTE_SHADERS;
    if !downlevel.flags.contains(compute) {
        return Some("compute shaders".to_owned());
    }
    match requirements::check(&requirements::usable_limits(adapter)) {
        Err(Error::MissingLimit { limit, needed, got }) => {
            Some(format!("{limit} = {needed}: it has {got}"))
        }
        _ => None,
    }
}

/// All adapters: discrete GPUs first, then software, and last those that say that they cannot run
/// gathers.
pub(in crate::gpu) async fn enumerate() -> Vec<wgpu::Adapter> {
    let Some(instance) = instance() else {
        return Vec::new();
    };
    let backends = wgpu::Backends::from_env().unwrap_or(wgpu::Backends::all());
    let mut found = instance.enumerate_adapters(backends).await;
    found.sort_by_key(|a| match a.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    found.sort_by_cached_key(|a| missing(a).is_some());
    found
}

/// The first adapter whose API is `wanted`, else the first whose label contains it, in any case;
/// without a wish, the first of all.
fn position(adapters: &[AdapterSummary], wanted: Option<&str>) -> Option<usize> {
    let text = wanted.unwrap_or_default().to_lowercase();
    let is_api = |a: &AdapterSummary| a.api.to_str() == text;
    let contains = |a: &AdapterSummary| a.label().to_lowercase().contains(&text);
    let by_api = adapters.iter().position(is_api);
    by_api.or_else(|| adapters.iter().position(contains))
}

/// The adapter that [`position`] finds.
pub(in crate::gpu) async fn choose(wanted: Option<&str>) -> Result<wgpu::Adapter> {
    let found = enumerate().await;
    let summaries: Vec<_> = found.iter().map(AdapterSummary::of).collect();
    match position(&summaries, wanted) {
        Some(n) => Ok(found[n].clone()),
        None => Err(Error::NoAdapter {
            wanted: wanted.map(str::to_owned),
            available: summaries.iter().map(AdapterSummary::label).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::DeviceType::{self, Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};

    #[test]
    fn only_what_is_a_gpu_for_sure_takes_long_loops() {
        let steps = |kind: DeviceType| {
            let info = wgpu::AdapterInfo::new(kind, wgpu::Backend::Vulkan);
            AdapterSummary::new(&info, &wgpu::Limits::default()).loop_steps()
        };
        assert_eq!([DiscreteGpu, IntegratedGpu].map(steps), [1 << 22; 2]);
        assert_eq!([Cpu, VirtualGpu, Other].map(steps), [1 << 15; 3]);
    }
}
