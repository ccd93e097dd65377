//! What the examples share: a device, made as any wgpu program makes its own, and compute shaders
//! of the program's own beside the gathers.
#![allow(dead_code, reason = "each example uses a part")]

use std::error::Error;
use std::process::ExitCode;

use wgpu_gather::gpu::requirements;
use wgpu_gather::wgpu;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A device with the limits that gathers can use; `WGPU_BACKEND=vulkan` and the like choose the
/// API.
pub(crate) fn device() -> Result<(wgpu::Device, wgpu::Queue)> {
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle().with_env();
    let instance = wgpu::Instance::new(descriptor);
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()));
    let adapter = adapter.map_err(|error| {
        format!(
            "no GPU adapter ({error}); Mesa's software drivers will do \
             (Debian/Ubuntu: apt-get install mesa-vulkan-drivers)"
        )
    })?;
    println!(
        "adapter: {} ({})",
        adapter.get_info().name,
        adapter.get_info().backend
    );
    let descriptor = wgpu::DeviceDescriptor {
        required_limits: requirements::usable_limits(&adapter),
        ..Default::default()
    };
    Ok(pollster::block_on(adapter.request_device(&descriptor))?)
}

/// What `main` returns: an error is printed as its message says it.
pub(crate) fn exit(outcome: Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Fails unless the device gave what the host worked out.
pub(crate) fn check<T: PartialEq>(what: &str, got: &[T], expected: &[T]) -> Result<()> {
    let differ = |(g, e): (&T, &T)| g != e;
    match got.iter().zip(expected).position(differ) {
        None if got.len() == expected.len() => {
            println!("ok: {what}, {} values as the host has them", got.len());
            Ok(())
        }
        None => Err(format!("{what}: {} values, not {}", got.len(), expected.len()).into()),
        Some(n) => Err(format!("{what}: value {n} is not what the host has").into()),
    }
}

/// A storage buffer that shaders write and that can be read back.
pub(crate) fn storage(device: &wgpu::Device, label: &str, bytes: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// A compute shader with its buffers, bound as bindings 0, 1, … of group 0.
pub(crate) struct Shader {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl Shader {
    pub(crate) fn new(
        device: &wgpu::Device,
        source: &wgpu::ShaderModule,
        entry_point: &str,
        buffers: &[&wgpu::Buffer],
    ) -> Self {
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: None,
            module: source,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        });
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(entry_point),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Shader { pipeline, group }
    }

    pub(crate) fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, workgroups: u32) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(workgroups, 1, 1);
    }
}
