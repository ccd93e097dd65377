//! A plan with its pipelines, recorded into the caller's encoder or pass.

use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::gpu::counted;
use crate::gpu::engine::Engine;
use crate::gpu::launch::Dispatch;
use crate::gpu::recorder::{Placed, Recorder};
use crate::gpu::status::Status;
use crate::gpu::storage::Located;
use crate::gpu::tensor::DeviceTensor;
use crate::index::Index;
use crate::plan::Plan;
use std::sync::Arc;

/// A gather that can be recorded any number of times, with any buffers.
///
/// Recording submits nothing and rewrites nothing that an earlier recording uses, so several
/// gathers in one encoder do not disturb each other, and one may read what another wrote.
#[derive(Debug, Clone)]
pub struct Prepared {
    engine: Engine,
    recorder: Arc<Recorder>,
}

/// A prepared gather with its buffers: all checks are done and all objects of wgpu are made.
///
/// Recording it costs what its dispatch costs. It keeps the buffers alive.
#[derive(Debug, Clone)]
pub struct BoundGather {
    dispatches: Vec<Dispatch>,
    status: Option<Status>,
}

/// The buffers of one recording: each tensor's position 0 is a byte offset into its buffer.
///
/// The offset of indices is a multiple of their width; that of params and output is one of the
/// largest of 1, 2 and 4 that divides the element's width.
#[derive(Debug, Clone, Copy)]
pub struct Buffers<'a> {
    /// The data of params; usage `STORAGE`.
    pub params: (&'a wgpu::Buffer, u64),
    /// The data of indices; usage `STORAGE`.
    pub indices: (&'a wgpu::Buffer, u64),
    /// Where the output goes, contiguous; usage `STORAGE`. Another buffer than the other two.
    pub output: (&'a wgpu::Buffer, u64),
    /// Where bad indices are counted, if they are to be.
    pub status: Option<&'a Status>,
    /// How many entries of the first dim of indices there are, if that is known on the device
    /// only: a `u32` at this byte offset of a buffer; usage `STORAGE`. Output beyond them keeps
    /// its value, and indices beyond them are not looked at. No more than the plan has are made.
    pub count: Option<(&'a wgpu::Buffer, u64)>,
}

impl<'a> Buffers<'a> {
    /// The buffers of tensors that have the layouts of the plan. The output is written from its
    /// first element on. (For tensors beyond `max_buffer_size`: [`Prepared::bind_tensors`].)
    pub fn of<T: Element, I: Index>(
        params: &'a DeviceTensor<T>,
        indices: &'a DeviceTensor<I>,
        output: &'a DeviceTensor<T>,
    ) -> Self {
        let skipped = (output.layout().offset() * size_of::<T>()) as u64;
        Buffers {
            params: (params.buffer(), params.start_bytes()),
            indices: (indices.buffer(), indices.start_bytes()),
            output: (output.buffer(), output.start_bytes() + skipped),
            status: None,
            count: None,
        }
    }
}

impl Engine {
    /// Compiles the pipelines of `plan`, as far as they are not yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooComplex`] and [`Error::TooMany`] for what the shaders cannot hold, and the
    /// errors of the device.
    pub async fn prepare(&self, plan: &Plan) -> Result<Prepared> {
        self.check_alive()?;
        let recorder = Arc::new(Recorder::new(self, plan.clone())?);
        self.settle().await?;
        Ok(Prepared {
            engine: self.clone(),
            recorder,
        })
    }
}

impl Prepared {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.recorder.plan()
    }

    /// A status to be recorded into, if the rules ask for an error where an index is bad.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`].
    pub fn status(&self) -> Result<Status> {
        let status = Status::new(&self.engine, self.plan())?;
        // What is recorded with it may be submitted when it is gone: its buffer serves no other.
        status.owned().share();
        status.clear()?;
        Ok(status)
    }

    /// Checks `buffers` and makes what a recording with them needs.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooSmall`], [`Error::Misaligned`], [`Error::MissingUsage`] and
    /// [`Error::SameBuffer`] name the tensor whose buffer does not fit; [`Error::TensorTooLarge`],
    /// [`Error::TooComplex`] and [`Error::TooMany`] say what the device cannot hold;
    /// [`Error::CountPlace`] and [`Error::CountElsewhere`] refuse a count;
    /// [`Error::Gpu`] has wgpu's own words, for example for a buffer of another device.
    pub fn bind(&self, buffers: &Buffers<'_>) -> Result<BoundGather> {
        let placed = self.place(buffers)?;
        Ok(BoundGather {
            dispatches: self.recorder.dispatches(&self.engine, &placed)?,
            status: buffers.status.cloned(),
        })
    }

    /// [`Prepared::bind`] for tensors, which may lie in several buffers. Their layouts are those of
    /// the plan; the output is written from its first element on.
    ///
    /// # Errors
    ///
    /// As [`Prepared::bind`].
    pub fn bind_tensors<T: Element, I: Index>(
        &self,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &DeviceTensor<T>,
        status: Option<&Status>,
    ) -> Result<BoundGather> {
        let placed = Placed {
            params: params.shared(),
            indices: indices.shared(),
            output: {
                let skipped = output.layout().offset() * size_of::<T>();
                output.shared().moved(-(skipped as i64))
            },
            status,
            count: None,
        };
        params.storage().check_engine(&self.engine, Role::Params)?;
        indices
            .storage()
            .check_engine(&self.engine, Role::Indices)?;
        output.storage().check_engine(&self.engine, Role::Output)?;
        placed.check_apart(self.plan())?;
        Ok(BoundGather {
            dispatches: self.recorder.dispatches(&self.engine, &placed)?,
            status: status.cloned(),
        })
    }

    /// Records the gather into `encoder`: [`Prepared::bind`] and [`BoundGather::encode`].
    ///
    /// # Errors
    ///
    /// As [`Prepared::bind`].
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, buffers: &Buffers<'_>) -> Result<()> {
        self.bind(buffers)?.encode(encoder);
        Ok(())
    }

    /// Records the gather into `pass`: [`Prepared::bind`] and [`BoundGather::encode_in_pass`].
    ///
    /// # Errors
    ///
    /// As [`Prepared::bind`].
    pub fn encode_in_pass(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        buffers: &Buffers<'_>,
    ) -> Result<()> {
        self.bind(buffers)?.encode_in_pass(pass);
        Ok(())
    }

    /// Checks what wgpu would refuse later and less clearly.
    fn place<'a>(&self, buffers: &Buffers<'a>) -> Result<Placed<'a>> {
        let (op, index_bytes) = (self.plan().op(), self.plan().index_type().bytes());
        let alignment = 1 << self.plan().element_bytes().trailing_zeros().min(2);
        let tensors = [
            (Role::Params, buffers.params, alignment),
            (Role::Indices, buffers.indices, index_bytes),
            (Role::Output, buffers.output, alignment),
        ];
        for (role, (buffer, offset), alignment) in tensors {
            if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
                let usage = "STORAGE";
                return Err(Error::MissingUsage {
                    op: Some(op),
                    role,
                    usage,
                });
            }
            if !offset.is_multiple_of(alignment as u64) {
                return Err(Error::Misaligned {
                    op: Some(op),
                    role,
                    offset,
                    alignment,
                });
            }
        }
        let [params, indices, output] =
            tensors.map(|(_, (buffer, offset), _)| Located::at(buffer, offset as i64));
        let placed = Placed {
            params,
            indices,
            output,
            status: buffers.status,
            count: buffers.count,
        };
        if let Some(count) = buffers.count {
            counted::check(op, count)?;
            self.plan().elements_per_entry()?;
        }
        placed.check_apart(self.plan())?;
        Ok(placed)
    }
}

impl BoundGather {
    /// Records the gather into `encoder`, in a compute pass of its own. A status is cleared
    /// first.
    ///
    /// wgpu reports what is wrong with the recording (an encoder of another device, a buffer
    /// that was destroyed since) when the encoder is finished or submitted.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(status) = &self.status {
            encoder.clear_buffer(status.buffer(), 0, None);
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.encode_in_pass(&mut pass);
    }

    /// Records the gather into `pass`. A status is not cleared: it goes on counting.
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.status.iter().for_each(Status::note_recording);
        self.dispatches.iter().for_each(|d| d.record(pass));
    }
}
