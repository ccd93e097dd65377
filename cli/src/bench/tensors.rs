//! The tensors of a case in a GPU's memory, and its gather.

use std::time::Instant;

use anyhow::{Result, bail};
use wgpu_gather::gpu::{
    Buffers, DeviceQuantizedTable, GatherBinding, GatherPipeline, QuantizedBuffers,
    QuantizedPipeline, Status,
};
use wgpu_gather::quantized::Format;
use wgpu_gather::{Layout, wgpu};

use crate::bench::case::Scaled;
use crate::bench::device::Device;
use crate::bench::inputs::Inputs;
use crate::bench::run_cpu::POISON;
use crate::bench::sample;
use crate::bench::timing::Time;

/// The gather of a case, compiled.
enum Gather {
    Plain(GatherPipeline),
    Quantized(QuantizedPipeline),
}

impl Gather {
    /// The gather of `scaled`, from a quantised table in the buffer of `params`.
    fn new(device: &Device, scaled: &Scaled, params: &wgpu::Buffer) -> Result<Self> {
        let case = &scaled.case;
        let Some((format, to)) = case.quantized()? else {
            let pipeline = pollster::block_on(device.engine.pipeline(&scaled.plan))?;
            return Ok(Gather::Plain(pipeline));
        };
        let (format, codes) = (Format::Blocks(format), params.slice(..));
        let table = DeviceQuantizedTable::wrap(format, &case.params, codes, None)?;
        let indices = Layout::contiguous(&case.indices);
        let pipeline = device.engine.quantized_pipeline(
            case.op,
            &scaled.rules,
            &table,
            case.index_type,
            &indices,
            to,
        );
        Ok(Gather::Quantized(pollster::block_on(pipeline)?))
    }

    fn status(&self) -> wgpu_gather::Result<Status> {
        match self {
            Gather::Plain(pipeline) => pipeline.status(),
            Gather::Quantized(pipeline) => pipeline.status(),
        }
    }

    fn bytes_with_flag(&self) -> u64 {
        match self {
            Gather::Plain(pipeline) => pipeline.bytes_with_flag(),
            Gather::Quantized(pipeline) => pipeline.bytes_with_flag(),
        }
    }
}

/// The tensors of a case in buffers, and its gather.
pub(crate) struct Tensors<'a> {
    device: &'a Device,
    gather: Gather,
    params: wgpu::Buffer,
    indices: wgpu::Buffer,
    output: wgpu::Buffer,
    status: Option<Status>,
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
        let gather = Gather::new(device, scaled, &params)?;
        let status = match scaled.plan.reports_bad_indices() {
            true => Some(gather.status()?),
            false => None,
        };
        let output_bytes = match status.is_some() {
            true => gather.bytes_with_flag(),
            false => scaled.output_bytes() as u64,
        };
        Ok(Tensors {
            gather,
            params,
            indices: device.buffer("indices", scaled.indices_bytes() as u64, both)?,
            output: device.buffer("output", output_bytes, both)?,
            status,
            device,
        })
    }

    /// All checks of one recording, and its objects.
    fn binding(&self) -> Result<GatherBinding> {
        let (indices, output) = (self.indices.slice(..), self.output.slice(..));
        let (status, flag) = (self.status.as_ref(), self.status.is_some());
        let binding = match &self.gather {
            Gather::Plain(pipeline) => pipeline.bind(&Buffers {
                params: self.params.slice(..),
                indices,
                output,
                status,
                flag,
                count: None,
            }),
            Gather::Quantized(pipeline) => pipeline.bind(&QuantizedBuffers {
                indices,
                output,
                status,
                flag,
            }),
        };
        Ok(binding?)
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
                self.binding()?.encode_in_pass(&mut pass);
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
