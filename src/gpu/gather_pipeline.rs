//! A plan with its pipelines, on bare slices of the caller's buffers: the level that does not check what
//! slices hold.

use std::sync::Arc;

use crate::error::{Error, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::Dispatch;
use crate::gpu::record::flag::bytes_with_flag;
use crate::gpu::record::gather::{Placed, PlacedTable, compile};
use crate::gpu::record::indirect;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::Placement;
use crate::plan::Plan;
use crate::shape::Layout;

/// A gather that can be recorded any number of times, with any buffers.
///
/// Recording submits nothing and rewrites nothing that an earlier recording uses, so several
/// gathers in one encoder do not disturb each other, and one may read what another wrote.
#[derive(Debug, Clone)]
pub struct GatherPipeline {
    context: Arc<Context>,
    plan: Arc<Plan>,
}

/// A gather with its pipelines and its buffers: all checks are done and all objects of wgpu are made.
///
/// Recording it costs what its dispatch costs. It keeps the buffers alive.
#[derive(Debug, Clone)]
pub struct GatherBinding {
    dispatches: Vec<Dispatch>,
    status: Option<Status>,
}

/// The buffers of one recording: each tensor's position 0 is the start of a slice. What is in them is the
/// caller's responsibility; [`Engine::bind`](crate::gpu::Engine::bind) takes tensors, which it checks.
///
/// The offset of indices is a multiple of their width; that of params and output is one of the
/// largest of 1, 2 and 4 that divides the element's width. A slice may end within a word, if its
/// buffer does not.
#[derive(Debug, Clone, Copy)]
pub struct Buffers<'a> {
    /// The data of params; usage `STORAGE`.
    pub params: wgpu::BufferSlice<'a>,
    /// The data of indices; usage `STORAGE`.
    pub indices: wgpu::BufferSlice<'a>,
    /// The output, contiguous; usage `STORAGE`. Another buffer than the other two.
    pub output: wgpu::BufferSlice<'a>,
    /// Counts bad indices, if given.
    pub status: Option<&'a Status>,
    /// The slice of the output has room for a flag behind the data: it is as long as
    /// [`GatherPipeline::bytes_with_flag`]. The gather raises the flag at a bad index, and bad indices are counted
    /// only if it is raised.
    pub flag: bool,
    /// Number of entries of the first dim of indices, if only the device knows it: a `u32` at the start of the
    /// slice; usage `STORAGE`. Indices past it are not read, and output past it keeps its value. A count above that
    /// of the plan is cut to it.
    pub count: Option<wgpu::BufferSlice<'a>>,
}

impl<'a> Buffers<'a> {
    /// Buffers of a recording that counts nothing: without a status, a flag and a count.
    pub const fn new(
        params: wgpu::BufferSlice<'a>,
        indices: wgpu::BufferSlice<'a>,
        output: wgpu::BufferSlice<'a>,
    ) -> Self {
        Buffers {
            params,
            indices,
            output,
            status: None,
            flag: false,
            count: None,
        }
    }
}

impl GatherPipeline {
    pub(super) fn new(context: &Arc<Context>, plan: Plan) -> Result<Self> {
        compile(context, &plan)?;
        Ok(GatherPipeline {
            context: Arc::clone(context),
            plan: Arc::new(plan),
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A status to be recorded into, which counts bad indices under any rules.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`].
    pub fn status(&self) -> Result<Status> {
        Status::shared(&self.context, self.plan())
    }

    /// The bytes of an output with room for a flag behind it: see [`Buffers::flag`]. What the gather
    /// leaves there is not defined.
    pub fn bytes_with_flag(&self) -> u64 {
        bytes_with_flag(self.plan().output_bytes() as u64)
    }

    /// Checks `buffers` and makes what a recording with them needs.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooSmall`], [`Error::Misaligned`], [`Error::MissingUsage`] and
    /// [`Error::SameBuffer`] name the tensor whose buffer does not fit; [`Error::TensorTooLarge`],
    /// [`Error::TooComplex`] and [`Error::TooMany`] say what the device cannot hold;
    /// [`Error::CountPlace`] and [`Error::CountElsewhere`] refuse a count, [`Error::OtherStatus`] the status
    /// of another plan;
    /// [`Error::Gpu`] has wgpu's own words, for example for a buffer of another device.
    pub fn bind(&self, buffers: &Buffers<'_>) -> Result<GatherBinding> {
        let placed = self.place(buffers)?;
        self.bind_placed(&placed)
    }

    fn bind_placed(&self, placed: &Placed<'_>) -> Result<GatherBinding> {
        if let Some(status) = placed.status {
            status.check_plan(self.plan())?;
        }
        let dispatches = placed.dispatches(&self.context, &self.plan)?;
        Ok(GatherBinding::new(dispatches, placed.status))
    }

    /// Records the gather into `encoder`: [`GatherPipeline::bind`] and [`GatherBinding::encode`].
    ///
    /// # Errors
    ///
    /// Buffers that do not fit the plan: those of [`GatherPipeline::bind`].
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, buffers: &Buffers<'_>) -> Result<()> {
        self.bind(buffers)?.encode(encoder);
        Ok(())
    }

    /// Records the gather into `pass`: [`GatherPipeline::bind`] and [`GatherBinding::encode_in_pass`].
    ///
    /// # Errors
    ///
    /// Buffers that do not fit the plan: those of [`GatherPipeline::bind`].
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
        for (role, slice, alignment) in tensors {
            if !slice.buffer().usage().contains(wgpu::BufferUsages::STORAGE) {
                let usage = "STORAGE";
                return Err(Error::MissingUsage {
                    op: Some(op),
                    role,
                    usage,
                });
            }
            let offset = slice.offset();
            if !offset.is_multiple_of(alignment as u64) {
                return Err(Error::Misaligned {
                    op: Some(op),
                    role,
                    offset,
                    alignment,
                });
            }
        }
        let [params, indices, output] = tensors.map(|(_, slice, _)| Placement::of(slice));
        let placed = Placed {
            table: PlacedTable::Bits(params),
            indices,
            output,
            status: buffers.status,
            flag: buffers.flag,
            count: buffers.count,
        };
        if let Some(count) = buffers.count {
            indirect::check(op, count)?;
            self.plan().elements_per_entry()?;
        }
        self.check_apart(buffers)?;
        self.check_slices(buffers)?;
        Ok(placed)
    }

    /// Checks that no tensor ends behind its slice: within its last word, the recorder would not
    /// notice.
    /// Refuses an output in a buffer that is read.
    fn check_apart(&self, buffers: &Buffers<'_>) -> Result<()> {
        let plan = self.plan();
        let params = (Role::Params, buffers.params, plan.params_layout());
        let indices = (Role::Indices, buffers.indices, plan.indices_layout());
        for (role, read, layout) in [params, indices] {
            let shares = read.buffer() == buffers.output.buffer();
            if shares && !layout.is_empty() && !plan.is_empty() {
                let op = plan.op();
                return Err(Error::SameBuffer { op, role });
            }
        }
        Ok(())
    }

    fn check_slices(&self, buffers: &Buffers<'_>) -> Result<()> {
        let plan = self.plan();
        if plan.is_empty() {
            return Ok(());
        }
        let (width, index_bytes) = (plan.element_bytes(), plan.index_type().bytes());
        let output = Layout::contiguous(plan.output_shape());
        let tensors = [
            (Role::Params, buffers.params, plan.params_layout(), width),
            (
                Role::Indices,
                buffers.indices,
                plan.indices_layout(),
                index_bytes,
            ),
            (Role::Output, buffers.output, &output, width),
        ];
        for (role, slice, layout, width) in tensors {
            let count = layout.reached().map_or(0, |(_, last)| last as u64 + 1);
            let end = match role {
                Role::Output if buffers.flag => self.bytes_with_flag(),
                _ => count.saturating_mul(width as u64),
            };
            if end > slice.size() {
                return Err(Error::BufferTooSmall {
                    op: plan.op(),
                    role,
                    needed: slice
                        .offset()
                        .saturating_add(end)
                        .div_ceil(4)
                        .saturating_mul(4),
                    size: slice.offset() + slice.size(),
                });
            }
        }
        Ok(())
    }
}

impl GatherBinding {
    pub(super) fn new(dispatches: Vec<Dispatch>, status: Option<&Status>) -> Self {
        GatherBinding {
            dispatches,
            status: status.cloned(),
        }
    }

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
