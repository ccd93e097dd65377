//! Test hooks of an engine: observe or replace shaders, memory and dispatches.
//!
//! Called where one of these is created. Engines of users have none.

use std::fmt;

use crate::gpu::pipeline::shader::PipelineKey;

/// Watches one engine.
pub trait Watch: fmt::Debug + Send + Sync {
    /// Returns the source to compile instead of `source`.
    fn shader(&self, source: String) -> String {
        source
    }

    /// The limits that the engine plans with, on a device with these: no higher ones.
    fn limits(&self, limits: wgpu::Limits) -> wgpu::Limits {
        limits
    }

    /// The loop steps that the engine plans a dispatch with, where it would take so many: no more.
    fn loop_steps(&self, steps: u32) -> u32 {
        steps
    }

    /// The layout of bind group 1, which [`Watch::dispatch`] gives then.
    fn layout(&self) -> Option<&wgpu::BindGroupLayout> {
        None
    }

    /// A buffer is made or used anew, for so many bytes of data; `room` has what lies behind them, too.
    fn memory(&self, buffer: &wgpu::Buffer, bytes: u64, room: u64) {
        let _ = (buffer, bytes, room);
    }

    /// A dispatch is about to be recorded.
    fn dispatch(&self, dispatch: &Watched<'_>) -> Option<wgpu::BindGroup> {
        let _ = dispatch;
        None
    }
}

/// A dispatch with what it binds.
#[derive(Debug)]
pub struct Watched<'a> {
    /// The name of its pipeline.
    pub pipeline: String,
    /// The bindings of group 0.
    pub entries: &'a [wgpu::BindGroupEntry<'a>],
}

impl<'a> Watched<'a> {
    pub(in crate::gpu) fn new(key: PipelineKey, entries: &'a [wgpu::BindGroupEntry<'a>]) -> Self {
        Watched {
            pipeline: key.to_string(),
            entries,
        }
    }
}
