//! Explanations of plans: as text for people, as fields for programs.

#[cfg(feature = "serde")]
mod serial;
mod text;

use crate::error::{Error, Result, Role};
use crate::plan::choice::AccessLimit;
use crate::plan::choice::narrowest;
use crate::plan::{
    BindingLimits, HostCall, Kernel, Loop, LoopDims, NestDims, Part, Parts, Pass, Plan,
    check_passes, passes,
};

/// The most passes that are worked out one by one.
const MAX_PASSES: u64 = 1 << 16;

/// How a plan is executed, and why: printed as text, and with all of it in fields.
///
/// With the feature `serde` it serializes as the facts of its text, not as its fields: operator, rules and
/// shapes of the plan, loops, dispatches with their kernels, and how a host call is made.
///
/// ```
/// use wgpu_gather::{BindingLimits, Explanation, IndexType, Layout, Op, Plan, Rules};
///
/// let plan = Plan::new(
///     Op::gather(0), &Rules::default(),
///     4, &Layout::contiguous(&[30522, 384]),
///     IndexType::I64, &Layout::contiguous(&[16, 512]),
/// )?;
/// // The limits that every device with WebGPU has; of a device: `Engine::binding_limits`.
/// let limits = BindingLimits {
///     params_bytes: 128 << 20,
///     indices_bytes: 128 << 20,
///     output_bytes: 128 << 20,
///     segments: 6,
///     alignment: 256,
///     pass_bytes: 1 << 30,
///     workgroups: 65_535,
/// };
/// let explanation = Explanation::new(&plan, &limits)?;
/// assert_eq!(explanation.loops[0].1.len(), 2); // dims 0 and 1 of indices are one loop
/// let dispatches = &explanation.dispatches[0];
/// assert_eq!((dispatches.kernel_name(), dispatches.access_bytes()), ("rows", 16));
/// assert!(explanation.to_string().contains("rows, up to 2 loops, 1 coordinate, accesses of 16 bytes"));
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The plan.
    pub plan: Plan,
    /// The limits of one dispatch, in bytes and in bindings.
    pub limits: BindingLimits,
    /// The loops of the plan, outermost first, each with the dims that became it: more than one,
    /// where loops were merged.
    pub loops: Vec<(Loop, Vec<LoopDims>)>,
    /// Dims of extent 1, which need no loop.
    pub dropped: Vec<LoopDims>,
    /// The dispatches, those that are alike together; none for an empty output.
    pub dispatches: Vec<Dispatches>,
    /// Number of segments that params is bound in, over all passes.
    pub segments: usize,
    /// Number of boxes that the output is cut into; each takes one pass or more.
    pub boxes: usize,
    /// The passes that look for bad indices, where they are reported.
    pub check_passes: usize,
    /// The bytes of the device's memory that a host call may take for tensors.
    pub max_memory_bytes: u64,
    /// Where a host call runs: on the device or on the CPU path.
    pub host_call: HostCall,
}

/// Dispatches that are alike.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dispatches {
    /// Number of these dispatches.
    pub count: usize,
    /// The kernel of the first; the others differ in offsets only.
    kernel: Kernel,
    /// The limits that rule out a wider access; empty at the widest.
    access_limits: Vec<AccessLimit>,
    /// The segments of params that each binds.
    pub segments: usize,
    /// The bytes of the output that the boxes of the first have.
    pub box_bytes: usize,
    /// Each is the first pass over its box, and also writes the fill values. Later passes write only what lies
    /// in their segments.
    pub first: bool,
}

impl Explanation {
    /// The explanation of `plan` on a device of these `limits`, with each tensor at the start of
    /// one buffer.
    ///
    /// # Errors
    ///
    /// The errors that executing the plan would return: [`Error::TensorTooLarge`], [`Error::TooComplex`],
    /// [`Error::TooMany`]; the latter for more than 65,536 passes, too. [`Error::ViewOutOfRange`]
    /// for a view that no memory can hold.
    pub fn new(plan: &Plan, limits: &BindingLimits) -> Result<Explanation> {
        let [params, indices, output] = plan.tensor_ends().map(one_part);
        let parts = Parts {
            params: &params,
            indices: &indices,
            output: &output,
        };
        Explanation::with_parts(plan, parts, limits)
    }

    /// [`Explanation::new`], with the tensors where `parts` says.
    fn with_parts(plan: &Plan, parts: Parts<'_>, limits: &BindingLimits) -> Result<Explanation> {
        let host_call = plan.host_call(u64::MAX);
        let NestDims { loops, dropped } = plan.nest_dims();
        let mut explanation = Explanation {
            plan: plan.clone(),
            limits: *limits,
            loops,
            dropped,
            dispatches: Vec::new(),
            segments: 0,
            boxes: 0,
            check_passes: 0,
            max_memory_bytes: u64::MAX,
            host_call,
        };
        if !plan.is_empty() {
            check_addressable(plan)?;
            check_count(plan, limits)?;
            let passes = passes(plan, parts, limits)?;
            explanation.add(&passes)?;
            if plan.counts_bad_indices() {
                explanation.check_passes = check_passes(plan, parts.indices, limits)?.len();
            }
        }
        Ok(explanation)
    }

    /// The same, where a host call may take `max_bytes` of the device's memory for tensors.
    pub fn with_memory(mut self, max_bytes: u64) -> Explanation {
        self.max_memory_bytes = max_bytes;
        self.host_call = self.plan.host_call(max_bytes);
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
        let kernel = Kernel::of_pass(&part, pass, false, self.limits.workgroups)?;
        let alike = |d: &Dispatches| {
            let of = |k: &Kernel| {
                (
                    k.kind,
                    k.nest,
                    k.access_bytes,
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
                access_limits: narrowest(&part, pass.origins()),
                kernel,
                segments: pass.params.len(),
                box_bytes: part.output_bytes(),
                first: pass.first,
            }),
        }
        Ok(())
    }
}

/// The kernel of the dispatches, in the words of the text.
impl Dispatches {
    /// The name of the kernel: the part of it that copies.
    pub fn kernel_name(&self) -> &'static str {
        self.kernel.kind.name()
    }

    /// Bytes of one access, the unit of loads and stores: 1, 2, 4, 8 or 16.
    pub fn access_bytes(&self) -> usize {
        self.kernel.access_bytes
    }

    /// The sizes, strides and offsets that rule out a wider access; empty at the widest.
    pub(super) fn access_limits(&self) -> Vec<String> {
        self.access_limits
            .iter()
            .map(AccessLimit::to_string)
            .collect()
    }

    /// Workgroups in x, y and z.
    pub fn workgroups(&self) -> [u32; 3] {
        self.kernel.workgroups
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

/// One buffer, in whole accesses, with the data at its start.
fn one_part(bytes: u64) -> [Part; 1] {
    [Part {
        origin: 0,
        offset: 0,
        bytes: bytes.min(i64::MAX as u64 - 16).next_multiple_of(16),
    }]
}

/// Fails for views that no data can hold.
fn check_addressable(plan: &Plan) -> Result<()> {
    let most = |width: usize| isize::MAX as usize / width;
    let params = &plan.params_layout;
    params.check_within(Role::Params, most(plan.element_bytes))?;
    let indices = &plan.indices_layout;
    indices.check_within(Role::Indices, most(plan.index_type.bytes()))
}

/// Fails for passes beyond number, before there is a list of them.
fn check_count(plan: &Plan, limits: &BindingLimits) -> Result<()> {
    let [params, indices, output] = plan.tensor_ends();
    let pass = limits.pass_bytes.min(limits.output_bytes);
    let boxes = output.div_ceil(pass.max(1)) + indices.div_ceil(limits.indices_bytes.max(1));
    let bound = limits
        .params_bytes
        .saturating_mul(limits.segments.max(1) as u64);
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
