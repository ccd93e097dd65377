//! The dispatches of a gather whose tensors have their place: elements are copied, or decoded. A table that is decoded
//! lies in windows: for each box of the output there is a dispatch for each of them, and the first also writes what
//! bad indices leave.

use crate::error::{Error, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::Dispatch;
use crate::gpu::pipeline::shader::{PipelineKey, Stage};
use crate::gpu::pipeline::{INDICES, OUTPUT, PARAMS, SCALES, TABLE};
use crate::gpu::record::checks::{self, Looked};
use crate::gpu::record::flag::give_flag;
use crate::gpu::record::indirect;
use crate::gpu::record::launch::{Bindings, bind, bound, dispatch, params, uniform};
use crate::gpu::record::table_block::TableBlock;
use crate::gpu::tensor::quantized::{BoundWindow, DeviceQuantizedTable};
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::Placement;
use crate::plan::{
    DecodeKernel, IndirectDispatch, Kernel, Origins, Parts, Pass, Plan, check_passes, passes,
};
use crate::quantized::FloatType;
use crate::shape::Layout;

/// Placement of the tensors of a gather.
#[derive(Debug)]
pub(in crate::gpu) struct Placed<'a> {
    pub(in crate::gpu) table: PlacedTable<'a>,
    pub(in crate::gpu) indices: Placement<'a>,
    pub(in crate::gpu) output: Placement<'a>,
    pub(in crate::gpu) status: Option<&'a Status>,
    /// There is room for a flag behind the output.
    pub(in crate::gpu) flag: bool,
    pub(in crate::gpu) count: Option<wgpu::BufferSlice<'a>>,
}

/// The table of a gather, and how its elements are loaded.
#[derive(Debug)]
pub(in crate::gpu) enum PlacedTable<'a> {
    Bits(Placement<'a>),
    Decode(&'a DeviceQuantizedTable, FloatType),
}

/// Compiles what most recordings of a plan need, and finds out whether the shaders can hold it.
pub(in crate::gpu) fn compile(context: &Context, plan: &Plan) -> Result<()> {
    if plan.is_empty() {
        return Ok(());
    }
    let mut stages = checks::pipelines(plan);
    match Kernel::copy(plan, Origins::default(), context.binding_limits.workgroups) {
        Ok(kernel) => stages.push(PipelineKey::of(plan, &kernel, &context.binding_limits)),
        // It takes several passes, which depend on where the tensors lie.
        Err(Error::TooMany { .. }) => {}
        Err(error) => return Err(error),
    }
    for stage in stages {
        context.pipelines.get(&context.device, stage)?;
    }
    Ok(())
}

impl Placed<'_> {
    /// The dispatches of one recording: none for an empty output.
    pub(in crate::gpu) fn dispatches(
        &self,
        context: &Context,
        plan: &Plan,
    ) -> Result<Vec<Dispatch>> {
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        self.check(plan)?;
        let limits = &context.binding_limits;
        let (params, windows) = match &self.table {
            PlacedTable::Bits(params) => (&params.parts[..], Vec::new()),
            PlacedTable::Decode(table, _) => (&[][..], table.windows(context, plan.op())?),
        };
        let parts = Parts {
            params,
            indices: &self.indices.parts,
            output: &self.output.parts,
        };
        let mut copies = passes(plan, parts, limits)?;
        let mut checks = match self.status {
            Some(_) if plan.looks_up() => check_passes(plan, parts.indices, limits)?,
            _ => Vec::new(),
        };
        let finds_bad = !plan.rules().out_of_bounds.moves();
        if self.flag && finds_bad && windows.len() <= 1 {
            let bytes = plan.output_bytes() as u64;
            give_flag(bytes, &mut copies, &mut checks, limits);
        }
        let mut dispatches = Vec::new();
        for pass in &copies {
            let bytes = (pass.elements.len() * plan.element_bytes()) as u64;
            match &self.table {
                PlacedTable::Bits(params) => {
                    let (limit, copy) = self.copy(context, plan, params, pass)?;
                    dispatches.extend(limit.into_iter().chain([copy.making(bytes)]));
                }
                PlacedTable::Decode(table, to) => {
                    for (n, window) in windows.iter().enumerate() {
                        let decoded = (*table, *to);
                        let decode = self.decode(context, plan, decoded, pass, window, n == 0)?;
                        dispatches.push(decode.making(bytes));
                    }
                }
            }
        }
        let looked = Looked {
            indices: &self.indices,
            output: Some(&self.output),
            count: self.count,
        };
        for (pass, status) in checks.iter().zip(self.status.into_iter().cycle()) {
            dispatches.extend(checks::count(context, plan, looked, status, pass)?);
        }
        Ok(dispatches)
    }

    /// Checks that the buffers hold what the plan reaches.
    fn check(&self, plan: &Plan) -> Result<()> {
        let (op, width) = (plan.op(), plan.element_bytes());
        if let PlacedTable::Bits(params) = &self.table {
            params.check(op, Role::Params, plan.params_layout(), width)?;
        }
        let index_bytes = plan.index_type().bytes();
        let indices = plan.indices_layout();
        self.indices
            .check(op, Role::Indices, indices, index_bytes)?;
        let output = Layout::contiguous(plan.output_shape());
        self.output.check(op, Role::Output, &output, width)
    }

    /// The dispatch that copies what a box takes; with a count, the one that limits it before.
    fn copy(
        &self,
        context: &Context,
        plan: &Plan,
        table: &Placement<'_>,
        pass: &Pass,
    ) -> Result<(Option<Dispatch>, Dispatch)> {
        let (limits, part) = (&context.binding_limits, plan.part(pass));
        let kernel = Kernel::of_pass(&part, pass, self.count.is_some(), limits.workgroups)?;
        let key = PipelineKey::of(&part, &kernel, limits);
        let params = params(context, key, table, &pass.params);
        let bindings = self.bindings(context, pass).into_iter().chain(params);
        let bindings: Bindings<_> = bindings.collect();
        let (block, grid) = (&kernel.block, kernel.workgroups);
        let Some(count) = self.count else {
            let copy = dispatch(context, key, block, grid, &bindings)?;
            return Ok((None, copy));
        };
        let indirect = indirect_of(plan, pass, &kernel)?;
        let (limit, block, grid) = indirect::limit(context, block, &indirect, count)?;
        let copy = bind(context, key, &block, grid, &bindings)?;
        Ok((Some(limit), copy))
    }

    /// The dispatch that makes what a box takes from a window; if `fills`, what bad indices leave as well.
    fn decode(
        &self,
        context: &Context,
        plan: &Plan,
        (table, to): (&DeviceQuantizedTable, FloatType),
        pass: &Pass,
        window: &BoundWindow<'_>,
        fills: bool,
    ) -> Result<Dispatch> {
        let (layout, part) = (table.layout(), plan.part(pass));
        let elements = &window.window.elements;
        let kernel = DecodeKernel::new(
            &part,
            pass,
            [elements.start, elements.end],
            layout.together(&window.window),
            context.binding_limits.workgroups,
        )?;
        let stage = Stage::Decode(layout.format.decoder(), kernel.kind, kernel.nest);
        let key = PipelineKey::new(stage);
        let several_rows = !DecodeKernel::rows_lie_within(&part, layout.row());
        let block = TableBlock::of_window(layout, window, to, several_rows, fills);
        let table = uniform(context, &block)?;
        let scales = match &window.scales {
            Some(scales) => scales.binding.clone(),
            None => context.nothing.as_entire_binding(),
        };
        let [indices, output] = self.bindings(context, pass);
        let bindings = [
            indices,
            output,
            (PARAMS, window.codes.clone()),
            (SCALES, scales),
            (TABLE, table.as_entire_binding()),
        ];
        let (block, grid) = (&kernel.block, kernel.workgroups);
        dispatch(context, key, block, grid, &bindings)
    }

    /// Bindings common to all copies.
    fn bindings<'b>(
        &'b self,
        context: &'b Context,
        pass: &Pass,
    ) -> [(u32, wgpu::BindingResource<'b>); 2] {
        let indices = bound(context, &self.indices, pass.indices.as_ref());
        let output = self.output.binding(&pass.output);
        [(INDICES, indices), (OUTPUT, output)]
    }
}

/// The prepass that limits a pass to a count on the device.
fn indirect_of<'k>(plan: &Plan, pass: &Pass, kernel: &'k Kernel) -> Result<IndirectDispatch<'k>> {
    let per_entry = plan.elements_per_entry()?;
    let entry = pass.elements.start / per_entry;
    let (first_row, rows_per_entry) = if (pass.elements.end - 1) / per_entry == entry {
        // Within one entry, and maybe a part of a row: all of it is made, or nothing.
        let rows = u64::from(kernel.work.rows);
        (entry as u64 * rows, rows)
    } else {
        let slice = pass.geometry.slice();
        (
            (pass.elements.start / slice) as u64,
            (per_entry / slice) as u64,
        )
    };
    Ok(IndirectDispatch {
        work: &kernel.work,
        workgroups: kernel.workgroups,
        first_row,
        rows_per_entry,
    })
}
