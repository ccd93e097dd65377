//! `wgpu-gather gather`, `gather-nd` and `gather-elements`: files in, a file out.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use wgpu_gather::{
    DType, Error, GatherCall, Index, IndexType, Indices, Layout, Op, Params, Role, Rules,
};

use crate::answer::Answer;
use crate::args::CallArgs;
use crate::backend::Chosen;
use crate::files::{Array, MOST_BYTES, Output, Resident, Source, Stored};
use crate::progress::Progress;
use crate::stream::Streamed;
use crate::{interrupt, rules, text};

/// Gathers as `args` say.
pub(crate) fn run(op: Op, args: &CallArgs) -> Result<Answer> {
    let params_named = || format!("params {}", args.params);
    let indices_named = || format!("indices {}", args.indices);
    let out_named = || format!("output {}", args.out.display());

    let params_at = Source::parse(&args.params).with_context(params_named)?;
    let indices_at = Source::parse(&args.indices).with_context(indices_named)?;
    let out =
        Output::new(&args.out, &[params_at.path(), indices_at.path()]).with_context(out_named)?;
    let params = Array::read(&params_at).with_context(params_named)?;
    let indices = Array::read(&indices_at).with_context(indices_named)?;

    let dtype = element_type(params.stored(), args.dtype).with_context(params_named)?;
    let (index_dtype, indices_view) = as_indices(&indices).with_context(indices_named)?;
    let params_view = Params::new(params.bytes(), dtype.bytes(), params.layout().clone())?;
    let rules = rules::resolve(&args.rules, dtype)?;
    let (params_shape, indices_shape) = (params.layout().shape(), indices.layout().shape());
    let shape = op.output_shape(params_shape, indices_shape, &rules)?;
    let bytes = output_bytes(&shape, dtype)?;
    let header = out.header(dtype, &shape, bytes).with_context(out_named)?;

    let chosen = Chosen::new(&args.backend)?;
    interrupt::watch()?;
    let mut file = out
        .begin((header.len() as u64).saturating_add(bytes as u64))
        .with_context(out_named)?;
    file.write(&header).with_context(out_named)?;
    let call = Streamed(GatherCall::new(op, &rules, &params_view, &indices_view));
    if params.mapped_bytes() > MOST_BYTES && call.is_scattered()? {
        params.expect_scattered();
    }
    let mut progress = Progress::new(bytes as u64, args.quiet);
    let resident = Resident::of(&[&params, &indices]);
    let time = call.run(&chosen.executor, resident, |chunk| {
        file.write(chunk).with_context(out_named)?;
        progress.add(chunk.len() as u64);
        Ok(())
    })?;
    drop(progress);
    file.finish().with_context(out_named)?;

    let done = Done {
        op,
        params_shape,
        dtype,
        indices_shape,
        index_dtype,
        output_shape: &shape,
        preset: &args.rules.rules,
        rules: &rules,
        chosen: &chosen,
        bytes,
        time,
        out: out.path(),
    };
    Ok(match (args.json, args.quiet) {
        (true, _) => Answer::json(&done.json(), true),
        (false, true) => Answer::good(String::new()),
        (false, false) => Answer::good(done.line()),
    })
}

/// The element type of params: the file's, or for raw bytes the declared one.
fn element_type(stored: Stored, declared: Option<DType>) -> Result<DType> {
    match (stored, declared) {
        (Stored::Typed(dtype), None) => Ok(dtype),
        (Stored::Raw(width), Some(dtype)) if width == dtype.bytes() => Ok(dtype),
        (Stored::Typed(dtype), Some(declared)) => bail!(
            "--dtype {declared} is for raw bytes, but the file says that the elements are {dtype}"
        ),
        (Stored::Raw(width), Some(declared)) => bail!(
            "--dtype {declared} is for {}-byte elements, but the raw elements ({stored}) have \
             {width} bytes{}",
            declared.bytes(),
            of_width(width)
        ),
        (Stored::Raw(width), None) => bail!(
            "raw elements ({stored}) need --dtype to say what they are{}",
            of_width(width)
        ),
    }
}

/// The element types of `width` bytes, for the end of a message.
fn of_width(width: usize) -> String {
    let fitting = DType::ALL.into_iter().filter(|d| d.bytes() == width);
    let names: Vec<&str> = fitting.map(DType::name).collect();
    match names.is_empty() {
        true => format!(" (no element type has {width} bytes)"),
        false => format!(" (allowed: {})", names.join(", ")),
    }
}

/// The array as indices, with the type that the file has.
fn as_indices(array: &Array) -> Result<(DType, Indices<'_>)> {
    let bytes = array.bytes();
    let as_is = |index_type: IndexType| (index_type, Cow::Borrowed(bytes));
    let (index_type, bytes) = match array.stored() {
        Stored::Typed(DType::I8) => widened::<i8>(bytes),
        Stored::Typed(DType::U8) => widened::<u8>(bytes),
        Stored::Typed(DType::I16) => widened::<i16>(bytes),
        Stored::Typed(DType::U16) => widened::<u16>(bytes),
        Stored::Typed(DType::I32) => as_is(IndexType::I32),
        Stored::Typed(DType::U32) => as_is(IndexType::U32),
        Stored::Typed(DType::I64) => as_is(IndexType::I64),
        Stored::Typed(DType::U64) => as_is(IndexType::U64),
        other => bail!(
            "elements of type {other} cannot index (allowed: i8, u8, i16, u16, i32, u32, i64, u64)"
        ),
    };
    let Stored::Typed(dtype) = array.stored() else {
        bail!("raw elements cannot index");
    };
    let indices = Indices::new(bytes, index_type, array.layout().clone())?;
    Ok((dtype, indices))
}

fn widened<I: Index + bytemuck::AnyBitPattern>(bytes: &[u8]) -> (IndexType, Cow<'static, [u8]>) {
    let values: Vec<I> = bytemuck::allocation::pod_collect_to_vec(bytes);
    (I::TYPE, Cow::Owned(I::widened(&values).into_owned()))
}

/// Bytes of the output; its dims fit the address space even where one of them is zero, as a file
/// header has them all.
fn output_bytes(shape: &[usize], dtype: DType) -> Result<usize> {
    let dims: Vec<usize> = shape.iter().map(|&dim| dim.max(1)).collect();
    let most = Layout::checked_elements(&dims).and_then(|n| n.checked_mul(dtype.bytes()));
    let fits = most.is_some_and(|bytes| isize::try_from(bytes).is_ok());
    let elements = Layout::checked_elements(shape).filter(|_| fits);
    let elements = elements.ok_or_else(|| Error::SizeOverflow {
        role: Role::Output,
        shape: shape.to_vec(),
        element_bytes: dtype.bytes(),
    })?;
    Ok(elements * dtype.bytes())
}

/// A gather that succeeded.
struct Done<'a> {
    op: Op,
    params_shape: &'a [usize],
    dtype: DType,
    indices_shape: &'a [usize],
    index_dtype: DType,
    output_shape: &'a [usize],
    preset: &'a str,
    rules: &'a Rules,
    chosen: &'a Chosen,
    bytes: usize,
    /// Of the gather itself, with all copies to and from the device; without writing the file.
    time: Duration,
    out: &'a Path,
}

impl Done<'_> {
    fn line(&self) -> String {
        format!(
            "{}: params {:?} {}, indices {:?} {} -> output {:?}, {} bytes, {}, {}\n",
            self.op.kind(),
            self.params_shape,
            self.dtype,
            self.indices_shape,
            self.index_dtype,
            self.output_shape,
            self.bytes,
            self.chosen.describe(),
            text::duration(self.time)
        )
    }

    fn json(&self) -> Value {
        let adapter = self.chosen.adapter();
        json!({
            "op": self.op.kind().to_string(),
            "params_shape": self.params_shape,
            "dtype": self.dtype.name(),
            "indices_shape": self.indices_shape,
            "index_type": self.index_dtype.name(),
            "output_shape": self.output_shape,
            "rules": {
                "name": self.preset,
                "negative": rules::negative_text(self.rules),
                "out_of_bounds": rules::out_of_bounds_text(self.rules),
            },
            "executor": self.chosen.name(),
            "reason": self.chosen.reason,
            "adapter": adapter.map(|a| &a.name),
            "api": adapter.map(|a| a.api.to_str()),
            "bytes": self.bytes,
            "seconds": self.time.as_secs_f64(),
            "out": self.out.display().to_string(),
        })
    }
}
