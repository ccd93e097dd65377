//! What a plan does, for people and for programs.

mod text;

use crate::error::{Error, Result};
use crate::plan::choice::narrowest;
use crate::plan::{
    Bounds, HostCall, HostReason, Kernel, LaneLimit, Origins, Part, Parts, Pass, Plan,
    check_passes, passes,
};

/// The most passes that are worked out one by one.
const MAX_PASSES: u64 = 1 << 16;

/// How a plan is executed, and why: printed as text, and with all of it in fields.
///
/// ```
/// use wgpu_gather::plan::{Bounds, Explanation};
/// use wgpu_gather::{IndexType, Layout, Op, Plan, Rules};
///
/// let plan = Plan::new(
///     Op::gather(0), &Rules::default(),
///     4, &Layout::contiguous(&[30522, 384]),
///     IndexType::I64, &Layout::contiguous(&[16, 512]),
/// )?;
/// // The limits that every device with WebGPU has; of a device: `Engine::bounds`.
/// let bounds = Bounds {
///     params_bytes: 128 << 20,
///     indices_bytes: 128 << 20,
///     output_bytes: 128 << 20,
///     segments: 6,
///     alignment: 256,
///     pass_bytes: 1 << 30,
///     workgroups: 65_535,
/// };
/// let explanation = Explanation::new(&plan, &bounds)?;
/// assert_eq!(explanation.origins.loops[0].1.len(), 2); // dims 0 and 1 of indices are one loop
/// let kernel = &explanation.dispatches[0].kernel;
/// assert_eq!((kernel.kind.name(), kernel.lane_bytes), ("rows", 16));
/// assert!(explanation.to_string().contains("rows, single, lanes of 16 bytes"));
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The plan.
    pub plan: Plan,
    /// What one dispatch may bind and run.
    pub bounds: Bounds,
    /// The loops, and the dims they come from.
    pub origins: Origins,
    /// The dispatches, those that are alike together; none for an empty output.
    pub dispatches: Vec<Dispatches>,
    /// In how many segments params is bound, one pass with the other.
    pub segments: usize,
    /// In how many boxes the output is made, each in one pass or more.
    pub boxes: usize,
    /// The passes that look for bad indices, where they are reported.
    pub check_passes: usize,
    /// The bytes of the device's memory that a host call may take for tensors.
    pub max_memory_bytes: u64,
    /// How a host call is made.
    pub host_call: HostCall,
    /// Why it is made so.
    pub host_reason: HostReason,
}

/// Dispatches that are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatches {
    /// How many.
    pub count: usize,
    /// The kernel of the first; the others differ in offsets only.
    pub kernel: Kernel,
    /// What keeps its lane from being wider; nothing, if it is as wide as there are.
    pub lane_limits: Vec<LaneLimit>,
    /// The segments of params that each binds.
    pub segments: usize,
    /// The bytes of the output that the boxes of the first have.
    pub box_bytes: usize,
    /// Whether each is the first pass over its box. The others write what lies in their segments.
    pub first: bool,
}

impl Explanation {
    /// The explanation of `plan` on a device of these `bounds`, with each tensor at the start of
    /// one buffer.
    ///
    /// # Errors
    ///
    /// What executing the plan reports: [`Error::TensorTooLarge`], [`Error::TooComplex`],
    /// [`Error::TooMany`]; the latter for more than 65,536 passes, too.
    pub fn new(plan: &Plan, bounds: &Bounds) -> Result<Explanation> {
        let [params, indices, output] = plan.tensor_ends().map(one_part);
        let parts = Parts {
            params: &params,
            indices: &indices,
            output: &output,
        };
        Explanation::with_parts(plan, parts, bounds)
    }

    /// [`Explanation::new`], with the tensors where `parts` says.
    ///
    /// # Errors
    ///
    /// As [`Explanation::new`].
    pub fn with_parts(plan: &Plan, parts: Parts<'_>, bounds: &Bounds) -> Result<Explanation> {
        let (host_call, host_reason) = plan.host_call_and_reason(u64::MAX);
        let mut explanation = Explanation {
            plan: plan.clone(),
            bounds: *bounds,
            origins: plan.origins(),
            dispatches: Vec::new(),
            segments: 0,
            boxes: 0,
            check_passes: 0,
            max_memory_bytes: u64::MAX,
            host_call,
            host_reason,
        };
        if !plan.is_empty() {
            check_count(plan, bounds)?;
            let passes = passes(plan, parts, bounds)?;
            explanation.add(&passes)?;
            if plan.counts_bad_indices() {
                explanation.check_passes = check_passes(plan, parts.indices, bounds)?.len();
            }
        }
        Ok(explanation)
    }

    /// The same, where a host call may take `max_bytes` of the device's memory for tensors.
    pub fn with_memory(mut self, max_bytes: u64) -> Explanation {
        self.max_memory_bytes = max_bytes;
        (self.host_call, self.host_reason) = self.plan.host_call_and_reason(max_bytes);
        self
    }

    fn add(&mut self, passes: &[Pass]) -> Result<()> {
        self.boxes = passes.iter().filter(|pass| pass.first).count();
        let segments = passes.iter().flat_map(|p| &p.params);
        let mut segments: Vec<_> = segments.map(|s| (s.part, s.offset)).collect();
        segments.sort_unstable();
        segments.dedup();
        self.segments = segments.len();
        for pass in passes {
            self.add_pass(pass)?;
        }
        Ok(())
    }

    fn add_pass(&mut self, pass: &Pass) -> Result<()> {
        let part = self.plan.part(pass);
        let kernel = Kernel::of_pass(&part, pass, false, self.bounds.workgroups)?;
        let alike = |d: &Dispatches| {
            let of = |k: &Kernel| {
                (
                    k.kind,
                    k.form,
                    k.lane_bytes,
                    k.positions,
                    k.workgroups,
                    k.reason,
                )
            };
            of(&d.kernel) == of(&kernel) && (d.first, d.segments) == (pass.first, pass.params.len())
        };
        match self.dispatches.iter_mut().find(|d| alike(d)) {
            Some(found) => found.count += 1,
            None => self.dispatches.push(Dispatches {
                count: 1,
                lane_limits: narrowest(&part, pass.starts()),
                kernel,
                segments: pass.params.len(),
                box_bytes: part.output_bytes(),
                first: pass.first,
            }),
        }
        Ok(())
    }
}

impl Plan {
    /// The bytes from the start of params, indices and output to the last element reached.
    fn tensor_ends(&self) -> [u64; 3] {
        let end = |layout: &crate::Layout, width: usize| {
            let elements = layout.reached().map_or(0, |(_, last)| last as u64 + 1);
            elements.saturating_mul(width as u64)
        };
        [
            end(&self.params_layout, self.element_bytes),
            end(&self.indices_layout, self.index_type.bytes()),
            self.output_bytes as u64,
        ]
    }
}

/// One buffer, in whole lanes, with the data at its start.
fn one_part(bytes: u64) -> [Part; 1] {
    [Part {
        start: 0,
        offset: 0,
        bytes: bytes.min(i64::MAX as u64 - 16).next_multiple_of(16),
    }]
}

/// Fails for passes beyond number, before there is a list of them.
fn check_count(plan: &Plan, bounds: &Bounds) -> Result<()> {
    let [params, indices, output] = plan.tensor_ends();
    let pass = bounds.pass_bytes.min(bounds.output_bytes);
    let boxes = output.div_ceil(pass.max(1)) + indices.div_ceil(bounds.indices_bytes.max(1));
    let bound = bounds
        .params_bytes
        .saturating_mul(bounds.segments.max(1) as u64);
    let got = boxes.saturating_mul(params.div_ceil(bound.max(1)).max(1));
    if got <= MAX_PASSES {
        return Ok(());
    }
    Err(Error::TooMany {
        op: plan.op(),
        what: "the number of passes",
        got,
        limit: MAX_PASSES,
    })
}

#[cfg(test)]
mod tests;
