//! Tables over several devices at once, against the reference on the whole table.

use gather_conformance::{Call, Outcome, compare, rows_call_from};
use wgpu_gather::gpu::{Engine, Options, WhenFull};
use wgpu_gather::shard::{Partition, Shard, ShardedTable};
use wgpu_gather::{Error, Executor, Layout, Params, Rules, Tensor};

use crate::common::{engines, executors, failed, fresh_device};
use crate::planted::faulty;
use crate::shader_faults::SHADER_FAULTS;

/// Choices from a seed.
fn choices(seed: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.wrapping_mul(0x9e37_79b1) >> 4
    };
    (0..120).map(|_| next()).collect()
}

/// How the rows are spread: even blocks, one after the other; all on the last; cyclic.
fn partition(kind: usize, rows: usize, shards: usize) -> Partition {
    let mut all_on_the_last = vec![0; shards];
    all_on_the_last[shards - 1] = rows;
    match kind {
        0 => Partition::even_blocks(rows, shards),
        1 => Partition::blocks(&all_on_the_last),
        _ => Partition::cyclic(rows, shards),
    }
    .expect("a partition")
}

/// What the table over `executors` makes of the call.
fn gathered(call: &Call, executors: &[Executor], kind: usize) -> Result<Vec<u8>, Error> {
    let (params, indices) = (call.params()?, call.indices()?);
    let rows = call.params_layout.shape()[0];
    let partition = partition(kind, rows, executors.len());
    let table = ShardedTable::new(executors, partition, &params).wait()?;
    let elements: usize = call.output_shape()?.iter().product();
    let mut output = vec![0xa5; elements * call.element_bytes];
    table
        .gather_bytes(&call.rules, &indices, &mut output)
        .wait()?;
    Ok(output)
}

#[test]
fn a_table_over_all_devices_at_once_gives_the_bits_of_one() {
    // Each device of the machine and the CPU path have a shard.
    let executors = executors();
    println!("a table over {} executors", executors.len());
    let (mut outputs, mut errors) = (0, 0);
    for seed in 0..600 {
        let call = rows_call_from(&choices(seed));
        let got = gathered(&call, &executors, seed as usize % 3);
        match &got {
            Ok(output) => outputs += usize::from(!output.is_empty()),
            Err(_) => errors += 1,
        }
        let outcome = compare(&call, got);
        assert_eq!(outcome, Outcome::Passed, "seed {seed}: {call:?}");
    }
    println!("{outputs} outputs, {errors} errors");
    assert!(outputs > 200 && errors > 20, "{outputs} {errors}");
}

/// Which row lies where row `row` belongs, given the place of that.
type Misplaced = fn(&Partition, row: usize, place: (usize, usize)) -> Option<usize>;

/// Ways to misplace rows of a table.
const MISPLACED: [(&str, Misplaced); 5] = [
    ("none", |_, row, _| Some(row)),
    (
        "neighbouring shards swapped",
        |spread, _, (shard, local)| spread.row(shard ^ 1, local),
    ),
    (
        "rows of a shard one too early",
        |spread, _, (shard, local)| spread.row(shard, local + 1),
    ),
    ("rows of a shard backwards", |spread, _, (shard, local)| {
        spread.row(shard, spread.rows_of(shard) - 1 - local)
    }),
    ("rows spread in another way", |spread, _, (shard, local)| {
        let [blocks, cyclic] = [0, 2].map(|kind| partition(kind, spread.rows(), spread.shards()));
        let other = if *spread == cyclic { blocks } else { cyclic };
        other.row(shard, local)
    }),
];

/// The call on a table with misplaced rows. Where there is no such row, the right one stays.
fn misplaced(call: &Call, partition: &Partition, fault: Misplaced) -> Call {
    let (layout, width) = (&call.params_layout, call.element_bytes);
    let shape = layout.shape();
    let columns: usize = shape[1..].iter().product();
    let mut params = Vec::new();
    for row in 0..shape[0] {
        let place = partition.place(row).expect("a place");
        let from = fault(partition, row, place).unwrap_or(row);
        for column in 0..columns {
            let at = layout.position(&[&[from], &coordinates(column, &shape[1..])[..]].concat());
            params.extend_from_slice(&call.params[at * width..][..width]);
        }
    }
    Call {
        params,
        params_layout: Layout::contiguous(shape),
        ..call.clone()
    }
}

/// The coordinates of an element, row-major.
fn coordinates(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut coordinates = vec![0; shape.len()];
    for (coordinate, &extent) in coordinates.iter_mut().zip(shape).rev() {
        *coordinate = at % extent;
        at /= extent;
    }
    coordinates
}

/// The devices of the machine and twice the CPU path: two shards at least.
fn several() -> Vec<Executor> {
    let mut several = executors();
    several.push(Executor::Cpu);
    several
}

#[test]
fn misplaced_rows_are_reported() {
    let executors = several();
    for (name, fault) in MISPLACED {
        let mut reported = 0;
        for seed in 0..150 {
            let (call, kind) = (rows_call_from(&choices(seed)), seed as usize % 3);
            let partition = partition(kind, call.params_layout.shape()[0], executors.len());
            let got = gathered(&misplaced(&call, &partition, fault), &executors, kind);
            reported += usize::from(failed(&compare(&call, got)));
        }
        println!("{name}: reported by {reported} of 150 calls");
        match name {
            "none" => assert_eq!(reported, 0),
            _ => assert!(reported >= 10, "{name}: {reported}"),
        }
    }
}

/// One of the devices has a shader with a fault, the others have none.
#[test]
fn a_fault_on_the_device_of_one_shard_is_reported() {
    for engine in engines() {
        for name in ["none", "stride off by one", "last row left out: rows"] {
            let planted = SHADER_FAULTS.iter().find(|fault| fault.0 == name);
            let (_, _, fault) = planted.expect("a fault of that name");
            let one = faulty(engine, engine.device().limits(), *fault);
            let executors = [Executor::Cpu, Executor::Gpu(one), Executor::Cpu];
            let mut reported = 0;
            for seed in 0..60 {
                let call = rows_call_from(&choices(seed));
                let got = gathered(&call, &executors, seed as usize % 3);
                reported += usize::from(failed(&compare(&call, got)));
            }
            let label = engine.adapter().label();
            println!("{label}: {name}: reported by {reported} of 60 calls");
            assert_eq!(reported == 0, name == "none", "{label}: {name}");
        }
    }
}

#[test]
fn bad_tables_are_errors() {
    let executors = [Executor::Cpu, Executor::Cpu];
    let rows = Tensor::new(&[3], vec![1u32, 2, 3]).expect("a table");
    let params = Params::try_from(&rows.view()).expect("params");
    let table = |shards, rows| {
        let partition = Partition::cyclic(rows, shards).expect("a partition");
        ShardedTable::new(&executors, partition, &params).wait()
    };
    assert_eq!(
        table(3, 3).expect_err("too few executors").to_string(),
        "a partition over 3 shards needs as many executors, got 2"
    );
    assert_eq!(
        table(2, 4).expect_err("another table").to_string(),
        "a partition of 4 rows over 2 shards has no shard 0 of a table of shape [3] (allowed: shards \
         0..2 of tables with 4 rows)"
    );
    let table = table(2, 3).expect("a table");
    let ids = Tensor::new(&[1], vec![0u8]).expect("ids");
    let failed = table.gather::<u64, _>(&Rules::TORCH, &ids.view()).wait();
    assert!(
        matches!(failed, Err(Error::TensorWidth { .. })),
        "{failed:?}"
    );
    let scalar = Params::new(&[1, 2], 2, Layout::contiguous(&[])).expect("params");
    let failed = Shard::new(&Executor::Cpu, &scalar).wait();
    assert!(
        matches!(failed, Err(Error::RankTooSmall { .. })),
        "{failed:?}"
    );
}

/// A device that may have 8 bytes gets no shard of 16: an error, or the CPU path has it.
#[test]
fn a_full_device_is_an_error_or_the_cpu_path() {
    let rows = Tensor::new(&[2, 2], vec![1u32, 2, 3, 4]).expect("a table");
    let params = Params::try_from(&rows.view()).expect("params");
    for engine in engines() {
        for when_full in [WhenFull::Fail, WhenFull::UseCpu] {
            let (device, queue) = fresh_device(engine, engine.device().limits());
            let mut options = Options::default();
            options.max_memory_bytes = 8;
            options.when_full = when_full;
            let full = Engine::with_options(device, queue, options)
                .wait()
                .expect("an engine");
            let shard = Shard::new(&Executor::Gpu(full), &params).wait();
            match (when_full, shard) {
                (WhenFull::Fail, Err(Error::GpuOutOfMemory { what })) => {
                    assert_eq!(
                        what,
                        "a shard of 16 bytes, more than the 8 that may be used"
                    );
                }
                (WhenFull::UseCpu, Ok(shard)) => {
                    let mut row = [0; 8];
                    shard.gather(&[1], &mut row).wait().expect("a row");
                    assert_eq!(row, [3, 0, 0, 0, 4, 0, 0, 0]);
                }
                (_, other) => panic!("{when_full:?}: {other:?}"),
            }
        }
    }
}
