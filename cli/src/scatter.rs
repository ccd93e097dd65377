//! `wgpu-gather scatter`, `scatter-nd` and `scatter-elements`: files in, a file out.
//!
//! Files of tensors are mapped; the destination is whole in memory, as any update may go anywhere.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};
use wgpu_gather::{DType, Error, Layout, Op, Reduce, Role, ScatterCall};

use crate::answer::Answer;
use crate::args::CallArgs;
use crate::backend::Chosen;
use crate::files::{Array, Output, Source};
use crate::progress::Progress;
use crate::tensors::{as_indices, element_type, elements_of_type, output_bytes};
use crate::{interrupt, rules, text};

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 8 << 20;

/// `scatter`.
#[derive(Args)]
pub(crate) struct ScatterSlicesArgs {
    /// The dim of params scattered along; negative counts from the back [default: the first dim
    /// after the batch dims]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    axis: Option<isize>,
    /// How many leading dims params and indices share; negative counts from the rank of indices
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    batch_dims: isize,
    #[command(flatten)]
    scatter: ScatterArgs,
}

/// `scatter-nd`.
#[derive(Args)]
pub(crate) struct ScatterNdArgs {
    /// How many leading dims params and indices share
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    batch_dims: isize,
    #[command(flatten)]
    scatter: ScatterArgs,
}

/// `scatter-elements`.
#[derive(Args)]
pub(crate) struct ScatterElementsArgs {
    /// The dim of params scattered along; negative counts from the back
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    axis: isize,
    #[command(flatten)]
    scatter: ScatterArgs,
}

/// What the three have in common. Params are the destination before the call.
#[derive(Args)]
struct ScatterArgs {
    /// The values to scatter, of the type of params, in the shape of the gather's output:
    /// FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME
    #[arg(long, value_name = "U")]
    updates: String,
    /// What becomes of values that meet, in row-major order of the indices: none (the last one
    /// stays), add, mul, min or max
    #[arg(long, value_name = "HOW", value_parser = reduce)]
    reduce: Reduce,
    #[command(flatten)]
    call: CallArgs,
}

fn reduce(name: &str) -> Result<Reduce, String> {
    Reduce::named(name).ok_or_else(|| {
        let allowed = Reduce::ALL.map(Reduce::name).join(", ");
        format!("allowed: {allowed}")
    })
}

/// Slices along an axis.
pub(crate) fn slices(args: &ScatterSlicesArgs) -> Result<Answer> {
    let op = Op::Gather {
        axis: args.axis,
        batch_dims: args.batch_dims,
    };
    run(op, &args.scatter)
}

/// Slices at tuples of coordinates.
pub(crate) fn nd(args: &ScatterNdArgs) -> Result<Answer> {
    let batch_dims = args.batch_dims;
    run(Op::GatherNd { batch_dims }, &args.scatter)
}

/// Elements along an axis.
pub(crate) fn elements(args: &ScatterElementsArgs) -> Result<Answer> {
    run(Op::GatherElements { axis: args.axis }, &args.scatter)
}

/// Scatters as `args` say: the transpose of `op`.
fn run(op: Op, args: &ScatterArgs) -> Result<Answer> {
    let call = &args.call;
    let params_named = || format!("params {}", call.params);
    let indices_named = || format!("indices {}", call.indices);
    let updates_named = || format!("updates {}", args.updates);
    let out_named = || format!("output {}", call.out.display());

    let params_at = Source::parse(&call.params).with_context(params_named)?;
    let indices_at = Source::parse(&call.indices).with_context(indices_named)?;
    let updates_at = Source::parse(&args.updates).with_context(updates_named)?;
    let paths = [params_at.path(), indices_at.path(), updates_at.path()];
    let out = Output::new(&call.out, &paths).with_context(out_named)?;
    let params = Array::read(&params_at).with_context(params_named)?;
    let indices = Array::read(&indices_at).with_context(indices_named)?;
    let updates = Array::read(&updates_at).with_context(updates_named)?;

    let dtype = element_type(params.stored(), call.dtype).with_context(params_named)?;
    let (index_dtype, indices_view) = as_indices(&indices).with_context(indices_named)?;
    let updates_view = elements_of_type(&updates, ("params has", dtype), call.dtype)
        .with_context(updates_named)?;
    let rules = rules::resolve(&call.rules, dtype)?;
    let shape = params.layout().shape();
    let bytes = output_bytes(shape, dtype)?;
    let header = out.header(dtype, shape, bytes).with_context(out_named)?;
    let scatter = ScatterCall {
        op,
        reduce: args.reduce,
        rules: &rules,
        dtype,
        shape,
        indices: &indices_view,
        updates: &updates_view,
    };

    let chosen = Chosen::new(&call.backend)?;
    interrupt::watch()?;
    let mut file = out
        .begin((header.len() as u64).saturating_add(bytes as u64))
        .with_context(out_named)?;
    file.write(&header).with_context(out_named)?;
    let mut progress = Progress::new(bytes as u64, call.quiet);
    let mut destination = contiguous(&params, dtype, bytes)?;
    let started = Instant::now();
    chosen
        .executor
        .scatter_bytes_blocking(scatter, &mut destination)?;
    let time = started.elapsed();
    for chunk in destination.chunks(CHUNK_BYTES) {
        file.write(chunk).with_context(out_named)?;
        progress.add(chunk.len() as u64);
    }
    drop(progress);
    file.finish().with_context(out_named)?;

    let done = Done {
        scatter,
        index_dtype,
        preset: &call.rules.rules,
        chosen: &chosen,
        bytes,
        time,
        out: out.path().display().to_string(),
    };
    Ok(match (call.json, call.quiet) {
        (true, _) => Answer::json(&done.json(), true),
        (false, true) => Answer::good(String::new()),
        (false, false) => Answer::good(done.line()),
    })
}

/// The elements of an array, row-major, in memory of our own.
fn contiguous(array: &Array, dtype: DType, bytes: usize) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes)
        .map_err(|_| Error::HostOutOfMemory {
            role: Role::Output,
            bytes,
        })?;
    let (layout, width) = (array.layout(), dtype.bytes());
    if layout.is_contiguous() && layout.offset() == 0 {
        copy.extend_from_slice(&array.bytes()[..bytes]);
        return Ok(copy);
    }
    let mut position = vec![0; layout.rank()];
    for _ in 0..bytes / width {
        let start = layout.position(&position) * width;
        copy.extend_from_slice(&array.bytes()[start..start + width]);
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

/// A scatter that succeeded.
struct Done<'a> {
    scatter: ScatterCall<'a>,
    index_dtype: DType,
    preset: &'a str,
    chosen: &'a Chosen,
    bytes: usize,
    /// Of the scatter itself, with all copies to and from the device; without writing the file.
    time: Duration,
    out: String,
}

impl Done<'_> {
    fn line(&self) -> String {
        format!(
            "{} {}: params {:?} {}, indices {:?} {}, {} bytes, {}, {}\n",
            self.scatter.op.transposed_kind(),
            self.scatter.reduce,
            self.scatter.shape,
            self.scatter.dtype,
            self.scatter.indices.layout().shape(),
            self.index_dtype,
            self.bytes,
            self.chosen.describe(),
            text::duration(self.time)
        )
    }

    fn json(&self) -> Value {
        let adapter = self.chosen.adapter();
        json!({
            "op": self.scatter.op.transposed_kind().to_string(),
            "reduce": self.scatter.reduce.name(),
            "params_shape": self.scatter.shape,
            "dtype": self.scatter.dtype.name(),
            "indices_shape": self.scatter.indices.layout().shape(),
            "index_type": self.index_dtype.name(),
            "output_shape": self.scatter.shape,
            "rules": {
                "name": self.preset,
                "negative": rules::negative_text(self.scatter.rules),
                "out_of_bounds": rules::out_of_bounds_text(self.scatter.rules),
            },
            "executor": self.chosen.name(),
            "reason": self.chosen.reason,
            "adapter": adapter.map(|a| &a.name),
            "api": adapter.map(|a| a.api.to_str()),
            "bytes": self.bytes,
            "seconds": self.time.as_secs_f64(),
            "out": self.out,
        })
    }
}
