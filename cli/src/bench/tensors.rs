//! The tensors of a case in a GPU's memory, and its gather.

use std::time::Instant;

use anyhow::{Result, bail};
use wgpu_gather::gpu::{
    AnyDeviceTensor, Binding, Buffers, DeviceQuantizedTable, GatherBinding, GatherPipeline, Status,
};
use wgpu_gather::quantized::{BlockFormat, FloatType, Format};
use wgpu_gather::{Layout, wgpu};

use crate::bench::case::Scaled;
use crate::bench::device::Device;
use crate::bench::inputs::Inputs;
use crate::bench::run_cpu::POISON;
use crate::bench::sample;
use crate::bench::timing::Time;

/// The gather of a case: compiled, for bare buffers; or of a quantized table, which is bound.
enum Gather {
    Plain(GatherPipeline, Option<Status>),
    Quantized(Binding),
}

/// A gather that is ready to be recorded.
enum Ready<'a> {
    Plain(GatherBinding),
    Quantized(&'a Binding),
}

impl Ready<'_> {
    fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        match self {
            Ready::Plain(binding) => binding.encode(encoder),
            Ready::Quantized(binding) => binding.encode(encoder),
        }
    }

    fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) -> wgpu_gather::Result<()> {
        match self {
            Ready::Plain(binding) => binding.encode_in_pass(pass),
            Ready::Quantized(binding) => return binding.encode_in_pass(pass),
        }
        Ok(())
    }
}

/// A quantized table in the buffer of params, gathered from into that of the output.
fn bound(
    device: &Device,
    scaled: &Scaled,
    (format, to): (BlockFormat, FloatType),
    [params, indices, output]: [&wgpu::Buffer; 3],
) -> Result<Binding> {
    let case = &scaled.case;
    let format = Format::Blocks(format);
    let table = DeviceQuantizedTable::wrap(format, &case.params, params.slice(..), None)?;
    let layout = Layout::contiguous(&case.indices);
    let ids = AnyDeviceTensor::wrap(indices.slice(..), case.index_type.dtype(), layout)?;
    let layout = Layout::contiguous(scaled.plan.output_shape());
    let mut rows = AnyDeviceTensor::wrap(output.slice(..), to.dtype(), layout)?;
    let (op, rules) = (case.op, &scaled.rules);
    Ok(device
        .engine
        .bind(|r| r.gather_into(op, rules, &table.to_type(to), &ids, &mut rows))?)
}

/// The tensors of a case in buffers, and its gather.
pub(crate) struct Tensors<'a> {
    device: &'a Device,
    gather: Gather,
    params: wgpu::Buffer,
    indices: wgpu::Buffer,
    output: wgpu::Buffer,
}

impl<'a> Tensors<'a> {
    /// Buffers for the tensors of `scaled`, and what is in them: nothing is drawn that a device cannot
    /// bind.
    pub(crate) fn new(device: &'a Device, scaled: &Scaled) -> Result<(Self, Inputs)> {
        let tensors = Tensors::empty(device, scaled)?;
        tensors.check_size()?;
        let inputs = Inputs::new(scaled)?;
        device.upload(&tensors.params, &inputs.params)?;
        device.upload(&tensors.indices, &inputs.indices)?;
        Ok((tensors, inputs))
    }

    fn empty(device: &'a Device, scaled: &Scaled) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let both = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        let params = device.buffer("params", scaled.params_bytes() as u64, both)?;
        let indices = device.buffer("indices", scaled.indices_bytes() as u64, both)?;
        let bytes = scaled.output_bytes() as u64;
        let (gather, output) = match scaled.case.quantized()? {
            None => {
                let pipeline = device.engine.pipeline(&scaled.plan).wait()?;
                let (status, bytes) = match scaled.plan.reports_bad_indices() {
                    true => (Some(pipeline.status()?), pipeline.bytes_with_flag()),
                    false => (None, bytes),
                };
                let output = device.buffer("output", bytes, both)?;
                (Gather::Plain(pipeline, status), output)
            }
            Some(decoded) => {
                let output = device.buffer("output", bytes, both)?;
                let bound = bound(device, scaled, decoded, [&params, &indices, &output])?;
                (Gather::Quantized(bound), output)
            }
        };
        Ok(Tensors {
            gather,
            params,
            indices,
            output,
            device,
        })
    }

    /// All checks of one recording, and its objects.
    fn binding(&self) -> Result<Ready<'_>> {
        Ok(match &self.gather {
            Gather::Plain(pipeline, status) => Ready::Plain(pipeline.bind(&Buffers {
                status: status.as_ref(),
                flag: status.is_some(),
                ..Buffers::new(
                    self.params.slice(..),
                    self.indices.slice(..),
                    self.output.slice(..),
                )
            })?),
            Gather::Quantized(binding) => Ready::Quantized(binding),
        })
    }

    /// Whether the device can bind the tensors, before anything is put into them.
    fn check_size(&self) -> Result<()> {
        self.binding().map(drop)
    }

    /// A buffer that is full of what was drawn.
    pub(crate) fn filled(&self) -> &wgpu::Buffer {
        &self.params
    }

    /// Gathers `repeats` times in one submission.
    pub(crate) fn gather(&self, repeats: usize) -> Result<Time> {
        let mut encode = 0.0;
        let took = self.device.timed(|encoder| {
            let started = Instant::now();
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for _ in 0..repeats {
                self.binding()?.encode_in_pass(&mut pass)?;
            }
            drop(pass);
            encode = started.elapsed().as_secs_f64();
            Ok(())
        })?;
        let one = |seconds: f64| seconds / repeats as f64;
        Ok(Time {
            seconds: one(took.device.unwrap_or(took.wall)),
            wall: one(took.wall),
            encode: one(encode),
        })
    }

    /// Records, submits and waits for one gather, as a program would that needs just that.
    pub(crate) fn gather_once(&self) -> Result<()> {
        let mut encoder = self.device.encoder()?;
        self.binding()?.encode(&mut encoder);
        self.device.submit(encoder)
    }

    /// Gathers once, and compares parts of the output with the reference.
    pub(crate) fn check(&self, scaled: &Scaled, inputs: &Inputs) -> Result<()> {
        let parts = sample::parts(scaled, inputs)?;
        let words = |part: &sample::Part| {
            let start = part.range.start & !3;
            let end = part.range.end.next_multiple_of(4);
            (start as u64..end as u64, part.range.start - start)
        };
        for part in &parts {
            let (range, _) = words(part);
            let poison = vec![POISON; (range.end - range.start) as usize];
            self.device.guarded("an upload", || {
                self.device
                    .engine
                    .queue()
                    .write_buffer(&self.output, range.start, &poison);
            })?;
        }
        self.gather(1)?;
        for part in &parts {
            let (range, skip) = words(part);
            let got = self.device.download(&self.output, range)?;
            if let Some(difference) = part.difference(&got[skip..][..part.bytes.len()]) {
                bail!("wrong: {difference}");
            }
        }
        Ok(())
    }
}
