//! The executors of this machine, and running calls on them.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use gather_conformance::{Call, Outcome, Report, check_call};
use wgpu_gather::gpu::{AdapterSummary, DeviceOperand, Engine, Options, Status, adapters};
use wgpu_gather::{BadIndices, Error, Executor, OutOfBounds, Result, Rules, wgpu};

pub(crate) use pollster::block_on;

/// One engine for each adapter of the machine.
///
/// # Panics
///
/// If there is none and the environment does not allow that.
pub(crate) fn engines() -> &'static [Engine] {
    static ENGINES: OnceLock<Vec<Engine>> = OnceLock::new();
    ENGINES.get_or_init(|| {
        let found = adapters().wait();
        let engines: Vec<Engine> = found.iter().filter_map(opened).collect();
        if engines.is_empty() {
            assert!(found.is_empty(), "no adapter can run gathers: {found:?}");
            let allowed = std::env::var("WGPU_GATHER_ALLOW_NO_GPU").is_ok_and(|v| v == "1");
            assert!(
                allowed,
                "no GPU adapter (Debian/Ubuntu: apt-get install mesa-vulkan-drivers libegl1 \
                 libgl1-mesa-dri); WGPU_GATHER_ALLOW_NO_GPU=1 runs the rest without"
            );
            println!("SKIPPED: everything on GPUs, as this machine has no adapter");
        }
        engines
    })
}

/// An engine on the adapter, unless that cannot run gathers, for example for want of a compiler: then
/// only `probes::every_adapter_that_has_the_limits_runs_gathers` fails.
fn opened(adapter: &AdapterSummary) -> Option<Engine> {
    let label = adapter.label();
    match Engine::headless(Some(&label)).wait() {
        Ok(engine) => {
            println!("adapter: {:?}", engine.adapter());
            Some(engine)
        }
        Err(error) => {
            println!("SKIPPED: everything on {label}: {error}");
            None
        }
    }
}

/// Every executor but the reference.
pub(crate) fn executors() -> Vec<Executor> {
    std::iter::once(Executor::Cpu).chain(devices()).collect()
}

/// An executor for each adapter.
pub(crate) fn devices() -> Vec<Executor> {
    engines().iter().cloned().map(Executor::Gpu).collect()
}

/// Checks all calls on `executor` against the reference.
pub(crate) fn check_all(calls: &[Call], executor: &Executor) -> Report {
    let mut report = Report::default();
    for call in calls {
        report.add(|| format!("{call:?}"), block_on(check_call(call, executor)));
    }
    report
}

/// Fails with the first failures of a report, if it has any.
pub(crate) fn assert_all_passed(what: &str, report: &Report) {
    println!("{what}: {report}");
    let first: Vec<_> = report.failed.iter().take(3).collect();
    assert!(first.is_empty(), "{what}: {report}\n{first:#?}");
}

pub(crate) fn failed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(_))
}

/// A device of its own on the adapter of `engine`, for tests that harm theirs.
pub(crate) fn fresh_device(engine: &Engine, limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    device_on(&fresh_adapter(engine), limits)
}

/// An engine on a device of its own, on the adapter of `engine`.
pub(crate) fn engine_with(engine: &Engine, options: Options) -> Engine {
    let (device, queue) = fresh_device(engine, wgpu::Limits::downlevel_defaults());
    Engine::with_options(device, queue, options)
        .wait()
        .expect("an engine")
}

/// The adapter of `engine`, in an instance of its own.
pub(crate) fn fresh_adapter(engine: &Engine) -> wgpu::Adapter {
    let descriptor = wgpu::InstanceDescriptor {
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    adapter_like(engine, descriptor.with_env())
}

/// The adapter of `engine`, in an instance as described.
pub(crate) fn adapter_like(engine: &Engine, descriptor: wgpu::InstanceDescriptor) -> wgpu::Adapter {
    let instance = wgpu::Instance::new(descriptor);
    let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters
        .into_iter()
        .find(|a| {
            let info = a.get_info();
            info.name == engine.adapter().name && info.backend == engine.adapter().api
        })
        .expect("the adapter of the engine")
}

pub(crate) fn device_on(
    adapter: &wgpu::Adapter,
    limits: wgpu::Limits,
) -> (wgpu::Device, wgpu::Queue) {
    let descriptor = wgpu::DeviceDescriptor {
        required_limits: limits,
        ..Default::default()
    };
    block_on(adapter.request_device(&descriptor)).expect("a device")
}

/// The right to take gigabytes of memory, and to rely on what is free: one test has it at a time.
pub(crate) fn turn_of_gigabytes() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Little-endian words of bytes, for buffers.
pub(crate) fn buffer_with(engine: &Engine, bytes: &[u8]) -> wgpu::Buffer {
    let buffer = engine.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len().next_multiple_of(4) as u64,
        usage: wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let mut padded = bytes.to_vec();
    padded.resize(buffer.size() as usize, 0);
    engine.queue().write_buffer(&buffer, 0, &padded);
    buffer
}

/// All bytes of a buffer.
pub(crate) fn bytes_of(engine: &Engine, buffer: &wgpu::Buffer) -> Vec<u8> {
    let device = engine.device();
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: buffer.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    engine.queue().submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |r| r.expect("mapped"));
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .expect("the device answers");
    let view = staging.get_mapped_range(..).expect("mapped");
    view.to_vec()
}

/// Fails if calls under `rules` that made `tensor` have met a bad index, if these ask for that.
pub(crate) fn report(engine: &Engine, tensor: &impl DeviceOperand, rules: &Rules) -> Result<()> {
    let counts = rules.out_of_bounds == OutOfBounds::Error;
    match engine.check(tensor).wait() {
        Err(Error::NotCounted) if !counts => Ok(()),
        checked => failing(checked),
    }
}

/// What a status reports, as an error.
pub(crate) fn read_status(status: &Status) -> Result<()> {
    failing(status.read().wait())
}

/// What was found, as an error.
pub(crate) fn failing(found: Result<Option<BadIndices>>) -> Result<()> {
    match found? {
        Some(bad) => Err(Error::IndexOutOfBounds(Box::new(bad))),
        None => Ok(()),
    }
}
