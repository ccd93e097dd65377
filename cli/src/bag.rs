//! `wgpu-gather embedding-bag`: tensors in, a tensor out.
//!
//! Files of tensors are mapped; the output, one row for each bag, is made whole in memory.

use anyhow::{Context, Result};
use clap::Args;
use wgpu_gather::quantized::FloatType;
use wgpu_gather::{AnyTable, BagMode, Bags, DType, Executor, Indices, Op, Role};

use crate::answer::Answer;
use crate::backend::Chosen;
use crate::bad::{self, Direction};
use crate::call_args::{CallArgs, InputArgs, OutArgs};
use crate::destination::Destination;
use crate::done::Done;
use crate::named::{Named, files_of};
use crate::quantized::{self, QuantizedArgs};
use crate::tensors::{element_type, elements_of_type, output_bytes, reserved};
use crate::{rules, whole};

/// `embedding-bag`.
#[derive(Args)]
#[command(next_help_heading = "Operator")]
pub(crate) struct EmbeddingBagArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    to: OutArgs,
    /// Where bags start in the indices, which then have one dim: numbers such as 0,4,9, or named as indices
    /// are [default: each row of two-dimensional indices is a bag]
    #[arg(long, value_name = "F")]
    offsets: Option<String>,
    /// The last offset is the end of the last bag, not the start of another
    #[arg(long, requires = "offsets")]
    include_last_offset: bool,
    /// A weight for each index, of the type of params (f32 if they are quantized), as are raw bytes; with --mode sum
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
    let (call, report) = (&args.call, &args.call.report);
    let params_at = Named::parse("params", &args.inputs.params)?;
    let indices_at = Named::parse_integers("indices", &args.inputs.indices)?;
    let offsets_at = args.offsets.as_ref();
    let offsets_at = offsets_at
        .map(|at| Named::parse_integers("offsets", at))
        .transpose()?;
    let weights_at = Named::optional("weights", args.weights.as_ref())?;
    let parts_at = quantized::Sources::parse(&args.quantized)?;
    let all = [
        Some(&params_at),
        Some(&indices_at),
        offsets_at.as_ref(),
        weights_at.as_ref(),
    ];
    let files = files_of(all.into_iter().flatten().chain(parts_at.iter()))?;
    let out = Destination::of(args.to.out.as_deref(), &call.print, report.json, &files)?;

    let params = params_at.read()?;
    let indices = indices_at.read()?;
    let parts = parts_at.read()?;
    let table_at = (&params_at, &params);
    let quantized = quantized::table_to_f32(&args.quantized, call.types.dtype, table_at, &parts)?;
    let dtype = match &quantized {
        Some(_) => DType::F32,
        None => params_at.name(element_type(params.stored(), call.types.dtype))?,
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
    let expected = out.expect(dtype, &shape, bytes)?;

    let chosen = Chosen::new(&call.backend)?;
    let mut made = reserved(Role::Output, bytes)?;
    made.resize(bytes, 0);
    let (time, picture) = whole::write(&expected, made, report.quiet, |output| {
        pooled(&chosen.executor).into(output).wait()
    })?;
    let params_shape = table.shape();
    let bad = match report.says_something() {
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
        out: &out,
        picture,
    };
    done.answer(call)
}

/// The numbers at which bags start.
pub(crate) fn read_offsets(at: &Named) -> Result<Vec<usize>> {
    let tensor = at.read()?;
    let offsets = at.name_it(tensor.indices())?;
    Bags::read_offsets(&offsets).with_context(|| at.name.clone())
}
