//! A scatter recorded into the caller's encoder or pass.
//!
//! Made by an engine. Checks the caller's buffers; `scatter` makes the dispatches.

use std::sync::Arc;

use crate::error::{Error, Result, Role};
use crate::gpu::commands::Dispatch;
use crate::gpu::context::Context;
use crate::gpu::pool::Owned;
use crate::gpu::scatter::{PlacedScatter, check_destination, dispatches};
use crate::gpu::status::Status;
use crate::gpu::storage::Placement;
use crate::scatter::ScatterPlan;

/// A scatter that can be recorded any number of times, with any buffers.
///
/// ```no_run
/// use wgpu_gather::gpu::{Engine, ScatterBuffers};
/// use wgpu_gather::{DType, IndexType, Layout, Op, Reduce, Result, Rules};
/// use wgpu_gather::{ScatterLayouts, ScatterPlan, wgpu};
///
/// /// Adds 64 rows of 768 numbers to rows of a table, between shaders of your own.
/// fn record(
///     engine: &Engine,
///     encoder: &mut wgpu::CommandEncoder,
///     [table, ids, rows]: [&wgpu::Buffer; 3],
/// ) -> Result<()> {
///     let plan = ScatterPlan::new(Op::gather(0), Reduce::Add, &Rules::default(), ScatterLayouts {
///         dtype: DType::F32,
///         destination: &Layout::contiguous(&[1000, 768]),
///         index_type: IndexType::U32,
///         indices: &Layout::contiguous(&[64]),
///         updates: &Layout::contiguous(&[64, 768]),
///     })?;
///     let pipeline = engine.scatter_pipeline(&plan)?; // once
///     let buffers = ScatterBuffers {
///         destination: table.slice(..),
///         indices: ids.slice(..),
///         updates: rows.slice(..),
///         status: None,
///     };
///     pipeline.bind(&buffers)?.encode(encoder);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ScatterPipeline {
    context: Arc<Context>,
    plan: ScatterPlan,
}

/// The buffers of one recording: each tensor's position 0 is the start of a slice.
///
/// The offset of each slice is a multiple of the width of its elements, or of 8 if that is greater.
#[derive(Debug, Clone, Copy)]
pub struct ScatterBuffers<'a> {
    /// Where the updates go; usage `STORAGE`. Another buffer than the other two.
    pub destination: wgpu::BufferSlice<'a>,
    /// The data of indices; usage `STORAGE`.
    pub indices: wgpu::BufferSlice<'a>,
    /// The data of updates; usage `STORAGE`.
    pub updates: wgpu::BufferSlice<'a>,
    /// Where bad indices are counted, if they are to be.
    pub status: Option<&'a Status>,
}

/// A scatter with its pipelines, its buffers and scratch memory: all checks are done and all objects of
/// wgpu are made. Recording it costs what its dispatches cost.
#[derive(Debug, Clone)]
pub struct ScatterBinding {
    dispatches: Vec<Dispatch>,
    status: Option<Status>,
    _scratch: Vec<Arc<Owned>>,
}

impl ScatterPipeline {
    pub(super) fn new(context: &Arc<Context>, plan: ScatterPlan) -> Result<Self> {
        check_destination(&plan)?;
        Ok(ScatterPipeline {
            context: Arc::clone(context),
            plan,
        })
    }

    /// A status to be recorded into, which counts bad indices under any rules; `None`, if nothing is
    /// scattered and so no index is looked at.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`].
    pub fn status(&self) -> Result<Option<Status>> {
        let Some(keys) = &self.plan.keys else {
            return Ok(None);
        };
        Status::shared(&self.context, keys).map(Some)
    }

    /// Checks `buffers` and makes what a recording with them needs.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooSmall`], [`Error::Misaligned`], [`Error::MissingUsage`] and
    /// [`Error::SameBuffer`] name the tensor whose buffer does not fit; what the device cannot hold
    /// and [`Error::CpuOnly`] as [`Engine::scatter`](crate::gpu::Engine::scatter).
    pub fn bind(&self, buffers: &ScatterBuffers<'_>) -> Result<ScatterBinding> {
        self.check(buffers)?;
        let placed = PlacedScatter {
            destination: Placement::of(buffers.destination),
            indices: Placement::of(buffers.indices),
            updates: Placement::of(buffers.updates),
            status: buffers.status,
        };
        if let (Some(status), Some(keys)) = (placed.status, &self.plan.keys) {
            status.check_plan(keys)?;
        }
        placed.check_apart(&self.plan)?;
        let made = dispatches(&self.context, &self.plan, &placed)?;
        // What is recorded may be submitted when the binding is gone.
        made.scratch.iter().for_each(|owned| {
            owned.share();
        });
        Ok(ScatterBinding {
            dispatches: made.dispatches,
            status: buffers.status.cloned(),
            _scratch: made.scratch,
        })
    }

    /// Checks what wgpu would refuse later and less clearly, and that no tensor ends behind its slice.
    fn check(&self, buffers: &ScatterBuffers<'_>) -> Result<()> {
        let Some(keys) = &self.plan.keys else {
            return Ok(());
        };
        let (op, plan, width) = (self.plan.op, &self.plan, self.plan.dtype.bytes());
        let index_bytes = keys.index_type().bytes();
        let indices = keys.indices_layout();
        let tensors = [
            (Role::Params, buffers.destination, &plan.destination, width),
            (Role::Updates, buffers.updates, &plan.updates, width),
            (Role::Indices, buffers.indices, indices, index_bytes),
        ];
        for (role, slice, layout, width) in tensors {
            if !slice.buffer().usage().contains(wgpu::BufferUsages::STORAGE) {
                return Err(Error::MissingUsage {
                    op: Some(op),
                    role,
                    usage: "STORAGE",
                });
            }
            let (offset, alignment) = (slice.offset(), width.min(8));
            if !offset.is_multiple_of(alignment as u64) {
                return Err(Error::Misaligned {
                    op: Some(op),
                    role,
                    offset,
                    alignment,
                });
            }
            let count = layout.reached().map_or(0, |(_, last)| last as u64 + 1);
            let end = count.saturating_mul(width as u64);
            if end > slice.size() {
                return Err(Error::BufferTooSmall {
                    op,
                    role,
                    needed: offset.saturating_add(end),
                    size: offset + slice.size(),
                });
            }
        }
        Ok(())
    }
}

impl ScatterBinding {
    /// Records the scatter into `encoder`, in a compute pass of its own. A status is cleared first.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(status) = &self.status {
            encoder.clear_buffer(status.buffer(), 0, None);
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.encode_in_pass(&mut pass);
    }

    /// Records the scatter into `pass`. A status is not cleared: it goes on counting.
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.status.iter().for_each(Status::note_recording);
        self.dispatches.iter().for_each(|d| d.record(pass));
    }
}
