//! The tensors of a case in a GPU's memory, and its call.

use std::time::Instant;

use anyhow::{Result, bail};
use wgpu_gather::gpu::{
    AnyDeviceTensor, Binding, Buffers, DeviceQuantizedTable, GatherBinding, GatherPipeline, Status,
    internals,
};
use wgpu_gather::quantized::Format;
use wgpu_gather::{BagMode, Bags, Layout, Reduce, wgpu};

use crate::bench::case::Scaled;
use crate::bench::device::Device;
use crate::bench::inputs::Inputs;
use crate::bench::run_cpu::POISON;
use crate::bench::sample;
use crate::bench::timing::Time;
use crate::bench::verb::Verb;

/// The call of a case: a gather that is compiled, for bare buffers; all others are bound.
enum Call {
    Gather(GatherPipeline, Option<Status>),
    Bound(Binding),
}

/// A call that is ready to be recorded.
enum Ready<'a> {
    Gather(GatherBinding),
    Bound(&'a Binding),
}

impl Ready<'_> {
    fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        match self {
            Ready::Gather(binding) => binding.encode(encoder),
            Ready::Bound(binding) => binding.encode(encoder),
        }
    }

    fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) -> wgpu_gather::Result<()> {
        match self {
            Ready::Gather(binding) => binding.encode_in_pass(pass),
            Ready::Bound(binding) => return binding.encode_in_pass(pass),
        }
        Ok(())
    }
}

/// What buffers are used for: to be bound, filled and read.
const ALL_USES: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);

/// The buffers of a case.
struct Bare {
    params: wgpu::Buffer,
    indices: wgpu::Buffer,
    /// Of a scatter.
    updates: Option<wgpu::Buffer>,
}

impl Bare {
    fn new(device: &Device, scaled: &Scaled) -> Result<Self> {
        let buffer = |what, bytes: usize| device.buffer(what, bytes as u64, ALL_USES);
        Ok(Bare {
            params: buffer("params", scaled.params_bytes())?,
            indices: buffer("indices", scaled.indices_bytes())?,
            updates: match scaled.case.verb.reduce() {
                Some(_) => Some(buffer("updates", scaled.updates_bytes())?),
                None => None,
            },
        })
    }

    /// Binds a gather from a quantised table, or sums of bags, into `output`.
    fn bind_reads(
        &self,
        device: &Device,
        scaled: &Scaled,
        output: &wgpu::Buffer,
    ) -> Result<Binding> {
        let Scaled { case, rules, .. } = scaled;
        let ids = self.ids(scaled)?;
        let layout = Layout::contiguous(&scaled.output_shape());
        let mut rows = AnyDeviceTensor::wrap(output.slice(..), case.dtype, layout)?;
        let (op, sums) = (case.op, Bags::rows(BagMode::Sum));
        let engine = &device.engine;
        let bound = match (case.quantized()?, case.verb) {
            (Some((format, to)), verb) => {
                let format = Format::Blocks(format);
                let blocks = self.params.slice(..);
                let table = DeviceQuantizedTable::wrap(format, &case.params, blocks, None)?;
                let table = table.to_type(to);
                engine.bind(|r| match verb {
                    Verb::SumBags => {
                        r.embedding_bag_into(sums, rules, &table, &ids, None, &mut rows)
                    }
                    _ => r.gather_into(op, rules, &table, &ids, &mut rows),
                })
            }
            (None, _) => {
                let table = self.table(scaled)?;
                engine.bind(|r| r.embedding_bag_into(sums, rules, &table, &ids, None, &mut rows))
            }
        };
        Ok(bound?)
    }

    /// Binds a scatter; gives its destination, too.
    fn bind_scatter(
        &self,
        device: &Device,
        scaled: &Scaled,
        (reduce, updates): (Reduce, &wgpu::Buffer),
    ) -> Result<(Binding, AnyDeviceTensor)> {
        let Scaled { case, rules, .. } = scaled;
        let (op, ids) = (case.op, self.ids(scaled)?);
        let layout = Layout::contiguous(scaled.plan.output_shape());
        let updates = AnyDeviceTensor::wrap(updates.slice(..), case.dtype, layout)?;
        let mut destination = self.table(scaled)?;
        let bound = device.engine.bind(|r| {
            if case.verb == Verb::ScatterInto(reduce) {
                return r.scatter_into(op, reduce, rules, &mut destination, &ids, &updates);
            }
            destination = r.scatter(op, reduce, rules, &destination, &ids, &updates)?;
            Ok(())
        })?;
        Ok((bound, destination))
    }

    fn table(&self, scaled: &Scaled) -> Result<AnyDeviceTensor> {
        let case = &scaled.case;
        let layout = Layout::contiguous(&case.params);
        Ok(AnyDeviceTensor::wrap(
            self.params.slice(..),
            case.dtype,
            layout,
        )?)
    }

    fn ids(&self, scaled: &Scaled) -> Result<AnyDeviceTensor> {
        let case = &scaled.case;
        let (layout, dtype) = (Layout::contiguous(&case.indices), case.index_type.dtype());
        Ok(AnyDeviceTensor::wrap(
            self.indices.slice(..),
            dtype,
            layout,
        )?)
    }
}

/// The tensors of a case in buffers, and its call.
pub(crate) struct Tensors<'a> {
    device: &'a Device,
    verb: Verb,
    call: Call,
    bare: Bare,
    /// The output, or the destination of a scatter, and where it starts in the buffer.
    output: (wgpu::Buffer, u64),
    /// What a scatter made, which has to stay while it runs.
    _made: Option<AnyDeviceTensor>,
}

impl<'a> Tensors<'a> {
    /// Buffers for the tensors of `scaled`, and what is in them: nothing is drawn that a device cannot
    /// bind.
    pub(crate) fn new(device: &'a Device, scaled: &Scaled) -> Result<(Self, Inputs)> {
        let tensors = Tensors::empty(device, scaled)?;
        tensors.check_size()?;
        let inputs = Inputs::new(scaled)?;
        let bare = &tensors.bare;
        device.upload(&bare.params, &inputs.params)?;
        device.upload(&bare.indices, &inputs.indices)?;
        if let Some(updates) = &bare.updates {
            device.upload(updates, &inputs.updates)?;
        }
        Ok((tensors, inputs))
    }

    fn empty(device: &'a Device, scaled: &Scaled) -> Result<Self> {
        let bare = Bare::new(device, scaled)?;
        let verb = scaled.case.verb;
        if let (Some(reduce), Some(updates)) = (verb.reduce(), &bare.updates) {
            let (bound, made) = bare.bind_scatter(device, scaled, (reduce, updates))?;
            let output = (made.share_buffer().clone(), made.share_slice().offset());
            return Ok(Tensors {
                device,
                verb,
                call: Call::Bound(bound),
                bare,
                output,
                _made: Some(made),
            });
        }
        let output = |bytes| device.buffer("output", bytes, ALL_USES);
        let bytes = scaled.output_bytes() as u64;
        let (call, output) = match (scaled.case.format, verb) {
            (None, Verb::Gather) => {
                let pipeline = device.engine.pipeline(&scaled.plan).wait()?;
                let (status, bytes) = match scaled.plan.reports_bad_indices() {
                    true => (Some(pipeline.status()?), pipeline.bytes_with_flag()),
                    false => (None, bytes),
                };
                (Call::Gather(pipeline, status), output(bytes)?)
            }
            _ => {
                let output = output(bytes)?;
                (
                    Call::Bound(bare.bind_reads(device, scaled, &output)?),
                    output,
                )
            }
        };
        Ok(Tensors {
            device,
            verb,
            call,
            bare,
            output: (output, 0),
            _made: None,
        })
    }

    /// All checks of one recording, and its objects.
    fn binding(&self) -> Result<Ready<'_>> {
        Ok(match &self.call {
            Call::Gather(pipeline, status) => Ready::Gather(pipeline.bind(&Buffers {
                status: status.as_ref(),
                flag: status.is_some(),
                ..Buffers::new(
                    self.bare.params.slice(..),
                    self.bare.indices.slice(..),
                    self.output.0.slice(..),
                )
            })?),
            Call::Bound(binding) => Ready::Bound(binding),
        })
    }

    /// Whether the device can bind the tensors, before anything is put into them.
    fn check_size(&self) -> Result<()> {
        self.binding().map(drop)
    }

    /// A buffer that is full of what was drawn.
    pub(crate) fn filled(&self) -> &wgpu::Buffer {
        &self.bare.params
    }

    /// Calls `repeats` times in one submission.
    pub(crate) fn call(&self, repeats: usize) -> Result<Time> {
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
        Ok(took.of_one(repeats, encode))
    }

    /// Records one call; `before` is called before each dispatch, with the name of its pipeline. Of gathers, which
    /// have one, nothing is recorded.
    pub(crate) fn encode_each(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        before: impl FnMut(&mut wgpu::ComputePass<'_>, String),
    ) -> Result<()> {
        if let Call::Bound(binding) = &self.call {
            internals::encode_each(&self.device.engine, binding, pass, before)?;
        }
        Ok(())
    }

    /// Records, submits and waits for one call, as a program would that needs just that.
    pub(crate) fn call_once(&self) -> Result<()> {
        let mut encoder = self.device.encoder()?;
        self.binding()?.encode(&mut encoder);
        self.device.submit(encoder)
    }

    /// Calls once, and compares parts of the output with the reference.
    pub(crate) fn check(&self, scaled: &Scaled, inputs: &Inputs) -> Result<()> {
        let parts = sample::parts(scaled, inputs)?;
        let words = |part: &sample::Part| {
            let start = part.range.start & !3;
            let end = part.range.end.next_multiple_of(4);
            (start as u64..end as u64, part.range.start - start)
        };
        // A scatter needs what is in its destination.
        for part in parts.iter().filter(|_| self.verb.reduce().is_none()) {
            let (range, _) = words(part);
            let poison = vec![POISON; (range.end - range.start) as usize];
            self.device.guarded("an upload", || {
                self.device
                    .engine
                    .queue()
                    .write_buffer(&self.output.0, range.start, &poison);
            })?;
        }
        self.call(1)?;
        for part in &parts {
            let (range, skip) = words(part);
            let (output, start) = &self.output;
            let range = start + range.start..start + range.end;
            let got = self.device.download(output, range)?;
            if let Some(difference) = part.difference(&got[skip..][..part.bytes.len()]) {
                bail!("wrong: {difference}");
            }
        }
        Ok(())
    }
}
