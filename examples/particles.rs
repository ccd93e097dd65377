//! Sorts structs on the device: particles, so that neighbours in space are neighbours in memory.
//!
//! Two shaders of the program work out the order, the gather moves the structs. An element is any
//! plain old data, here 32 bytes that Rust and WGSL lay out alike.
//!
//! ```sh
//! cargo run --release --example particles
//! ```

use std::process::ExitCode;

use bytemuck::{Pod, Zeroable};
use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{Layout, Op, Rules, Tensor, wgpu};

mod setup;

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
struct Particle {
    position: [f32; 3],
    mass: f32,
    velocity: [f32; 3],
    id: u32,
}

const COUNT: usize = 4096;
const WORKGROUPS: u32 = COUNT as u32 / 64;

const SHADERS: &str = "
struct Particle {
    position: vec3f,
    mass: f32,
    velocity: vec3f,
    id: u32,
}

@group(0) @binding(0) var<storage, read> particles: array<Particle>;
@group(0) @binding(1) var<storage, read_write> codes: array<u32>;

// The 4 low bits of n, two zeros between each.
fn spread(n: u32) -> u32 {
    return (n & 1) | ((n & 2) << 2) | ((n & 4) << 4) | ((n & 8) << 6);
}

// The position along a Morton curve through 16 x 16 x 16 cells.
@compute @workgroup_size(64)
fn encode(@builtin(global_invocation_id) at: vec3u) {
    let cell = vec3u(particles[at.x].position * 16.0);
    codes[at.x] = spread(cell.x) | (spread(cell.y) << 1) | (spread(cell.z) << 2);
}

@group(0) @binding(0) var<storage, read> sorted_by: array<u32>;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;

// A particle's place is the number of particles that go before it; among equals, the earlier.
@compute @workgroup_size(64)
fn rank(@builtin(global_invocation_id) at: vec3u) {
    let own = sorted_by[at.x];
    var place = 0u;
    for (var n = 0u; n < arrayLength(&sorted_by); n += 1) {
        let other = sorted_by[n];
        place += u32(other < own || (other == own && n < at.x));
    }
    order[place] = at.x;
}
";

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device.clone(), queue.clone()).wait()?;

    let host = particles();
    let particles = Tensor::new(&[COUNT], host.clone())?;
    let particles = engine.upload(&particles).wait()?;
    let codes = setup::storage(&device, "codes", COUNT * 4);
    let order = setup::storage(&device, "order", COUNT * 4);
    let sorted = setup::storage(&device, "sorted", COUNT * size_of::<Particle>());

    let source = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("particles"),
        source: wgpu::ShaderSource::Wgsl(SHADERS.into()),
    });
    let unsorted = particles.share_buffer();
    let encode = setup::Shader::new(&device, &source, "encode", &[unsorted, &codes]);
    let rank = setup::Shader::new(&device, &source, "rank", &[&codes, &order]);

    // The struct is the element: its width is all that the gather has to know.
    let shape = Layout::contiguous(&[COUNT]);
    let order = DeviceTensor::<u32>::wrap(order.slice(..), shape.clone())?;
    let mut sorted = DeviceTensor::<Particle>::wrap(sorted.slice(..), shape)?;
    let reorder = engine.bind(|r| {
        r.gather_into(
            Op::gather(0),
            &Rules::default(),
            &particles,
            &order,
            &mut sorted,
        )
    })?;

    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    encode.dispatch(&mut pass, WORKGROUPS);
    rank.dispatch(&mut pass, WORKGROUPS);
    reorder.encode_in_pass(&mut pass)?;
    drop(pass);
    queue.submit([encoder.finish()]);

    let sorted = engine.download(&sorted).wait()?;
    let width = size_of::<Particle>();
    println!("{COUNT} particles of {width} bytes, sorted by cell");
    println!("mean distance to the next in memory:");
    println!("  before {:.3}", mean_step(&host));
    println!("  after  {:.3}", mean_step(sorted.data()));
    let mut expected = host;
    expected.sort_by_key(cell); // stable, as the ranks are
    setup::check("sorted particles", sorted.data(), &expected)
}

/// Particles at random places.
fn particles() -> Vec<Particle> {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let mut particle = |id| Particle {
        position: [random(), random(), random()],
        mass: random(),
        velocity: [random(), random(), random()],
        id,
    };
    (0..COUNT as u32).map(&mut particle).collect()
}

/// The position along the Morton curve, bit by bit.
fn cell(particle: &Particle) -> u32 {
    let cell = particle.position.map(|p| (p * 16.0) as u32);
    let bit = |n: usize| (cell[n % 3] >> (n / 3) & 1) << n;
    (0..12).map(bit).sum()
}

fn mean_step(particles: &[Particle]) -> f32 {
    let distance = |pair: &[Particle]| {
        let square = |n: usize| (pair[1].position[n] - pair[0].position[n]).powi(2);
        (0..3).map(square).sum::<f32>().sqrt()
    };
    let steps = particles.windows(2).map(distance);
    steps.sum::<f32>() / (particles.len() - 1) as f32
}
