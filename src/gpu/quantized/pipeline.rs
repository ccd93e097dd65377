//! A gather from a quantized table, recorded into the caller's encoder or pass.

use std::sync::Arc;

use crate::error::{Error, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::flag::bytes_with_flag;
use crate::gpu::gather_pipeline::GatherBinding;
use crate::gpu::placed::Placed;
use crate::gpu::quantized::recorder::DecodeRecorder;
use crate::gpu::quantized::table::DeviceQuantizedTable;
use crate::gpu::status::Status;
use crate::gpu::storage::Placement;
use crate::plan::Plan;
use crate::quantized::FloatType;
use crate::shape::Layout;

/// A gather from a quantized table that can be recorded any number of times: what a
/// [`GatherPipeline`](crate::gpu::GatherPipeline) is for plain ones. It keeps the table alive.
#[derive(Debug, Clone)]
pub struct QuantizedPipeline {
    context: Arc<Context>,
    recorder: Arc<DecodeRecorder>,
    table: DeviceQuantizedTable,
}

/// The buffers of one recording: each tensor's position 0 is the start of a slice. As
/// [`Buffers`](crate::gpu::Buffers) without params.
#[derive(Debug, Clone, Copy)]
pub struct QuantizedBuffers<'a> {
    /// The data of indices; usage `STORAGE`. Starts at a multiple of their width.
    pub indices: wgpu::BufferSlice<'a>,
    /// Where the output goes, contiguous; usage `STORAGE`. Another buffer than all that are read. Starts
    /// at a multiple of the width of its elements.
    pub output: wgpu::BufferSlice<'a>,
    /// Where bad indices are counted, if they are to be.
    pub status: Option<&'a Status>,
    /// Whether the slice of the output has room for a flag behind the output:
    /// [`QuantizedPipeline::bytes_with_flag`].
    pub flag: bool,
}

impl QuantizedPipeline {
    pub(in crate::gpu) fn new(
        context: &Arc<Context>,
        plan: Plan,
        table: &DeviceQuantizedTable,
        to: FloatType,
    ) -> Result<Self> {
        table.check_owner(context)?;
        let recorder = DecodeRecorder::new(context, plan, Arc::clone(&table.layout), to)?;
        // What is recorded may be submitted when the table is gone: its buffers serve no other.
        table.owned().for_each(|owned| {
            owned.share();
        });
        Ok(QuantizedPipeline {
            context: Arc::clone(context),
            recorder: Arc::new(recorder),
            table: table.clone(),
        })
    }

    /// The plan: that of a gather from the decoded table.
    pub fn plan(&self) -> &Plan {
        self.recorder.plan()
    }

    /// A status to be recorded into, which counts bad indices under any rules.
    ///
    /// # Errors
    ///
    /// [`Error::GpuOutOfMemory`].
    pub fn status(&self) -> Result<Status> {
        Status::shared(&self.context, self.plan())
    }

    /// The bytes of an output with room for a flag behind it: see [`QuantizedBuffers::flag`].
    pub fn bytes_with_flag(&self) -> u64 {
        bytes_with_flag(self.plan().output_bytes() as u64)
    }

    /// Checks `buffers` and makes what a recording with them needs.
    ///
    /// # Errors
    ///
    /// As [`GatherPipeline::bind`](crate::gpu::GatherPipeline::bind).
    pub fn bind(&self, buffers: &QuantizedBuffers<'_>) -> Result<GatherBinding> {
        let plan = self.plan();
        let (width, index_bytes) = (plan.element_bytes(), plan.index_type().bytes());
        self.check_slice(
            Role::Indices,
            buffers.indices,
            index_bytes,
            elements_bytes(plan.indices_layout(), index_bytes),
        )?;
        let output = match buffers.flag {
            true => self.bytes_with_flag(),
            false => plan.output_bytes() as u64,
        };
        self.check_slice(Role::Output, buffers.output, width, output)?;
        let placed = Placed {
            params: self.table.codes().placement(),
            indices: Placement::of(buffers.indices),
            output: Placement::of(buffers.output),
            status: buffers.status,
            flag: buffers.flag,
            count: None,
        };
        if let Some(status) = placed.status {
            status.check_plan(plan)?;
        }
        self.recorder.check_apart(&self.table, &placed)?;
        let dispatches = self
            .recorder
            .dispatches(&self.context, &self.table, &placed)?;
        Ok(GatherBinding::new(dispatches, buffers.status))
    }

    /// Records the gather into `encoder`: [`QuantizedPipeline::bind`] and [`GatherBinding::encode`].
    ///
    /// # Errors
    ///
    /// As [`QuantizedPipeline::bind`].
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &QuantizedBuffers<'_>,
    ) -> Result<()> {
        self.bind(buffers)?.encode(encoder);
        Ok(())
    }

    /// Checks what wgpu would refuse later and less clearly.
    fn check_slice(
        &self,
        role: Role,
        slice: wgpu::BufferSlice<'_>,
        alignment: usize,
        bytes: u64,
    ) -> Result<()> {
        let op = self.plan().op();
        if !slice.buffer().usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::MissingUsage {
                op: Some(op),
                role,
                usage: "STORAGE",
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
        if bytes > slice.size() && !self.plan().is_empty() {
            return Err(Error::BufferTooSmall {
                op,
                role,
                needed: offset.saturating_add(bytes).div_ceil(4).saturating_mul(4),
                size: offset + slice.size(),
            });
        }
        Ok(())
    }
}

/// Bytes from position 0 of the data to the end of the last element that is reached.
fn elements_bytes(layout: &Layout, width: usize) -> u64 {
    let count = layout.reached().map_or(0, |(_, last)| last as u64 + 1);
    count.saturating_mul(width as u64)
}
