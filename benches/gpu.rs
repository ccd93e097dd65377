//! Recording a gather, and calls on the GPU against the same on the CPU path: with the tensors on
//! the device, and from host to host. A software adapter is called so in every name.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use wgpu_gather::gpu::{Buffers, Engine, GatherPipeline};
use wgpu_gather::{Executor, Op, Plan, Rules, Tensor, wgpu};

/// Rows of a table, and elements of a row.
const TABLE: [usize; 2] = [65_536, 64];
/// How many rows are selected.
const ROWS: [usize; 4] = [16, 256, 4096, 65_536];

/// The engine of the first adapter, and what it is called; nothing without an adapter.
fn engine() -> Option<(Engine, String)> {
    match Engine::headless(None).wait() {
        Ok(engine) => {
            let adapter = engine.adapter();
            let software = match adapter.is_software() {
                true => ", software adapter",
                false => "",
            };
            let label = format!("gpu: {}{software}", adapter.label());
            Some((engine, label))
        }
        Err(error) => {
            println!("SKIPPED: {error}");
            None
        }
    }
}

fn table() -> Tensor<f32> {
    Tensor::new(&TABLE, (0..TABLE[0] * TABLE[1]).map(|n| n as f32).collect()).unwrap()
}

/// Indices that are spread over the table.
fn ids(count: usize) -> Tensor<i32> {
    let id = |n: usize| (n * 40_503 % TABLE[0]) as i32;
    Tensor::new(&[count], (0..count).map(id).collect()).unwrap()
}

/// The tensors of one gather in buffers.
struct OnDevice {
    gather: GatherPipeline,
    params: wgpu::Buffer,
    indices: wgpu::Buffer,
    output: wgpu::Buffer,
}

impl OnDevice {
    fn new(engine: &Engine, table: &Tensor<f32>, ids: &Tensor<i32>) -> Self {
        let buffer = |bytes: usize| {
            engine.device().create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: bytes as u64,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let (params, indices) = (table.view(), ids.view());
        let plan = Plan::new(
            Op::gather(0),
            &Rules::default(),
            size_of::<f32>(),
            params.layout(),
            wgpu_gather::IndexType::I32,
            indices.layout(),
        )
        .unwrap();
        let on_device = OnDevice {
            gather: engine.pipeline(&plan).wait().unwrap(),
            params: buffer(size_of_val(table.data())),
            indices: buffer(size_of_val(ids.data())),
            output: buffer(plan.output_bytes()),
        };
        let queue = engine.queue();
        queue.write_buffer(&on_device.params, 0, bytemuck::cast_slice(table.data()));
        queue.write_buffer(&on_device.indices, 0, bytemuck::cast_slice(ids.data()));
        on_device
    }

    /// Records one gather.
    fn record(&self, device: &wgpu::Device) -> wgpu::CommandEncoder {
        let mut encoder = device.create_command_encoder(&Default::default());
        let buffers = Buffers::new(
            self.params.slice(..),
            self.indices.slice(..),
            self.output.slice(..),
        );
        self.gather.encode(&mut encoder, &buffers).unwrap();
        encoder
    }

    /// Records and submits one gather, and waits for it.
    fn run(&self, engine: &Engine) {
        let commands = self.record(engine.device()).finish();
        engine.queue().submit([commands]);
        engine
            .device()
            .poll(wgpu::PollType::wait_indefinitely())
            .unwrap();
    }
}

fn encoding(c: &mut Criterion) {
    let Some((engine, label)) = engine() else {
        return;
    };
    let (table, ids) = (table(), ids(ROWS[0]));
    let on_device = OnDevice::new(&engine, &table, &ids);
    c.bench_function(&format!("encode, {label}"), |b| {
        b.iter(|| on_device.record(engine.device()));
    });
}

fn against_the_cpu(c: &mut Criterion) {
    let found = engine();
    let table = table();
    let mut group = c.benchmark_group("rows of 64 f32");
    for rows in ROWS {
        let ids = ids(rows);
        group.throughput(Throughput::Elements((rows * TABLE[1]) as u64));
        let mut executors = vec![("host to host, cpu".to_owned(), Executor::Cpu)];
        if let Some((engine, label)) = &found {
            let on_device = OnDevice::new(engine, &table, &ids);
            let id = BenchmarkId::new(format!("on the device, {label}"), rows);
            group.bench_function(id, |b| b.iter(|| on_device.run(engine)));
            executors.push((
                format!("host to host, {label}"),
                Executor::Gpu(engine.clone()),
            ));
        }
        for (name, executor) in executors {
            let gather = || {
                let rules = Rules::default();
                executor.gather(Op::gather(0), &rules, &table, &ids).wait()
            };
            let id = BenchmarkId::new(name, rows);
            group.bench_function(id, |b| b.iter(|| gather().unwrap()));
        }
    }
    group.finish();
}

criterion_group!(benches, encoding, against_the_cpu);
criterion_main!(benches);
