//! `wgpu-gather scatter`, `scatter-nd` and `scatter-elements`: tensors in, a tensor out.
//!
//! Files of tensors are mapped; the destination is whole in memory, as any update may go anywhere.

use anyhow::Result;
use clap::Args;
use wgpu_gather::{DType, Layout, Reduce, Role};
use wgpu_gather_files::StoredTensor;

use crate::answer::Answer;
use crate::backend::Chosen;
use crate::bad::{self, Direction};
use crate::call_args::{CallArgs, InputArgs, Operator, OutArgs};
use crate::destination::Destination;
use crate::done::Done;
use crate::named::{Named, files_of};
use crate::tensors::{element_type, elements_of_type, output_bytes, reserved};
use crate::{rules, whole};

/// All three. Params are the destination before the call.
#[derive(Args)]
pub(crate) struct ScatterArgs<O: Operator> {
    #[command(flatten)]
    inputs: InputArgs,
    /// The values to scatter, of the type of params (as are raw bytes), in the shape of the gather's output:
    /// named as params are
    #[arg(long, value_name = "U")]
    updates: String,
    /// What becomes of values that meet, in row-major order of the indices: none (the last one
    /// stays), add, mul, min or max
    #[arg(long, value_name = "HOW")]
    reduce: Reduce,
    #[command(flatten)]
    to: OutArgs,
    #[command(flatten)]
    attributes: O,
    #[command(flatten)]
    call: CallArgs,
}

/// Scatters as `args` say.
pub(crate) fn run(args: &ScatterArgs<impl Operator>) -> Result<Answer> {
    let (call, report) = (&args.call, &args.call.report);
    let params_at = Named::parse("params", &args.inputs.params)?;
    let indices_at = Named::parse_integers("indices", &args.inputs.indices)?;
    let updates_at = Named::parse("updates", &args.updates)?;
    let files = files_of([&params_at, &indices_at, &updates_at])?;
    let out = Destination::of(args.to.out.as_deref(), &call.print, report.json, &files)?;
    let params = params_at.read()?;
    let indices = indices_at.read()?;
    let updates = updates_at.read()?;

    let dtype = params_at.name(element_type(params.stored(), call.types.dtype))?;
    let indices_view = indices_at.name_it(indices.indices())?;
    let has = ("params has", dtype);
    let updates_view = updates_at.name(elements_of_type(&updates, has))?;
    let rules = rules::resolve(&call.rules, dtype)?;
    let shape = params.layout().shape();
    let bytes = output_bytes(shape, dtype)?;
    let expected = out.expect(dtype, shape, bytes)?;
    let (op, reduce) = (args.attributes.op(), args.reduce);
    let updates_view = updates_view.with_element_type(dtype)?;

    let chosen = Chosen::new(&call.backend)?;
    let base = contiguous(&params, dtype, bytes)?;
    let (time, picture) = whole::write(&expected, base, report.quiet, |destination| {
        let (ids, updates) = (&indices_view, &updates_view);
        let executor = &chosen.executor;
        executor
            .scatter_into(op, reduce, &rules, shape, destination, ids, updates)
            .wait()
    })?;
    let bad = match report.says_something() {
        true => bad::of_good_call(op, &rules, shape, &indices_view)?,
        false => None,
    };
    let done = Done {
        op: &op.transposed_kind().to_string(),
        how: Some(("reduce", args.reduce.name())),
        params_shape: shape,
        format: None,
        dtype,
        indices_shape: indices.layout().shape(),
        index_type: indices.stored(),
        output_shape: shape,
        rules: &rules,
        direction: Direction::Writes,
        bad,
        chosen: &chosen,
        bytes,
        time,
        out: &out,
        picture,
    };
    done.answer(call)
}

/// The elements of a tensor, row-major, in memory of our own.
fn contiguous(tensor: &StoredTensor, dtype: DType, bytes: usize) -> Result<Vec<u8>> {
    let mut copy = reserved(Role::Output, bytes)?;
    let (layout, width) = (tensor.layout(), dtype.bytes());
    if layout.is_contiguous() && layout.offset() == 0 {
        copy.extend_from_slice(&tensor.bytes()[..bytes]);
        return Ok(copy);
    }
    let mut position = vec![0; layout.rank()];
    for _ in 0..bytes / width {
        let start = layout.position(&position) * width;
        copy.extend_from_slice(&tensor.bytes()[start..start + width]);
        next(&mut position, layout);
    }
    Ok(copy)
}

/// The next position, row-major.
fn next(position: &mut [usize], layout: &Layout) {
    for (at, &extent) in position.iter_mut().zip(layout.shape()).rev() {
        *at += 1;
        if *at < extent {
            return;
        }
        *at = 0;
    }
}
