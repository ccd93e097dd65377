//! Running out of GPU memory is an error of every verb, and the device works afterwards.
//!
//! A software adapter takes the host's memory. Old ones say that there is none left: the test runs
//! itself again in a process whose address space is bounded, and fills that up first. For newer ones
//! wgpu says so, beyond a share of the host's memory. Linux and Vulkan only: elsewhere nothing bounds
//! a process so simply, and Mesa's GL reserves memory without taking it.
#![cfg(target_os = "linux")]

use std::process::Command;

use wgpu_gather::gpu::{Engine, Options, WhenFull};
use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{
    BagMode, Bags, DType, Error, Executor, Layout, Op, Params, Reduce, Result, Rules, Tensor,
    TensorView, wgpu,
};

use crate::common::{adapter_like, block_on, device_on, engines, turn_of_gigabytes};

const CHILD: &str = "GATHER_OUT_OF_MEMORY_CHILD";
const DONE: &str = "out of memory, and well again";

#[test]
fn out_of_memory_is_an_error_and_the_device_works_afterwards() {
    if std::env::var_os(CHILD).is_some() {
        return fill_up_and_recover();
    }
    let Some(engine) = engines().iter().find(|engine| software_vulkan(engine)) else {
        println!("SKIPPED: out of memory, as this machine has no software Vulkan adapter");
        return;
    };
    if !reports_lack_of_memory(&engine.adapter().driver) {
        return pass_the_budget_and_recover(engine);
    }
    let this = std::env::current_exe().expect("the test's own path");
    let test = "memory::out_of_memory_is_an_error_and_the_device_works_afterwards";
    let child = Command::new("sh")
        .args(["-c", "ulimit -v 6000000 && exec \"$0\" \"$@\""])
        .arg(this)
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("sh");
    let said = String::from_utf8_lossy(&child.stdout);
    let complained = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}\n{complained}");
    for (verb, _) in CALLS {
        assert!(said.contains(&format!("{verb}: {DONE}")), "{said}");
    }
}

fn software_vulkan(engine: &Engine) -> bool {
    engine.adapter().api == wgpu::Backend::Vulkan && engine.adapter().is_software()
}

/// Newer lavapipes do not look whether the system gave them memory: they take the error for an
/// address, and crash where it is used (seen with Mesa 25.0.7 and 26.1.6; 22.3.6 looks).
fn reports_lack_of_memory(driver: &str) -> bool {
    let version = driver.split("Mesa ").nth(1).unwrap_or_default();
    let major = version
        .split('.')
        .next()
        .and_then(|n| n.parse::<u32>().ok());
    major.is_none_or(|major| major < 25)
}

/// Elements of the outputs: 100 MiB of f32, rounded up to one of the sizes that buffers come in.
const COUNT: usize = 25 << 20;
const ONE: f32 = 1.5;

/// A call with small operands and views that repeat them, whose output is [`ONE`] everywhere.
type Call = fn(&Executor, &mut [f32]) -> Result<()>;

const CALLS: [(&str, Call); 4] = [
    ("gather", |executor, output| {
        let table = Tensor::new(&[1], vec![ONE])?;
        let ids = zeros(&[output.len()])?;
        executor
            .gather(OP, &Rules::ONNX, &table, &ids)
            .into(output)
            .wait()
    }),
    ("scatter", |executor, output| {
        output.fill(ONE);
        let update = Tensor::new(&[1], vec![ONE])?;
        let (reduce, rules) = (Reduce::Max, Rules::ONNX);
        let ids = zeros(&[1])?;
        let shape = [output.len()];
        executor
            .scatter_into(OP, reduce, &rules, &shape, output, &ids, &update)
            .wait()
    }),
    ("bags", |executor, output| {
        let params = Params::new(
            bytemuck::bytes_of(&ONE),
            DType::F32,
            Layout::contiguous(&[1]),
        )?;
        let ids = zeros(&[output.len(), 1])?;
        let call = executor.embedding_bag(Bags::rows(BagMode::Max), &Rules::ONNX, &params, &ids);
        call.into(bytemuck::cast_slice_mut(output)).wait()
    }),
    ("quantized gather", |executor, output| {
        // A scale of 1.5 in f16, and codes of 1.
        let block: Vec<u8> = [0x00, 0x3e].into_iter().chain([1; 32]).collect();
        let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[1, 32], &block)?;
        let ids = zeros(&[output.len() / 32])?;
        let decoded = table.to::<f32>();
        let call = executor.gather(OP, &Rules::ONNX, &decoded, &ids);
        call.into(output).wait()
    }),
];

const OP: Op = Op::gather(0);

/// Indices of zero, of any shape.
fn zeros(shape: &[usize]) -> Result<TensorView<'static, i32>> {
    repeated(&[0], shape)
}

/// One element, in a view of any shape.
fn repeated<'a, T>(element: &'a [T; 1], shape: &[usize]) -> Result<TensorView<'a, T>> {
    let layout = Layout::strided(shape, &vec![0; shape.len()], 0)?;
    TensorView::strided(layout, element)
}

/// Options of an engine that leaves nothing to the CPU path.
fn failing() -> Options {
    let mut options = Options::default();
    options.when_full = WhenFull::Fail;
    options
}

/// Runs a call whose output takes so many bytes of the device, which it does not have.
fn is_refused(executor: &Executor, call: Call, output: &mut [f32], bytes: usize) {
    match call(executor, output) {
        Err(Error::GpuOutOfMemory { what }) => {
            assert!(what.ends_with(&format!(" of {bytes} bytes")), "{what}");
        }
        other => panic!("{other:?}"),
    }
}

fn succeeds(executor: &Executor, call: Call, output: &mut [f32]) {
    output.fill(0.0);
    assert_eq!(call(executor, output), Ok(()));
    assert!(output.iter().all(|&element| element == ONE));
}

fn fill_up_and_recover() {
    let engine = Engine::headless_with(Some("vulkan"), failing())
        .wait()
        .expect("an engine");
    let executor = Executor::Gpu(engine.clone());
    let mut output = vec![0.0; COUNT];
    for (verb, call) in CALLS {
        let mut hoard = Vec::new();
        while let Some(buffer) = allocate(engine.device(), 96 << 20) {
            hoard.push(buffer);
        }
        is_refused(&executor, call, &mut output, 109_051_904);
        drop(hoard);
        let _ = engine.device().poll(wgpu::PollType::wait_indefinitely());
        succeeds(&executor, call, &mut output);
        engine.trim_pool();
        println!("{verb}: {DONE}");
    }
}

/// What the host has, and how much of it is taken, in bytes.
fn host_memory() -> (u64, u64) {
    let told = std::fs::read_to_string("/proc/meminfo").expect("Linux");
    let field = |name: &str| {
        let line = told.lines().find_map(|l| l.strip_prefix(name));
        let kib = line.and_then(|l| l.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kib.expect("a number of KiB") << 10
    };
    let all = field("MemTotal:");
    (all, all - field("MemAvailable:"))
}

/// An engine on the adapter, in an instance that refuses what would take more than so many percent of
/// the memory.
fn with_budget(engine: &Engine, percent: u8) -> Engine {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.flags = wgpu::InstanceFlags::empty();
    descriptor.memory_budget_thresholds.for_resource_creation = Some(percent);
    let adapter = adapter_like(engine, descriptor);
    let (device, queue) = device_on(&adapter, adapter.limits());
    Engine::with_options(device, queue, failing())
        .wait()
        .expect("an engine")
}

/// A budget of 0.75 GiB beyond what is taken now, or of up to 1.5, as it is in percent: an output of nearly 2
/// is refused, and then a small one is made. Tests beside this one may take or free 0.4 GiB meanwhile.
fn pass_the_budget_and_recover(engine: &Engine) {
    let _turn = turn_of_gigabytes();
    let (all, taken) = host_memory();
    let percent = (taken + (3 << 28)).div_ceil(all / 100);
    assert!(all / 100 < 3 << 28, "percents of {all} bytes are too large");
    let engine = with_budget(engine, percent.try_into().expect("some memory is free"));
    let executor = Executor::Gpu(engine);
    let (_, gather) = CALLS[0];
    // 1,984 MiB and a flag, rounded up likewise.
    let (mut large, rounded) = (vec![0.0; 496 << 20], 2_097_152_000);
    for _ in 0..2 {
        is_refused(&executor, gather, &mut large, rounded);
        succeeds(&executor, gather, &mut large[..1 << 20]);
    }
    println!("{DONE}");
}

/// A buffer, unless memory is out.
fn allocate(device: &wgpu::Device, size: u64) -> Option<wgpu::Buffer> {
    let scope = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    block_on(scope.pop()).is_none().then_some(buffer)
}
