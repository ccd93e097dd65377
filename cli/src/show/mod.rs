//! `wgpu-gather show`: which tensors a file holds, or one of them with what its elements are like.

mod facts;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use wgpu_gather::quantized::FloatType;
use wgpu_gather::{AnyTable, DType, Executor, IndexType, Indices, Layout, Op, Params, Rules};
use wgpu_gather_files::{FileFormat, Source, Stored, StoredTensor, TensorFile, TensorInfo};

use crate::answer::Answer;
use crate::call_args::PrintArgs;
use crate::interrupt;
use crate::named::Named;
use crate::printed::{Elements, Picture};
use crate::progress::Progress;
use crate::resident::Resident;
use crate::show::facts::Facts;
use crate::stream::{Watched, stream};
use crate::tensors::{element_type, output_bytes};
use crate::text;

/// `show`.
#[derive(Args)]
pub(crate) struct ShowArgs {
    /// FILE.npz, FILE.safetensors or FILE.gguf: lists its tensors. The same with :NAME, FILE.npy, or - for a
    /// .npy file on stdin: prints the tensor, decoded to f32 if it is quantized
    #[arg(value_name = "FILE[:NAME]")]
    tensor: String,
    /// The element type where a .npy or .npz file holds raw bytes (V2, V4, …), such as bf16
    #[arg(long)]
    dtype: Option<DType>,
    #[command(flatten)]
    print: PrintArgs,
    /// Print JSON: an array of all tensors; of one, an object with what is said of it, and with --all its
    /// elements in nested arrays
    #[arg(long)]
    json: bool,
}

/// Shows what `args` name.
pub(crate) fn run(args: &ShowArgs) -> Result<Answer> {
    ensure!(
        args.print.precision.is_none() || !args.json,
        "--precision is for numbers as text; JSON has all digits"
    );
    match Source::parse(&args.tensor) {
        Ok(source) if source.name().is_empty() && holds_several(source.path()) => {
            list(args, &TensorFile::open(source.path())?)
        }
        _ => one(args),
    }
}

fn holds_several(path: &Path) -> bool {
    FileFormat::of(path).is_some_and(FileFormat::has_names)
}

/// The tensors of a file.
fn list(args: &ShowArgs, file: &TensorFile) -> Result<Answer> {
    let print = &args.print;
    ensure!(
        !print.all && print.precision.is_none() && args.dtype.is_none(),
        "--all, --precision and --dtype are for one tensor: {}:NAME",
        file.path().display()
    );
    let mut tensors = file.tensors()?;
    tensors.sort_by(|a, b| a.name().cmp(b.name()));
    if args.json {
        let object = |tensor: &TensorInfo| {
            json!({
                "name": tensor.name(),
                "type": tensor.stored().map(|stored| stored.to_string()),
                "type_in_file": tensor.type_name(),
                "shape": tensor.shape(),
            })
        };
        let all: Value = tensors.iter().map(object).collect();
        return Ok(Answer::json(&all, true));
    }
    let row = |tensor: &TensorInfo| {
        let stored = match tensor.stored() {
            Some(stored) => stored.to_string(),
            None => format!("{} (not read)", tensor.type_name()),
        };
        vec![
            tensor.name().to_owned(),
            stored,
            format!("{:?}", tensor.shape()),
        ]
    };
    let rows: Vec<_> = tensors.iter().map(row).collect();
    Ok(Answer::good(text::table(&["name", "type", "shape"], &rows)))
}

/// A tensor and its elements, which are read once, in order.
fn one(args: &ShowArgs) -> Result<Answer> {
    let at = Named::parse("tensor", &args.tensor)?;
    let tensor = at.read()?;
    let (dtype, shape) = (at.name(dtype_of(&tensor, args.dtype))?, tensor.shape());
    let quantized = match tensor.stored() {
        Stored::Blocks(_) => Some(at.name_it(tensor.quantized_table())?),
        _ => None,
    };
    let table = match &quantized {
        Some(table) => AnyTable::Quantized(table, FloatType::F32),
        None => AnyTable::Plain(of_rank_1_or_more(&at.name_it(tensor.params())?, dtype)?),
    };
    let bytes = output_bytes(shape, dtype)?;

    interrupt::watch()?;
    // JSON has either every element or none.
    let keeps = !args.json || args.print.all;
    let mut picture = keeps.then(|| Picture::new(dtype, shape, args.print.all));
    let (mut facts, mut elements) = (Facts::new(dtype), Elements::new(dtype.bytes()));
    let mut progress = Progress::new(bytes as u64, false);
    whole_tensor(&table, &tensor, |chunk| {
        elements.take(chunk, |whole| {
            facts.take(whole);
            if let Some(picture) = &mut picture {
                picture.take(whole);
            }
            Ok::<(), anyhow::Error>(())
        })?;
        progress.add(chunk.len() as u64);
        Ok(())
    })?;
    drop(progress);

    if args.json {
        let mut object = facts.json();
        object["type"] = tensor.stored().to_string().into();
        object["shape"] = json!(shape);
        if let Some(picture) = picture {
            object["elements"] = picture.json();
        }
        return Ok(Answer::json(&object, true));
    }
    // Blocks and raw bytes are shown as another type than the file's.
    let shown_as = match tensor.dtype() {
        Some(_) => String::new(),
        None => format!(" as {dtype}"),
    };
    let picture = picture.context("nothing is kept")?;
    Ok(Answer::good(format!(
        "{}{shown_as} {shape:?}; {}\n{}\n",
        tensor.stored(),
        facts.text(),
        picture.text(args.print.precision)?
    )))
}

/// The type that elements are shown as.
fn dtype_of(tensor: &StoredTensor, declared: Option<DType>) -> Result<DType> {
    match tensor.stored() {
        Stored::Blocks(format) => {
            ensure!(
                declared.is_none(),
                "--dtype is for raw bytes, but the file says that the elements are {format}"
            );
            Ok(DType::F32)
        }
        stored => element_type(stored, declared),
    }
}

/// Params of the type, with a dim: a gather needs one.
fn of_rank_1_or_more<'a>(params: &Params<'a>, dtype: DType) -> Result<Params<'a>> {
    let layout = match params.layout().rank() {
        0 => params.layout().reshape(&[1])?,
        _ => params.layout().clone(),
    };
    Ok(Params::new(params.bytes(), dtype, layout)?)
}

/// Calls `chunk` with the bytes of all elements, row-major and decoded, as they are read.
fn whole_tensor(
    table: &AnyTable<'_>,
    tensor: &StoredTensor,
    chunk: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<()> {
    // An index tuple of no coordinates selects all of params.
    let all = Indices::new(&[][..], IndexType::I32, Layout::contiguous(&[0]))?;
    let rules = Rules::default();
    let call = Executor::Cpu.gather(Op::gather_nd(), &rules, table, &all);
    let watched = Watched::new(Resident::of(&[tensor]));
    stream(&Executor::Cpu, call, &watched, chunk)?;
    Ok(())
}
