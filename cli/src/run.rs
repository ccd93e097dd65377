//! `wgpu-gather gather`, `gather-nd` and `gather-elements`: files in, a file out.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wgpu_gather::quantized::QuantizedCall;
use wgpu_gather::{DType, GatherCall, Op, Params, Rules};

use crate::answer::Answer;
use crate::args::CallArgs;
use crate::backend::Chosen;
use crate::files::{Array, MOST_BYTES, Output, Resident, Source};
use crate::progress::Progress;
use crate::stream::Streamed;
use crate::tensors::{as_indices, element_type, output_bytes};
use crate::{interrupt, quantized, rules, text};

/// Gathers as `args` say.
pub(crate) fn run(op: Op, args: &CallArgs) -> Result<Answer> {
    let params_named = || format!("params {}", args.params);
    let indices_named = || format!("indices {}", args.indices);
    let out_named = || format!("output {}", args.out.display());

    let params_at = Source::parse(&args.params).with_context(params_named)?;
    let indices_at = Source::parse(&args.indices).with_context(indices_named)?;
    let parts_at = quantized::Sources::parse(&args.quantized)?;
    let inputs = [&params_at, &indices_at].into_iter().chain(parts_at.iter());
    let inputs: Vec<&Path> = inputs.map(Source::path).collect();
    let out = Output::new(&args.out, &inputs).with_context(out_named)?;
    let params = Array::read(&params_at).with_context(params_named)?;
    let indices = Array::read(&indices_at).with_context(indices_named)?;
    let parts = parts_at.read(&args.quantized)?;

    let named = (args.params.as_str(), &params);
    let table = quantized::table(&args.quantized, args.dtype, named, &parts)?;
    let dtype = match &table {
        Some((_, to)) => to.dtype(),
        None => element_type(params.stored(), args.dtype).with_context(params_named)?,
    };
    let (index_dtype, indices_view) = as_indices(&indices).with_context(indices_named)?;
    let rules = rules::resolve(&args.rules, dtype)?;
    let params_shape = match &table {
        Some((table, _)) => table.shape(),
        None => params.layout().shape(),
    };
    let indices_shape = indices.layout().shape();
    let shape = op.output_shape(params_shape, indices_shape, &rules)?;
    let bytes = output_bytes(&shape, dtype)?;
    let header = out.header(dtype, &shape, bytes).with_context(out_named)?;
    let plain;
    let call = match &table {
        Some((table, to)) => {
            Streamed::Quantized(QuantizedCall::new(op, &rules, table, &indices_view, *to))
        }
        None => {
            plain = Params::new(params.bytes(), dtype.bytes(), params.layout().clone())?;
            Streamed::Plain(GatherCall::new(op, &rules, &plain, &indices_view))
        }
    };

    let chosen = Chosen::new(&args.backend)?;
    interrupt::watch()?;
    let mut file = out
        .begin((header.len() as u64).saturating_add(bytes as u64))
        .with_context(out_named)?;
    file.write(&header).with_context(out_named)?;
    let arrays: Vec<&Array> = [&params].into_iter().chain(parts.iter()).collect();
    if params.mapped_bytes() > MOST_BYTES && call.is_scattered()? {
        arrays.iter().for_each(|array| array.expect_scattered());
    }
    let mut progress = Progress::new(bytes as u64, args.quiet);
    let resident = Resident::of(&[&arrays[..], &[&indices]].concat());
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
        format: table.as_ref().map(|(table, _)| table.format().to_string()),
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

/// A gather that succeeded.
struct Done<'a> {
    op: Op,
    params_shape: &'a [usize],
    /// How params is quantised, if it is.
    format: Option<String>,
    /// Of the output, and of params where it is not quantised.
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
        let (params, output) = match &self.format {
            Some(format) => (format.as_str(), format!(" {}", self.dtype)),
            None => (self.dtype.name(), String::new()),
        };
        format!(
            "{}: params {:?} {params}, indices {:?} {} -> output {:?}{output}, {} bytes, {}, {}\n",
            self.op.kind(),
            self.params_shape,
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
            "format": self.format,
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
