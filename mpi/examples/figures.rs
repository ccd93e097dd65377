//! What a gather over ranks costs, against one process and against an all-gather of the table: a JSON line
//! for each case. `mpirun -n N figures`; the numbers are in `benches/results/`.
//!
//! Ours and the local gather take turns, the first of a turn in turn, so that other load hits both; a figure
//! is the median of the turns, and a turn takes as long as the slowest rank does.

use std::time::Instant;

use gather_mpi::{Options, ShardedTable};
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use serde_json::json;
use wgpu_gather::shard::Partition;
use wgpu_gather::{Executor, Indices, Layout, Op, Params, Rules, TensorView};

const TURNS: usize = 15;
const IDS_PER_RANK: usize = 100_000;

/// Rows, and bytes of a row: 128 MB each.
const TABLES: [(usize, usize); 2] = [(250_000, 512), (2_000_000, 64)];

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    for (rows, row_bytes) in TABLES {
        for pattern in ["uniform", "zipf"] {
            for partition in ["block", "cyclic"] {
                case(&world, rows, row_bytes, pattern, partition);
            }
        }
    }
}

fn case(world: &SimpleCommunicator, rows: usize, row_bytes: usize, pattern: &str, partition: &str) {
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let owners = match partition {
        "block" => Partition::even_blocks(rows, ranks),
        _ => Partition::cyclic(rows, ranks),
    };
    let owners = owners.expect("a partition");
    let held: Vec<u8> = (0..owners.rows_of(rank))
        .flat_map(|local| {
            let row = owners.row(rank, local).expect("a row") as u64;
            row.to_le_bytes().repeat(row_bytes / 8)
        })
        .collect();
    let layout = |rows: usize| Layout::contiguous(&[rows, row_bytes / 8]);
    let shard = Params::new(&held, 8, layout(owners.rows_of(rank))).expect("rows");
    let cpu = Executor::Cpu;
    let table = ShardedTable::from_shards(world, &cpu, owners.clone(), &shard, Options::default());
    let table = table.expect("a table");
    let ids = ids(rank as u64, rows, pattern);
    let indices = TensorView::new(&[ids.len()], &ids).expect("ids");
    let indices = Indices::try_from(&indices).expect("ids");
    // Where those rows lie after an all-gather: by owner.
    let before: Vec<usize> = (0..ranks)
        .map(|rank| (0..rank).map(|r| owners.rows_of(r)).sum())
        .collect();
    let place = |&id: &i64| {
        owners
            .place(id as usize)
            .map(|(owner, local)| before[owner] + local)
    };
    let placed: Vec<i64> = ids.iter().filter_map(place).map(|row| row as i64).collect();
    let placed = TensorView::new(&[placed.len()], &placed).expect("ids");
    let placed = Indices::try_from(&placed).expect("ids");
    let rules = Rules::TENSORFLOW_GPU;
    let mut output = vec![0; ids.len() * row_bytes];
    let mut expected = output.clone();
    let mut whole = vec![0; rows * row_bytes];
    let (mut sharded, mut gathered, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    let mut traffic = None;
    for _ in 0..TURNS {
        gathered.push(timed(world, || {
            all_gather(world, &held, &owners, row_bytes, &mut whole);
        }));
    }
    // What one process would do: a gather from the whole table.
    let params = Params::new(&whole, 8, layout(rows)).expect("a table");
    for turn in 0..2 * TURNS {
        for way in [turn % 2, 1 - turn % 2] {
            if way == 0 {
                sharded.push(timed(world, || {
                    traffic = Some(table.gather(&rules, &indices, &mut output).expect("rows"));
                }));
            } else {
                alone.push(timed(world, || {
                    let call = cpu.gather(Op::gather(0), &rules, &params, &placed);
                    call.into(&mut expected).wait().expect("rows");
                }));
            }
        }
        assert!(
            output == expected,
            "rank {rank}: other rows than a gather from the whole table"
        );
    }
    let (sharded, gathered, alone) = (median(sharded), median(gathered), median(alone));
    let traffic = traffic.expect("a turn");
    if rank == 0 {
        let line = json!({
            "ranks": ranks,
            "rows": rows,
            "row_bytes": row_bytes,
            "ids_per_rank": ids.len(),
            "pattern": pattern,
            "partition": partition,
            "sharded_ms": sharded * 1e3,
            "all_gather_ms": gathered * 1e3,
            "local_ms": alone * 1e3,
            "sharded_to_local": sharded / alone,
            "all_gather_and_local_to_sharded": (gathered + alone) / sharded,
            "last_turn_of_rank_0": traffic,
        });
        println!("{line}");
    }
}

fn all_gather(
    world: &SimpleCommunicator,
    held: &[u8],
    owners: &Partition,
    row_bytes: usize,
    whole: &mut [u8],
) {
    let bytes = |rank: usize| (owners.rows_of(rank) * row_bytes) as i32;
    let counts: Vec<i32> = (0..owners.shards()).map(bytes).collect();
    let starts: Vec<i32> = counts
        .iter()
        .scan(0, |start, &count| {
            *start += count;
            Some(*start - count)
        })
        .collect();
    let mut parts = PartitionMut::new(whole, counts, &starts[..]);
    world.all_gather_varcount_into(held, &mut parts);
}

/// Seconds until the last rank is through.
fn timed(world: &SimpleCommunicator, call: impl FnOnce()) -> f64 {
    world.barrier();
    let started = Instant::now();
    call();
    let mine = started.elapsed().as_secs_f64();
    let mut slowest = 0.0;
    world.all_reduce_into(&mine, &mut slowest, SystemOperation::max());
    slowest
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Row numbers, uniform or by Zipf's law with exponent 1.05.
fn ids(rank: u64, rows: usize, pattern: &str) -> Vec<i64> {
    let mut state = rank + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    // The inverse of the distribution of a continuous row number.
    let (exponent, most) = (-0.05f64, (rows as f64 + 1.0).powf(-0.05));
    let row = |u: f64| match pattern {
        "zipf" => (1.0 - u * (1.0 - most)).powf(1.0 / exponent) - 1.0,
        _ => u * rows as f64,
    };
    (0..IDS_PER_RANK)
        .map(|_| (row(next()) as usize).min(rows - 1) as i64)
        .collect()
}
