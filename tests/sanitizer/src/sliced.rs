//! Gathers and scatters in slices of larger buffers: of those, only the slices are the call's.

use gather_conformance::{Call, Outcome, Scatter, compare};
use wgpu_gather::gpu::{AnyDeviceTensor, Buffers};
use wgpu_gather::{DType, Error, Executor, Layout, Result, wgpu};

use crate::bench::Bench;
use crate::memory::Memory;
use crate::trace::{buffer, read};

/// Bytes before and behind each slice, at least.
const FENCE: usize = 64;
const POISON: u8 = 0xa5;

/// A slice in a buffer with more around it.
struct Sliced {
    buffer: wgpu::Buffer,
    start: usize,
    bytes: usize,
}

impl Sliced {
    /// Bytes that start `n` times `width` bytes behind the fence.
    fn new(bench: &Bench, bytes: &[u8], width: usize, n: usize) -> Self {
        let start = FENCE.next_multiple_of(width) + n * width;
        let mut all = vec![POISON; (start + bytes.len() + FENCE).next_multiple_of(4)];
        all[start..][..bytes.len()].copy_from_slice(bytes);
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let buffer = buffer(bench.engine.device(), all.len() as u64, usage);
        bench.engine.queue().write_buffer(&buffer, 0, &all);
        let end = start + bytes.len();
        let memory = Memory::slice(start as u64..end as u64);
        bench.recorder.give(&buffer, memory);
        Sliced {
            buffer,
            start,
            bytes: bytes.len(),
        }
    }

    fn slice(&self) -> wgpu::BufferSlice<'_> {
        self.buffer
            .slice(self.start as u64..(self.start + self.bytes) as u64)
    }

    fn tensor(&self, dtype: DType, layout: &Layout) -> Result<AnyDeviceTensor> {
        AnyDeviceTensor::wrap(self.slice(), dtype, layout.clone())
    }

    fn read(&self, bench: &Bench) -> Vec<u8> {
        let (device, queue) = (bench.engine.device(), bench.engine.queue());
        let words = read(device, queue, &self.buffer, 0, self.buffer.size());
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes[self.start..][..self.bytes].to_vec()
    }
}

/// A gather at places that number `n` says; with so many entries of indices, if that is known on the device
/// only.
pub(crate) fn gather(bench: &Bench, call: &Call, n: usize, count: Option<u32>) -> Outcome {
    let plan = match call.plan() {
        Ok(plan) if !plan.is_empty() && !plan.reports_bad_indices() => plan,
        _ => return Outcome::Passed, // there is no dispatch
    };
    // Not every gather takes a count.
    let count = count.filter(|_| plan.elements_per_entry().is_ok());
    let width = call.element_bytes;
    let params = Sliced::new(bench, &call.params, width, n % 5);
    let index_bytes = call.index_type.bytes();
    let indices = Sliced::new(bench, &call.indices, index_bytes, n / 5 % 3);
    let output = Sliced::new(bench, &vec![POISON; plan.output_bytes()], width, n / 2 % 7);
    let counted = count.map(|count| Sliced::new(bench, &count.to_le_bytes(), 4, n % 3));
    let buffers = Buffers {
        count: counted.as_ref().map(Sliced::slice),
        ..Buffers::new(params.slice(), indices.slice(), output.slice())
    };
    let mut encoder = bench
        .engine
        .device()
        .create_command_encoder(&Default::default());
    let pipeline = bench.engine.pipeline(&plan).wait();
    let encoded = pipeline.and_then(|pipeline| pipeline.encode(&mut encoder, &buffers));
    if let Err(error) = encoded {
        return Outcome::Failed(error.to_string());
    }
    bench.engine.queue().submit([encoder.finish()]);
    match count {
        // Tests of the suite look at the output up to a count.
        Some(_) => Outcome::Passed,
        None => compare(call, Ok(output.read(bench))),
    }
}

/// A scatter at places that number `n` says.
pub(crate) fn scatter(bench: &Bench, scatter: &Scatter, n: usize) -> Outcome {
    let call = &scatter.call;
    let width = scatter.dtype.bytes();
    let step = width.next_multiple_of(8);
    let destination = Sliced::new(bench, &scatter.base, step, n % 3);
    let updates = Sliced::new(bench, &scatter.updates, step, n % 2);
    let index_step = call.index_type.bytes();
    let indices = Sliced::new(bench, &call.indices, index_step, n % 5);
    let bind = || {
        let mut into = destination.tensor(scatter.dtype, &call.params_layout)?;
        let at = indices.tensor(call.index_type.dtype(), &call.indices_layout)?;
        let rows = updates.tensor(scatter.dtype, &scatter.updates_layout)?;
        let (op, reduce, rules) = (call.op, scatter.reduce, &call.rules);
        let engine = &bench.engine;
        engine.bind(|r| r.scatter_into(op, reduce, rules, &mut into, &at, &rows))
    };
    // What the reference refuses, too, makes no dispatch.
    let expected = scatter.run(&Executor::Reference);
    let bound = match (bind(), &expected) {
        (Ok(bound), _) => bound,
        (Err(Error::CpuOnly { .. }), _) => return Outcome::Passed,
        (Err(error), Err(same)) if error == *same => return Outcome::Passed,
        (Err(error), _) => return Outcome::Failed(error.to_string()),
    };
    let mut encoder = bench
        .engine
        .device()
        .create_command_encoder(&Default::default());
    bound.encode(&mut encoder);
    bench.engine.queue().submit([encoder.finish()]);
    match expected {
        Ok(expected) if expected != destination.read(bench) => {
            Outcome::Failed("another result than the reference's".to_owned())
        }
        _ => Outcome::Passed,
    }
}
