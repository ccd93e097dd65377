//! Cases on a GPU adapter, with the tensors in its memory.

use std::time::Instant;

use anyhow::{Result, bail};
use wgpu_gather::gpu::{AdapterSummary, adapters, find_adapter};
use wgpu_gather::{Error, Executor, wgpu};

use crate::bench::case::Scaled;
use crate::bench::copy::Copy;
use crate::bench::device::Device;
use crate::bench::dispatches;
use crate::bench::host::Host;
use crate::bench::inputs::Inputs;
use crate::bench::result::{Figures, GpuFigures, Place};
use crate::bench::run_cpu::destination;
use crate::bench::tensors::Tensors;
use crate::bench::timing::{Contest, Time, repeat, take_turns};
use crate::bench::waves::Asked;

/// The part of the time that goes to each of the calls which are timed beside the call.
const ASIDE: f64 = 0.25;

/// A GPU adapter.
pub(crate) struct Gpu {
    device: Device,
    aside: Aside,
}

/// What else to time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Aside {
    /// The call from host to host.
    pub(crate) transfers: bool,
    /// Each of its dispatches.
    pub(crate) dispatches: bool,
}

impl Gpu {
    pub(crate) fn open(wanted: Option<&str>, aside: Aside) -> Result<Self> {
        let adapter = find_adapter(wanted).wait()?;
        let device = Device::open(&adapter)?;
        Ok(Gpu { device, aside })
    }

    /// The first GPU that runs gathers, if there is one that is no software.
    pub(crate) fn open_hardware(aside: Aside) -> Result<Option<Self>> {
        let found = adapters().wait();
        if found.first().is_none_or(AdapterSummary::is_software) {
            return Ok(None);
        }
        let adapter = match find_adapter(None).wait() {
            Ok(adapter) if adapter.get_info().device_type != wgpu::DeviceType::Cpu => adapter,
            Ok(_) | Err(Error::NoUsableAdapter { .. }) => return Ok(None),
            Err(error) => bail!(error),
        };
        let device = Device::open(&adapter)?;
        Ok(Some(Gpu { device, aside }))
    }

    pub(crate) fn place(&self) -> Place {
        let adapter = self.device.engine.adapter();
        let software = match adapter.is_software() {
            true => ", software adapter",
            false => "",
        };
        Place {
            backend: "gpu".to_owned(),
            adapter: Some(format!("{}{software}", adapter.label())),
            driver: Some(adapter.driver.clone()),
            software_adapter: adapter.is_software(),
            threads: None,
            clock: self.device.clock().to_owned(),
        }
    }

    /// Checks and times a case.
    pub(crate) fn run(&self, scaled: &Scaled, seconds: f64) -> Result<Figures> {
        let started = Instant::now();
        let (tensors, inputs) = Tensors::new(&self.device, scaled)?;
        tensors.check(scaled, &inputs)?;
        let idle = started.elapsed().as_secs_f64();
        let copy = Copy::new(&self.device, tensors.filled(), &inputs.traffic, idle)?;

        let mut turns = Turns {
            tensors: &tensors,
            copy: &copy,
        };
        let times = take_turns(&mut turns, seconds)?;
        let single = repeat(seconds * ASIDE, || tensors.call_once())?;
        let gpu = GpuFigures {
            copied_by: Some(copy.way().to_owned()),
            encode_ms: Some(times.encode.median()),
            single_ms: Some(single.median()),
            transfers_ms: match self.aside.transfers {
                true => Some(self.host_to_host(scaled, &inputs, seconds * ASIDE)?),
                false => None,
            },
            sort_digits: scaled.scatter()?.map(|scatter| scatter.sort_digits),
            dispatches: match self.aside.dispatches {
                true => dispatches::of(&self.device, &tensors)?,
                false => None,
            },
            asked: Asked::of(scaled)?,
        };
        Ok(Figures::new(scaled, &inputs.traffic, &times, gpu))
    }

    /// Milliseconds of one call with its uploads and its download.
    fn host_to_host(&self, scaled: &Scaled, inputs: &Inputs, seconds: f64) -> Result<f64> {
        let executor = Executor::Gpu(self.device.engine.clone());
        let host = Host::new(scaled, inputs)?;
        let mut output = destination(scaled, inputs)?;
        let call = || host.run(&executor, &mut output).map(drop);
        Ok(repeat(seconds, call)?.median())
    }
}

/// Both in turn.
struct Turns<'a> {
    tensors: &'a Tensors<'a>,
    copy: &'a Copy<'a>,
}

impl Contest for Turns<'_> {
    const BATCH: f64 = 5e-3;
    const MOST: usize = 256;

    fn call(&mut self, repeats: usize) -> Result<Time> {
        self.tensors.call(repeats)
    }

    fn copy(&mut self, repeats: usize) -> Result<Time> {
        self.copy.run(repeats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases;
    use wgpu_gather::Rules;
    use wgpu_gather::gpu::{Engine, internals};

    /// What comes of a case where every shader has `fault`.
    fn run(adapter: &str, fault: Option<fn(String) -> String>) -> Result<Figures> {
        let mut gpu = Gpu::open(Some(adapter), Aside::default())?;
        if let Some(fault) = fault {
            let engine = &gpu.device.engine;
            let (device, queue) = (engine.device().clone(), engine.queue().clone());
            let faulty = Engine::with_options(device, queue, internals::with_fault(fault));
            gpu.device.engine = faulty.wait()?;
        }
        let cases = cases::all();
        let case = cases.iter().find(|case| case.name == "pixels").unwrap();
        gpu.run(&case.scaled(64, &Rules::default())?, 0.0)
    }

    #[test]
    fn a_wrong_kernel_gets_no_time() {
        let found = adapters().wait();
        let allowed = std::env::var("WGPU_GATHER_ALLOW_NO_GPU").is_ok_and(|v| v == "1");
        assert!(allowed || !found.is_empty(), "no GPU adapter");
        for adapter in found {
            let label = adapter.label();
            assert!(run(&label, None).unwrap().median_ms > 0.0);
            let wrong = |shader: String| shader.replace("count.x * c.y", "count.x * 0u");
            let error = run(&label, Some(wrong)).unwrap_err().to_string();
            assert!(error.starts_with("wrong: byte "), "{label}: {error}");
            let beside = |shader: String| shader.replace("output[", "output[1u + ");
            let error = run(&label, Some(beside)).unwrap_err().to_string();
            assert!(error.starts_with("wrong: byte "), "{label}: {error}");
        }
    }
}
