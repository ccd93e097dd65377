//! The tensors of a case in a GPU's memory, and its gather.

use std::time::Instant;

use anyhow::{Result, bail};
use wgpu_gather::gpu::{Buffers, GatherPipeline, Status};
use wgpu_gather::wgpu;

use crate::bench::case::Scaled;
use crate::bench::device::Device;
use crate::bench::inputs::Inputs;
use crate::bench::run_cpu::POISON;
use crate::bench::sample;
use crate::bench::timing::Time;

/// The tensors of a case in buffers, and its gather.
pub(crate) struct Tensors<'a> {
    device: &'a Device,
    gather: GatherPipeline,
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
        let gather = pollster::block_on(device.engine.pipeline(&scaled.plan))?;
        let status = match scaled.plan.reports_bad_indices() {
            true => Some(gather.status()?),
            false => None,
        };
        let output_bytes = match status.is_some() {
            true => gather.bytes_with_flag(),
            false => scaled.output_bytes() as u64,
        };
        let both = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        Ok(Tensors {
            gather,
            params: device.buffer("params", scaled.params_bytes() as u64, both)?,
            indices: device.buffer("indices", scaled.indices_bytes() as u64, both)?,
            output: device.buffer("output", output_bytes, both)?,
            status,
            device,
        })
    }

    fn buffers(&self) -> Buffers<'_> {
        Buffers {
            params: self.params.slice(..),
            indices: self.indices.slice(..),
            output: self.output.slice(..),
            status: self.status.as_ref(),
            flag: self.status.is_some(),
            count: None,
        }
    }

    /// Whether the device can bind the tensors, before anything is put into them.
    fn check_size(&self) -> Result<()> {
        let mut encoder = self.device.encoder()?;
        Ok(self.gather.encode(&mut encoder, &self.buffers())?)
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
                self.gather.encode_in_pass(&mut pass, &self.buffers())?;
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
        self.gather.encode(&mut encoder, &self.buffers())?;
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
