//! `wgpu-gather gather`, `gather-nd` and `gather-elements`: files in, a file out.

use std::path::Path;

use anyhow::{Context, Result};
use wgpu_gather::AnyTable;
use wgpu_gather_files::{Source, StoredTensor};

use crate::answer::Answer;
use crate::args::GatherArgs;
use crate::backend::Chosen;
use crate::bad::Direction;
use crate::done::Done;
use crate::named::Named;
use crate::operator::Operator;
use crate::output::Output;
use crate::progress::Progress;
use crate::resident::{MOST_BYTES, Resident};
use crate::stream::Streamed;
use crate::tensors::{element_type, output_bytes};
use crate::{interrupt, quantized, rules};

/// Gathers as `args` say.
pub(crate) fn run(args: &GatherArgs<impl Operator>) -> Result<Answer> {
    let (op, decoding, args) = (args.attributes.op(), &args.quantized, &args.call);
    let out_named = || format!("output {}", args.out.display());

    let params_at = Named::parse("params", &args.params)?;
    let indices_at = Named::parse("indices", &args.indices)?;
    let parts_at = quantized::Sources::parse(decoding)?;
    let inputs = [&params_at.source, &indices_at.source].into_iter();
    let inputs: Vec<&Path> = inputs.chain(parts_at.iter()).map(Source::path).collect();
    let out = Output::new(&args.out, &inputs).with_context(out_named)?;
    let params = params_at.read()?;
    let indices = indices_at.read()?;
    let parts = parts_at.read()?;

    let quantized = quantized::table(decoding, args.dtype, (&params_at, &params), &parts)?;
    let dtype = match &quantized {
        Some((_, to)) => to.dtype(),
        None => params_at.name(element_type(params.stored(), args.dtype))?,
    };
    let indices_view = indices_at.name_it(indices.indices())?;
    let rules = rules::resolve(&args.rules, dtype)?;
    let params_shape = match &quantized {
        Some((table, _)) => table.shape(),
        None => params.shape(),
    };
    let indices_shape = indices.layout().shape();
    let shape = op.output_shape(params_shape, indices_shape, &rules)?;
    let bytes = output_bytes(&shape, dtype)?;
    let header = out.header(dtype, &shape, bytes).with_context(out_named)?;
    let table = match &quantized {
        Some((table, to)) => AnyTable::Quantized(table, *to),
        None => {
            let params = params_at.name_it(params.params())?;
            AnyTable::Plain(params.with_element_type(dtype)?)
        }
    };
    let call = Streamed {
        op,
        rules: &rules,
        table: &table,
        indices: &indices_view,
    };

    let chosen = Chosen::new(&args.backend)?;
    interrupt::watch()?;
    let mut file = out
        .begin((header.len() as u64).saturating_add(bytes as u64))
        .with_context(out_named)?;
    file.write(&header).with_context(out_named)?;
    let tensors: Vec<&StoredTensor> = [&params].into_iter().chain(parts.iter()).collect();
    if params.mapped_bytes() > MOST_BYTES && call.is_scattered()? {
        tensors.iter().for_each(|tensor| tensor.expect_scattered());
    }
    let mut progress = Progress::new(bytes as u64, args.quiet);
    let resident = Resident::of(&[&tensors[..], &[&indices]].concat());
    let counts = args.says_something();
    let ran = call.run(&chosen.executor, resident, counts, |chunk| {
        file.write(chunk).with_context(out_named)?;
        progress.add(chunk.len() as u64);
        Ok(())
    })?;
    drop(progress);
    file.finish().with_context(out_named)?;

    let done = Done {
        op: &op.kind().to_string(),
        how: None,
        params_shape,
        format: quantized
            .as_ref()
            .map(|(table, _)| table.format().to_string()),
        dtype,
        indices_shape,
        index_type: indices.stored(),
        output_shape: &shape,
        rules: &rules,
        direction: Direction::Reads,
        bad: ran.bad,
        chosen: &chosen,
        bytes,
        time: ran.time,
        out: out.path(),
    };
    Ok(done.answer(args))
}
