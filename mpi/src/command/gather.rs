//! `gather`: each rank reads its part of params and of the indices, and writes its part of the output.

use std::ops::Range;
use std::time::Instant;

use anyhow::{Context, Result};
use gather_mpi::{Error, Options, ShardedTable, Traffic, agree, agree_on_same};
use mpi::traits::*;
use wgpu_gather::gpu::{Options as GpuOptions, WhenFull};
use wgpu_gather::shard::RowFormat;
use wgpu_gather::{BadIndices, DType, Op, OutOfBounds, Params, Role, Rules};
use wgpu_gather_cli::backend::Chosen;
use wgpu_gather_cli::resident::{AROUND_BYTES, MOST_BYTES, Resident};
use wgpu_gather_cli::tensors::{element_type, output_bytes, reserved};
use wgpu_gather_cli::{interrupt, rules};
use wgpu_gather_files::{Error as FileError, Source, StoredTensor};

use crate::args::GatherArgs;
use crate::flat::FlatIndices;
use crate::out_file::{OutFile, output_of};
use crate::parts::Parts;
use crate::report::{Done, Step};

/// What a rank has read before the ranks meet.
struct Files {
    params: StoredTensor,
    indices: StoredTensor,
    dtype: DType,
    rules: Rules,
    format: RowFormat,
    output_shape: Vec<usize>,
    chosen: Chosen,
}

/// Gathers as `args` say; every rank returns the same error.
pub(crate) fn run(world: &impl Communicator, args: &GatherArgs) -> Result<String> {
    let started = Instant::now();
    let files = agree(world, read(args).map_err(|error| format!("{error:#}")))?;
    agree_on_same(world, &description(args, &files))?;
    let (params_layout, shape) = (files.params.layout(), files.indices.layout().shape());
    let rows = params_layout.shape()[0];
    let ranks = world.size() as usize;
    let params = agree(
        world,
        Params::new(files.params.bytes(), files.dtype, params_layout.clone()),
    )?;
    let partition = agree(world, args.exchange.partition.of(rows, ranks))?;
    let row_bytes = files.format.bytes();
    let options = options(args, &files.params, row_bytes, ranks);
    let table =
        ShardedTable::from_whole(world, &files.chosen.executor, partition, &params, options)?;
    let bytes = agree(world, output_bytes(&files.output_shape, files.dtype))?;

    let ids = FlatIndices::new(&files.indices).map_err(|error| format!("{error:#}"));
    let ids = agree(world, ids)?;
    let parts = parts(args, &options, ids.len(), ranks, row_bytes);
    if files.rules.out_of_bounds == OutOfBounds::Error {
        // Before anything is written; chunk by chunk, another rank's could come first.
        let all = ids.part(parts.of_rank(world.rank() as u64))?;
        let checked = table.check(&files.rules, &all);
        checked.map_err(|error| in_the_file(error, &parts, shape))?;
    }
    let open = started.elapsed().as_secs_f64();

    let output = output_of(world, args).map_err(|error| format!("{error:#}"));
    let output = agree(world, output)?;
    let (dtype, shape_of_output) = (files.dtype, &files.output_shape);
    let mut out = OutFile::begin(world, output.as_ref(), dtype, shape_of_output, bytes)?;
    let (traffic, write) = chunks(world, &table, &files, &ids, &parts, &mut out)?;
    out.finish(world)?;
    let done = Done {
        args,
        options,
        executor: files.chosen.describe(),
        rows,
        row_bytes,
        dtype: files.dtype,
        index_type: files.indices.stored(),
        params_shape: params_layout.shape(),
        indices_shape: shape,
        output_shape: &files.output_shape,
        chunks: parts.chunks(),
        steps: [
            Step::new("open", open),
            Step::new("write", write),
            Step::new("all", started.elapsed().as_secs_f64()),
        ],
    };
    Ok(done.text(world, &traffic))
}

/// Makes the output of this rank chunk by chunk; says what went over the wire, and how long the writing
/// took. All ranks go through as many chunks.
fn chunks(
    world: &impl Communicator,
    table: &ShardedTable<'_>,
    files: &Files,
    ids: &FlatIndices<'_>,
    parts: &Parts,
    out: &mut OutFile<'_>,
) -> Result<(Traffic, f64)> {
    let row_bytes = files.format.bytes();
    let mut resident = Resident::of(&[&files.params, &files.indices]);
    if resident.is_some() {
        files.params.expect_scattered();
    }
    let (mut traffic, mut write) = (Traffic::default(), 0.0);
    // The first chunk is the longest.
    let most = parts.of_chunk(world.rank() as u64, 0);
    let output = reserved(Role::Output, bytes_of(&most, row_bytes));
    let mut output = agree(world, output)?;
    for chunk in 0..parts.chunks() {
        let part = parts.of_chunk(world.rank() as u64, chunk);
        let offset = part.start * row_bytes as u64;
        output.resize(bytes_of(&part, row_bytes), 0);
        let indices = ids.part(part)?;
        traffic += table.gather_watched(&files.rules, &indices, &mut output, || {
            if let Some(resident) = &mut resident {
                resident.trim();
            }
        })?;
        let started = Instant::now();
        agree(world, out.write(&output, offset))?;
        write += started.elapsed().as_secs_f64();
    }
    Ok((traffic, write))
}

/// Bytes of the rows of some lookups; more than there can be, if they cannot be addressed.
fn bytes_of(lookups: &Range<u64>, row_bytes: usize) -> usize {
    let lookups = usize::try_from(lookups.end - lookups.start).unwrap_or(usize::MAX);
    lookups.saturating_mul(row_bytes)
}

/// The lookups of each rank and chunk.
fn parts(args: &GatherArgs, options: &Options, ids: u64, ranks: usize, row_bytes: usize) -> Parts {
    let mut chunk = args.exchange.chunk.0;
    if ranks == 1 {
        // There are no rounds that would bound what is read of a mapped file at a time.
        chunk = chunk.min(options.round_bytes as u64);
    }
    Parts::new(ids, ranks as u64, row_bytes as u64, chunk)
}

/// Opens and checks what this rank can on its own.
fn read(args: &GatherArgs) -> Result<Files> {
    let params_named = || format!("params {}", args.params);
    let indices_named = || format!("indices {}", args.indices);
    let open = |at: &str| {
        let tensor = Source::parse(at).and_then(|source| source.read());
        tensor.map_err(FileError::into_problem)
    };
    let params = open(&args.params).with_context(params_named)?;
    let indices = open(&args.indices).with_context(indices_named)?;
    let dtype = element_type(params.stored(), args.dtype).with_context(params_named)?;
    let index_type = indices.indices().map_err(FileError::into_problem);
    index_type.with_context(indices_named)?;
    let rules = rules::resolve(&args.rules, dtype)?;
    let (from, at) = (params.layout().shape(), indices.layout().shape());
    let output_shape = Op::gather(0).output_shape(from, at, &rules)?;
    let format = RowFormat::new(dtype.bytes(), &from[1..])?;
    // A shard that does not fit the device is an error: the CPU path would be a surprise on one of
    // many ranks.
    let mut options = GpuOptions::default();
    options.when_full = WhenFull::Fail;
    let chosen = Chosen::with_options(&args.backend, options)?;
    interrupt::watch()?;
    Ok(Files {
        params,
        indices,
        dtype,
        rules,
        format,
        output_shape,
        chosen,
    })
}

/// What all ranks must have alike.
fn description(args: &GatherArgs, files: &Files) -> String {
    format!(
        "params {:?} {}, indices {:?} {}, rules with negative {} and out_of_bounds {}, partition {}, chunks \
         of {} bytes, output {}",
        files.params.layout().shape(),
        files.dtype,
        files.indices.layout().shape(),
        files.indices.stored(),
        files.rules.negative,
        files.rules.out_of_bounds,
        args.exchange.partition.name(),
        args.exchange.chunk.0,
        args.out.display(),
    )
}

/// The options of the exchange. Of a mapped file, as many rows are read in a round as may be resident
/// with the pages around them.
fn options(args: &GatherArgs, params: &StoredTensor, row_bytes: usize, ranks: usize) -> Options {
    let mut options = args.exchange.options();
    if params.mapped_bytes() > MOST_BYTES {
        let rows = MOST_BYTES / (row_bytes as u64).saturating_add(AROUND_BYTES);
        let rows = usize::try_from(rows).unwrap_or(usize::MAX).max(ranks);
        let bytes = rows.saturating_mul(row_bytes.max(1));
        options.round_bytes = options.round_bytes.min(bytes);
    }
    options
}

/// A bad index at its position in the file, instead of in a rank's part of it.
fn in_the_file(error: Error, parts: &Parts, shape: &[usize]) -> Error {
    let Error::BadIndices { rank, bad } = error else {
        return error;
    };
    let at = bad.position.first().copied().unwrap_or_default();
    let mut at = parts.of_rank(rank as u64).start as usize + at;
    let mut position = vec![0; shape.len()];
    for (p, &extent) in position.iter_mut().zip(shape).rev() {
        *p = at % extent;
        at /= extent;
    }
    let bad = BadIndices { position, ..bad };
    Error::BadIndices { rank, bad }
}
