//! Cases on a GPU adapter, with the tensors in its memory.

use anyhow::{Result, bail};
use wgpu_gather::gpu::{AdapterSummary, adapters, find_adapter};
use wgpu_gather::{Error, Executor, wgpu};

use crate::bench::case::Scaled;
use crate::bench::device::Device;
use crate::bench::host::Host;
use crate::bench::inputs::Inputs;
use crate::bench::result::{Figures, GpuFigures, Place};
use crate::bench::run_cpu::destination;
use crate::bench::tensors::Tensors;
use crate::bench::timing::{Contest, Time, repeat, take_turns};
use crate::bench::traffic::Traffic;
use crate::bench::waves::Asked;

/// The part of the time that goes to each of the calls which are timed beside the call.
const ASIDE: f64 = 0.25;

/// A GPU adapter.
pub(crate) struct Gpu {
    device: Device,
    /// Whether to time the call from host to host.
    transfers: bool,
}

impl Gpu {
    pub(crate) fn open(wanted: Option<&str>, transfers: bool) -> Result<Self> {
        let adapter = find_adapter(wanted).wait()?;
        let device = Device::open(&adapter)?;
        Ok(Gpu { device, transfers })
    }

    /// The first GPU that runs gathers, if there is one that is no software.
    pub(crate) fn open_hardware(transfers: bool) -> Result<Option<Self>> {
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
        Ok(Some(Gpu { device, transfers }))
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
        let (tensors, inputs) = Tensors::new(&self.device, scaled)?;
        let copy = Copy::new(&self.device, tensors.filled(), &inputs.traffic)?;
        tensors.check(scaled, &inputs)?;

        let mut turns = Turns {
            tensors: &tensors,
            copy: &copy,
        };
        let times = take_turns(&mut turns, seconds)?;
        let single = repeat(seconds * ASIDE, || tensors.call_once())?;
        let gpu = GpuFigures {
            encode_ms: Some(times.encode.median()),
            single_ms: Some(single.median()),
            transfers_ms: match self.transfers {
                true => Some(self.host_to_host(scaled, &inputs, seconds * ASIDE)?),
                false => None,
            },
            sort_digits: scaled.scatter()?.map(|scatter| scatter.sort_digits),
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

/// Buffers to copy from one to the other, together as many bytes as a call moves.
struct Copy<'a> {
    device: &'a Device,
    from: wgpu::Buffer,
    to: wgpu::Buffer,
    bytes: u64,
    /// How often, where one buffer cannot hold them all.
    times: u64,
}

impl<'a> Copy<'a> {
    /// The source is filled from `filled`: memory that was never written may cost nothing to read.
    fn new(device: &'a Device, filled: &wgpu::Buffer, traffic: &Traffic) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let half = traffic.total().div_ceil(2).max(4);
        let times = half.div_ceil(device.most_bytes());
        let bytes = half.div_ceil(times).next_multiple_of(4);
        let copy = Copy {
            from: device.buffer("copy source", bytes, Usage::COPY_DST | Usage::COPY_SRC)?,
            to: device.buffer("copy", bytes, Usage::COPY_DST)?,
            device,
            bytes,
            times,
        };
        let mut encoder = device.encoder()?;
        let step = filled.size().min(bytes);
        for offset in (0..bytes).step_by(step as usize) {
            let size = step.min(bytes - offset);
            encoder.copy_buffer_to_buffer(filled, 0, &copy.from, offset, size);
        }
        device.submit(encoder)?;
        Ok(copy)
    }

    fn run(&self, repeats: usize) -> Result<Time> {
        let took = self.device.timed(|encoder| {
            for _ in 0..repeats as u64 * self.times {
                encoder.copy_buffer_to_buffer(&self.from, 0, &self.to, 0, self.bytes);
            }
            Ok(())
        })?;
        let one = |seconds: f64| seconds / repeats as f64;
        Ok(Time {
            seconds: one(took.device.unwrap_or(took.wall)),
            wall: one(took.wall),
            encode: 0.0,
        })
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
        let mut gpu = Gpu::open(Some(adapter), false)?;
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
