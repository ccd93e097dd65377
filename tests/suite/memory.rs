//! Running out of GPU memory is an error, and the device works afterwards.
//!
//! A software adapter takes the host's memory, so the test runs itself again in a process whose
//! address space is bounded, and fills that up first. Linux and Vulkan only: elsewhere nothing
//! bounds a process so simply, and Mesa's GL reserves memory without taking it.
#![cfg(target_os = "linux")]

use std::process::Command;

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Error, IndexType, Indices, Layout, Op, Params, Plan, Rules, wgpu};

use crate::common::{block_on, engines};

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
        println!("SKIPPED: out of memory, which this driver does not report");
        return;
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
    assert!(said.contains(DONE), "{said}");
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

fn fill_up_and_recover() {
    let engine = block_on(Engine::headless(Some("vulkan"))).expect("an engine");
    // 100 MiB of zeros from one.
    let count = 25 << 20;
    let (zero, one) = ([0u8; 4], 1.5f32.to_ne_bytes());
    let params = Params::new(&one, 4, Layout::contiguous(&[1])).expect("params");
    let broadcast = Layout::strided(&[count], &[0], 0).expect("a layout");
    let indices = Indices::new(&zero[..], IndexType::I32, broadcast).expect("indices");
    let plan = Plan::of(Op::gather(0), &Rules::ONNX, &params, &indices).expect("a plan");
    let mut output = vec![0; plan.output_bytes()];

    let mut hoard = Vec::new();
    while let Some(buffer) = allocate(engine.device(), 96 << 20) {
        hoard.push(buffer);
    }
    let full = engine.execute_blocking(&plan, &params, &indices, &mut output);
    // 100 MiB, rounded up to one of the sizes that buffers come in.
    assert_eq!(
        full,
        Err(Error::GpuOutOfMemory {
            what: "output of 109051904 bytes".to_owned()
        })
    );
    drop(hoard);
    let _ = engine.device().poll(wgpu::PollType::wait_indefinitely());
    let again = engine.execute_blocking(&plan, &params, &indices, &mut output);
    assert_eq!(again, Ok(()));
    assert!(output.chunks(4).all(|e| e == one));
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
