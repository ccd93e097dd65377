//! Pooled lookups: the rows of a table are folded by bags. Those of a quantized table are decoded before, as
//! many at a time as there is memory for.

use std::sync::Arc;

use crate::bag::Bags;
use crate::call::{decoded_bag_dtype, dtype_of};
use crate::element::DType;
use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::device::commands::{Command, Dispatch, Grid};
use crate::gpu::device::pool::Owned;
use crate::gpu::pipeline::shader::{PipelineKey, segment_binding};
use crate::gpu::pipeline::{BAGS, INDICES, OUTPUT, PARAMS, POOLING};
use crate::gpu::record::checks;
use crate::gpu::record::gather;
use crate::gpu::record::launch::{Launch, uniform};
use crate::gpu::record::operation::{Made, Operation, Read};
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::quantized::DeviceQuantizedTable;
use crate::gpu::tensor::status::Status;
use crate::gpu::tensor::storage::{Placement, Storage};
use crate::gpu::tensor::table::{TableRef, check_start, check_values, index_type};
use crate::plan::{
    BagKernel, BagParts, BagPass, BagPlaces, BagPlan, BagShapes, FOLD_BYTES, Plan, Segment,
    bag_block, bag_passes,
};
use crate::quantized::FloatType;
use crate::rules::Rules;
use crate::shape::Layout;

const OP: OpKind = OpKind::EmbeddingBag;

/// The most bytes of decoded rows in memory, unless one row is larger.
const MOST_DECODED_BYTES: u64 = 16 << 20;

/// A pooled lookup of tensors on the device.
#[derive(Debug)]
pub(in crate::gpu) struct Bag<'a> {
    pub(in crate::gpu) plan: BagPlan,
    table: TableRef<'a>,
    indices: &'a AnyDeviceTensor,
    weights: Option<&'a AnyDeviceTensor>,
}

impl<'a> Bag<'a> {
    /// Checks the call, and plans it.
    pub(in crate::gpu) fn new(
        bags: Bags<'_>,
        rules: &Rules,
        table: TableRef<'a>,
        indices: &'a AnyDeviceTensor,
        weights: Option<&'a AnyDeviceTensor>,
    ) -> Result<Self> {
        let dtype = dtype(table)?;
        let index_type = index_type(OP, indices)?;
        if let Some(weights) = weights {
            check_values(OP, Role::Weights, weights, dtype)?;
        }
        let weights_layout = weights.map(|w| w.reached().0);
        let shapes = BagShapes {
            dtype,
            params: &table.layout(),
            index_type,
            indices: &indices.reached().0,
            weights: weights_layout.as_ref(),
        };
        Ok(Bag {
            plan: BagPlan::new(bags, rules, shapes)?,
            table,
            indices,
            weights,
        })
    }
}

/// The type that the rows of a table are folded in; they start at whole elements.
fn dtype(table: TableRef<'_>) -> Result<DType> {
    let tensor = match table {
        TableRef::Quantized(_, to) => return decoded_bag_dtype(to),
        TableRef::Plain(tensor) => tensor,
    };
    let dtype = dtype_of(OP, Role::Params, tensor.element_type())?;
    check_start(OP, Role::Params, tensor, dtype.bytes())?;
    Ok(dtype)
}

impl Operation for Bag<'_> {
    fn op(&self) -> OpKind {
        OP
    }

    fn is_empty(&self) -> bool {
        self.plan.output_bytes == 0
    }

    fn reads(&self) -> Vec<Read<'_>> {
        let weights = self.weights.map(|w| Read::Tensor(Role::Weights, w));
        [
            Read::table(self.table),
            Read::Tensor(Role::Indices, self.indices),
        ]
        .into_iter()
        .chain(weights)
        .collect()
    }

    fn lookups(&self) -> Option<&Plan> {
        Some(&self.plan.lookups)
    }

    fn replaces(&self) -> bool {
        true
    }

    fn commands(
        &self,
        context: &Context,
        output: &AnyDeviceTensor,
        status: Option<&Status>,
    ) -> Result<Made> {
        if self.is_empty() {
            return Ok(Made::default());
        }
        let (plan, memory);
        plan = &self.plan;
        let rows = match self.table {
            TableRef::Plain(tensor) => Rows::Plain(tensor.reached().1),
            TableRef::Quantized(table, _) => {
                let room = room(context, plan)?;
                memory = context.allocate("decoded rows", (room * plan.row_bytes()) as u64, &[])?;
                Rows::Decoded(DecodedRows {
                    table,
                    storage: &memory,
                    memory: memory.placement(),
                    room,
                })
            }
        };
        let placed = Placed {
            rows,
            indices: self.indices.reached().1,
            weights: self.weights.map(|w| w.reached().1),
            output: output.reached().1,
            status,
        };
        placed.commands(context, plan)
    }
}

/// What is folded from.
#[derive(Debug)]
enum Rows<'a> {
    /// A table of elements as they are.
    Plain(Placement<'a>),
    /// A quantized table.
    Decoded(DecodedRows<'a>),
}

/// Rows of a quantized table, decoded to f32 in scratch memory.
#[derive(Debug)]
struct DecodedRows<'a> {
    table: &'a DeviceQuantizedTable,
    storage: &'a Storage,
    memory: Placement<'a>,
    /// How many rows the memory holds.
    room: usize,
}

impl<'a> Rows<'a> {
    fn params(&self) -> &Placement<'a> {
        match self {
            Rows::Plain(params) => params,
            Rows::Decoded(rows) => &rows.memory,
        }
    }

    /// How many rows there is memory for, if they are decoded.
    fn room(&self) -> Option<usize> {
        match self {
            Rows::Plain(_) => None,
            Rows::Decoded(rows) => Some(rows.room),
        }
    }

    fn scratch(&self) -> Vec<Arc<Owned>> {
        match self {
            Rows::Plain(_) => Vec::new(),
            Rows::Decoded(rows) => rows.storage.owned().cloned().collect(),
        }
    }
}

impl DecodedRows<'_> {
    /// The commands that decode the rows of `plan`, one after the other.
    fn decode(
        &self,
        context: &Context,
        plan: &Plan,
        indices: &Placement<'_>,
    ) -> Result<Vec<Command>> {
        let placed = gather::Placed {
            table: gather::PlacedTable::Decode(self.table, FloatType::F32),
            indices: indices.clone(),
            output: self.memory.clone(),
            status: None,
            flag: false,
            count: None,
        };
        let dispatches = placed.dispatches(context, plan)?;
        Ok(dispatches.into_iter().map(Command::Dispatch).collect())
    }
}

/// How many decoded rows a call has memory for: those of all its lookups, if they are few, and at least one.
fn room(context: &Context, plan: &BagPlan) -> Result<usize> {
    let row = plan.row_bytes().max(1) as u64;
    let limits = &context.binding_limits;
    let bound = limits.params_bytes.min(limits.output_bytes);
    let limit = bound.min(context.limits.max_buffer_size & !255);
    if row > limit {
        return Err(Error::TensorTooLarge {
            op: OP,
            role: Role::Output,
            bytes: row,
            limit,
        });
    }
    let most = (MOST_DECODED_BYTES.min(limit) / row).max(1) as usize;
    Ok(most.min(plan.lookups.lookups().elements()))
}

/// The most bytes of decoded rows that a call has in memory.
pub(in crate::gpu) fn most_decoded_bytes(plan: &BagPlan) -> u64 {
    let row = plan.row_bytes() as u64;
    let all = row.saturating_mul(plan.lookups.lookups().elements() as u64);
    all.min(MOST_DECODED_BYTES.max(row))
}

/// Where the tensors of one recording lie.
#[derive(Debug)]
struct Placed<'a> {
    rows: Rows<'a>,
    indices: Placement<'a>,
    weights: Option<Placement<'a>>,
    output: Placement<'a>,
    status: Option<&'a Status>,
}

impl Placed<'_> {
    fn commands(&self, context: &Context, plan: &BagPlan) -> Result<Made> {
        self.check(plan)?;
        let weights = self.weights.as_ref();
        let parts = BagParts {
            params: &self.rows.params().parts,
            decoded: self.rows.room(),
            indices: &self.indices.parts,
            weights: weights.map_or(&[], |w| &w.parts),
            output: &self.output.parts,
        };
        let passes = bag_passes(plan, parts, &context.binding_limits)?;
        let folds = Folds::new(context, plan, &passes)?;
        let mut commands = Vec::new();
        for (n, pass) in passes.iter().enumerate() {
            if let (Rows::Decoded(rows), [_, ..]) = (&self.rows, &pass.params[..]) {
                commands.extend(rows.decode(context, &pass.rows(plan)?, &self.indices)?);
            }
            pool(
                context,
                plan,
                self,
                (n, pass),
                folds.as_ref(),
                &mut commands,
            )?;
        }
        if let Some(status) = self.status {
            let checks = checks::dispatches(context, &plan.lookups, &self.indices, status)?;
            commands.extend(checks.into_iter().map(Command::Dispatch));
        }
        let copies = commands.iter().any(|c| !matches!(c, Command::Dispatch(_)));
        Ok(Made {
            commands,
            scratch: self.rows.scratch(),
            copies: copies.then_some(Role::Weights),
        })
    }

    /// Checks that the buffers hold what the plan reaches.
    fn check(&self, plan: &BagPlan) -> Result<()> {
        let width = plan.dtype.bytes();
        let index_bytes = plan.lookups.index_type().bytes();
        if let Rows::Plain(table) = &self.rows {
            table.check(OP, Role::Params, plan.lookups.params_layout(), width)?;
        }
        self.indices
            .check(OP, Role::Indices, plan.indices(), index_bytes)?;
        let output = Layout::contiguous(&plan.output_shape);
        self.output.check(OP, Role::Output, &output, width)?;
        match (&self.weights, &plan.weights) {
            (Some(weights), Some(layout)) => weights.check(OP, Role::Weights, layout, width),
            _ => Ok(()),
        }
    }
}

/// Where the folds of parts of a bag are left: in two buffers by turns, as one is read while the other
/// is written. Before the folds is room for the weights of the part that goes on with them.
struct Folds {
    buffers: [wgpu::Buffer; 2],
    /// The bytes before the folds.
    at: u64,
}

impl Folds {
    /// Those of these passes; none, if each has whole bags.
    fn new(context: &Context, plan: &BagPlan, passes: &[BagPass]) -> Result<Option<Folds>> {
        let weights = passes
            .iter()
            .filter(|pass| pass.is_part())
            .map(|pass| pass.weights.map_or(0, |w| w.size.next_multiple_of(16)));
        let Some(at) = weights.max() else {
            return Ok(None);
        };
        let bytes = at + (plan.row_bytes() / plan.dtype.bytes()) as u64 * FOLD_BYTES;
        let limit = context.binding_limits.params_bytes;
        if bytes > limit {
            return Err(Error::TensorTooLarge {
                op: OP,
                role: Role::Output,
                bytes,
                limit,
            });
        }
        let buffers = [scratch(context, bytes)?, scratch(context, bytes)?];
        Ok(Some(Folds { buffers, at }))
    }
}

/// The commands of pass number `n`: the copy of its weights, if they have to lie beside something
/// else, and its dispatch.
fn pool(
    context: &Context,
    plan: &BagPlan,
    placed: &Placed<'_>,
    (n, pass): (usize, &BagPass),
    folds: Option<&Folds>,
    commands: &mut Vec<Command>,
) -> Result<()> {
    let limits = &context.binding_limits;
    let kernel = BagKernel::new(plan, pass, limits.workgroups)?;
    let weights = pass.weights.map_or(0, |w| w.size.next_multiple_of(16));
    let (read, written) = (
        folds.filter(|_| pass.resumes).map(|f| &f.buffers[n % 2]),
        folds
            .filter(|_| pass.is_partial)
            .map(|f| &f.buffers[(n + 1) % 2]),
    );
    let data = match read {
        Some(buffer) => Some(buffer.clone()),
        None => offsets(context, plan, pass, weights)?,
    };
    if let (Some(to), Some(segment), Some(from)) = (&data, pass.weights, &placed.weights) {
        commands.push(copy(from, &segment, to)?);
    }
    let fold_word = folds.map_or(0, |f| (f.at / 4) as u32);
    let places = BagPlaces {
        offsets: (weights / 4) as u32,
        folds: fold_word,
    };
    let key = PipelineKey::of_bags(&kernel, limits);
    let geometry = uniform(context, &kernel.geometry)?;
    let block = uniform(context, &bag_block(plan, pass, &kernel, places))?;
    let launch = Launch::new(context, key, geometry, Grid::Fixed(kernel.workgroups))?;
    let nothing = || context.nothing.as_entire_binding();
    let indices = pass.indices.as_ref();
    let output = match written {
        Some(folds) => folds.as_entire_binding(),
        None => placed.output.binding(&pass.output),
    };
    let bags = match (&data, &pass.weights, &placed.weights) {
        (Some(data), ..) => data.as_entire_binding(),
        (None, Some(segment), Some(weights)) => weights.binding(segment),
        (None, ..) => nothing(),
    };
    let mut bindings = vec![
        (
            INDICES,
            indices.map_or_else(nothing, |s| placed.indices.binding(s)),
        ),
        (OUTPUT, output),
        (POOLING, block.as_entire_binding()),
        (BAGS, bags),
    ];
    bindings.extend((0..launch.pipeline.segments.max(1)).map(|n| {
        let segment = pass.params.get(n as usize);
        let params = segment.map_or_else(nothing, |s| placed.rows.params().binding(s));
        (if n == 0 { PARAMS } else { segment_binding(n) }, params)
    }));
    let bound: Dispatch = launch.bind(context, &bindings)?;
    commands.push(Command::Dispatch(bound.making(pass.bytes)));
    Ok(())
}

/// A buffer with room for so many bytes of weights and the offsets of a pass behind them; none, if it
/// needs no offsets.
fn offsets(
    context: &Context,
    plan: &BagPlan,
    pass: &BagPass,
    weights: u64,
) -> Result<Option<wgpu::Buffer>> {
    let offsets = pass.offsets(plan);
    if offsets.is_empty() {
        return Ok(None);
    }
    let mut words = vec![0; (weights / 4) as usize];
    words.extend(offsets);
    let buffer = scratch(context, words.len() as u64 * 4)?;
    context.scoped("an upload", || {
        let bytes = bytemuck::cast_slice(&words);
        context.queue.write_new_buffer(&buffer, bytes);
    })?;
    Ok(Some(buffer))
}

fn scratch(context: &Context, bytes: u64) -> Result<wgpu::Buffer> {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    context.create_buffer("bags", bytes, usage)
}

/// Copies weights to the start of a buffer.
fn copy(from: &Placement<'_>, segment: &Segment, to: &wgpu::Buffer) -> Result<Command> {
    let from = from.buffers[segment.part];
    match from.usage().contains(wgpu::BufferUsages::COPY_SRC) {
        true => Ok(Command::Copy {
            from: from.clone(),
            offset: segment.offset,
            to: to.clone(),
            to_offset: 0,
            bytes: segment.size,
        }),
        false => Err(Error::MissingUsage {
            op: Some(OP),
            role: Role::Weights,
            usage: "COPY_SRC",
        }),
    }
}
