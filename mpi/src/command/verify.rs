//! `verify`: random calls on random shards, against the reference on the whole table.

use anyhow::{Result, bail};
use gather_conformance::{Call, SplitMix, rows_call_from};
use gather_mpi::{Options, ShardedTable, agree, agree_on_same, broadcast};
use mpi::traits::*;
use wgpu_gather::shard::Partition;
use wgpu_gather::{Executor, Indices, Layout, Params};
use wgpu_gather_cli::backend::Chosen;

use crate::args::VerifyArgs;

/// What happened over all calls.
#[derive(Default)]
struct Tally {
    outputs: u64,
    errors: u64,
    empty_ranks: u64,
    split: u64,
    rounds: u64,
    duplicates: u64,
}

/// Runs the calls; the ranks make the same choices, and look different indices up.
pub(crate) fn run(world: &impl Communicator, args: &VerifyArgs) -> Result<String> {
    agree_on_same(
        world,
        &format!("{} random calls of seed {}", args.random, args.seed),
    )?;
    let chosen = Chosen::new(&args.backend);
    let chosen = agree(world, chosen.map_err(|error| format!("{error:#}")))?;
    let mut tally = Tally::default();
    for n in 0..args.random {
        let mut choices = Choices::new(args.seed, n);
        let (call, options) = (choices.call(), choices.options());
        let rows = call.params_layout.shape()[0];
        let partition = choices.partition(rows, world.size() as usize);
        let difference = check(
            world,
            &chosen.executor,
            &call,
            partition,
            options,
            args,
            &mut tally,
        );
        let failed = agree(world, difference.map_or(Ok(()), Err));
        if let Err(error) = failed {
            bail!("call {n} of seed {}: {error}", args.seed);
        }
    }
    Ok(format!(
        "{} random calls, ranks: {}, {}: all bits right ({} outputs and {} errors on rank 0; {} empty \
         shards, {} calls with split messages, {} rounds, {} duplicates)\n",
        args.random,
        world.size(),
        chosen.describe(),
        tally.outputs,
        tally.errors,
        tally.empty_ranks,
        tally.split,
        tally.rounds,
        tally.duplicates,
    ))
}

/// What is wrong with a call on this rank, if anything is.
fn check(
    world: &impl Communicator,
    executor: &Executor,
    call: &Call,
    partition: Partition,
    options: Options,
    args: &VerifyArgs,
    tally: &mut Tally,
) -> Option<String> {
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    tally.empty_ranks += u64::from(partition.rows_of(rank) == 0);
    let params = call.params().ok()?;
    let indices = rotated(call, rank);
    let layout = part(&call.indices_layout, rank, ranks);
    let indices = Indices::new(&indices[..], call.index_type, layout).ok()?;
    let (expected, output_bytes) = expected(call, &params, &indices);

    let table = ShardedTable::from_whole(world, executor, partition, &params, options);
    let table = match table {
        Ok(table) => table,
        Err(error) => return Some(error.to_string()),
    };
    let mut output = vec![0xa5; output_bytes];
    let got = table.gather(&call.rules, &indices, &mut output);
    if args.plant
        && rank == 0
        && let Some(byte) = output.first_mut()
    {
        *byte ^= 1;
    }
    let expected = agreed(world, expected);
    match (expected, got) {
        (Ok(expected), Ok(traffic)) => {
            tally.outputs += 1;
            tally.rounds += traffic.rounds;
            tally.duplicates += traffic.duplicates;
            tally.split += u64::from(traffic.sent.messages > 2 * (ranks as u64) * traffic.rounds);
            (expected != output).then(|| format!("other bits than the reference: {call:?}"))
        }
        (Err(expected), Err(got)) => {
            tally.errors += 1;
            let got = got.to_string();
            (expected != got).then(|| format!("\"{got}\", expected \"{expected}\": {call:?}"))
        }
        (Ok(_), Err(got)) => Some(format!("failed with \"{got}\": {call:?}")),
        (Err(expected), Ok(_)) => Some(format!("gave an output, expected \"{expected}\"")),
    }
}

/// What the reference makes of the whole table at the indices of this rank, and how long the output is.
fn expected(
    call: &Call,
    params: &Params<'_>,
    indices: &Indices<'_>,
) -> (wgpu_gather::Result<Vec<u8>>, usize) {
    let (table, at) = (params.layout().shape(), indices.layout().shape());
    let shape = call
        .op
        .output_shape(table, at, &call.rules)
        .unwrap_or(vec![0]);
    let bytes = Layout::checked_elements(&shape).unwrap_or_default() * call.element_bytes;
    let mut output = vec![0; bytes];
    let gather = Executor::Reference.gather(call.op, &call.rules, params, indices);
    let made = gather.into(&mut output).wait();
    (made.map(|()| output), bytes)
}

/// What all ranks are to return, given what each alone would: its output, or the error of the first rank
/// with another error than a bad index, or of the first with one, which counts those of all.
fn agreed(
    world: &impl Communicator,
    mine: wgpu_gather::Result<Vec<u8>>,
) -> Result<Vec<u8>, String> {
    let bad = match &mine {
        Err(wgpu_gather::Error::IndexOutOfBounds(bad)) => Some((**bad).clone()),
        _ => None,
    };
    let (is_bad, failed) = (u64::from(bad.is_some()), u64::from(mine.is_err()));
    let here = [
        failed - is_bad,
        is_bad,
        bad.as_ref().map_or(0, |bad| bad.count),
    ];
    let mut all = vec![0u64; 3 * world.size() as usize];
    world.all_gather_into(&here[..], &mut all[..]);
    let first = |kind: usize| all.chunks(3).position(|rank| rank[kind] > 0);
    let Some(rank) = first(0).or(first(1)) else {
        return mine.map_err(|error| error.to_string());
    };
    let text = match (bad, mine) {
        (Some(mut bad), _) => {
            bad.count = all.chunks(3).map(|rank| rank[2]).sum();
            bad.to_string()
        }
        (None, Err(error)) => error.to_string(),
        (None, Ok(_)) => String::new(),
    };
    let text = broadcast(world, rank as i32, text.into_bytes());
    Err(format!("rank {rank}: {}", String::from_utf8_lossy(&text)))
}

/// The indices of a call with their values moved along: so each rank has others, in the same places.
fn rotated(call: &Call, rank: usize) -> Vec<u8> {
    let mut bytes = call.indices.clone();
    if !bytes.is_empty() {
        let by = rank * 7 * call.index_type.bytes() % bytes.len();
        bytes.rotate_left(by);
    }
    bytes
}

/// Those of the first dim that a rank looks up: a part, so that some have none.
fn part(layout: &Layout, rank: usize, ranks: usize) -> Layout {
    let Some(&extent) = layout.shape().first() else {
        return layout.clone();
    };
    let range = extent * rank / ranks..(extent * (rank + 2) / ranks).min(extent);
    layout.slice(0, range).unwrap_or_else(|_| layout.clone())
}

/// Numbers from a seed.
struct Choices(SplitMix);

impl Choices {
    fn new(seed: u32, n: u32) -> Self {
        Choices(SplitMix(u64::from(seed) << 32 | u64::from(n)))
    }

    fn below(&mut self, n: usize) -> usize {
        (self.0.draw() % n.max(1) as u64) as usize
    }

    fn call(&mut self) -> Call {
        let choices: Vec<u32> = (0..120).map(|_| (self.0.draw() >> 32) as u32).collect();
        rows_call_from(&choices)
    }

    /// Small rounds and messages, so that there are several.
    fn options(&mut self) -> Options {
        Options {
            dedupe: self.below(4) > 0,
            round_bytes: [1 << 20, 1, 64, 300, 1000][self.below(5)],
            message_bytes: [1 << 30, 1 << 30, 5, 64, 333][self.below(5)],
        }
    }

    fn partition(&mut self, rows: usize, ranks: usize) -> Partition {
        let partition = match self.below(4) {
            0 => Partition::even_blocks(rows, ranks),
            1 => Partition::cyclic(rows, ranks),
            2 => {
                let mut one_has_all = vec![0; ranks];
                one_has_all[self.below(ranks)] = rows;
                Partition::blocks(&one_has_all)
            }
            _ => {
                // A cut may repeat another, which leaves a rank without rows.
                let mut cuts: Vec<usize> = (1..ranks).map(|_| self.below(rows + 1)).collect();
                cuts.push(rows);
                cuts.sort_unstable();
                let starts = std::iter::once(&0).chain(&cuts);
                let rows_of: Vec<usize> = cuts.iter().zip(starts).map(|(b, a)| b - a).collect();
                Partition::blocks(&rows_of)
            }
        };
        partition.expect("a partition of the rows over the ranks")
    }
}
