//! `wgpu-gather embedding-bag`: files in, a file out.
//!
//! Files of tensors are mapped; the output, one row for each bag, is made whole in memory.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};
use wgpu_gather::{
    BagCall, BagMode, Bags, DType, Error, Executor, Params, QuantizedBagCall, Rules,
};

use crate::answer::Answer;
use crate::args::CallArgs;
use crate::backend::Chosen;
use crate::files::{Array, Output, Source};
use crate::progress::Progress;
use crate::tensors::{as_indices, element_type, elements_of_type, output_bytes};
use crate::{interrupt, quantized, rules, text};

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 8 << 20;

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
    /// A weight for each index, of the type of params (f32 if they are quantised); with --mode sum
    #[arg(long, value_name = "W")]
    weights: Option<String>,
    /// What becomes of the rows of a bag: sum, mean or max
    #[arg(long, default_value = "sum", value_parser = mode)]
    mode: BagMode,
    /// The row of params that counts for nothing; negative counts from the back
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    padding_index: Option<isize>,
    #[command(flatten)]
    call: CallArgs,
}

fn mode(name: &str) -> Result<BagMode, String> {
    BagMode::named(name).ok_or_else(|| {
        let allowed = BagMode::ALL.map(BagMode::name).join(", ");
        format!("allowed: {allowed}")
    })
}

/// A tensor of a file, with what messages call it.
struct Named {
    name: String,
    source: Source,
}

impl Named {
    fn parse(role: &str, at: &str) -> Result<Named> {
        let name = format!("{role} {at}");
        let source = Source::parse(at).with_context(|| name.clone())?;
        Ok(Named { name, source })
    }

    fn read(&self) -> Result<Array> {
        Array::read(&self.source).with_context(|| self.name.clone())
    }
}

/// Pools as `args` say.
pub(crate) fn run(args: &EmbeddingBagArgs) -> Result<Answer> {
    let call = &args.call;
    let params_at = Named::parse("params", &call.params)?;
    let indices_at = Named::parse("indices", &call.indices)?;
    let optional = |role, at: &Option<String>| {
        let at = at.as_ref().map(|at| Named::parse(role, at));
        at.transpose()
    };
    let offsets_at = optional("offsets", &args.offsets)?;
    let weights_at = optional("weights", &args.weights)?;
    let out_named = || format!("output {}", call.out.display());
    let parts_at = quantized::Sources::parse(&call.quantized)?;
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
    let parts = parts_at.read(&call.quantized)?;
    let named = (call.params.as_str(), &params);
    let quantized = quantized::table_to_f32(&call.quantized, call.dtype, named, &parts)?;
    let dtype = match &quantized {
        Some(_) => DType::F32,
        None => {
            element_type(params.stored(), call.dtype).with_context(|| params_at.name.clone())?
        }
    };
    let (index_dtype, indices_view) =
        as_indices(&indices).with_context(|| indices_at.name.clone())?;
    let offsets = offsets_at.as_ref().map(read_offsets).transpose()?;
    let weights = weights_at.as_ref().map(Named::read).transpose()?;
    let weights = match (&weights, &weights_at) {
        (Some(array), Some(at)) => {
            let (declared, has) = match &quantized {
                Some(_) => (None, "params decodes to"),
                None => (call.dtype, "params has"),
            };
            let weights = elements_of_type(array, (has, dtype), declared);
            Some(weights.with_context(|| at.name.clone())?)
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
    let plain;
    let bag_call = match &quantized {
        Some(table) => Pooled::Quantized(QuantizedBagCall {
            bags,
            rules: &rules,
            table,
            indices: &indices_view,
            weights: weights.as_ref(),
        }),
        None => {
            plain = Params::new(params.bytes(), dtype.bytes(), params.layout().clone())?;
            Pooled::Plain(BagCall {
                bags,
                rules: &rules,
                dtype,
                params: &plain,
                indices: &indices_view,
                weights: weights.as_ref(),
            })
        }
    };
    let shape = bag_call.output_shape()?;
    let bytes = output_bytes(&shape, dtype)?;
    let header = out.header(dtype, &shape, bytes).with_context(out_named)?;

    let chosen = Chosen::new(&call.backend)?;
    interrupt::watch()?;
    let mut file = out
        .begin((header.len() as u64).saturating_add(bytes as u64))
        .with_context(out_named)?;
    file.write(&header).with_context(out_named)?;
    let mut progress = Progress::new(bytes as u64, call.quiet);
    let (made, time) = pool(&chosen, &bag_call, bytes)?;
    for chunk in made.chunks(CHUNK_BYTES) {
        file.write(chunk).with_context(out_named)?;
        progress.add(chunk.len() as u64);
    }
    drop(progress);
    file.finish().with_context(out_named)?;

    let done = Done {
        mode: args.mode,
        params_shape: match &quantized {
            Some(table) => table.shape(),
            None => params.layout().shape(),
        },
        format: quantized.as_ref().map(|table| table.format().to_string()),
        dtype,
        indices_shape: indices.layout().shape(),
        index_dtype,
        rules: &rules,
        shape: &shape,
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

/// A pooled lookup from a table of either kind.
enum Pooled<'a> {
    Plain(BagCall<'a>),
    Quantized(QuantizedBagCall<'a>),
}

impl Pooled<'_> {
    fn output_shape(&self) -> Result<Vec<usize>, Error> {
        match self {
            Pooled::Plain(call) => call.output_shape(),
            Pooled::Quantized(call) => call.output_shape(),
        }
    }

    fn run(&self, executor: &Executor, output: &mut [u8]) -> Result<(), Error> {
        match self {
            Pooled::Plain(call) => executor.embedding_bag_bytes_blocking(call, output),
            Pooled::Quantized(call) => {
                executor.embedding_bag_quantized_bytes_blocking(call, output)
            }
        }
    }
}

/// The output, and how long it took.
fn pool(chosen: &Chosen, call: &Pooled<'_>, bytes: usize) -> Result<(Vec<u8>, Duration)> {
    let mut made = Vec::new();
    made.try_reserve_exact(bytes)
        .map_err(|_| Error::HostOutOfMemory {
            role: wgpu_gather::Role::Output,
            bytes,
        })?;
    made.resize(bytes, 0);
    let started = Instant::now();
    call.run(&chosen.executor, &mut made)?;
    Ok((made, started.elapsed()))
}

fn read_offsets(at: &Named) -> Result<Vec<usize>> {
    let array = at.read()?;
    let (_, offsets) = as_indices(&array).with_context(|| at.name.clone())?;
    Bags::read_offsets_of(&offsets).with_context(|| at.name.clone())
}

/// A pooled lookup that succeeded.
struct Done<'a> {
    mode: BagMode,
    params_shape: &'a [usize],
    /// How params is quantised, if it is.
    format: Option<String>,
    /// Of the output, and of params where it is not quantised.
    dtype: DType,
    indices_shape: &'a [usize],
    index_dtype: DType,
    rules: &'a Rules,
    shape: &'a [usize],
    preset: &'a str,
    chosen: &'a Chosen,
    bytes: usize,
    /// Of the lookup itself, with all copies to and from the device; without writing the file.
    time: Duration,
    out: String,
}

impl Done<'_> {
    fn line(&self) -> String {
        let (params, output) = match &self.format {
            Some(format) => (format.as_str(), format!(" {}", self.dtype)),
            None => (self.dtype.name(), String::new()),
        };
        format!(
            "embedding_bag {}: params {:?} {params}, indices {:?} {} -> output {:?}{output}, {} \
             bytes, {}, {}\n",
            self.mode,
            self.params_shape,
            self.indices_shape,
            self.index_dtype,
            self.shape,
            self.bytes,
            self.chosen.describe(),
            text::duration(self.time)
        )
    }

    fn json(&self) -> Value {
        let adapter = self.chosen.adapter();
        json!({
            "op": "embedding_bag",
            "mode": self.mode.name(),
            "params_shape": self.params_shape,
            "format": self.format,
            "dtype": self.dtype.name(),
            "indices_shape": self.indices_shape,
            "index_type": self.index_dtype.name(),
            "output_shape": self.shape,
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
            "out": self.out,
        })
    }
}
