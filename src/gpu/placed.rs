//! Where the tensors of one recording lie.
//!
//! Made by whatever records a gather; read by the recorders.

use crate::error::{Error, Result, Role};
use crate::gpu::status::Status;
use crate::gpu::storage::Placement;
use crate::plan::Plan;

/// Where the tensors of one recording lie.
#[derive(Debug, Clone)]
pub(super) struct Placed<'a> {
    pub(super) params: Placement<'a>,
    pub(super) indices: Placement<'a>,
    pub(super) output: Placement<'a>,
    pub(super) status: Option<&'a Status>,
    /// Whether there is room for a flag behind the output.
    pub(super) flag: bool,
    /// How many entries of indices there are: a word of a buffer.
    pub(super) count: Option<wgpu::BufferSlice<'a>>,
}

impl<'a> Placed<'a> {
    /// Indices alone, where bad ones are looked for without a flag.
    pub(super) fn indices_only(indices: &Placement<'a>) -> Self {
        Placed {
            params: indices.clone(),
            indices: indices.clone(),
            output: indices.clone(),
            status: None,
            flag: false,
            count: None,
        }
    }

    /// Refuses an output in a buffer that is read: wgpu cannot bind it for both.
    pub(super) fn check_apart(&self, plan: &Plan) -> Result<()> {
        let params = (Role::Params, &self.params, plan.params_layout());
        let indices = (Role::Indices, &self.indices, plan.indices_layout());
        for (role, read, layout) in [params, indices] {
            if read.shares(&self.output) && !layout.is_empty() && !plan.is_empty() {
                let op = plan.op();
                return Err(Error::SameBuffer { op, role });
            }
        }
        Ok(())
    }
}
