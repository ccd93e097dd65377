//! Copies of as many bytes as a call moves: what a call's time is compared with.

use anyhow::Result;
use wgpu_gather::wgpu;

use crate::bench::device::Device;
use crate::bench::timing::{Time, warm_up};
use crate::bench::traffic::Traffic;

/// Copies vectors of 16 bytes, four in flight. Copy commands alone are no measure: NVIDIA's driver gives them to an
/// engine of their own, at a fifth of the memory's speed on an H200.
const KERNEL: &str = "
@group(0) @binding(0) var<storage, read> original: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> duplicate: array<vec4<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) invocation: u32) {
    let n = arrayLength(&duplicate);
    let a = (group.y * groups.x + group.x) * 1024u + invocation;
    let b = a + 256u;
    let c = b + 256u;
    let d = c + 256u;
    let last = n - 1u;
    let va = original[min(a, last)];
    let vb = original[min(b, last)];
    let vc = original[min(c, last)];
    let vd = original[min(d, last)];
    if (a < n) { duplicate[a] = va; }
    if (b < n) { duplicate[b] = vb; }
    if (c < n) { duplicate[c] = vc; }
    if (d < n) { duplicate[d] = vd; }
}
";
/// Vectors of a workgroup.
const GROUP: u64 = 1024;
const VECTOR: u64 = 16;

/// How a copy is made.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Command,
    Kernel,
}

/// Buffers to copy from one to the other, together as many bytes as a call moves.
pub(crate) struct Copy<'a> {
    device: &'a Device,
    from: wgpu::Buffer,
    to: wgpu::Buffer,
    bytes: u64,
    /// How often, where one buffer cannot hold them all.
    times: u64,
    pipeline: wgpu::ComputePipeline,
    /// The parts that a binding holds: workgroups, and what they bind.
    parts: Vec<([u32; 2], wgpu::BindGroup)>,
    way: Way,
}

impl<'a> Copy<'a> {
    /// The faster way to copy as many bytes as `traffic`, on a device that was idle for so many seconds. The
    /// source is filled from `filled`: memory that was never written may cost nothing to read.
    pub(crate) fn new(
        device: &'a Device,
        filled: &wgpu::Buffer,
        traffic: &Traffic,
        idle: f64,
    ) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let half = traffic.total().div_ceil(2).max(VECTOR);
        let times = half.div_ceil(device.most_bytes() & !(VECTOR - 1));
        let bytes = half.div_ceil(times).next_multiple_of(VECTOR);
        let usage = Usage::COPY_DST | Usage::STORAGE;
        let from = device.buffer("copy source", bytes, usage | Usage::COPY_SRC)?;
        let to = device.buffer("copy", bytes, usage)?;
        let mut encoder = device.encoder()?;
        let step = filled.size().min(bytes);
        for offset in (0..bytes).step_by(step as usize) {
            let size = step.min(bytes - offset);
            encoder.copy_buffer_to_buffer(filled, 0, &from, offset, size);
        }
        device.submit(encoder)?;
        let pipeline = device.guarded("a copy", || pipeline(device.engine.device()))?;
        let parts = device.guarded("a copy", || parts(device, &pipeline, [&from, &to], bytes))?;
        let mut copy = Copy {
            device,
            from,
            to,
            bytes,
            times,
            pipeline,
            parts,
            way: Way::Command,
        };
        if !device.engine.adapter().is_software() {
            warm_up(idle, || copy.run(64))?;
        }
        copy.way = copy.faster()?;
        Ok(copy)
    }

    /// The way whose best of a few times is the better.
    fn faster(&mut self) -> Result<Way> {
        let mut best = [f64::MAX; 2];
        for _ in 0..4 {
            for (way, best) in [Way::Command, Way::Kernel].into_iter().zip(&mut best) {
                self.way = way;
                *best = best.min(self.run(4)?.seconds);
            }
        }
        Ok(match best[1] < best[0] {
            true => Way::Kernel,
            false => Way::Command,
        })
    }

    pub(crate) fn run(&self, repeats: usize) -> Result<Time> {
        let took = self.device.timed(|encoder| {
            let repeats = repeats as u64 * self.times;
            match self.way {
                Way::Command => (0..repeats).for_each(|_| {
                    encoder.copy_buffer_to_buffer(&self.from, 0, &self.to, 0, self.bytes);
                }),
                Way::Kernel => {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&self.pipeline);
                    for _ in 0..repeats {
                        for ([x, y], group) in &self.parts {
                            pass.set_bind_group(0, group, &[]);
                            pass.dispatch_workgroups(*x, *y, 1);
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(took.of_one(repeats, 0.0))
    }

    /// What makes the copy, in a word.
    pub(crate) fn way(&self) -> &'static str {
        match self.way {
            Way::Command => "command",
            Way::Kernel => "kernel",
        }
    }
}

fn pipeline(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("copy"),
        source: wgpu::ShaderSource::Wgsl(KERNEL.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("copy"),
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

fn parts(
    device: &Device,
    pipeline: &wgpu::ComputePipeline,
    buffers: [&wgpu::Buffer; 2],
    bytes: u64,
) -> Vec<([u32; 2], wgpu::BindGroup)> {
    let limits = device.engine.device().limits();
    let most = (limits.max_storage_buffer_binding_size & !255).min(1 << 30);
    let layout = pipeline.get_bind_group_layout(0);
    let part = |offset: u64| {
        let size = most.min(bytes - offset);
        let binding = |n: usize| wgpu::BindGroupEntry {
            binding: n as u32,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: buffers[n],
                offset,
                size: wgpu::BufferSize::new(size),
            }),
        };
        let group = device
            .engine
            .device()
            .create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("copy"),
                layout: &layout,
                entries: &[binding(0), binding(1)],
            });
        let groups = (size / VECTOR).div_ceil(GROUP) as u32;
        let y = groups.div_ceil(limits.max_compute_workgroups_per_dimension);
        ([groups.div_ceil(y), y], group)
    };
    (0..bytes).step_by(most as usize).map(part).collect()
}
