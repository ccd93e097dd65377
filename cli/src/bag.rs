//! `wgpu-gather embedding-bag`: files in, a file out.
//!
//! Files of tensors are mapped; the output, one row for each bag, is made whole in memory.

use anyhow::{Context, Result};
use clap::Args;
use wgpu_gather::quantized::FloatType;
use wgpu_gather::{AnyTable, BagMode, Bags, DType, Executor, Indices, Op, Role};
use wgpu_gather_files::Source;

use crate::answer::Answer;
use crate::backend::Chosen;
use crate::bad::{self, Direction};
use crate::call_args::CallArgs;
use crate::done::Done;
use crate::named::Named;
use crate::output::Output;
use crate::quantized::{self, QuantizedArgs};
use crate::tensors::{element_type, elements_of_type, output_bytes, reserved};
use crate::{rules, whole};

/// `embedding-bag`.
#[derive(Args)]
pub(crate) struct EmbeddingBagArgs {
    /// Where bags start in the indices, which then have one dim: FILE.npy, FILE.npz:NAME or
    /// FILE.safetensors:NAME [default: each row of two-dimensional indices is a bag]
    #[arg(long, value_name = "F")]
    offsets: Option<String>,
    /// The last offset is the end of the last bag, not the start of another
    #[arg(long, requires = "offsets")]
    include_last_offset: bool,
    /// A weight for each index, of the type of params (f32 if they are quantised), as are raw bytes; with --mode sum
    #[arg(long, value_name = "W")]
    weights: Option<String>,
    /// What becomes of the rows of a bag: sum, mean or max
    #[arg(long, default_value = "sum")]
    mode: BagMode,
    /// The row of params that counts for nothing; negative counts from the back
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    padding_index: Option<isize>,
    #[command(flatten)]
    quantized: QuantizedArgs,
    #[command(flatten)]
    call: CallArgs,
}

impl EmbeddingBagArgs {
    /// The indices that lie in a bag: those before the last offset, where that is the end.
    fn pooled<'a>(
        &self,
        indices: &'a Indices<'_>,
        offsets: Option<&[usize]>,
    ) -> Result<Indices<'a>, wgpu_gather::Error> {
        let layout = match offsets {
            Some([.., end]) if self.include_last_offset => indices.layout().slice(0, 0..*end)?,
            _ => indices.layout().clone(),
        };
        Indices::new(indices.bytes(), indices.index_type(), layout)
    }
}

/// Pools as `args` say.
pub(crate) fn run(args: &EmbeddingBagArgs) -> Result<Answer> {
    let call = &args.call;
    let params_at = Named::parse("params", &call.params)?;
    let indices_at = Named::parse("indices", &call.indices)?;
    let offsets_at = Named::optional("offsets", args.offsets.as_ref())?;
    let weights_at = Named::optional("weights", args.weights.as_ref())?;
    let out_named = || format!("output {}", call.out.display());
    let parts_at = quantized::Sources::parse(&args.quantized)?;
    let all = [
        Some(&params_at),
        Some(&indices_at),
        offsets_at.as_ref(),
        weights_at.as_ref(),
    ];
    let all = all.into_iter().flatten().map(|at| &at.source);
    let paths: Vec<_> = all.chain(parts_at.iter()).map(Source::path).collect();
    let out = Output::new(&call.out, &paths).with_context(out_named)?;

    let params = params_at.read()?;
    let indices = indices_at.read()?;
    let parts = parts_at.read()?;
    let table_at = (&params_at, &params);
    let quantized = quantized::table_to_f32(&args.quantized, call.dtype, table_at, &parts)?;
    let dtype = match &quantized {
        Some(_) => DType::F32,
        None => params_at.name(element_type(params.stored(), call.dtype))?,
    };
    let indices_view = indices_at.name_it(indices.indices())?;
    let offsets = offsets_at.as_ref().map(read_offsets).transpose()?;
    let weights = weights_at.as_ref().map(Named::read).transpose()?;
    let weights = match (&weights, &weights_at) {
        (Some(tensor), Some(at)) => {
            let has = match &quantized {
                Some(_) => "params decodes to",
                None => "params has",
            };
            Some(at.name(elements_of_type(tensor, (has, dtype)))?)
        }
        _ => None,
    };
    let bags = match &offsets {
        None => Bags::rows(args.mode),
        Some(offsets) if args.include_last_offset => Bags::offsets_with_last(args.mode, offsets),
        Some(offsets) => Bags::offsets(args.mode, offsets),
    };
    let bags = match args.padding_index {
        Some(padding) => bags.with_padding_index(padding),
        None => bags,
    };
    let rules = rules::resolve(&call.rules, dtype)?;
    let table = match &quantized {
        Some(table) => AnyTable::Quantized(table, FloatType::F32),
        None => {
            let params = params_at.name_it(params.params())?;
            AnyTable::Plain(params.with_element_type(dtype)?)
        }
    };
    let weights = match weights {
        Some(weights) => Some(weights.with_element_type(dtype)?),
        None => None,
    };
    let pooled = |executor: &Executor| {
        let call = executor.embedding_bag(bags, &rules, &table, &indices_view);
        match &weights {
            Some(weights) => call.weights(weights),
            None => call,
        }
    };
    let shape = pooled(&Executor::Cpu).output_shape()?;
    let bytes = output_bytes(&shape, dtype)?;
    let header = out.header(dtype, &shape, bytes).with_context(out_named)?;

    let chosen = Chosen::new(&call.backend)?;
    let mut made = reserved(Role::Output, bytes)?;
    made.resize(bytes, 0);
    let time = whole::write(&out, &header, made, call.quiet, |output| {
        pooled(&chosen.executor).into(output).wait()
    })?;
    let params_shape = table.shape();
    let bad = match call.says_something() {
        true => {
            let pooled = args.pooled(&indices_view, offsets.as_deref())?;
            bad::of_good_call(Op::gather(0), &rules, params_shape, &pooled)?
        }
        false => None,
    };
    let done = Done {
        op: "embedding_bag",
        how: Some(("mode", args.mode.name())),
        params_shape,
        format: quantized.as_ref().map(|table| table.format().to_string()),
        dtype,
        indices_shape: indices.layout().shape(),
        index_type: indices.stored(),
        output_shape: &shape,
        rules: &rules,
        direction: Direction::Reads,
        bad,
        chosen: &chosen,
        bytes,
        time,
        out: out.path(),
    };
    Ok(done.answer(call))
}

fn read_offsets(at: &Named) -> Result<Vec<usize>> {
    let tensor = at.read()?;
    let offsets = at.name_it(tensor.indices())?;
    Bags::read_offsets_of(&offsets).with_context(|| at.name.clone())
}
