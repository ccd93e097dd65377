//! `wgpu-gather gather`, `gather-nd` and `gather-elements`: tensors in, a tensor out.

use anyhow::Result;
use clap::Args;
use wgpu_gather::AnyTable;
use wgpu_gather_files::StoredTensor;

use crate::answer::Answer;
use crate::backend::Chosen;
use crate::bad::Direction;
use crate::call_args::{CallArgs, EXAMPLES, InputArgs, Operator, OutArgs};
use crate::destination::Destination;
use crate::done::Done;
use crate::named::{Named, files_of};
use crate::progress::Progress;
use crate::resident::{MOST_BYTES, Resident};
use crate::stream::{Watched, is_scattered, stream};
use crate::tensors::{element_type, output_bytes};
use crate::{bad, interrupt, quantized, rules};

/// `gather`, `gather-nd` and `gather-elements`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GatherArgs<O: Operator> {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    to: OutArgs,
    #[command(flatten)]
    attributes: O,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    quantized: quantized::QuantizedArgs,
}

/// Gathers as `args` say.
pub(crate) fn run(args: &GatherArgs<impl Operator>) -> Result<Answer> {
    let (op, decoding) = (args.attributes.op(), &args.quantized);
    let (inputs, to, args) = (&args.inputs, &args.to, &args.call);

    let params_at = Named::parse("params", &inputs.params)?;
    let indices_at = Named::parse_integers("indices", &inputs.indices)?;
    let parts_at = quantized::Sources::parse(decoding)?;
    let files = files_of([&params_at, &indices_at].into_iter().chain(parts_at.iter()))?;
    let (report, print) = (&args.report, &args.print);
    let out = Destination::of(to.out.as_deref(), print, report.json, &files)?;
    let params = params_at.read()?;
    let indices = indices_at.read()?;
    let parts = parts_at.read()?;

    let quantized = quantized::table(decoding, args.types.dtype, (&params_at, &params), &parts)?;
    let dtype = match &quantized {
        Some((_, to)) => to.dtype(),
        None => params_at.name(element_type(params.stored(), args.types.dtype))?,
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
    let expected = out.expect(dtype, &shape, bytes)?;
    let table = match &quantized {
        Some((table, to)) => AnyTable::Quantized(table, *to),
        None => {
            let params = params_at.name_it(params.params())?;
            AnyTable::Plain(params.with_element_type(dtype)?)
        }
    };
    let chosen = Chosen::new(&args.backend)?;
    let call = chosen.executor.gather(op, &rules, &table, &indices_view);
    interrupt::watch()?;
    let mut sink = expected.begin()?;
    let tensors: Vec<&StoredTensor> = [&params].into_iter().chain(parts.iter()).collect();
    if params.mapped_bytes() > MOST_BYTES && is_scattered(&call.plan()?, &table, &indices_view) {
        tensors.iter().for_each(|tensor| tensor.expect_scattered());
    }
    let mut progress = Progress::new(bytes as u64, report.quiet);
    let watched = Watched::new(Resident::of(&[&tensors[..], &[&indices]].concat()));
    let time = stream(&chosen.executor, call, &watched, |chunk| {
        sink.write(chunk)?;
        progress.add(chunk.len() as u64);
        Ok(())
    })?;
    let bad = match report.says_something() {
        true => watched.during(|| bad::of_good_call(op, &rules, params_shape, &indices_view))?,
        false => None,
    };
    drop(progress);
    let picture = sink.finish()?;

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
        bad,
        chosen: &chosen,
        bytes,
        time,
        out: &out,
        picture,
    };
    done.answer(args)
}
