//! The dispatches of a gather from a quantized table: for each box of the output, one for each window of
//! the table. Each writes what lies in its window; the first also what bad indices leave.

use std::sync::Arc;

use crate::error::{Error, Result, Role};
use crate::gpu::checks::Checks;
use crate::gpu::commands::{Dispatch, Grid};
use crate::gpu::context::Context;
use crate::gpu::flag::give_flag;
use crate::gpu::launch::{Launch, uniform};
use crate::gpu::pipeline::{INDICES, OUTPUT, PARAMS, SCALES, TABLE};
use crate::gpu::placed::Placed;
use crate::gpu::quantized::block::TableBlock;
use crate::gpu::quantized::table::{BoundWindow, DeviceQuantizedTable};
use crate::gpu::recent::Recent;
use crate::gpu::shader::{PipelineKey, Stage};
use crate::gpu::status::Status;
use crate::plan::{CheckPass, DecodeKernel, Origins, Parts, Pass, Plan, check_passes, passes};
use crate::quantized::{FloatType, TableLayout, Window};
use crate::shape::Layout;

/// How many launches and sets of checks a recorder keeps.
const KEPT: usize = 64;

/// Makes dispatches of one plan for tables of one format and shape.
#[derive(Debug)]
pub(in crate::gpu) struct DecodeRecorder {
    plan: Plan,
    table: Arc<TableLayout>,
    to: FloatType,
    output: Layout,
    /// Launches of the whole plan in one pass, with the numbers of their window.
    launches: Recent<(Key, Decode)>,
    checks: Checks,
}

/// What a launch depends on besides the plan.
type Key = (Origins, bool, TableBlock);

/// A launch with the uniform block of its window.
#[derive(Debug, Clone)]
struct Decode {
    launch: Launch,
    table: wgpu::Buffer,
}

/// The plans that an engine met last.
pub(in crate::gpu) type DecodeRecorders = Recent<Arc<DecodeRecorder>>;

impl DecodeRecorder {
    pub(in crate::gpu) fn new(
        context: &Context,
        plan: Plan,
        table: Arc<TableLayout>,
        to: FloatType,
    ) -> Result<Self> {
        if !plan.is_empty() {
            for key in Checks::pipelines(&plan) {
                context.pipelines.get(&context.device, key)?;
            }
        }
        Ok(DecodeRecorder {
            output: Layout::contiguous(plan.output_shape()),
            plan,
            table,
            to,
            launches: Recent::new(KEPT),
            checks: Checks::new(KEPT),
        })
    }

    /// The recorder of a plan, new or from among those kept.
    pub(in crate::gpu) fn kept(
        kept: &DecodeRecorders,
        context: &Context,
        plan: Plan,
        table: &DeviceQuantizedTable,
        to: FloatType,
    ) -> Result<Arc<Self>> {
        let layout = &table.layout;
        let wanted = |r: &Arc<Self>| r.plan == plan && r.to == to && r.table == *layout;
        let make = || {
            let made = DecodeRecorder::new(context, plan.clone(), Arc::clone(layout), to)?;
            Ok(Arc::new(made))
        };
        kept.get(wanted, make)
    }

    pub(in crate::gpu) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The format and shape of its tables.
    pub(in crate::gpu) fn table(&self) -> &TableLayout {
        &self.table
    }

    /// Refuses an output in a buffer that is read.
    pub(in crate::gpu) fn check_apart(
        &self,
        table: &DeviceQuantizedTable,
        placed: &Placed<'_>,
    ) -> Result<()> {
        let plan = &self.plan;
        let scales = table.scales().iter().map(|s| (Role::Scales, s.placement()));
        let tensors = [
            (Role::Codes, table.codes().placement()),
            (Role::Indices, placed.indices.clone()),
        ];
        for (role, read) in tensors.into_iter().chain(scales) {
            if read.shares(&placed.output) && !plan.is_empty() {
                let op = plan.op();
                return Err(Error::SameBuffer { op, role });
            }
        }
        Ok(())
    }

    /// The dispatches of one recording: none for an empty output.
    pub(in crate::gpu) fn dispatches(
        &self,
        context: &Context,
        table: &DeviceQuantizedTable,
        placed: &Placed<'_>,
    ) -> Result<Vec<Dispatch>> {
        let (plan, limits) = (&self.plan, &context.binding_limits);
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        self.check(placed)?;
        let parts = Parts {
            params: &[],
            indices: &placed.indices.parts,
            output: &placed.output.parts,
        };
        let mut copies = passes(plan, parts, limits)?;
        let mut checks = match placed.status {
            Some(_) if plan.looks_up() => check_passes(plan, parts.indices, limits)?,
            _ => Vec::new(),
        };
        let windows = table.windows(context, plan.op())?;
        let finds_bad = plan.rules().out_of_bounds.moves().is_none();
        if placed.flag && finds_bad && windows.len() == 1 {
            let bytes = plan.output_bytes() as u64;
            give_flag(bytes, &mut copies, &mut checks, limits);
        }
        let mut dispatches = Vec::new();
        for pass in &copies {
            for (n, window) in windows.iter().enumerate() {
                dispatches.push(self.decode(context, placed, pass, window, n == 0)?);
            }
        }
        for (pass, status) in checks.iter().zip(placed.status.into_iter().cycle()) {
            dispatches.extend(self.count(context, placed, status, pass)?);
        }
        Ok(dispatches)
    }

    /// The dispatches that count the bad indices of a pass and locate the first.
    pub(in crate::gpu) fn count(
        &self,
        context: &Context,
        placed: &Placed<'_>,
        status: &Status,
        pass: &CheckPass,
    ) -> Result<Vec<Dispatch>> {
        self.checks.count(context, &self.plan, placed, status, pass)
    }

    /// Checks that the buffers hold what the plan reaches.
    fn check(&self, placed: &Placed<'_>) -> Result<()> {
        let (plan, op) = (&self.plan, self.plan.op());
        let (indices, index_bytes) = (plan.indices_layout(), plan.index_type().bytes());
        let to_indices = &placed.indices;
        to_indices.check(op, Role::Indices, indices, index_bytes)?;
        let width = plan.element_bytes();
        placed.output.check(op, Role::Output, &self.output, width)
    }

    /// The dispatch that makes what a box takes from a window; if `fills`, what bad indices leave as well.
    pub(in crate::gpu) fn decode(
        &self,
        context: &Context,
        placed: &Placed<'_>,
        pass: &Pass,
        bound: &BoundWindow<'_>,
        fills: bool,
    ) -> Result<Dispatch> {
        let mut block = TableBlock::new(&self.table, &bound.window, self.to);
        (block.codes_offset, block.last_word) = (bound.codes_offset, bound.last_word);
        block.fills = u32::from(fills);
        if let Some(scales) = &bound.scales {
            block.scales_offset = scales.scales_offset;
            block.zeros_offset = scales.zeros_offset;
        }
        let decode = self.launch(context, pass, &bound.window, block)?;
        let nothing = || context.nothing.as_entire_binding();
        let indices = pass.indices.as_ref();
        let scales = bound.scales.as_ref();
        let bindings = [
            (
                INDICES,
                indices.map_or_else(nothing, |s| placed.indices.binding(s)),
            ),
            (PARAMS, bound.codes.clone()),
            (OUTPUT, placed.output.binding(&pass.output)),
            (SCALES, scales.map_or_else(nothing, |s| s.binding.clone())),
            (TABLE, decode.table.as_entire_binding()),
        ];
        let dispatch = decode.launch.bind(context, &bindings)?;
        Ok(dispatch.making((pass.elements.len() * self.plan.element_bytes()) as u64))
    }

    /// What a pass launches for a window: kept, if the pass is the whole plan.
    fn launch(
        &self,
        context: &Context,
        pass: &Pass,
        window: &Window,
        block: TableBlock,
    ) -> Result<Decode> {
        let make = || {
            let plan = self.plan.part(pass);
            let workgroups = context.binding_limits.workgroups;
            let bounds = [window.elements.start, window.elements.end];
            let fours = self.table.fours_share_scales(window);
            let kernel = DecodeKernel::new(&plan, pass, bounds, fours, workgroups)?;
            let stage = Stage::Decode(self.table.format.decoder(), kernel.kind, kernel.nest);
            let key = PipelineKey::new(stage, &plan);
            let none = wgpu::BufferUsages::empty();
            let geometry = uniform(context, &kernel.block, none)?;
            Ok(Decode {
                launch: Launch::new(context, key, geometry, Grid::Fixed(kernel.workgroups))?,
                table: uniform(context, &block, none)?,
            })
        };
        let is_whole = pass.is_alone() && pass.geometry == *self.plan.geometry();
        if !is_whole || window.elements.start > 0 {
            return make();
        }
        let key = (pass.origins(), pass.flagged, block);
        let made = self
            .launches
            .get(|(of, _)| *of == key, || Ok((key, make()?)));
        made.map(|(_, launch)| launch)
    }
}
